// SPDX-License-Identifier: BSD-3-Clause
#include "turn.hpp"

#include <utility>

namespace tutti::mpi {

void Turn::take() {
  if (nature_.form == Form::blocking) mpi::give_back(nature_.kind);
  watched_ = &with_->choices->of(nature_.kind, nature_.form, nature_.bytes);
  // Blocking calls follow one another; a request may be completed by another thread meanwhile.
  std::unique_lock<std::mutex> guard;
  if (nature_.form == Form::starting) guard = std::unique_lock(with_->choices->lock);
  const bool was_due = watched_->trials.due();
  before_ = with_->choices->before(watched_->trials, nature_.form);
  const Trials::Turn turn = with_->choices->next(watched_->trials, nature_.form);
  side_ = turn.side;
  sample_ = turn.sample;
  if (sample_ >= 0 && nature_.form == Form::starting) ++watched_->open;
  if (watched_->trials.due() && !was_due) with_->choices->wait_for_agreement(*watched_);
  // The next blocking call pays for this one, or agrees.
  if ((sample_ >= 0 && nature_.form == Form::blocking) || with_->choices->due()) give_back_all(*with_->choices);
}

void Turn::give_back() {
  if (watched_ == nullptr) return;
  std::unique_lock<std::mutex> guard;
  if (nature_.form == Form::starting) {
    guard = std::unique_lock(with_->choices->lock);
    if (sample_ >= 0) --watched_->open;
  }
  with_->choices->take_back(*watched_, nature_.form, before_);
}

void Turn::is_lost() {
  if (sample_ < 0 || nature_.form != Form::starting) return;
  const std::lock_guard guard(with_->choices->lock);
  --watched_->open;
}

void Turn::note(std::int64_t elapsed) {
  if (follows_measured()) {
    const auto [before, sample] = std::exchange(with_->choices->last, {});
    before->trials.followed(sample, elapsed);
  }
  if (sample_ >= 0 && nature_.form == Form::blocking && !watched_->trials.due())
    with_->choices->last = {watched_, sample_};
  if (sample_ >= 0) {
    std::unique_lock<std::mutex> guard;
    if (nature_.form == Form::starting) guard = std::unique_lock(with_->choices->lock);
    watched_->trials.measured(sample_, elapsed);
  }
  if (!report::wanted) return;
  const std::int64_t gain = watched_ != nullptr && side_ == Side::tutti && sample_ < 0 ? watched_->trials.gain() : 0;
  report::call(nature_.kind, nature_.form, size_class(nature_.bytes), side_, {nature_.bytes, elapsed, gain});
}

}  // namespace tutti::mpi
