// SPDX-License-Identifier: BSD-3-Clause
// What operations note down when their rank is recorded. All of this is off the path of plain plans, which an operation
// leaves that is noted.
#include <mutex>

#include "engine/channel.hpp"
#include "engine/engine.hpp"
#include "engine/operation.hpp"
#include "trace/next_call.hpp"

namespace tutti::engine {
namespace {

using plan::Index;
using plan::Verb;

/// A step that moves less takes hardly longer than it takes to note it; what is no wait is not noted below.
constexpr std::size_t worth_noting = 16 << 10;

}  // namespace

std::unique_ptr<trace::Track> Channel::make_track(trace::Recorder& recorder) const {
  return std::make_unique<trace::Track>(recorder, who_.context,
                                        std::to_string(rank()) + " " + std::to_string(size()) + " " + who_.name);
}

void Channel::note_wait(const void* site, std::uint64_t since) {
  if (track_ == nullptr) return;
  const std::string place(calling_place());
  if (!place.empty()) site = engine_.setup().recorder->place(place);
  const std::lock_guard lock(lock_);
  trace::Event* const event = track_->take();
  if (event == nullptr) return;
  event->begin = since;
  event->end = base::ticks();
  event->site = reinterpret_cast<std::uint64_t>(site);
  event->group = track_->group();
  event->outcome = trace::Outcome::done;
  event->what = trace::What::wait;
}

void Operation::note_start(trace::Track& track, trace::Form form) {
  noted_ = nullptr;
  if (lane_ == transport::Lane::group) return;  // Tutti's own
  const trace::NextCall said = trace::take_next_call();
  if (lane_ == transport::Lane::collective && !trace::is_noted(sequence_)) return;
  trace::Event* const event = track.take();
  if (event == nullptr) return;
  const Description& says = bound_->description;
  event->begin = base::ticks();
  event->sequence = sequence_;
  event->site = said.site != 0 ? said.site : reinterpret_cast<std::uint64_t>(site_);
  event->group = track.group();
  event->form = said.blocks ? trace::Form::blocking : form;
  if (lane_ == transport::Lane::user) {
    const Instruction& step = bound_->only_message();
    event->kind = static_cast<std::uint8_t>(step.verb);
    event->peer = step.peer;
    event->bytes = step.bytes;
    event->message = user_tag_;
    event->what = trace::What::message;
  } else {
    event->kind = static_cast<std::uint8_t>(says.kind);
    event->peer = says.root;
    event->bytes = static_cast<std::uint64_t>(says.count) * says.element;
    event->algorithm = says.algorithm;
    event->what = trace::What::call;
  }
  noted_ = event;
  plain_ = false;
  track_ = &track;
  since_.assign(bound_->in_order ? 1 : bound_->instructions.size(), 0);
}

void Operation::note_end(trace::Outcome outcome) {
  noted_->outcome = outcome;
  noted_->end = base::ticks();
}

void Operation::note_step(Index index, std::uint64_t since) {
  if (user_lane()) return;  // its message has been noted
  trace::Event* const event = track_->take();
  if (event == nullptr) return;
  const Instruction& step = bound_->instructions[index];
  event->begin = since;
  event->end = base::ticks();
  event->sequence = sequence_;
  event->bytes = step.bytes;
  event->group = track_->group();
  // Awaited are rows of the board.
  const bool row = step.verb == Verb::await && step.peer >= 0;
  event->peer = row ? channel_.near()[static_cast<std::size_t>(step.peer)] : step.peer;
  event->message = step.message;
  event->kind = static_cast<std::uint8_t>(step.verb);
  event->outcome = trace::Outcome::done;
  event->what = trace::What::step;
}

bool Operation::poll_noted(Index index) {
  const Instruction& step = bound_->instructions[index];
  std::uint64_t& since = since_[bound_->in_order ? 0 : index];
  const bool always = step.transfer >= 0 || (moves(step.verb) && step.bytes >= worth_noting);
  if (always && since == 0) since = base::ticks();
  if (!poll(index)) {
    if (since == 0) since = base::ticks();
    return false;
  }
  if (since != 0) note_step(index, since);
  since = 0;
  return true;
}

bool Operation::run_in_order_noted() {
  for (const Index end = bound_->steps; at_ != end; ++at_) {
    if (!poll_noted(at_)) return false;
    progress_at_ = 0;
  }
  return true;
}

// The form is written when it was started, and not again before it is given up.
bool Operation::notes_waits() const { return noted_ != nullptr && noted_->form != trace::Form::blocking; }

void Operation::note_wait(trace::Recorder& recorder, std::uint64_t since) const {
  trace::Event* const event = recorder.take(1);
  if (event == nullptr) return;
  event->begin = since;
  event->end = base::ticks();
  event->sequence = noted_->sequence;
  event->site = noted_->site;
  event->group = noted_->group;
  event->kind = noted_->kind;
  event->outcome = finished() ? trace::Outcome::done : trace::Outcome::pending;
  event->what = trace::What::wait;
}

}  // namespace tutti::engine
