// SPDX-License-Identifier: BSD-3-Clause
#include "calls.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "collectives/collective.hpp"
#include "exact/sums.hpp"
#include "numbers.hpp"
#include "oracle.hpp"

namespace tutti::testing {
namespace {

template <class T>
using Columns = std::vector<std::vector<T>>;

/// Column by column what the first `ranks` ranks give is summed up. Each result is judged by the definition.
template <class T>
std::vector<T> expected(const Columns<T>& columns, Rank ranks) {
  std::vector<const std::byte*> sources;
  for (Rank rank = 0; rank < ranks; ++rank)
    sources.push_back(reinterpret_cast<const std::byte*>(columns[static_cast<std::size_t>(rank)].data()));
  std::vector<T> sums(columns[0].size());
  if (ranks > 0) exact::sum<T>(sources, reinterpret_cast<std::byte*>(sums.data()), static_cast<Count>(sums.size()));
  for (std::size_t i = 0; ranks > 0 && i < sums.size(); i += 1 + i / 20) {
    std::vector<T> row;
    for (Rank rank = 0; rank < ranks; ++rank) row.push_back(columns[static_cast<std::size_t>(rank)][i]);
    const std::string wrong = judge<T>(row, sums[i]);
    if (!wrong.empty()) throw std::logic_error("what is expected is wrong: " + wrong);
  }
  return sums;
}

/// Numbers that lie apart, with others between them.
template <class T>
class Apart {
 public:
  explicit Apart(const std::vector<T>& numbers) : memory_(2 * numbers.size() + 1, T{7}) {
    for (std::size_t i = 0; i < numbers.size(); ++i) memory_[2 * i + 1] = numbers[i];
  }
  T* data() { return memory_.data(); }
  Layout layout() const {
    return Layout::of<T>().strided(static_cast<Count>(memory_.size() / 2), 1, 2).moved(sizeof(T));
  }
  std::vector<T> numbers() const {
    std::vector<T> all;
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      if (i % 2 == 1) all.push_back(memory_[i]);
      if (i % 2 == 0 && memory_[i] != T{7}) throw std::logic_error("what lies between the numbers was written");
    }
    return all;
  }

 private:
  std::vector<T> memory_;
};

/// One reduction of one sort of numbers: what a rank gives, and what it must get.
template <class T>
class Case {
 public:
  Case(const Group& world, Kind kind, Sort sort, Count count, Rank root) : world_(world), kind_(kind), root_(root) {
    const auto size = static_cast<std::size_t>(world.size());
    const bool scatters = kind == Kind::reduce_scatter || kind == Kind::reduce_scatter_block;
    for (std::size_t rank = 0; rank < size; ++rank)
      counts_.push_back(kind == Kind::reduce_scatter ? static_cast<Count>(rank % 3) * count : count);
    const Count all = scatters ? std::accumulate(counts_.begin(), counts_.end(), Count{0}) : count;
    columns_ = numbers<T>(sort, size, static_cast<std::size_t>(all), static_cast<std::uint64_t>(kind) + size);
    const bool scans = kind == Kind::scan || kind == Kind::exscan;
    sums_ = expected<T>(columns_, scans ? world.rank() + (kind == Kind::scan ? 1 : 0) : world.size());
    if (scatters) {
      const auto own = counts_.begin() + world.rank();
      const auto begin = sums_.begin() + std::accumulate(counts_.begin(), own, Count{0});
      sums_ = {begin, begin + *own};
    }
    gets_ = kind == Kind::reduce ? world.rank() == root : kind != Kind::exscan || world.rank() > 0;
  }

  void run(std::string_view algorithm, bool in_place, bool request, bool laid_out) {
    std::vector<T> mine = columns_[static_cast<std::size_t>(world_.rank())];
    std::vector<T> out(sums_.size(), T{42});
    if (in_place) out = mine;
    Apart<T> input_apart(mine), output_apart(out);
    const Layout input_layout = input_apart.layout(), output_layout = output_apart.layout();
    Call call;
    call.kind = kind_;
    call.input = in_place ? nullptr : mine.data();
    call.output = out.data();
    call.in_place = in_place;
    call.type = type_of<T>;
    call.element = sizeof(T);
    call.count = counts_[static_cast<std::size_t>(world_.rank())];
    if (kind_ == Kind::reduce_scatter) call.recv_counts = counts_, call.count = 0;
    call.root = root_;
    call.reduction.op = Op::sum;
    call.algorithm = algorithm;
    if (laid_out) {
      call.input = in_place ? nullptr : input_apart.data();
      call.output = output_apart.data();
      call.input_layout = in_place ? nullptr : &input_layout;
      call.output_layout = &output_layout;
    }
    request ? world_.start(call).wait() : world_.run(call);
    if (laid_out) {
      mine = input_apart.numbers();
      out = output_apart.numbers();
    }
    if (!gets_) return;
    if (std::memcmp(out.data(), sums_.data(), sums_.size() * sizeof(T)) != 0) throw std::logic_error("wrong sums");
    if (mine != columns_[static_cast<std::size_t>(world_.rank())] &&
        std::ranges::none_of(mine, [](T x) { return x != x; }))
      throw std::logic_error("the input was written");
  }

