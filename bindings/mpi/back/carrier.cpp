// SPDX-License-Identifier: BSD-3-Clause
#include "carrier.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/log.hpp"
#include "real.hpp"
#include "tutti/error.hpp"

namespace tutti::mpi {

using transport::Message;
using transport::Peer;
using transport::State;
using transport::Transfer;

namespace {

/// With its header it stays below what any MPI sends without asking: taking such a message never waits for its sender.
constexpr std::size_t eager = 3072;
/// Of more packets that the MPI has not sent yet, all messages are announced: a receiver far behind costs no memory.
constexpr std::size_t most_packets = 1024;
constexpr int most_heard = 16;  // at a time
/// The MPI's tags: headers have one of their own, and bytes one of these, in turn. Equal ones stay in order.
constexpr int header_tag = 0;
constexpr std::int32_t first_place = 1, places = 32000;
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

}  // namespace

Carrier::Carrier(MPI_Comm over) {
  int size = 0;
  if (real.Comm_dup(over, &comm_) != MPI_SUCCESS || real.Comm_size(comm_, &size) != MPI_SUCCESS)
    throw Error(Cause::system, "the MPI gives no communicator for Tutti's own messages");
  real.Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  capabilities_ = {eager, false, "messages between hosts are the MPI's"};
  lost_.assign(static_cast<std::size_t>(size), false);
}

void Carrier::close() {
  // Nobody waits for anything any more; the last words are heard until all ranks have sent theirs.
  MPI_Request barrier = MPI_REQUEST_NULL;
  for (int done = 0; done == 0;) {
    take_messages();
    end_packets();
    if (packets_.empty() && barrier == MPI_REQUEST_NULL) real.Ibarrier(comm_, &barrier);
    if (barrier != MPI_REQUEST_NULL) real.Test(&barrier, &done, MPI_STATUS_IGNORE);
  }
  for (Moving& one : coming_)
    for (MPI_Request& request : one.requests) take_back(request);
  coming_.clear();
  real.Comm_free(&comm_);
}

void Carrier::post(Peer to, const Header& header, const std::byte* bytes) {
  static_assert(std::is_trivially_copyable_v<Header>);
  Packet packet;
  if (!spare_.empty()) {
    packet.bytes.swap(spare_.back());
    spare_.pop_back();
  }
  const std::size_t follows = header.word == Word::bytes ? static_cast<std::size_t>(header.size) : 0;
  packet.bytes.resize(sizeof header + follows);
  std::memcpy(packet.bytes.data(), &header, sizeof header);
  if (follows > 0) std::memcpy(packet.bytes.data() + sizeof header, bytes, follows);
  real.Isend(packet.bytes.data(), static_cast<int>(packet.bytes.size()), MPI_BYTE, to, header_tag, comm_,
             &packet.request);
  packets_.push_back(std::move(packet));
}

void Carrier::send(Transfer& transfer) {
  transfer.state = State::pending;
  transfer.link = nullptr;
  if (is_lost(transfer.peer)) {
    transfer.state = State::lost;
    return;
  }
  const bool small = transfer.size <= eager && (packets_.size() < most_packets || transfer.size == 0);
  Header header{.tag = transfer.tag, .size = transfer.size, .signature = transfer.signature};
  if (!small) {
    header.word = Word::announce;
    header.handle = announced_.add(&transfer);
    transfer.link = transport::as_link(header.handle);
  }
  post(transfer.peer, header, transfer.data);
  if (small) transfer.state = State::done;
}

void Carrier::recv(Transfer& transfer) {
  transfer.state = State::pending;
  transfer.link = nullptr;
  if (Message* message = matching_.expect(transfer)) {
    complete(transfer, *message);
  } else if (is_lost(transfer.peer)) {
    matching_.withdraw(transfer);
    transfer.state = State::lost;
  }
}

bool Carrier::progress() {
  bool moved = take_messages();
  moved = end(leaving_) || moved;
  moved = end(coming_) || moved;
  return end_packets() || moved;
}

bool Carrier::take_messages() {
  int found = 0;
  for (int heard = 0; heard < most_heard; ++heard) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    if (real.Improbe(MPI_ANY_SOURCE, header_tag, comm_, &found, &message, &status) != MPI_SUCCESS || found == 0)
      return heard > 0;
    int size = 0;
    real.Get_count(&status, MPI_BYTE, &size);
    heard_.resize(static_cast<std::size_t>(size));
    if (real.Mrecv(heard_.data(), size, MPI_BYTE, &message, MPI_STATUS_IGNORE) == MPI_SUCCESS)
      hear(status.MPI_SOURCE, heard_);
  }
  return true;
}

