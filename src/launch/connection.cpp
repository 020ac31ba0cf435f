// SPDX-License-Identifier: BSD-3-Clause
#include "launch/connection.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tutti::launch {

namespace {

/// Reading stops here until the messages have been taken: a longer message does not exist.
constexpr std::size_t most_input = header_bytes + 4096 + longest_value;

ssize_t send_piece(int socket, std::span<const std::byte> bytes, int attached) {
  iovec vector{const_cast<std::byte*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  if (attached >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(part), &attached, sizeof(int));
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

Connection::Connection(base::Descriptor socket) : socket_(std::move(socket)) {}

bool Connection::read() {
  std::array<std::byte, 16384> buffer;
  while (input_.size() < most_input) {
    // Plain recv: a descriptor that somebody attaches is closed by the kernel, not given to us.
    const ssize_t size = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size > 0)
      input_.insert(input_.end(), buffer.data(), buffer.data() + size);
    else if (size < 0 && errno == EAGAIN)
      return true;
    else if (size == 0 || errno != EINTR)
      return false;
  }
  return true;
}

Parsed Connection::next() {
  Parsed parsed = parse(input_);
  input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(parsed.used));
  return parsed;
}

void Connection::send(const Message& message, int attached) {
  output_.push_back({std::make_shared<const std::vector<std::byte>>(serialise(message)), attached});
}

void Connection::send(std::shared_ptr<const std::vector<std::byte>> message) {
  output_.push_back({std::move(message)});
}

bool Connection::flush() {
  while (!output_.empty()) {
    Outgoing& front = output_.front();
    const ssize_t sent = send_piece(socket_.get(), std::span(*front.bytes).subspan(front.sent), front.attached);
    if (sent < 0 && errno == EAGAIN) return true;
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    front.attached = -1;  // It has gone with the first byte.
    front.sent += static_cast<std::size_t>(sent);
    if (front.sent == front.bytes->size()) output_.pop_front();
  }
  return true;
}

}  // namespace tutti::launch
