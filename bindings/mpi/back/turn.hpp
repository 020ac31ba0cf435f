// SPDX-License-Identifier: BSD-3-Clause
// One call of a collective: who serves it, and how long it takes if somebody wants to know.
#pragma once

#include "communicators.hpp"
#include "policy.hpp"
#include "report.hpp"
#include "rests.hpp"
#include "timing.hpp"
#include "tutti/error.hpp"

namespace tutti::mpi {

/// What of a call matters for who serves it; the same on all ranks.
struct Nature {
  Kind kind;
  Form form;
  Count bytes;  ///< Negative: not known alike on all ranks.
};

class Turn {
 public:
  /// Whether anything depends on the size of such a call.
  static bool needs_size(Kind kind) { return policy.of(kind) == Choice::automatic || report::wanted; }

  /// `with` may be null; `covered`: Tutti can do it.
  Turn(Communicator* with, bool covered, const Nature& nature) : nature_(nature) {
    if (covered && policy.of(nature.kind) == Choice::always) {
      side_ = Side::tutti;
    } else if (covered && policy.of(nature.kind) == Choice::automatic) {
      with_ = with;
      take();
    }
    if (sample_ >= 0 || follows_measured() || report::wanted) start_ = base::now();
  }

  bool by_tutti() const { return side_ == Side::tutti; }

  /// The blocking call has ended. Lets the ranks agree on trials. Throws what an allreduce throws.
  void end() {
    if (start_ != 0) note(since(start_));
    if (with_ == nullptr) return;
    if (with_->choices->due() && !revoked(*with_)) with_->choices->agree(*with_->member, with_->place.size);
    if (watched_->trials.resting()) lend(*with_, nature_.kind, nature_.bytes, watched_->trials);
  }
  /// The call has been refused for this rank's own arguments: the other ranks do not count it.
  void give_back();
  /// It has started nothing that will end, for another reason.
  void is_lost();
  /// By Tutti.
  void failed(const Error& error) {
    if (error.cause() == Cause::usage)
      give_back();
    else
      is_lost();
  }
  /// The call has started an operation: what it costs until it is complete is measured.
  void started(MPI_Request request) {
    if (start_ == 0) return;
    note(since(start_));
    time_request(request, {sample_ >= 0 ? with_->choices : nullptr, watched_, sample_, nature_.kind, side_,
                           size_class(nature_.bytes)});
  }

 private:
  bool follows_measured() const {
    return with_ != nullptr && nature_.form == Form::blocking && with_->choices->last.watched != nullptr;
  }
  void take();
  void note(std::int64_t elapsed);

  Nature nature_;
  Communicator* with_ = nullptr;  ///< Where trials decide.
  Watched* watched_ = nullptr;
  Choices::Before before_;
  Side side_ = Side::mpi;
  int sample_ = -1;
  std::uint64_t start_ = 0;
};

}  // namespace tutti::mpi
