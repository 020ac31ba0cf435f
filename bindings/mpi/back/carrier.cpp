// SPDX-License-Identifier: BSD-3-Clause
#include "carrier.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "real.hpp"
#include "tutti/error.hpp"

namespace tutti::mpi {

using transport::Header;
using transport::Peer;
using transport::Pull;
using transport::Transfer;

namespace {

/// Up to here the two copies cost less than asking does.
constexpr std::size_t eager = std::size_t{1} << 16, largest = sizeof(Header) + eager;
/// Each larger message is several of the MPI's, one after the other: what is cut finer costs more than it hides.
constexpr std::size_t segment = std::size_t{1} << 19;
/// The memory of a packet: the first that it fits.
constexpr std::array<std::size_t, 2> packet_sizes{4096, largest};
/// With so many bytes in packets that the MPI has not sent yet, all messages are announced: a receiver far behind costs
/// no memory.
constexpr std::size_t most_packed = std::size_t{4} << 20;
/// The MPI's tags: headers have one of their own, and bytes one by their place. Equal ones stay in order.
constexpr int header_tag = 0;
int tag_of(std::uint64_t place) {
  constexpr int first = 1, tags = 32000;  // those that every MPI has
  return first + static_cast<int>(place % (std::uint64_t{1} << 32) % tags);
}
/// The MPI counts in int.
constexpr std::size_t piece = std::size_t{1} << 30;

/// Starts one operation of the MPI for each piece.
template <class Start>
std::vector<MPI_Request> in_pieces(std::byte* data, std::size_t size, Start start) {
  std::vector<MPI_Request> requests;
  for (std::size_t at = 0; at < size; at += piece) {
    requests.push_back(MPI_REQUEST_NULL);
    start(data + at, static_cast<int>(std::min(piece, size - at)), &requests.back());
  }
  return requests;
}

transport::State state_of(std::vector<MPI_Request>& requests) {
  int done = 0;
  const int code = real.Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
  if (code != MPI_SUCCESS) return transport::State::lost;
  return done != 0 ? transport::State::done : transport::State::pending;
}

/// True when what a receive waited for has not come.
bool take_back(MPI_Request& request) {
  if (request == MPI_REQUEST_NULL) return false;
  MPI_Status status;
  int cancelled = 0;
  real.Cancel(&request);
  real.Wait(&request, &status);
  real.Test_cancelled(&status, &cancelled);
  return cancelled != 0;
}

/// The program's hints (no receives from anybody, no longer buffers) do not hold for Tutti's messages.
MPI_Comm duplicate_of(MPI_Comm over) {
  MPI_Comm made = MPI_COMM_NULL;
  if (real.Comm_dup_with_info(over, MPI_INFO_NULL, &made) != MPI_SUCCESS)
    throw Error(Cause::system, "the MPI gives no communicator for Tutti's own messages");
  real.Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}

std::size_t size_of(MPI_Comm comm) {
  int size = 0;
  if (real.Comm_size(comm, &size) != MPI_SUCCESS) throw Error(Cause::system, "the MPI knows no size of a communicator");
  return static_cast<std::size_t>(size);
}

}  // namespace

Carrier::Carrier(MPI_Comm over)
    : comm_(duplicate_of(over)),
      name_("mpi (" + library_name() + ")"),
      capabilities_{eager, false, "messages between hosts are the MPI's", segment},
      rendezvous_(*this, size_of(over)),
      // Two ranks that exchange large messages would both be sending, and neither reading: 600 us, not 310, for 1 MiB.
      // Of four or eight ranks an allreduce of 1 MiB with invitations takes 0.88 of the time.
      invites_(size_of(over) > 2),
      // Faster by a fifth than to ask whether a message has come. But of receives from anybody that wait beforehand,
      // MPICH 5.0.2 over UCX forgets some: a probe finds the message that they should have got.
      ahead_(name_.starts_with("mpi (Open MPI")),
      inbox_(rooms * largest) {
  expected_.fill(MPI_REQUEST_NULL);
  for (std::size_t number = 0; ahead_ && number < rooms; ++number) {
    if (expect(number)) continue;
    expect_nothing();  // the rooms go, and the MPI would write there
    throw Error(Cause::system, "the MPI receives nothing on a communicator of Tutti's own");
  }
}

std::span<std::byte> Carrier::room(std::size_t number) { return std::span(inbox_).subspan(number * largest, largest); }

/// Starts a receive: of what will come, or of what has, if anything has.
bool Carrier::expect(std::size_t number) {
  MPI_Request& request = expected_[number];
  std::byte* const data = room(number).data();
  const auto size = static_cast<int>(largest);
  MPI_Message message = MPI_MESSAGE_NULL;
  int found = 0;
  if (!ahead_ && (real.Improbe(MPI_ANY_SOURCE, header_tag, comm_, &found, &message, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
                  found == 0))
    return false;
  const int code = ahead_ ? real.Irecv(data, size, MPI_BYTE, MPI_ANY_SOURCE, header_tag, comm_, &request)
                          : real.Imrecv(data, size, MPI_BYTE, &message, &request);
  if (code != MPI_SUCCESS) request = MPI_REQUEST_NULL;
  return code == MPI_SUCCESS;
}

void Carrier::expect_nothing() {
  for (MPI_Request& request : expected_) take_back(request);
}

void Carrier::close() {
  while (!close_soon()) continue;
}

/// Nobody waits for anything any more, but words may be under way, and answers to them: the communicator is given back
/// when all ranks together have twice counted the same numbers of words sent and heard, and both alike.
bool Carrier::close_soon() {
  if (comm_ == MPI_COMM_NULL) return true;
  progress();
  if (!packets_.empty() || !leaving_.empty()) return false;
  int done = 0, code = MPI_SUCCESS;
  if (counting_ == MPI_REQUEST_NULL) {
    counted_ = mine_;
    code = real.Iallreduce(MPI_IN_PLACE, &counted_, 2, MPI_INT64_T, MPI_SUM, comm_, &counting_);
  }
  if (code == MPI_SUCCESS) code = real.Test(&counting_, &done, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) {  // a rank is lost, with which nothing can be counted: the communicator stays
    expect_nothing();
    comm_ = MPI_COMM_NULL;
    return true;
  }
  if (done == 0) return false;
  if (const Traffic before = std::exchange(before_, counted_); counted_.sent != counted_.heard || counted_ != before)
    return false;
  for (Coming& one : coming_)
    for (MPI_Request& request : one.requests) take_back(request);
  coming_.clear();
  expect_nothing();
  real.Comm_free(&comm_);
  return true;
}

void Carrier::post(Peer to, const Header& header, std::span<const std::byte> bytes) {
  if (comm_ == MPI_COMM_NULL) return;  // it is closed, and so are the others'
  const std::size_t size = sizeof header + bytes.size();
  Packet packet;
  packet.kind = size <= packet_sizes.front() ? 0 : 1;
  if (auto& spare = spare_[packet.kind]; spare.empty()) {
    packet.bytes = std::make_unique_for_overwrite<std::byte[]>(packet_sizes[packet.kind]);
  } else {
    packet.bytes = std::move(spare.back());
    spare.pop_back();
  }
  std::memcpy(packet.bytes.get(), &header, sizeof header);
  if (!bytes.empty()) std::memcpy(packet.bytes.get() + sizeof header, bytes.data(), bytes.size());
  real.Isend(packet.bytes.get(), static_cast<int>(size), MPI_BYTE, to, header_tag, comm_, &packet.request);
  packed_ += packet_sizes[packet.kind];
  packets_.push_back(std::move(packet));
  ++mine_.sent;
}

void Carrier::send(Transfer& transfer) {
  if (comm_ == MPI_COMM_NULL) {
    transfer.state = transport::State::lost;
    return;
  }
  const bool small = packed_ < most_packed || transfer.size == 0 || transfer.is_notice();
  rendezvous_.send(transfer, transfer.size <= eager && small);
}

void Carrier::recv(Transfer& transfer) {
  rendezvous_.recv(transfer, invites_ && transfer.only && transfer.size > eager);
}

bool Carrier::progress() {
  if (comm_ == MPI_COMM_NULL) return false;
  bool moved = take_message();
  moved = end_leaving() || moved;
  moved = end_coming() || moved;
  return end_packets() || moved;
}

/// One at a time: a look at the next costs the MPI a call of the system, for which this one need not wait.
bool Carrier::take_message() {
  MPI_Request& request = expected_[oldest_];
  MPI_Status status;
  int found = 0;
  if (request == MPI_REQUEST_NULL && !expect(oldest_)) return false;
  const int code = real.Test(&request, &found, &status);
  if (code == MPI_SUCCESS && found == 0) return false;
  if (code != MPI_SUCCESS && request != MPI_REQUEST_NULL) return false;  // a rank is lost, others are not
  ++mine_.heard;
  if (code == MPI_SUCCESS) {
    int size = 0;
    real.Get_count(&status, MPI_BYTE, &size);
    hear(status.MPI_SOURCE, room(oldest_).first(static_cast<std::size_t>(size)));
  }
  if (ahead_) expect(oldest_);
  oldest_ = (oldest_ + 1) % rooms;
  return true;
}

void Carrier::hear(Peer from, std::span<const std::byte> packet) {
  Header header;
  header.start = 0;  // of a packet that is too short
  if (packet.size() >= sizeof header) std::memcpy(&header, packet.data(), sizeof header);
  const bool good = header.good(eager) && packet.size() == sizeof header + header.follows();
  if (!good || !rendezvous_.hear(from, header, packet.data() + sizeof header))
    base::log("a message from rank " + std::to_string(from) + " that means nothing was dropped");
}

void Carrier::want(std::uint64_t place, const Pull& pull) {
  Coming one{.place = place, .peer = pull.peer};
  one.requests = in_pieces(pull.transfer->data, pull.size, [&](std::byte* data, int size, MPI_Request* request) {
    real.Irecv(data, size, MPI_BYTE, one.peer, tag_of(place), comm_, request);
  });
  coming_.push_back(std::move(one));
  rendezvous_.ask(place);
}

void Carrier::give(Transfer& transfer, std::uint64_t place) {
  Leaving one{.transfer = &transfer};
  one.requests = in_pieces(transfer.data, transfer.size, [&](std::byte* data, int size, MPI_Request* request) {
    real.Isend(data, size, MPI_BYTE, transfer.peer, tag_of(place), comm_, request);
  });
  leaving_.push_back(std::move(one));
}

/// The sender may be sending already: what still comes goes elsewhere.
bool Carrier::abandon(std::uint64_t place, const Pull& pull) {
  const auto one = std::ranges::find(coming_, place, &Coming::place);
  if (one == coming_.end()) return false;
  one->unwanted = std::make_unique_for_overwrite<std::byte[]>(std::min(pull.size, piece));
  bool more = false;
  for (std::size_t i = 0; i < one->requests.size(); ++i) {
    if (!take_back(one->requests[i])) continue;
    more = true;
    const auto length = static_cast<int>(std::min(piece, pull.size - i * piece));
    real.Irecv(one->unwanted.get(), length, MPI_BYTE, one->peer, tag_of(place), comm_, &one->requests[i]);
  }
  return more;
}

void Carrier::over(std::uint64_t place, const Pull&) {
  const auto one = std::ranges::find(coming_, place, &Coming::place);
  if (one == coming_.end()) return;
  for (MPI_Request& request : one->requests) take_back(request);
  coming_.erase(one);
}

bool Carrier::end_packets() {
  return std::erase_if(packets_, [&](Packet& packet) {
           int done = 0;
           if (real.Test(&packet.request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) return false;
           packed_ -= packet_sizes[packet.kind];
           spare_[packet.kind].push_back(std::move(packet.bytes));
           return true;
         }) > 0;
}

bool Carrier::end_leaving() {
  return std::erase_if(leaving_, [](Leaving& one) {
           const auto state = state_of(one.requests);
           if (state != transport::State::pending) one.transfer->state = state;
           return state != transport::State::pending;
         }) > 0;
}

bool Carrier::end_coming() {
  std::vector<std::pair<std::uint64_t, transport::State>> ended;
  for (Coming& one : coming_)
    if (const transport::State state = state_of(one.requests); state != transport::State::pending)
      ended.emplace_back(one.place, state);
  for (const auto& [place, state] : ended) rendezvous_.finish(place, state);
  return !ended.empty();
}

void Carrier::cancel(Transfer& transfer) {
  // Otherwise its receiver is waiting for these bytes in the MPI.
  if (!rendezvous_.cancel(transfer))
    while (transfer.state == transport::State::pending) end_leaving();
}

}  // namespace tutti::mpi
