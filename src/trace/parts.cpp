// SPDX-License-Identifier: BSD-3-Clause
#include "trace/parts.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/names.hpp"
#include "base/words.hpp"
#include "trace/merge.hpp"
#include "trace/record.hpp"
#include "trace/times.hpp"
#include "tutti/error.hpp"

namespace tutti::trace {
namespace {

namespace fs = std::filesystem;

struct FoundPart {
  std::string path;
  std::uint64_t job = 0;
  Rank rank = 0;
};
using Jobs = std::map<std::uint64_t, std::vector<FoundPart>>;

/// "00c0ffee00c0ffee.3"
bool read_numbers(std::string_view text, FoundPart& part) {
  const std::size_t dot = std::min(text.find('.'), text.size());
  const char *const begin = text.data(), *const end = begin + text.size();
  return std::from_chars(begin, begin + dot, part.job, 16).ec == std::errc() && dot < text.size() &&
         std::from_chars(begin + dot + 1, end, part.rank).ec == std::errc();
}

/// All beside the file, by their names.
Jobs find_parts(const std::string& file) {
  Jobs jobs;
  const std::string base = fs::path(file).filename().string();
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::absolute(file).parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    FoundPart part{entry.path().string()};
    if (name.starts_with(base + ".") && read_numbers(std::string_view(name).substr(base.size() + 1), part) &&
        part_of(base, part.job, part.rank) == name)
      jobs[part.job].push_back(std::move(part));
  }
  return jobs;
}

/// Throws for one that would make the whole trace unreadable.
Record read_part(const FoundPart& part) {
  const bool locked = is_recording(part.path);  // before it is read: who ends in between has ended
  std::vector<Record> alone{read_record(part.path)};
  alone.front().recording = locked && !alone.front().finished;
  if (alone.front().job != part.job || alone.front().rank != part.rank)
    throw Error(Cause::system, "another rank has written it than the one it is named after");
  const Times times(alone);
  const std::uint64_t end = latest(alone.front());
  for (const Event& event : alone.front().events) times.ends(alone.front(), event, end);
  return std::move(alone.front());
}

/// Nothing for a damaged one, which must not hide what the other ranks have left.
std::optional<Record> try_part(const FoundPart& part) {
  try {
    return read_part(part);
  } catch (const std::exception& error) {
    base::log(part.path + " is left out of the trace, and stays: " + error.what());
    return std::nullopt;
  }
}

/// Those that can be read, of a job that has one size.
std::vector<Record> read_parts(std::vector<FoundPart>& parts) {
  std::vector<Record> records;
  std::erase_if(parts, [&](const FoundPart& part) {
    std::optional<Record> record = try_part(part);
    if (record && !records.empty() && record->size != records.front().size) {
      base::log(part.path + " is left out of the trace, and stays: it is of a job of another size");
      record.reset();
    }
    if (record) records.push_back(std::move(*record));
    return !record;
  });
  return records;
}

std::string part_name(const std::string& file, std::uint64_t job, std::string_view rank) {
  return file + "." + base::hexadecimal(job) + "." + std::string(rank) + ".part";
}

/// The parts of one job, for messages.
std::string all_of(const std::string& file, std::uint64_t job) { return part_name(file, job, "*"); }

/// When a job started, by the first of its parts that can be read.
std::int64_t start_of(const std::vector<FoundPart>& parts) {
  for (const FoundPart& part : parts) {
    try {
      return read_part(part).started;
    } catch (const std::exception&) {
      continue;  // said when they are merged
    }
  }
  return std::numeric_limits<std::int64_t>::min();
}

/// Each is read once: parts may be large.
Jobs::const_iterator newest(const Jobs& jobs) {
  std::vector<std::int64_t> starts;
  for (const auto& job : jobs) starts.push_back(start_of(job.second));
  return std::next(jobs.begin(), std::ranges::max_element(starts) - starts.begin());
}

void name_others(const std::string& file, const Jobs& jobs, Jobs::const_iterator chosen) {
  std::string others;
  for (auto job = jobs.begin(); job != jobs.end(); ++job)
    if (job != chosen) base::add_word(others, all_of(file, job->first));
  if (!others.empty())
    base::log("parts of other jobs stay as they are: " + others +
              "; move them into a folder of their own to merge them there, or remove them");
}

/// Whether a trace was made of the same job while its ranks were recording: it may be made again.
bool is_preview(const std::string& file, std::uint64_t job) {
  std::ifstream trace(file);
  std::string head;
  std::getline(trace, head);
  return head.find("\"job\": " + base::json::quote(base::hexadecimal(job))) != head.npos &&
         head.find("\"recording\": true") != head.npos;
}

/// A file that was written since the ranks started is somebody's good trace. `started`: when the first of them did.
void refuse_newer(const std::string& file, std::uint64_t job, std::int64_t started) {
  struct stat now {};
  if (stat(file.c_str(), &now) != 0 || !S_ISREG(now.st_mode)) return;
  const std::int64_t written = now.st_mtim.tv_sec * std::int64_t{1'000'000'000} + now.st_mtim.tv_nsec;
  if (written >= started && !is_preview(file, job))
    throw Error(Cause::usage, file + " is newer than the parts beside it, " + all_of(file, job) +
                                  ": another job has written it, or it has been made of them. Move it away to merge "
                                  "them all the same, or remove them");
}

}  // namespace

std::string part_of(const std::string& file, std::uint64_t job, Rank rank) {
  return part_name(file, job, std::to_string(rank));
}

std::optional<std::vector<std::string>> merge_parts(const std::string& file,
                                                    std::string_view (*algorithm)(std::int32_t),
                                                    std::optional<std::uint64_t> job) {
  const Jobs jobs = find_parts(file);
  const auto chosen = job ? jobs.find(*job) : newest(jobs);
  name_others(file, jobs, chosen);
  if (chosen == jobs.end()) return std::nullopt;
  std::vector<FoundPart> parts = chosen->second;
  std::vector<Record> records = read_parts(parts);
  if (records.empty()) return std::nullopt;
  const std::int64_t started = std::ranges::min_element(records, {}, &Record::started)->started;
  // Once more in the end: ranks that still record may have ended meanwhile, and written theirs.
  const auto check = [&, job = chosen->first] { refuse_newer(file, job, started); };
  check();
  std::vector<Rank> recording;
  for (const Record& record : records)
    if (record.recording) recording.push_back(record.rank);
  std::ranges::sort(recording);
  write_timeline(file, std::move(records), algorithm, check);
  std::vector<std::string> merged;
  if (!recording.empty()) {
    base::log(base::list_ranks(recording) + (recording.size() == 1 ? " still records" : " still record") + ": " +
              all_of(file, chosen->first) + " stay, to be merged again when the job has ended");
    return merged;
  }
  for (FoundPart& part : parts) merged.push_back(std::move(part.path));
  return merged;
}

void remove_parts(const std::vector<std::string>& parts) {
  std::error_code error;  // who cannot remove them finds them there
  for (const std::string& part : parts) fs::remove(part, error);
}

}  // namespace tutti::trace
