// SPDX-License-Identifier: BSD-3-Clause
// tutti-compress: bzip2 on all ranks of a job. The output is an ordinary .bz2 file that bunzip2 reads.
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <optional>

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
    if (bytes == all_) fmt::print(stderr, "\n");
    std::fflush(stderr);
  }

 private:
  std::int64_t all_;
  bool show_;
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

/// Nobody goes on before all know that it worked.
void agree(const tutti::Group& world, const std::string& failure) {
  int failed[1] = {failure.empty() ? 0 : 1};
  world.allreduce(failed, failed, tutti::max);
  if (!failure.empty()) throw std::runtime_error(failure);
  if (failed[0] != 0) throw std::runtime_error("gives up: another rank cannot open its files");
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
  agree(world, failure);
  std::int64_t bytes[1] = {root ? size_of(arguments.input, input) : 0};
  world.bcast(bytes);
  arguments.options.bytes = bytes[0];
  // The others open what rank 0 has seen to be a file: whoever opens a pipe waits for a writer of their own.
  try {
    if (!root && bytes[0] >= 0) input = compress::open_input(arguments.input);
  } catch (const std::runtime_error& error) {
    failure = error.what();
  }
  agree(world, failure);
  arguments.options.overlap = arguments.mode == "overlap";
  Bar bar(arguments.options.bytes, !arguments.quiet);
  const auto begin = std::chrono::steady_clock::now();
  const std::int64_t read = compress::run(world, arguments.options, input, output ? &*output : nullptr,
                                          [&](std::int64_t done) { bar.at(done); });
  if (!root) return 0;
  if (read == 0) output->write(compress::empty_stream(arguments.options.level));
  output->keep();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!arguments.quiet)
    fmt::print(stderr, "{} ranks, {}: {} -> {} bytes ({:.3f}) in {:.3f} s\n", world.size(), arguments.mode, read,
               output->written(), read == 0 ? 0.0 : static_cast<double>(output->written()) / static_cast<double>(read),
               seconds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Compresses a file with bzip2 on all ranks of a job: tutti run -n 4 tutti-compress FILE"};
  app.add_option("FILE", arguments.input, "What to compress; - or nothing: standard input (of rank 0)");
  app.add_option(
      "-o,--output", arguments.output,
      "Where to, replacing a file that exists; - is standard output. Unless told, FILE.bz2, which must not exist");
  app.add_option("--level", arguments.options.level, "1 (fast) to 9 (small): blocks of 100 kB to 900 kB")
      ->check(CLI::Range(1, 9));
  app.add_option("--tile", arguments.options.tile, "Blocks per rank and communication")->check(CLI::Range(1, 1024));
  app.add_option("--window", arguments.options.window, "Communications under way while a rank compresses")
      ->check(CLI::Range(1, 64));
  app.add_option("--mode", arguments.mode, "overlap, or blocking for comparison")
      ->check(CLI::IsMember({"overlap", "blocking"}));
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
