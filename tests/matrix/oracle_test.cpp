// SPDX-License-Identifier: BSD-3-Clause
// Proves the matrix' oracle: wrong collectives in place of the library's. It reports exactly those ranks whose memory
// differs from what the right one leaves there, and each kind of wrong is seen in every collective that can show it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "base/random.hpp"
#include "job/inproc.hpp"
#include "matrix.hpp"

namespace {

using tutti::Call;
using tutti::Count;
using tutti::Group;
using tutti::Kind;
using tutti::Rank;
using tutti::matrix::Case;
using tutti::matrix::Expected;

constexpr Rank size = 3;
constexpr std::size_t margin = 32;  // bytes of the guards that are looked at here

/// A buffer of a call, with the margins before and behind it.
struct Memory {
  std::byte* data;
  std::size_t bytes;
  std::vector<std::byte> copy() const { return {data - margin, data + bytes + margin}; }
  void restore(const std::vector<std::byte>& from) const { std::ranges::copy(from, data - margin); }
};

/// One rank's part of a wrong collective.
struct Part {
  const Group& group;
  const Call& call;
  const tutti::plan::Promise& promise;
  bool culprit;  ///< The wrong is done by one rank.
  std::uint64_t seed;

  Memory input() const { return memory(const_cast<void*>(call.input), promise.input); }
  Memory output() const { return memory(call.output, promise.output); }
  void right() const { group.run(call); }

