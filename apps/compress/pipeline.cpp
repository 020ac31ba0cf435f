// SPDX-License-Identifier: BSD-3-Clause
#include "pipeline.hpp"

#include <chrono>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "shares.hpp"

namespace compress {

using tutti::Count;
using tutti::Group;
using tutti::Request;

namespace {

/// One round of all ranks: what was compressed, and the operations that collect it.
struct Round {
  std::vector<char> compressed;
  Report mine;
  std::vector<Report> all;
  std::vector<char> gathered;  // rank 0
  std::int64_t read_to = 0;    // bytes of input up to the end of this round
  bool collecting = false;
  Request sizes, data;  // last: they end before the buffers they use
};

class Compressor {
 public:
  Compressor(const Group& group, const Options& options, int input, Output* output,
             const std::function<void(std::int64_t)>& progress)
      : group_(group),
        options_(options),
        input_(input),
        output_(output),
        progress_(progress),
        block_(options.level * 100'000),
        shares_(group.size(), options.tile),
        rounds_(static_cast<std::size_t>(options.overlap ? 2 * options.window + 1 : 1)) {}

  std::int64_t run() {
    tutti::pipeline<Round>(
        rounds_, [this](Round& round, Count k) { return compute(round, k); }, [this](Round& round) { start(round); },
        [this](Round& round) { finish(round); });
    return position_;
  }

 private:
  bool compute(Round& round, Count k);
  void start(Round& round);
  void collect(Round& round);
  void finish(Round& round);
  void compress_blocks(Round& round, std::int64_t offset, std::int64_t bytes);
  std::span<const char> next_block(std::int64_t offset, std::int64_t bytes);
  std::int64_t receive(std::int64_t wanted, const std::vector<Count>& shares);
  void keep_going();

  const Group& group_;
  const Options& options_;
  int input_;
  Output* output_;
  const std::function<void(std::int64_t)>& progress_;
  std::int64_t block_;
  Shares shares_;
  std::vector<Round> rounds_;
  Count started_ = 0, collected_ = 0;
  std::int64_t position_ = 0;  // the first byte of the next round
  std::vector<char> read_;     // rank 0: a round of a stream; of a file: a block
  std::vector<char> piece_;    // this rank's part of a round of a stream
};

/// A stream is read by rank 0 and dealt out; returns the bytes of this round, 0 at the end.
std::int64_t Compressor::receive(std::int64_t wanted, const std::vector<Count>& shares) {
  std::int64_t available[1] = {0};
  if (group_.rank() == 0) {
    read_.resize(static_cast<std::size_t>(wanted));
    read_.resize(read(input_, -1, read_));
    available[0] = static_cast<std::int64_t>(read_.size());
  }
  group_.bcast(available);
  std::vector<Count> counts;
  std::int64_t left = available[0];
  for (const Count share : shares) {
    counts.push_back(std::min(left, share * block_));
    left -= counts.back();
  }
  piece_.resize(static_cast<std::size_t>(counts[static_cast<std::size_t>(group_.rank())]));
  group_.scatterv(read_, piece_, counts);
  return available[0];
}

bool Compressor::compute(Round& round, Count k) {
  const auto me = static_cast<std::size_t>(group_.rank());
  const std::vector<Count> shares = shares_.of_round(k);
  const Count blocks = std::accumulate(shares.begin(), shares.end(), Count{0});
  const bool streams = options_.bytes < 0;
  const std::int64_t wanted = blocks * block_;
  const std::int64_t bytes = streams ? receive(wanted, shares) : std::min(options_.bytes - position_, wanted);
  if (bytes == 0) return false;
  const Count before = std::accumulate(shares.begin(), shares.begin() + group_.rank(), Count{0});
  const std::int64_t offset = std::min(bytes, before * block_);
  compress_blocks(round, streams ? 0 : position_ + offset, std::min(bytes - offset, shares[me] * block_));
  position_ += bytes;
  round.read_to = position_;
  return true;
}

void Compressor::compress_blocks(Round& round, std::int64_t offset, std::int64_t bytes) {
  const auto begin = std::chrono::steady_clock::now();
  round.collecting = false;
  round.compressed.clear();
  round.mine = {};
  for (std::int64_t done = 0; done < bytes; done += block_) {
    append_stream(next_block(offset + done, std::min(block_, bytes - done)), options_.level, round.compressed);
    ++round.mine.blocks;
    keep_going();
  }
  round.mine.nanoseconds = (std::chrono::steady_clock::now() - begin).count();
  round.mine.bytes = static_cast<std::int64_t>(round.compressed.size());
}

std::span<const char> Compressor::next_block(std::int64_t offset, std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  if (options_.bytes < 0) return std::span(piece_).subspan(static_cast<std::size_t>(offset), size);
  read_.resize(size);
  if (read(input_, offset, read_) != size) throw std::runtime_error("the input has become shorter while it was read");
  return read_;
}

/// Lets operations under way move on between two blocks.
void Compressor::keep_going() {
  for (Round& round : rounds_) {
    round.sizes.test();
    round.data.test();
  }
}

/// First step: the sizes of this round. Second step: the data of the round whose sizes have had a window's time.
void Compressor::start(Round& round) {
  round.all.resize(static_cast<std::size_t>(group_.size()));
  round.sizes = group_.iallgather(std::span<const Report>(&round.mine, 1), round.all);
  ++started_;
  if (options_.overlap && started_ - collected_ > options_.window)
    collect(rounds_[static_cast<std::size_t>(collected_) % rounds_.size()]);
}

void Compressor::collect(Round& round) {
  round.sizes.wait();
  if (options_.learn) shares_.learn(round.all);
  std::vector<Count> counts;
  for (const Report& report : round.all) counts.push_back(report.bytes);
  if (output_ != nullptr)
    round.gathered.resize(static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), Count{0})));
  round.data = group_.igatherv(round.compressed, round.gathered, counts);
  round.collecting = true;
  ++collected_;
}

void Compressor::finish(Round& round) {
  if (!round.collecting) collect(round);
  round.data.wait();
  if (output_ == nullptr) return;
  output_->write(round.gathered);
  progress_(round.read_to);
}

}  // namespace

std::int64_t run(const Group& group, const Options& options, int input, Output* output,
                 const std::function<void(std::int64_t)>& progress) {
  return Compressor(group, options, input, output, progress).run();
}

}  // namespace compress
