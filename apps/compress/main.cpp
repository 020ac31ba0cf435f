// SPDX-License-Identifier: BSD-3-Clause
// tutti-compress: bzip2 on all ranks of a job. The output is an ordinary .bz2 file that bunzip2 reads.
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <optional>
#include <utility>

#include "pipeline.hpp"

namespace {

constexpr int exit_usage = 2;

struct Arguments {
  std::string input = "-", output;
  std::string mode = "overlap";
  compress::Options options;
  bool quiet = false;
};

/// One line that is written over, when somebody looks.
class Bar {
 public:
  Bar(std::int64_t all, bool show) : all_(all), show_(show && isatty(STDERR_FILENO) == 1) {}
  ~Bar() { end(); }
  Bar(const Bar&) = delete;
  Bar& operator=(const Bar&) = delete;
  void at(std::int64_t bytes) {
    if (!show_) return;
    const auto megabytes = [](std::int64_t b) { return static_cast<double>(b) / 1e6; };
    if (all_ <= 0) {
      fmt::print(stderr, "\r{:.1f} MB", megabytes(bytes));
    } else {
      const int full = static_cast<int>(40 * bytes / all_);
      fmt::print(stderr, "\r[{:#<{}}{:.<{}}] {:3}% of {:.1f} MB", "", full, "", 40 - full, 100 * bytes / all_,
                 megabytes(all_));
    }
    open_ = true;
    std::fflush(stderr);
  }
  /// What follows begins a line of its own.
  void end() {
    if (std::exchange(open_, false)) fmt::print(stderr, "\n");
  }

 private:
  std::int64_t all_;
  bool show_, open_ = false;
};

/// Bytes of a regular file; -1 for standard input, pipes, devices, and files that say 0: those of /proc have content.
std::int64_t size_of(const std::string& path, int descriptor) {
  struct stat status {};
  if (path == "-" || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return -1;
  return status.st_size > 0 ? status.st_size : -1;
}

/// A name that nobody has given must not cost a file that is there.
std::string output_name(const Arguments& arguments) {
  if (!arguments.output.empty()) return arguments.output;
  if (arguments.input == "-") return "-";
  const std::string name = arguments.input + ".bz2";
  struct stat existing {};
  if (lstat(name.c_str(), &existing) == 0)
    throw std::runtime_error(fmt::format("{} exists; remove it, or replace it by -o {}", name, name));
  return name;
}

/// Rank 0 opens both ends; nobody goes on before all know that it worked. Returns what rank 0 knows of the input's
/// size.
std::int64_t agree(const tutti::Group& world, const std::string& failure, std::int64_t bytes) {
  std::int64_t told[2] = {failure.empty() ? 0 : 1, bytes};
  world.bcast(told);
  if (!failure.empty()) throw std::runtime_error(failure);
  if (told[0] != 0) throw std::runtime_error("gives up: rank 0 cannot open its files");
  return told[1];
}

/// Whether every rank can read rank 0's file itself. Hosts may have other files by that name or none, ranks another
/// /dev/stdin: nobody opens what is no file there, since whoever opens a pipe waits for a writer of their own.
bool is_shared(const tutti::Group& world, const std::string& path, int& input) {
  std::vector<char> mine(compress::fingerprint_bytes);
  struct stat status {};
  try {
    if (world.rank() != 0 && stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode))
      input = compress::open_input(path);
    if (input >= 0) mine = compress::fingerprint(input);
  } catch (const std::runtime_error&) {
    // What rank 0 cannot read either, it will tell when it tries again.
  }
  std::vector<char> first = mine;
  world.bcast(first);
  int differs[1] = {mine == first ? 0 : 1};
  world.allreduce(differs, differs, tutti::max);
  return differs[0] == 0;
}

int run(Arguments arguments) {
  const tutti::Group world = tutti::world();
  const bool root = world.rank() == 0;
  int input = -1;
  std::optional<compress::Output> output;
  std::string failure;
  try {
    if (root) {
      input = compress::open_input(arguments.input);
      output.emplace(output_name(arguments), input);
    }
  } catch (const std::runtime_error& error) {
    failure = error.what();
  }
  const std::int64_t bytes = agree(world, failure, root ? size_of(arguments.input, input) : 0);
  const bool shared = bytes >= 0 && is_shared(world, arguments.input, input);
  arguments.options.bytes = shared ? bytes : -1;
  arguments.options.overlap = arguments.mode != "blocking";
  arguments.options.learn = arguments.mode == "overlap";
  Bar bar(arguments.options.bytes, !arguments.quiet);
  const auto begin = std::chrono::steady_clock::now();
  const std::int64_t read = compress::run(world, arguments.options, input, output ? &*output : nullptr,
                                          [&](std::int64_t done) { bar.at(done); });
  bar.end();
  if (!root) return 0;
  if (read == 0) output->write(compress::empty_stream(arguments.options.level));
  output->keep();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!arguments.quiet)
    fmt::print(stderr, "{} ranks, {}{}: {} -> {} bytes ({:.3f}) in {:.3f} s\n", world.size(), arguments.mode,
               bytes < 0 || shared ? "" : ", read by rank 0 as not all see the same file", read, output->written(),
               read == 0 ? 0.0 : static_cast<double>(output->written()) / static_cast<double>(read), seconds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Compresses a file with bzip2 on all ranks of a job: tutti run -n 4 tutti-compress FILE"};
  app.add_option(
      "FILE", arguments.input,
      "What to compress; - or nothing: standard input of rank 0. It also reads a FILE that not all ranks see");
  app.add_option(
      "-o,--output", arguments.output,
      "Where to, replacing a file that exists; - is standard output. Unless told, FILE.bz2, which must not exist");
  app.add_option("--level", arguments.options.level, "1 (fast) to 9 (small): blocks of 100 kB to 900 kB")
      ->check(CLI::Range(1, 9));
  app.add_option("--tile", arguments.options.tile, "Blocks per rank and communication")->check(CLI::Range(1, 1024));
  app.add_option("--window", arguments.options.window, "Communications under way while a rank compresses")
      ->check(CLI::Range(1, 64));
  app.add_option("--mode", arguments.mode,
                 "overlap: slow ranks get fewer blocks; for comparison overlap-equal: all get the same, and blocking: "
                 "the same, and nothing is sent while a rank compresses")
      ->check(CLI::IsMember({"overlap", "overlap-equal", "blocking"}));
  app.add_flag("-q,--quiet", arguments.quiet, "No progress bar and no summary");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_usage;
  }
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "tutti-compress: {}\n", error.what());
    return 1;
  }
}