 private:
  Memory memory(void* data, Count count) const {
    return {static_cast<std::byte*>(data), static_cast<std::size_t>(count) * call.element};
  }
};

using Wrong = void (*)(const Part&);

void does_nothing(const Part& part) {
  const auto before = part.output().copy();
  part.right();
  if (part.culprit) part.output().restore(before);
}

void leaves_the_last_element(const Part& part) {
  const Memory output = part.output();
  const auto before = output.copy();
  part.right();
  if (!part.culprit || output.bytes == 0) return;
  const std::size_t last = output.bytes - part.call.element;
  std::memcpy(output.data + last, before.data() + margin + last, part.call.element);
}

void is_one_element_off(const Part& part) {
  const Memory output = part.output();
  part.right();
  if (part.culprit && output.bytes > 0)
    std::memmove(output.data + part.call.element, output.data, output.bytes - part.call.element);
}

void writes_behind_the_output(const Part& part) {
  part.right();
  if (part.culprit) part.output().data[part.output().bytes] ^= std::byte{1};
}

void writes_before_the_output(const Part& part) {
  part.right();
  if (part.culprit) part.output().data[-1] ^= std::byte{1};
}

void writes_behind_the_input(const Part& part) {
  part.right();
  if (part.culprit) part.input().data[part.input().bytes] ^= std::byte{1};
}

void changes_the_input(const Part& part) {
  part.right();
  if (part.culprit && part.input().bytes > 0) part.input().data[part.input().bytes - 1] ^= std::byte{1};
}

/// The first element that nobody promises.
void writes_between_the_blocks(const Part& part) {
  part.right();
  if (!part.culprit) return;
  std::vector<bool> promised(static_cast<std::size_t>(part.promise.output));
  for (const auto& piece : part.promise.after)
    std::fill_n(promised.begin() + piece.offset, piece.count, piece.buffer == tutti::plan::Buffer::output);
  const auto gap = std::ranges::find(promised, false);
  if (gap != promised.end())
    part.output().data[static_cast<std::size_t>(gap - promised.begin()) * part.call.element] ^= std::byte{1};
}

void flips_a_bit(const Part& part) {
  tutti::base::Random random(part.seed);
  part.right();
  if (!part.culprit) return;
  const Memory output = part.output();
  const std::size_t at = random.below(output.bytes + 2 * margin);
  output.data[static_cast<std::ptrdiff_t>(at) - static_cast<std::ptrdiff_t>(margin)] ^= std::byte{1} << random.below(8);
}

/// Runs the collective with the culprit's contribution changed: `change` gets one element of one or two words.
template <class Change>
void contributes(const Part& part, Change change) {
  const Memory mine = part.call.in_place ? part.output() : part.input();
  std::vector<std::uint64_t> words(mine.bytes / sizeof(std::uint64_t));
  std::memcpy(words.data(), mine.data, mine.bytes);
  const std::size_t element = part.call.element / sizeof(std::uint64_t);
  for (std::size_t i = 0; i < words.size(); i += element) change(&words[i], element);
  Call call = part.call;
  if (part.culprit && call.in_place) std::memcpy(call.output, words.data(), mine.bytes);
  if (part.culprit) call.input = words.data();
  part.group.run(call);
}

bool reduces(const Part& part) { return tutti::collectives::get(part.call.kind).reduces; }

void counts_one_twice(const Part& part) {
  if (!reduces(part)) return part.right();
  contributes(part, [](std::uint64_t* x, std::size_t words) {
    if (words == 1) return void(x[0] *= 2);
    x[1] += x[0] * x[1];
    x[0] *= x[0];
  });
}

void forgets_one(const Part& part) {
  if (!reduces(part)) return part.right();
  contributes(part, [](std::uint64_t* x, std::size_t words) {
    x[0] = words == 1 ? 0 : 1;
    if (words == 2) x[1] = 0;
  });
}

/// Blocks, or the operands of a reduction, in the wrong order.
void goes_backwards(const Part& part) {
  if (tutti::collectives::has_neighbors(part.call.kind)) return part.right();  // such a group has no neighbours
  const Group backwards = part.group.split(0, -part.group.rank());
  if (tutti::collectives::get(part.call.kind).varying) return part.right();  // the ranks' counts would contradict
  Call call = part.call;
  call.root = size - 1 - call.root;
  backwards.run(call);
}

void takes_another_root(const Part& part) {
  if (part.call.kind != Kind::bcast) return part.right();  // elsewhere the root alone has the memory
  Call call = part.call;
  call.root = (call.root + 1) % size;
  part.group.run(call);
}

const std::map<std::string, Wrong> mutants = {
    {"does nothing", does_nothing},
    {"leaves the last element", leaves_the_last_element},
    {"is one element off", is_one_element_off},
    {"writes behind the output", writes_behind_the_output},
    {"writes before the output", writes_before_the_output},
    {"writes behind the input", writes_behind_the_input},
    {"changes the input", changes_the_input},
    {"writes between the blocks", writes_between_the_blocks},
    {"flips a bit", flips_a_bit},
    {"counts one twice", counts_one_twice},
    {"forgets one", forgets_one},
    {"goes backwards", goes_backwards},
    {"takes another root", takes_another_root},
};

/// Runs the right collective, then the wrong one from the same memory; returns whether this rank's differs.
bool differs(const Part& part, Wrong wrong) {
  const auto input = part.input().copy(), output = part.output().copy();
  part.right();
  const auto right_input = part.input().copy(), right_output = part.output().copy();
  part.input().restore(input);
  part.output().restore(output);
  wrong(part);
  return part.input().copy() != right_input || part.output().copy() != right_output;
}

struct Verdict {
  bool wrong = false, reported = false;
  std::string text;
};

Verdict judge(const Group& world, const Case& one, const Expected& expected, Wrong wrong, Rank culprit) {
  Verdict verdict;
  const auto& promise = expected.contract.ranks[static_cast<std::size_t>(world.rank())];
  const auto seed =
      tutti::base::combine(static_cast<std::uint64_t>(one.problem.kind), static_cast<std::uint64_t>(culprit));
  tutti::matrix::Hooks hooks;
  hooks.instead = [&](const Group& group, const Call& call) {
    verdict.wrong = differs({group, call, promise, group.rank() == culprit, seed}, wrong);
  };
  try {
    tutti::matrix::run(world, one, expected, hooks);
  } catch (const std::runtime_error& error) {
    verdict.text = error.what();
    verdict.reported = verdict.text.find("is wrong at byte") != std::string::npos;
  }
  return verdict;
}

/// Which kinds of wrong were seen in which collectives.
using Seen = std::map<std::string, std::set<Kind>>;

void run(const Case& one, Seen& seen) {
  const Expected expected(one.problem);
  tutti::job::run_inproc(size, {.fibers = true}, [&](const Group& world) {
    for (const auto& [name, wrong] : mutants)
      for (Rank culprit = 0; culprit < size; ++culprit) {
        const Verdict verdict = judge(world, one, expected, wrong, culprit);
        EXPECT_EQ(verdict.reported, verdict.wrong) << tutti::matrix::name(one) << " that " << name << " (rank "
                                                   << culprit << "), on rank " << world.rank() << ": " << verdict.text;
        if (verdict.wrong) seen[name].insert(one.problem.kind);
      }
  });
}

/// One algorithm of each collective, with every root, in and out of place, in both orders of reduction.
std::vector<Case> cases(Kind kind) {
  std::vector<Case> list;
  for (const Case& one : tutti::matrix::cases(size, {5}, size, true, true, kind))
    if (std::ranges::find(list, one.problem, &Case::problem) == list.end()) list.push_back(one);
  return list;
}

TEST(Oracle, SeesWhatIsWrong) {
  Seen seen;
  std::set<Kind> with_data, with_input, varying, reducing;
  for (const auto& collective : tutti::collectives::all()) {
    if (collective.kind == Kind::barrier) continue;
    with_data.insert(collective.kind);
    if (collective.kind != Kind::bcast) with_input.insert(collective.kind);
    if (collective.varying) varying.insert(collective.kind);
    if (collective.reduces) reducing.insert(collective.kind);
    for (const Case& one : cases(collective.kind)) run(one, seen);
  }
  for (const char* everywhere : {"does nothing", "leaves the last element", "is one element off",
                                 "writes behind the output", "writes before the output", "flips a bit"})
    EXPECT_EQ(seen[everywhere], with_data) << everywhere;
  EXPECT_EQ(seen["writes behind the input"], with_data);
  EXPECT_EQ(seen["changes the input"], with_input);
  for (const Kind kind : varying)
    EXPECT_EQ(seen["writes between the blocks"].count(kind), kind == Kind::scatterv ? 0u : 1u)
        << static_cast<int>(kind);
  EXPECT_EQ(seen["counts one twice"], reducing);
  EXPECT_EQ(seen["forgets one"], reducing);
  EXPECT_EQ(seen["goes backwards"],
            (std::set{Kind::reduce, Kind::allreduce, Kind::gather, Kind::scatter, Kind::allgather, Kind::alltoall,
                      Kind::reduce_scatter_block, Kind::scan, Kind::exscan}));
  EXPECT_EQ(seen["takes another root"], std::set{Kind::bcast});
}

}  // namespace
