// SPDX-License-Identifier: BSD-3-Clause
#include "plan/checker.hpp"

#include <deque>

#include "plan/causality.hpp"
#include "plan/exposures.hpp"
#include "plan/operation.hpp"
#include "plan/order.hpp"
#include "plan/races.hpp"
#include "plan/symbolic.hpp"
#include "plan/text.hpp"

namespace tutti::plan {
namespace {

Verdict verdict(std::span<const Plan> plans, const Refusal& refusal, const std::string& where) {
  Verdict verdict{false, refusal.rank, refusal.step, "rank " + std::to_string(refusal.rank)};
  if (refusal.step != Verdict::no_step) {
    const Step& step = plans[static_cast<std::size_t>(refusal.rank)].steps[refusal.step];
    verdict.text += ", step s" + std::to_string(refusal.step) + " (" + print(step) + ")";
  }
  verdict.text += ": " + refusal.reason + where;
  return verdict;
}

}  // namespace

struct Checker::Memory {
  std::deque<Operation> operations;
  std::vector<Operation*> sequence;
  Order order;
  Races races;
  Causality causality;
  Exposures exposures;
  Symbolic symbolic;

  Operation& operation(std::size_t index) {
    while (operations.size() <= index) operations.emplace_back();
    return operations[index];
  }

  struct Place {
    Rank rank;
    Index step;
    Count from;
  };

  Verdict prove(std::span<const Plan> plans, const Contract* contract, const Board& board,
                const Place* unknown = nullptr) {
    Operation& operation = this->operation(0);
    std::string choice;
    try {
      require_structure(plans, contract, board);
      operation.join(plans, board.hosts);
      for (std::uint64_t i = 0; i < operation.choices(); ++i) {
        operation.choose(i);
        choice = operation.choice_text();
        prove_choice(operation, contract, board, unknown);
      }
    } catch (const Refusal& refusal) {
      return verdict(plans, refusal, choice);
    }
    return {};
  }

  void prove_choice(Operation& operation, const Contract* contract, const Board& board, const Place* unknown) {
    operation.match();
    races.check(operation);
    Operation* const only = &operation;
    order.sort(std::span(&only, 1), board, false);
    exposures.check(operation, order, races, causality);
    if (contract != nullptr && contract->synchronizes) require_synchronization(operation, order, causality);
    if (unknown == nullptr) return symbolic.run(operation, order, contract);
    symbolic.run(operation, order, contract, operation.first_node(unknown->rank) + unknown->step, unknown->from);
  }
};

Checker::Checker() : memory_(std::make_unique<Memory>()) {}
Checker::~Checker() = default;
Checker::Checker(Checker&&) noexcept = default;
Checker& Checker::operator=(Checker&&) noexcept = default;

Verdict Checker::check(std::span<const Plan> plans, const Contract& contract, const Board& board) {
  return memory_->prove(plans, &contract, board);
}

Verdict Checker::check_without(std::span<const Plan> plans, const Contract& contract, const Board& board, Rank rank,
                               Index step, Count from) {
  const Memory::Place unknown{rank, step, from};
  return memory_->prove(plans, &contract, board, &unknown);
}

Verdict Checker::check_user(std::span<const Plan> plans, const Board& board) {
  return memory_->prove(plans, nullptr, board);
}

Verdict Checker::check_sequence(std::span<const std::vector<Plan>> operations, const Board& board) {
  std::size_t index = 0;
  memory_->sequence.clear();
  try {
    for (; index < operations.size(); ++index) {
      const std::vector<Plan>& plans = operations[index];
      require_structure(plans, nullptr, board);
      if (plans.size() != operations.front().size())
        throw Refusal{0, Verdict::no_step, "the operations are not all of the same group"};
      Operation& operation = memory_->operation(index);
      operation.join(plans, board.hosts);
      if (operation.choices() > 1)
        throw Refusal{0, Verdict::no_step, "a sequence does not take plans with 'after any'"};
      operation.choose(0);
      operation.match();
      memory_->sequence.push_back(&operation);
    }
  } catch (const Refusal& refusal) {
    return verdict(operations[index], refusal, " (operation " + std::to_string(index) + ")");
  }
  for (const bool one_after_another : {false, true}) {
    try {
      memory_->order.sort(memory_->sequence, board, one_after_another);
    } catch (const Refusal& refusal) {
      Verdict found{false, refusal.rank, refusal.step, "rank " + std::to_string(refusal.rank) + ": " + refusal.reason};
      found.text += one_after_another ? " (each operation started when the one before was complete)"
                                      : " (all operations started at once)";
      return found;
    }
  }
  return {};
}

Verdict check(std::span<const Plan> plans, const Contract& contract, const Board& board) {
  return Checker().check(plans, contract, board);
}
Verdict check_user(std::span<const Plan> plans, const Board& board) { return Checker().check_user(plans, board); }
Verdict check_sequence(std::span<const std::vector<Plan>> operations, const Board& board) {
  return Checker().check_sequence(operations, board);
}

}  // namespace tutti::plan
