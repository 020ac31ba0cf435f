// SPDX-License-Identifier: BSD-3-Clause
// Recursive doubling: everybody sends all it has combined to the rank `distance` behind it, which puts it before its
// own; the distance doubles. What came is combined a second time without the own data: the result. Any P, and
// reductions need not commute. Latency: for short messages.
// Hillis, Steele 1986, doi 10.1145/7902.7903. Cost: ceil(log2 P) (alpha + beta n + 2 gamma n).
//
//     P = 5    0>1 1>2 2>3 3>4     -   0   1    2     3       sent on: 0   01   12    23
//              0>2 1>3 2>4         -   0   01   12    123              0
//              0>4                 -   0   01   012   0123
#include "collectives/algorithm.hpp"

namespace tutti::collectives::exscan {
namespace {

class Doubling {
 public:
  explicit Doubling(const Shape& shape) : shape_(shape), b_(shape), result_(whole(shape)) {}

  plan::Plan build() {
    const Slice mine = operand(shape_, result_);
    // What is sent on changes with what comes, and in place is written over.
    const bool copied = shape_.rank > 0 && (sends(2) || (shape_.in_place && sends(1)));
    sum_ = copied ? b_.scratch(shape_.count) : mine;
    summed_ = b_.copy(mine, sum_);
    theirs_ = b_.scratch(shape_.rank > 1 ? shape_.count : 0);
    for (Count distance = 1; distance < shape_.size; distance *= 2) round(distance);
    return b_.build();
  }

 private:
  bool sends(Count distance) const { return shape_.rank + distance < shape_.size; }

  void round(Count distance) {
    Handle sent;
    if (sends(distance)) sent = b_.send(static_cast<Rank>(shape_.rank + distance), sum_).after(summed_);
    if (shape_.rank < distance) return;
    const auto from = static_cast<Rank>(shape_.rank - distance);
    const bool first = distance == 1;  // the result begins with what comes first
    const Slice arrived = first ? result_ : theirs_;
    const Handle received = b_.recv(from, arrived).after(first && shape_.in_place ? std::vector{summed_} : used_);
    if (first)
      used_ = {};
    else
      used_ = {b_.reduce(theirs_, result_, Side::left).after(result_read_).after(received)};
    result_read_ = first ? std::vector{received} : used_;
    if (!sends(2 * distance)) return;
    summed_ = b_.reduce(arrived, sum_, Side::left).after({summed_, sent, received});
    (first ? result_read_ : used_).push_back(summed_);
  }

  const Shape& shape_;
  Writer b_;
  Slice result_, sum_, theirs_;
  Handle summed_;                    // when sum_ can be sent
  std::vector<Handle> result_read_;  // after which the result may be combined on
  std::vector<Handle> used_;         // after which `theirs_` may be written again
};

}  // namespace

plan::Plan recursive_doubling(const Shape& shape) { return Doubling(shape).build(); }

}  // namespace tutti::collectives::exscan
