// SPDX-License-Identifier: BSD-3-Clause
// Hosts: on each host the leader collects everybody's blocks from cells, the leaders exchange one parcel for each pair
// of hosts, and everybody reads its blocks from the leader's cells. One message instead of one for each pair of ranks;
// but all passes the leader: for short blocks. Cost: those of a gather and a scatter on the board of P n elements each,
// and (H - 1) alpha + beta (P/H) (P - P/H) n.
//
//     hosts 0 1 2 | 3 4    0: 03 04 13 14 23 24 -> 3      3: 30 31 32 40 41 42 -> 0
#include "collectives/packed.hpp"

namespace tutti::collectives::alltoall {
namespace {

/// What a leader does with the rows of its host: what each rank of it sends, and what each receives.
class Exchange {
 public:
  Exchange(Composition& b, const Shape& shape, Slice sent, Slice received)
      : b_(b), hosts_(b.hosts()), shape_(shape), sent_(sent), received_(received) {}

  void run() {
    const Count total = shape_.count * static_cast<Count>(hosts_.here().size()) *
                        (shape_.size - static_cast<Count>(hosts_.here().size()));
    const Slice out = b_.scratch(total), in = b_.scratch(total);
    std::vector<Count> counts, offsets;
    std::vector<Move> packing, arriving;
    for (Rank host = 0; host < hosts_.count(); ++host) {
      const bool mine = host == hosts_.mine();
      offsets.push_back(counts.empty() ? 0 : offsets.back() + counts.back());
      counts.push_back(mine ? 0 : shape_.count * hosts_.size(host) * static_cast<Count>(hosts_.here().size()));
      if (!mine)
        parcel(host, out.part(offsets.back(), counts.back()), in.part(offsets.back(), counts.back()), packing,
               arriving);
    }
    copy_all(b_, packing);
    keep();
    Shape across = b_.shape_among(b_.leaders(), 0, 0);
    across.send_counts = across.recv_counts = counts;
    across.send_offsets = across.recv_offsets = offsets;
    // With more rounds under way than two, too many hosts send to the same link at once.
    if (across.parameters.radix == 0) across.parameters.radix = 2;
    b_.among(b_.leaders(), Kind::alltoallv, across, out, in);
    copy_all(b_, arriving);
  }

 private:
  Slice block(Slice rows, std::size_t row, Rank rank) const {
    return rows.part((static_cast<Count>(row) * shape_.size + rank) * shape_.count, shape_.count);
  }

  /// To a host go the blocks of each rank here for each rank there, and the same comes from there.
  void parcel(Rank host, Slice out, Slice in, std::vector<Move>& packing, std::vector<Move>& arriving) const {
    const auto next = [this](Slice& rest) {
      const Slice block = rest.part(0, shape_.count);
      rest = rest.part(shape_.count, rest.count - shape_.count);
      return block;
    };
    const std::size_t rows = hosts_.here().size();
    for (std::size_t row = 0; row < rows; ++row)
      for (const Rank rank : hosts_.ranks(host)) packing.push_back({block(sent_, row, rank), next(out)});
    for (const Rank rank : hosts_.ranks(host))
      for (std::size_t row = 0; row < rows; ++row) arriving.push_back({next(in), block(received_, row, rank)});
  }

  /// The blocks that stay on this host.
  void keep() const {
    std::vector<Move> moves;
    for (std::size_t row = 0; row < hosts_.here().size(); ++row)
      for (std::size_t from = 0; from < hosts_.here().size(); ++from)
        moves.push_back({block(sent_, from, hosts_.here()[row]), block(received_, row, hosts_.here()[from])});
    copy_all(b_, moves);
  }

  Composition& b_;
  const Hosts& hosts_;
  const Shape& shape_;
  Slice sent_, received_;
};

}  // namespace

plan::Plan hosts(const Shape& shape) {
  const Count row = shape.size * shape.count;
  Composition b(shape, row);
  const Slice mine = shape.in_place ? all_output(shape) : all_input(shape);
  if (b.alone()) {
    Exchange(b, shape, mine, all_output(shape)).run();
    return b.build();
  }
  const Count rows = b.leads() ? static_cast<Count>(b.hosts().here().size()) : 0;
  const Slice sent = b.scratch(rows * row), received = b.scratch(rows * row);
  b.here(Kind::gather, b.shape_here(b.leader(), row), mine, sent);
  if (b.leads()) Exchange(b, shape, sent, received).run();
  b.here(Kind::scatter, b.shape_here(b.leader(), row), received, all_output(shape));
  return b.build();
}

}  // namespace tutti::collectives::alltoall