void Carrier::hear(Peer from, const std::vector<std::byte>& packet) {
  Header header;
  if (packet.size() >= sizeof header) std::memcpy(&header, packet.data(), sizeof header);
  const std::size_t follows = header.word == Word::bytes ? static_cast<std::size_t>(header.size) : 0;
  if (packet.size() != sizeof header + follows || static_cast<std::uint32_t>(header.tag.lane) >= transport::lanes) {
    base::log("a message from rank " + std::to_string(from) + " that means nothing was dropped");
    return;
  }
  switch (header.word) {
    case Word::bytes:
    case Word::announce:
      return arrive(from, header, packet.data() + sizeof header);
    case Word::ready:
      return give(header, from);
    case Word::dropped:
      if (Transfer** transfer = announced_.find(header.handle)) (*transfer)->state = State::done;
      return announced_.remove(header.handle);
    case Word::withdrawn:
      return withdraw(header, from);
  }
  base::log("a message from rank " + std::to_string(from) + " of an unknown kind was dropped");
}

void Carrier::arrive(Peer from, const Header& header, const std::byte* bytes) {
  Message& message = matching_.obtain();
  message.peer = from;
  message.tag = header.tag;
  message.signature = header.signature;
  message.size = header.size;
  message.announced = header.word == Word::announce;
  message.handle = header.handle;
  if (!message.announced) message.bytes.assign(bytes, bytes + header.size);
  if (Transfer* receive = matching_.find(from, header.tag))
    complete(*receive, message);
  else if (!matching_.keep(message))
    discard(message);
}

void Carrier::complete(Transfer& receive, Message& message) {
  if (!accepts(receive, message.size, message.signature)) return discard(message);
  if (!message.announced) {
    if (message.size != 0) std::memcpy(receive.data, message.bytes.data(), static_cast<std::size_t>(message.size));
    receive.state = State::done;
    return matching_.recycle(message);
  }
  const std::int32_t place = first_place + next_place_;
  next_place_ = (next_place_ + 1) % places;
  Moving one{.transfer = &receive, .peer = message.peer, .handle = message.handle, .place = place};
  one.requests = in_pieces(receive.data, receive.size, [&](std::byte* data, int size, MPI_Request* request) {
    real.Irecv(data, size, MPI_BYTE, one.peer, place, comm_, request);
  });
  coming_.push_back(std::move(one));
  post(message.peer, {.tag = message.tag, .handle = message.handle, .place = place, .word = Word::ready});
  matching_.recycle(message);
}

void Carrier::discard(Message& message) {
  if (message.announced && !is_lost(message.peer))
    post(message.peer, {.tag = message.tag, .handle = message.handle, .word = Word::dropped});
  matching_.recycle(message);
}

/// The receiver is ready: the bytes go. Of one that was cancelled meanwhile it has been told, or will be.
void Carrier::give(const Header& header, Peer to) {
  Transfer** found = announced_.find(header.handle);
  if (found == nullptr || (*found)->peer != to || header.place < first_place || header.place >= first_place + places)
    return;
  Transfer* const transfer = *found;
  announced_.remove(header.handle);
  Moving one{.transfer = transfer, .peer = to};
  one.requests = in_pieces(transfer->data, transfer->size, [&](std::byte* data, int size, MPI_Request* request) {
    real.Isend(data, size, MPI_BYTE, to, header.place, comm_, request);
  });
  leaving_.push_back(std::move(one));
}

