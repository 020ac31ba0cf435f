// SPDX-License-Identifier: BSD-3-Clause
#include "launch/handover.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <list>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "launch/connection.hpp"
#include "launch/conversation.hpp"
#include "launch/system.hpp"
#include "transport/tcp/socket.hpp"

namespace tutti::launch {
namespace {

/// Strangers at the door are dropped, the oldest first, beyond this.
constexpr std::size_t most_strangers = 64;
constexpr std::uint64_t longest_sleep = 60'000;  // milliseconds

/// Who has come, and who is still asked for.
class Reception {
 public:
  Reception(const host::Segment& segment, const Secret& secret)
      : segment_(segment),
        secret_(secret),
        served_(static_cast<std::size_t>(segment.size())),
        missing_(segment.size() - 1) {}

  int missing() const { return missing_; }

  void admit(base::Descriptor socket) {
    // Fewer may be inside as soon as a rank is served, who stays until it hangs up.
    while (guests_.size() >= most_strangers + static_cast<std::size_t>(missing_)) guests_.pop_front();
    guests_.emplace_back(std::move(socket));
  }

  std::vector<pollfd> watched(int listener) const {
    std::vector<pollfd> entries{{listener, POLLIN, 0}};
    for (const Connection& guest : guests_)
      entries.push_back({guest.descriptor(), static_cast<short>(guest.flushed() ? POLLIN : POLLOUT), 0});
    return entries;
  }

  void attend() {
    for (auto guest = guests_.begin(); guest != guests_.end();)
      guest = attend(*guest) ? std::next(guest) : guests_.erase(guest);
  }

 private:
  /// False when the guest is to go.
  bool attend(Connection& guest) {
    const bool open = guest.read();
    const Parsed parsed = guest.next();
    if (parsed.outcome == Parsed::Outcome::malformed) return false;
    if (parsed.outcome == Parsed::Outcome::complete) {
      const auto* hello = std::get_if<Hello>(&parsed.message);
      if (hello == nullptr || !welcome(guest, *hello)) return false;
    }
    return guest.flush() && open;
  }

  bool welcome(Connection& guest, const Hello& hello) {
    if (hello.version != host::wire_version || !same(hello.secret, secret_) || guest.peer().uid != geteuid() ||
        hello.size != segment_.size() || hello.rank <= 0 || hello.rank >= segment_.size())
      return false;
    const auto seat = static_cast<std::size_t>(hello.rank);
    if (served_[seat]) return false;
    served_[seat] = true;
    --missing_;
    guest.send(Welcome{segment_.size(), 1, segment_.header().job}, segment_.descriptor());
    return true;
  }

  const host::Segment& segment_;
  const Secret& secret_;
  std::vector<bool> served_;
  int missing_;
  std::list<Connection> guests_;
};

}  // namespace

Handover::Handover(const host::Segment& segment, const Secret& secret, base::Descriptor listener)
    : segment_(segment), secret_(secret), listener_(std::move(listener)) {}

int Handover::serve(const Deadline& deadline, const News& news) {
  Reception reception(segment_, secret_);
  std::uint64_t deaf_until = 0;  // no descriptor was left for the next one
  bool told = false;
  while (reception.missing() > 0 && deadline.left() > 0) {
    deadline.expect_uninterrupted();
    const std::uint64_t now = base::now();
    const bool deaf = now < deaf_until;
    std::vector<pollfd> entries = reception.watched(deaf ? -1 : listener_.get());
    entries.push_back({news.descriptor, POLLIN, 0});  // -1 is passed over
    const std::uint64_t rest = deaf ? std::min(deadline.pause(), deaf_until - now) : deadline.pause();
    const auto pause = std::min(rest / 1'000'000 + 1, longest_sleep);
    if (poll(entries.data(), entries.size(), static_cast<int>(pause)) < 0 && errno != EINTR)
      throw system_error("cannot wait for the other ranks");
    if (entries.back().revents != 0) news.hear();
    while (!deaf) {
      base::Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!socket && transport::tcp::is_want(errno)) {
        const std::string want = system_text("the other ranks of this host cannot be let in yet", errno);
        if (!std::exchange(told, true)) base::log(want);
        deaf_until = base::now() + transport::tcp::pause_in_want;
      }
      if (!socket) break;
      reception.admit(std::move(socket));
    }
    reception.attend();
  }
  return reception.missing();
}

std::shared_ptr<host::Segment> fetch_segment(const Address& address, std::uint64_t job, const Secret& secret, Rank rank,
                                             int size, Deadline& deadline) {
  Conversation conversation{address};
  Hello hello;
  hello.rank = rank;
  hello.size = size;
  hello.pid = getpid();
  hello.secret = secret;
  conversation.send(hello, deadline);
  const auto welcome = conversation.expect<Welcome>(deadline);
  base::Descriptor memory = conversation.take_descriptor();
  if (!memory || welcome.size != size || welcome.job != job)
    throw Error(Cause::system, "the first rank of this host sent no shared memory of this job");
  return host::Segment::attach(memory.release(), job);
}

}  // namespace tutti::launch