 private:
  const Group& world_;
  Kind kind_;
  Rank root_;
  bool gets_ = true;
  std::vector<Count> counts_;
  Columns<T> columns_;
  std::vector<T> sums_;
};

template <class T>
int every_algorithm_of(const Group& group, Kind kind) {
  int made = 0;
  for (const Sort sort : all_sorts)
    for (const Count count : {1, 7, 1500}) {
      if (count > 7 && sort != Sort::uniform && sort != Sort::cancelling) continue;
      const Rank root = kind == Kind::reduce ? group.size() / 2 : 0;
      Case<T> one(group, kind, sort, count, root);
      for (const auto& algorithm : collectives::algorithms()) {
        if (algorithm.kind != kind) continue;
        const bool in_place = made % 3 == 1 && (kind != Kind::reduce || group.rank() == root);
        const bool laid_out = (made / 2 + group.rank()) % 3 == 1;  // each rank as it likes
        try {
          one.run(algorithm.name, in_place, made % 2 == 1, laid_out);
        } catch (const Error& error) {
          if (error.cause() != Cause::usage) throw;
          continue;  // cannot be used here
        } catch (const std::logic_error& error) {
          throw std::logic_error(std::string(error.what()) + " by " + std::string(algorithm.name) + ", " + name(sort) +
                                 ", " + std::to_string(count) + (in_place ? ", in place" : "") +
                                 (laid_out ? ", laid out" : ""));
        }
        ++made;
      }
      one.run("", false, false, false);
      one.run("", false, false, true);
    }
  return made;
}

}  // namespace

int every_algorithm(const Group& group) {
  int made = 0;
  for (const Kind kind :
       {Kind::reduce, Kind::allreduce, Kind::reduce_scatter_block, Kind::reduce_scatter, Kind::scan, Kind::exscan}) {
    made += every_algorithm_of<double>(group, kind);
    made += every_algorithm_of<float>(group, kind);
  }
  return made;
}

namespace {

template <class T>
void whole_arrays_of(const Group& world) {
  for (const Sort sort : all_sorts)
    for (const std::size_t length : {0, 1, 2, 1000}) {
      const std::vector<T> all = numbers<T>(sort, 1, length, length).front();
      const auto deal = [&](std::size_t begin, std::size_t end) {
        const T total = world.sum(std::span(all).subspan(begin, end - begin));
        const std::string wrong = judge<T>(all, total);
        if (!wrong.empty()) throw std::logic_error(std::string(name(sort)) + ": " + wrong);
      };
      const auto rank = static_cast<std::size_t>(world.rank()), size = static_cast<std::size_t>(world.size());
      deal(length * rank / size, length * (rank + 1) / size);
      deal(rank == 0 ? 0 : length, length);  // one has all
      Apart<T> apart(rank + 1 == size ? all : std::vector<T>());
      const T total = world.sum(
          View(std::span(apart.data(), 2 * length + 1).first(rank + 1 == size ? 2 * length + 1 : 1), apart.layout()));
      if (const std::string wrong = judge<T>(all, total); !wrong.empty())
        throw std::logic_error(std::string(name(sort)) + ", laid out: " + wrong);
      const std::size_t third = size == 1 ? 0 : length / 3;  // the first has a third, the last the rest
      deal(rank + 1 == size ? third : 0, rank + 1 == size ? length : rank == 0 ? third : 0);
    }
}

}  // namespace

void whole_arrays(const Group& world) {
  whole_arrays_of<double>(world);
  whole_arrays_of<float>(world);
  const std::vector<std::complex<double>> turns = {{1, 0x1p-70}, {0x1p-70, -1}, {-1, 1}};
  std::complex<double> total;
  Request request = world.isum(world.rank() == 0 ? std::span(turns) : std::span(turns).first(0), total);
  request.wait();
  if (total != std::complex<double>(0x1p-70, 0x1p-70)) throw std::logic_error("wrong complex sum");
}

}  // namespace tutti::testing
