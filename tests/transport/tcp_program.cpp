// SPDX-License-Identifier: BSD-3-Clause
// One rank over tcp that does what it is told, a line at a time, and says what became of it.
//
//     tcp_program RANK LISTEN ADDRESSES...    LISTEN: blank between addresses; ADDRESSES: one argument for each rank
//
// Of a message's bytes, both ends know what they have to be.
//
//     send PEER MESSAGE SIZE      > "send MESSAGE STATE SECONDS" when it has ended
//
//     recv PEER MESSAGE SIZE      > "recv MESSAGE STATE SECONDS" as well
//
//     call PEER                   > "call PEER"
//
//     connected PEER              > "connected PEER" as soon as it is
//
//     compute SECONDS             > "computed"; no progress meanwhile
//
//     suspects                    > "suspects PEER:SECONDS ..."
//
//     fate PEER                   > "fate PEER well", or silent, or ended
//
//     end                           ends when all has left
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <list>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/hash.hpp"
#include "transport/tcp/tcp.hpp"

namespace {

using namespace tutti;
using namespace tutti::transport;

const char* name_of(State state) {
  switch (state) {
    case State::pending:
      return "pending";
    case State::done:
      return "done";
    case State::lost:
      return "lost";
    default:
      return "refused";
  }
}

const char* name_of(Fate fate) {
  switch (fate) {
    case Fate::well:
      return "well";
    case Fate::silent:
      return "silent";
    default:
      return "ended";
  }
}

double seconds_since(std::uint64_t start) { return static_cast<double>(base::now() - start) * 1e-9; }

std::vector<std::byte> content(std::uint32_t message, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = base::mix(at + message);
    std::memcpy(bytes.data() + at, &word, std::min(sizeof word, size - at));
  }
  return bytes;
}

/// A transfer that has been asked for.
struct Errand {
  bool sends;
  std::vector<std::byte> bytes;
  Transfer transfer{};
  std::uint64_t started = base::now();
};

class Program {
 public:
  explicit Program(const tcp::Options& options) : transport_(tcp::listen(options)) {
    std::cout << "listening " << transport_->addresses() << std::endl;
  }

  void run() {
    while (!ended_ || !errands_.empty() || !transport_->has_left()) {
      while (transport_->progress()) {
      }
      report();
      pollfd entries[] = {{transport_->descriptor(), POLLIN, 0}, {ended_ ? -1 : STDIN_FILENO, POLLIN, 0}};
      poll(entries, 2, 1000);
      if (entries[1].revents != 0) listen();
    }
  }

 private:
  void listen() {
    char text[4096];
    const ssize_t n = read(STDIN_FILENO, text, sizeof text);
    if (n <= 0) ended_ = true;
    heard_.append(text, n > 0 ? static_cast<std::size_t>(n) : 0);
    for (std::size_t end = 0; (end = heard_.find('\n')) != std::string::npos; heard_.erase(0, end + 1))
      obey(std::istringstream(heard_.substr(0, end)));
  }

  void obey(std::istringstream line) {
    std::string word;
    line >> word;
    if (word == "send" || word == "recv") {
      start(word == "send", line);
    } else if (word == "call") {
      Peer peer = -1;
      line >> peer;
      transport_->call(peer);
      std::cout << "call " << peer << std::endl;
    } else if (word == "connected") {
      awaited_.emplace();
      line >> *awaited_;
    } else if (word == "compute") {
      double seconds = 0;
      line >> seconds;
      usleep(static_cast<useconds_t>(seconds * 1e6));
      std::cout << "computed" << std::endl;
    } else if (word == "suspects") {
      std::cout << "suspects";
      for (const tcp::Suspect& one : transport_->suspects())
        std::cout << ' ' << one.peer << ':' << static_cast<double>(one.silence) * 1e-9;
      std::cout << std::endl;
    } else if (word == "fate") {
      Peer peer = -1;
      line >> peer;
      std::cout << "fate " << peer << ' ' << name_of(transport_->fate(peer)) << std::endl;
    } else if (word == "end") {
      ended_ = true;
    }
  }

  void start(bool sends, std::istringstream& line) {
    std::size_t size = 0;
    Errand& errand = errands_.emplace_back(Errand{.sends = sends, .bytes = {}});
    line >> errand.transfer.peer >> errand.transfer.tag.message >> size;
    errand.bytes = sends ? content(errand.transfer.tag.message, size) : std::vector<std::byte>(size);
    errand.transfer.data = errand.bytes.data();
    errand.transfer.size = size;
    sends ? transport_->send(errand.transfer) : transport_->recv(errand.transfer);
  }

  void report() {
    errands_.remove_if([](const Errand& errand) {
      const Transfer& transfer = errand.transfer;
      if (transfer.state == State::pending) return false;
      const bool good = errand.sends || transfer.state != State::done ||
                        errand.bytes == content(transfer.tag.message, errand.bytes.size());
      std::cout << (errand.sends ? "send " : "recv ") << transfer.tag.message << ' '
                << (good ? name_of(transfer.state) : "wrong") << ' ' << seconds_since(errand.started) << std::endl;
      return true;
    });
    if (awaited_ && transport_->connected(*awaited_)) {
      std::cout << "connected " << *awaited_ << std::endl;
      awaited_.reset();
    }
  }

  std::unique_ptr<tcp::Tcp> transport_;
  std::list<Errand> errands_;
  std::optional<Peer> awaited_;
  std::string heard_;
  bool ended_ = false;
};

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> all(words + 3, words + count);
  tcp::Options options;
  options.identity = {.job = 5,
                      .rank = static_cast<Peer>(std::stoi(words[1])),
                      .size = static_cast<std::int32_t>(all.size()),
                      .secret = base::Key{std::byte{3}}};
  std::istringstream listens(words[2]);
  for (std::string address; listens >> address;) options.listen.push_back(address);
  options.find = [&](Peer peer) { return all[static_cast<std::size_t>(peer)]; };
  Program(options).run();
}