/// The sender has cancelled what it announced. A receive that waits for its bytes waits for the next message instead.
void Carrier::withdraw(const Header& header, Peer from) {
  if (Message* message = matching_.retract(from, header.tag, header.handle)) return matching_.recycle(*message);
  const auto found =
      std::ranges::find_if(coming_, [&](const Moving& one) { return one.peer == from && one.handle == header.handle; });
  if (found == coming_.end()) return;
  for (MPI_Request& request : found->requests) take_back(request);
  Transfer* const receive = found->transfer;
  coming_.erase(found);
  if (receive == nullptr) return;
  if (Message* message = matching_.expect_again(*receive)) complete(*receive, *message);
}

bool Carrier::end_packets() {
  return std::erase_if(packets_, [&](Packet& packet) {
           int done = 0;
           if (real.Test(&packet.request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) return false;
           spare_.push_back(std::move(packet.bytes));
           return true;
         }) > 0;
}

bool Carrier::end(std::vector<Moving>& moving) {
  return std::erase_if(moving, [](Moving& one) {
           int done = 0;
           const int code =
               real.Testall(static_cast<int>(one.requests.size()), one.requests.data(), &done, MPI_STATUSES_IGNORE);
           if (code == MPI_SUCCESS && done == 0) return false;
           if (one.transfer != nullptr) one.transfer->state = code == MPI_SUCCESS ? State::done : State::lost;
           return true;
         }) > 0;
}

/// The sender may be sending already: what still comes goes elsewhere. False when all of it has come.
bool Carrier::abandon(Moving& one) {
  const std::size_t size = std::exchange(one.transfer, nullptr)->size;
  one.unwanted.resize(std::min(size, piece));
  bool more = false;
  for (std::size_t i = 0; i < one.requests.size(); ++i) {
    if (!take_back(one.requests[i])) continue;
    more = true;
    const auto length = static_cast<int>(std::min(piece, size - i * piece));
    real.Irecv(one.unwanted.data(), length, MPI_BYTE, one.peer, one.place, comm_, &one.requests[i]);
  }
  return more;
}

void Carrier::cancel(Transfer& transfer) {
  if (transfer.state != State::pending) return;
  if (Transfer** found = announced_.find(transport::as_name(transfer)); found != nullptr && *found == &transfer) {
    announced_.remove(transport::as_name(transfer));
    post(transfer.peer, {.tag = transfer.tag, .handle = transport::as_name(transfer), .word = Word::withdrawn});
    transfer.state = State::cancelled;
    return;
  }
  const auto is_it = [&](const Moving& one) { return one.transfer == &transfer; };
  if (std::ranges::any_of(leaving_, is_it)) {
    // Its receiver is waiting for these bytes in the MPI.
    while (transfer.state == State::pending) end(leaving_);
    return;
  }
  transfer.state = State::cancelled;
  const auto found = std::ranges::find_if(coming_, is_it);
  if (found == coming_.end())
    matching_.withdraw(transfer);
  else if (!abandon(*found))
    transfer.state = State::done;
}

void Carrier::peer_lost(Peer peer) {
  if (is_lost(peer)) return;
  lost_[static_cast<std::size_t>(peer)] = true;
  matching_.lose(peer, [&](Message& message) { discard(message); });
  announced_.for_each([&](std::uint64_t handle, Transfer* transfer) {
    if (transfer->peer != peer) return;
    transfer->state = State::lost;
    announced_.remove(handle);
  });
  std::erase_if(coming_, [&](Moving& one) {
    if (one.peer != peer) return false;
    for (MPI_Request& request : one.requests) take_back(request);
    if (one.transfer != nullptr) one.transfer->state = State::lost;
    return true;
  });
}

void Carrier::forget(std::uint64_t context) {
  matching_.forget(context, [&](Message& message) { discard(message); });
}

}  // namespace tutti::mpi
