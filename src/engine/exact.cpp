// SPDX-License-Identifier: BSD-3-Clause
#include "engine/exact.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <tuple>

#include "engine/bound.hpp"
#include "exact/sums.hpp"
#include "layout/form.hpp"
#include "tutti/error.hpp"

namespace tutti::engine {

using exact::Word;
using plan::Verb;

static_assert(ExactCall::most_ranks <= exact::most_accumulators && ExactCall::word_bytes == sizeof(Word));

namespace {

bool single(Type type) { return type == Type::float32 || type == Type::complex64; }

/// Runs `work` with a number of the type that elements of `type` consist of.
template <class Work>
void with_number(Type type, Work work) {
  single(type) ? work(float{}) : work(double{});
}

std::size_t reserve(std::size_t& scratch_bytes, std::size_t bytes) {
  constexpr std::size_t line = 64;
  const std::size_t begin = (scratch_bytes + line - 1) / line * line;
  scratch_bytes = begin + bytes;
  return begin;
}

Word* words_at(std::byte* place) { return reinterpret_cast<Word*>(place); }

}  // namespace

Count ExactCall::words() const {
  return parts() * static_cast<Count>(way == Way::folded ? exact::words : exact::words_of(size));
}

std::size_t ExactCall::bytes(Count elements) const {
  return static_cast<std::size_t>(elements * parts()) * (single(type) ? sizeof(float) : sizeof(double));
}

Exact::Exact(const ExactCall& call, const std::vector<Instruction>& instructions, std::size_t& scratch_bytes)
    : call_(call) {
  const Count held = call_.in_place ? std::max(call_.gives, call_.takes) : call_.takes;
  if (call_.layouts.input && !call_.in_place) given_ = reserve(scratch_bytes, call_.bytes(call_.gives));
  if (call_.layouts.output) made_ = reserve(scratch_bytes, call_.bytes(held));
  if (!travels()) {
    find_turns(instructions, scratch_bytes);
    return;
  }
  const auto bytes = [&](Count elements) { return static_cast<std::size_t>(elements * call_.words()) * sizeof(Word); };
  // In place, the input lies where the result will be, and may be longer.
  if (!call_.in_place) input_ = reserve(scratch_bytes, bytes(call_.way == ExactCall::Way::folded ? 1 : call_.gives));
  output_ = reserve(scratch_bytes, bytes(held));
}

void Exact::find_turns(const std::vector<Instruction>& instructions, std::size_t& scratch_bytes) {
  using Target = std::tuple<plan::Buffer, std::int32_t, Rank, std::size_t, std::size_t>;
  std::map<Target, std::vector<std::size_t>> open;
  turns_.resize(instructions.size());
  const auto close = [&](std::vector<std::size_t>& steps) {
    if (steps.empty()) return;
    if (static_cast<Count>(steps.size()) + 1 != call_.contributors)
      throw Error(Cause::system, "an algorithm that is registered to combine at one place does not; choose another");
    const std::size_t bytes = instructions[steps.front()].bytes;
    const std::size_t kept = reserve(scratch_bytes, (steps.size() - 1) * bytes);
    for (std::size_t i = 0; i < steps.size(); ++i)
      turns_[steps[i]] = {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(steps.size()), kept, bytes};
    steps.clear();
  };
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const Instruction& step = instructions[i];
    const Place& to = step.target;
    const Target target{to.buffer, to.cell, to.owner, to.offset, step.bytes};
    if (plan::reduces(step.verb))
      open[target].push_back(i);
    else if (to.buffer != plan::Buffer::none)
      close(open[target]);
  }
  for (auto& [target, steps] : open) close(steps);
}

Exact::Ends Exact::begin(Ends ends, Count own, std::byte* scratch) const {
  const auto pack = [&](const Layout& layout, const std::byte* memory, std::size_t place) {
    const auto bytes = static_cast<Count>(call_.bytes(call_.gives));
    if (bytes > 0) layout::pack(layout.form().node, memory, 0, bytes, scratch + place);
  };
  if (call_.layouts.input && !call_.in_place) {
    pack(*call_.layouts.input, ends.input, given_);
    ends.input = scratch + given_;
  }
  if (call_.layouts.output) {
    if (call_.in_place) pack(*call_.layouts.output, ends.output, made_);
    ends.output = scratch + made_;
  }
  if (!travels()) return ends;
  const std::byte* numbers = call_.in_place ? ends.output : ends.input;
  Word* const words = words_at(scratch + (call_.in_place ? output_ : input_));
  with_number(call_.type, [&](auto number) {
    using T = decltype(number);
    if (call_.way == ExactCall::Way::folded)
      exact::fold<T>(numbers, own * call_.parts(), static_cast<int>(call_.parts()), words);
    else
      exact::encode<T>(numbers, call_.gives * call_.parts(), call_.rank, call_.size, words);
  });
  return {scratch + input_, scratch + output_};
}

void Exact::reduce(std::size_t step, std::size_t done, const std::byte* source, std::byte* target, std::size_t bytes,
                   std::byte* scratch) const {
  const Turn& turn = turns_[step];
  const auto kept = [&](std::size_t place) { return scratch + turn.kept + place * turn.bytes + done; };
  if (turn.place + 1 < turn.of) {
    std::memcpy(kept(turn.place), source, bytes);
    return;
  }
  thread_local std::vector<const std::byte*> sources;
  sources.clear();
  sources.push_back(target);
  for (std::size_t place = 0; place < turn.place; ++place) sources.push_back(kept(place));
  sources.push_back(source);
  with_number(call_.type, [&](auto number) {
    using T = decltype(number);
    exact::sum<T>(sources, target, static_cast<Count>(bytes / sizeof(T)));
  });
}

void Exact::end(std::byte* scratch, std::byte* users) const {
  const Count numbers = call_.takes * call_.parts();
  if (numbers == 0) return;
  std::byte* const output = call_.layouts.output ? scratch + made_ : users;
  with_number(call_.type, [&](auto number) {
    using T = decltype(number);
    if (call_.way == ExactCall::Way::as_words) {
      exact::decode<T>(words_at(scratch + output_), numbers, call_.size, output);
    } else if (call_.way == ExactCall::Way::folded) {
      for (Count i = 0; i < numbers; ++i) {
        const T value = exact::rounded<T>(words_at(scratch + output_) + static_cast<std::size_t>(i) * exact::words);
        std::memcpy(output + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof value);
      }
    } else if (call_.contributors == 1) {  // copied, not summed: a NaN becomes the NaN of sums
      const std::array<const std::byte*, 1> itself = {output};
      exact::sum<T>(itself, output, numbers);
    }
  });
  if (call_.layouts.output)
    layout::unpack(call_.layouts.output->form().node, users, 0, static_cast<Count>(call_.bytes(call_.takes)), output);
}

}  // namespace tutti::engine
