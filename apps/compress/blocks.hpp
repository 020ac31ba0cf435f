// SPDX-License-Identifier: BSD-3-Clause
// The two ends of the compression pipeline: blocks of a file or a stream, and the bzip2 stream of a block.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace compress {

/// Opens a file for reading; "-" is standard input. Throws std::runtime_error that names it.
int open_input(const std::string& path);

/// Reads until `block` is full or the input ends; returns the bytes read. offset < 0: the next ones of a stream.
std::size_t read(int descriptor, std::int64_t offset, std::span<char> block);

/// Length of a fingerprint.
constexpr std::size_t fingerprint_bytes = 3 * sizeof(std::int64_t) + std::size_t{16} * 4096;

/// Tells files apart that go by the same name on different hosts: size, time of the last change, and pieces from the
/// first to the last of what is in it. Throws std::runtime_error.
std::vector<char> fingerprint(int descriptor);

/// Appends the bzip2 stream of a block; an empty block gives none. Throws std::runtime_error.
void append_stream(std::span<const char> block, int level, std::vector<char>& out);

/// What an empty input becomes: the bzip2 stream of no bytes.
std::vector<char> empty_stream(int level);

/// A file that is written in order, and vanishes when it is not kept. "-" is standard output; what is no file (a pipe,
/// a device) is written to as it is.
class Output {
 public:
  /// Writes to a file without a name first, so that a failure leaves no half file behind. Where the file system cannot
  /// do that, the file is called .tutti-compress- and a random number meanwhile. Who may read it is what was so of the
  /// file that it replaces, or else of `input`, if that is a file. Throws std::runtime_error, also where `input` is
  /// that file: it would be lost.
  Output(const std::string& path, int input);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  void write(std::span<const char> bytes);
  /// Everything is written: gives the file its name.
  void keep();
  std::int64_t written() const { return written_; }

 private:
  std::string path_;
  std::string temporary_;  // the name, while it has one, of what will replace what is at path_
  int descriptor_ = -1;
  bool replaces_ = false;  // else it is written to as it is
  std::int64_t written_ = 0;
};

}  // namespace compress
