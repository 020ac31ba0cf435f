// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/allreduce/halving.hpp"

#include "collectives/allreduce/fold.hpp"

namespace tutti::collectives::allreduce {
namespace {

/// What one round of the way there did, for the way back.
struct Round {
  Rank other;
  Slice kept, given;
  Handle sent;
};

}  // namespace

plan::Plan halving(const Shape& shape, Meeting (*meet)(Rank position, int round, Rank positions)) {
  Writer b(shape);
  const Team team(shape);
  if (team.sits_out()) {
    team.sit_out(b, shape);
    return b.build();
  }
  std::vector<Handle> ready;
  if (!team.starts_from_input()) ready.push_back(team.take_in(b, shape));
  std::vector<Round> rounds;
  Slice part = whole(shape);
  for (int round = 0; Rank{1} << round < team.size(); ++round) {
    const Meeting meeting = meet(team.position(), round, team.size());
    const Rank other = team.rank(meeting.other);
    const Slice low = blocks(part, 0, 1, 2), high = blocks(part, 1, 2, 2);
    const Slice kept = meeting.first ? low : high, given = meeting.first ? high : low;
    const bool from_input = round == 0 && team.starts_from_input();
    const Handle sent = b.send(other, from_input ? operand(shape, given) : given).after(ready);
    if (from_input) ready = {b.copy(operand(shape, kept), kept)};
    ready = {b.recv_reduce(other, kept, meeting.first ? Side::right : Side::left).after(ready)};
    rounds.push_back({other, kept, given, sent});
    part = kept;
  }
  for (std::size_t i = rounds.size(); i-- > 0;) {
    b.send(rounds[i].other, rounds[i].kept).after(ready);
    ready.push_back(b.recv(rounds[i].other, rounds[i].given).after(rounds[i].sent));
  }
  team.hand_out(b, shape, ready);
  return b.build();
}

}  // namespace tutti::collectives::allreduce
