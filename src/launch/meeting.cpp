// SPDX-License-Identifier: BSD-3-Clause
#include "launch/meeting.hpp"

#include <utility>
#include <variant>

namespace tutti::launch {

Meeting by_hand(const Environment& environment) {
  const auto& place = std::get<HostAndPort>(environment.store);
  Meeting meeting;
  meeting.rank = environment.rank;
  meeting.size = environment.size;
  meeting.secret = environment.secret;
  if (meeting.rank == 0) meeting.listeners = listen_for_store(place);
  meeting.find = [place] { return resolve(place); };
  meeting.where = place.text();
  meeting.launcher = "by hand: TUTTI_STORE=" + place.text() + ", served by rank 0";
  return meeting;
}

}  // namespace tutti::launch
