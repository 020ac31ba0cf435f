// SPDX-License-Identifier: BSD-3-Clause
#include "launch/conversation.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "base/clock.hpp"

namespace tutti::launch {

namespace {

constexpr std::uint64_t between_questions = 100'000'000;

/// All descriptors that came with a message; more than one is nobody's.
base::Descriptor received_descriptor(msghdr& message) {
  base::Descriptor first;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int value = -1;
      std::memcpy(&value, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      base::Descriptor descriptor(value);
      if (!first) first = std::move(descriptor);
    }
  }
  return first;
}

}  // namespace

Deadline::Deadline(const Patience& patience) : patience_(patience) {
  if (patience.timeout.count() > 0) until_ = base::now() + static_cast<std::uint64_t>(patience.timeout.count());
}

std::uint64_t Deadline::left() const {
  constexpr std::uint64_t year = 365ull * 86400 * 1'000'000'000;
  if (until_ == 0) return year;
  const std::uint64_t now = base::now();
  return until_ > now ? until_ - now : 0;
}

std::uint64_t Deadline::pause() const {
  return patience_.interrupted != nullptr ? std::min(left(), between_questions) : left();
}

void Deadline::expect_uninterrupted() const {
  if (patience_.interrupted != nullptr && patience_.interrupted())
    throw Error(Cause::interrupted, "interrupted while waiting for " + awaited_ + "; try again");
}

void Deadline::wait(int descriptor, short events) {
  while (!wait(descriptor, events, ~std::uint64_t{0})) {
  }
}

bool Deadline::wait(int descriptor, short events, std::uint64_t most) {
  const std::uint64_t begin = base::now();
  for (;;) {
    expect_uninterrupted();
    const std::uint64_t rest = pause(), waited = base::now() - begin;
    if (rest == 0)
      throw Timeout(Cause::timeout, awaited_ +
                                        " did not answer in the time given; allow more, or look at what the other "
                                        "ranks do");
    if (waited >= most) return false;
    const std::uint64_t nap = std::min(rest, most - waited);
    const timespec time{static_cast<time_t>(nap / 1'000'000'000), static_cast<long>(nap % 1'000'000'000)};
    pollfd entry{descriptor, events, 0};
    const int ready = ppoll(&entry, 1, &time, nullptr);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR && errno != EAGAIN) throw system_error("cannot wait for " + awaited_);
  }
}

Conversation::Conversation(const Address& address) : socket_(connect_to(address)) {
  if (const Peer peer = peer_of(socket_.get()); peer.uid != geteuid())
    throw Error(Cause::system, "the launcher at unix:@" + address.name + " belongs to user " +
                                   std::to_string(peer.uid) + ", this process to user " + std::to_string(geteuid()) +
                                   "; all processes of a job must run as the same user");
}

Conversation::Conversation(base::Descriptor socket, std::string partner)
    : socket_(std::move(socket)), partner_(std::move(partner)) {}

void Conversation::send(const Message& message, Deadline& deadline) {
  const std::vector<std::byte> bytes = serialise(message);
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t step = ::send(socket_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (step > 0) {
      sent += static_cast<std::size_t>(step);
    } else if (errno == EAGAIN) {
      deadline.wait(socket_.get(), POLLOUT);
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return;  // The other end has hung up, perhaps with a reason that `receive` will find.
    } else if (errno != EINTR) {
      throw system_error("cannot write to " + partner_);
    }
  }
}

bool Conversation::read_some() {
  std::byte buffer[4096];
  iovec vector{buffer, sizeof buffer};
  alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))];
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (size <= 0) return false;
  if (base::Descriptor descriptor = received_descriptor(message)) attached_ = std::move(descriptor);
  input_.insert(input_.end(), buffer, buffer + size);
  return true;
}

Message Conversation::receive(Deadline& deadline) {
  for (;;) {
    Parsed parsed = parse(input_);
    if (parsed.outcome == Parsed::Outcome::malformed) throw unexpected();
    if (parsed.outcome == Parsed::Outcome::complete) {
      input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(parsed.used));
      if (auto* refused = std::get_if<Refused>(&parsed.message)) throw Error(Cause::system, refused->reason);
      return std::move(parsed.message);
    }
    deadline.wait(socket_.get(), POLLIN);
    if (!read_some()) throw gone();
  }
}

void Conversation::become_lifeline() {
  const int socket = socket_.get();
  // The order matters: who gets the signal, which, and only then that there shall be one.
  if (fcntl(socket, F_SETOWN, getpid()) != 0 || fcntl(socket, F_SETSIG, SIGKILL) != 0 ||
      fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_ASYNC) != 0)
    throw system_error("cannot tie this process to its launcher");
  // A hang-up before the line above raised no signal.
  pollfd entry{socket, POLLIN | POLLRDHUP, 0};
  if (poll(&entry, 1, 0) > 0 && (entry.revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0) throw gone();
}

Error Conversation::unexpected() const {
  return Error(Cause::system, partner_ +
                                  " said something unexpected; use the same installation of Tutti for all, and check "
                                  "that TUTTI_STORE names the address of this job");
}

Error Conversation::gone() const {
  return Error(Cause::system,
               partner_ + " has closed the connection (it has ended, or gave up on this process); start the job again");
}

}  // namespace tutti::launch
