// SPDX-License-Identifier: BSD-3-Clause
// The world of a real process: joins the job, agrees with the others, leaves when the program ends.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>

#include "base/log.hpp"
#include "job/runtime.hpp"
#include "launch/member.hpp"

namespace tutti {
namespace job {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Seconds, as in TUTTI_TIMEOUT=2.5; 0 when it is not set.
std::uint64_t timeout_from_environment() {
  const std::string text = variable("TUTTI_TIMEOUT");
  if (text.empty()) return 0;
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (*end != '\0' || !(seconds > 0) || seconds > 1e9)
    throw Error(Cause::usage, "TUTTI_TIMEOUT=" + text + " is not a number of seconds; write 2.5, or leave it out");
  return static_cast<std::uint64_t>(seconds * 1e9);
}

/// How long finding the others may take.
launch::Patience patience_from_environment() {
  launch::Patience patience;
  patience.timeout = std::chrono::nanoseconds(timeout_from_environment());
  return patience;
}

/// What rank 0 tells everybody before the first operation. Travels through the launcher's store.
struct Offer {
  std::uint64_t board = 0;
  std::uint64_t length = 0;  // bytes of TUTTI_ALGORITHMS that follow
};

std::vector<std::byte> pack(const Offer& offer, const std::string& algorithms) {
  std::vector<std::byte> bytes(sizeof offer + algorithms.size());
  std::memcpy(bytes.data(), &offer, sizeof offer);
  std::memcpy(bytes.data() + sizeof offer, algorithms.data(), algorithms.size());
  return bytes;
}

std::string unpack(const std::vector<std::byte>& bytes, Offer& offer) {
  if (bytes.size() < sizeof offer) throw Error(Cause::system, "rank 0's offer is too short; use one version of Tutti");
  std::memcpy(&offer, bytes.data(), sizeof offer);
  if (offer.length != bytes.size() - sizeof offer)
    throw Error(Cause::system, "rank 0's offer has a wrong length; use one version of Tutti");
  return {reinterpret_cast<const char*>(bytes.data()) + sizeof offer, offer.length};
}

/// Everything that lives as long as the process. Never destroyed: threads may outlive main.
struct World {
  launch::Member place;
  std::shared_ptr<Member> member;
  std::mutex lock;
  bool left = false;

  explicit World(launch::Member joined) : place(std::move(joined)) {}
  void make();
  void leave();
};

void World::make() {
  const Rank rank = place.rank();
  const int size = place.size();
  const auto segment = place.segment();
  std::string algorithms = variable("TUTTI_ALGORITHMS");
  tune::lines_of(algorithms);  // throws here, on the rank whose environment is wrong
  Offer offer;
  if (size > 1 && rank == 0) {
    offer = {make_world_board(*segment), algorithms.size()};
    place.put("tutti/world", pack(offer, algorithms));
  } else if (size > 1) {
    const std::string theirs = unpack(place.get("tutti/world", patience_from_environment()), offer);
    if (theirs != algorithms && !algorithms.empty())
      base::log("rank " + std::to_string(rank) + ": TUTTI_ALGORITHMS=" + algorithms + " is not used; rank 0's \"" +
                theirs + "\" holds for all");
    algorithms = theirs;
  }
  Process process;
  process.segment = segment;
  process.rank = rank;
  process.board = offer.board;
  process.cores = place.cores();  // the job's: a rank that is bound sees its own core alone
  process.algorithms = algorithms;
  process.single_copy = variable("TUTTI_SINGLE_COPY") != "off";
  process.timeout = timeout_from_environment();
  member = make_process_world(process);
}

void World::leave() {
  const std::lock_guard guard(lock);
  if (std::exchange(left, true)) return;
  if (member) member->runtime().engine().leave();
  place.leave();
}

World* started = nullptr;

}  // namespace
}  // namespace job

Group world() {
  static job::World* const world = [] {
    // Kept for ever on purpose: threads that outlive main may still hold groups and requests.
    auto made = std::make_unique<job::World>(launch::join(job::patience_from_environment()));
    made->make();
    job::started = made.release();
    std::atexit([] { job::started->leave(); });
    return job::started;
  }();
  return Group(world->member);
}

}  // namespace tutti
