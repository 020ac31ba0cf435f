// SPDX-License-Identifier: BSD-3-Clause
// tutti trace: what a trace says, in words and as a picture.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "job/runtime.hpp"
#include "timeline/timeline.hpp"
#include "trace/parts.hpp"
#include "tutti/error.hpp"

namespace tutti::command {

namespace {

struct TraceOptions {
  std::string file, picture;
  bool merge = false;
};

void write_picture(const std::string& path, const std::string& picture) {
  if (!path.ends_with(".svg")) throw Error(Cause::usage, path + ": pictures are SVG; name a file that ends in .svg");
  std::ofstream file(path);
  if (!(file << picture << std::flush)) throw Error(Cause::system, "cannot write the picture " + path);
}

int run(const TraceOptions& given) {
  std::optional<std::vector<std::string>> merged;
  if (given.merge) merged = trace::merge_parts(given.file, job::algorithm_name);
  if (given.merge && !merged)
    throw Error(Cause::usage, "there are no parts of " + given.file + " (" + given.file +
                                  ".JOB.RANK.part) that can be read; without --merge it is read as it is");
  const timeline::Timeline read = timeline::read(given.file);
  if (merged) trace::remove_parts(*merged);
  if (!given.picture.empty()) write_picture(given.picture, timeline::draw(read));
  fmt::print("{}", timeline::summary(read));
  return 0;
}

}  // namespace

Action add_trace(CLI::App& program) {
  const auto given = std::make_shared<TraceOptions>();
  CLI::App* trace =
      program.add_subcommand("trace", "Say what a trace shows: who came late, who waits, what costs most.");
  trace->footer("tutti run --trace FILE makes one. ui.perfetto.dev and chrome://tracing show all of it.");
  trace->add_option("FILE", given->file, "A trace")->required();
  trace->add_flag("--merge", given->merge, "First put together what the ranks of a job that died have left");
  trace->add_option("--picture", given->picture, "Draw it, too: one lane a rank")->type_name("FILE.svg");
  return [given] { return run(*given); };
}

}  // namespace tutti::command
