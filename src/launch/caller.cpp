// SPDX-License-Identifier: BSD-3-Clause
#include "launch/caller.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/words.hpp"
#include "launch/entrance.hpp"
#include "launch/loop.hpp"

namespace tutti::launch {

namespace {

namespace tcp = transport::tcp;

constexpr std::uint64_t millisecond = 1'000'000, second = 1'000'000'000;
/// How long one call may take, and the pauses between calls of an address.
constexpr std::uint64_t call_time = 5 * second, first_pause = 5 * millisecond, longest_pause = 500 * millisecond;
/// Names are looked up again after so long, and for so long strangers at the address are called again: another job that
/// has failed to start may just be ending there.
constexpr std::uint64_t look_up_again = second, strangers_time = 3 * second;
constexpr std::uint64_t first_remark = 5 * second, next_remark = 30 * second;

std::string mark(const tcp::Address& address) { return address.text(); }

/// The calls of all addresses, side by side.
class Calls {
 public:
  Calls(const Secret& secret, const std::string& where) : secret_(secret), where_(where) {}

  void know(const StoreAddresses& found) {
    trouble_ = found.trouble;
    for (const tcp::Address& address : found.addresses)
      if (std::ranges::none_of(lines_, [&](const Line& line) { return mark(line.address) == mark(address); }))
        lines_.push_back({address});
  }

  /// Calls whom it is time to call. The time of the next call, or of the next one to be given up.
  std::uint64_t begin(std::uint64_t now) {
    std::uint64_t next = now + look_up_again;
    for (Line& line : lines_) {
      if (line.entrance && now >= line.until) hang_up(line);
      if (!line.entrance && now >= line.until) dial(line, now);
      next = std::min(next, line.until);
    }
    return next;
  }

  int descriptor() const { return loop_.descriptor(); }
  /// What has come; the socket of the first that is through.
  base::Descriptor look() {
    loop_.turn();
    return std::move(through_);
  }
  /// For people: where that is, and why no call can be made there, if none can.
  std::string place() const {
    const std::string why = trouble();
    return why.empty() ? where_ : where_ + " (" + why + ")";
  }
  bool met_strangers_alone() const { return !lines_.empty() && std::ranges::all_of(lines_, &Line::stranger); }

 private:
  struct Line {
    tcp::Address address{};
    std::optional<Entrance> entrance{};
    std::uint64_t until = 0;  ///< Of the call, or of the pause before the next.
    std::uint64_t pause = first_pause;
    bool stranger = false;  ///< The last who answered did not know the secret.
    int error = 0;          ///< The system did not even begin the last call.
  };

  std::string trouble() const {
    if (lines_.empty()) return trouble_;
    if (std::ranges::any_of(lines_, [](const Line& line) { return line.error == 0; })) return {};
    return mark(lines_.front().address) + " cannot be called: " + std::strerror(lines_.front().error);
  }

  void dial(Line& line, std::uint64_t now) {
    base::Descriptor socket = tcp::begin_call(line.address);
    line.error = socket || errno == ECONNREFUSED ? 0 : errno;  // that one is an answer
    if (!socket) return hang_up(line);
    const int descriptor = socket.get();
    line.until = now + call_time;
    line.entrance.emplace(Entrance::Side::caller, secret_, std::move(socket), line.until);
    loop_.watch(descriptor, EPOLLIN | EPOLLOUT | EPOLLET, [this, &line](std::uint32_t) { advance(line); });
  }

  void hang_up(Line& line) {
    if (line.entrance) loop_.unwatch(line.entrance->socket());
    line.entrance.reset();
    line.until = base::now() + line.pause;
    line.pause = std::min(2 * line.pause, longest_pause);
  }

  void advance(Line& line) {
    const Entrance::State state = line.entrance->advance();
    if (state == Entrance::State::waiting) return;
    if (state == Entrance::State::foreign) throw foreign(*line.entrance);
    if (state == Entrance::State::open && !through_) {
      loop_.unwatch(line.entrance->socket());
      through_ = line.entrance->take();
      line.entrance.reset();
      return;
    }
    line.stranger = state == Entrance::State::refused;
    hang_up(line);
  }

  Error foreign(const Entrance& entrance) const {
    const Banner mine, &theirs = entrance.theirs();
    const auto version = [](const Banner& banner) {
      return std::to_string(banner.wire) + "." + std::to_string(banner.tcp);
    };
    return Error(Cause::system, "rank 0's Tutti at " + where_ + " speaks wire version " + version(theirs) +
                                    ", this program's version " + version(mine) +
                                    "; install the same version of Tutti on all hosts");
  }

  const Secret& secret_;
  const std::string& where_;
  Loop loop_;
  std::list<Line> lines_;
  std::string trouble_;  ///< Of the last look-up.
  base::Descriptor through_;
};

base::Descriptor listen_at_port(const tcp::Address& address) {
  const int family = address.system()->sa_family, yes = 1;
  base::Descriptor made(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made) return made;
  // A job may follow another at once, whose last connections the system still remembers.
  setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (family == AF_INET6) setsockopt(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
  if (bind(made.get(), address.system(), address.length()) != 0 || listen(made.get(), SOMAXCONN) != 0) made.reset();
  return made;
}

StoreAddresses look_up(const HostAndPort& place, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(place.host.c_str(), std::to_string(place.port).c_str(), &hints, &found);
  if (error != 0)
    return {{},
            "the name " + place.host +
                " is not known here: " + (error == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(error))};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  std::vector<tcp::Address> addresses;
  std::string useless;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    char host[NI_MAXHOST] = "";
    if (getnameinfo(one->ai_addr, one->ai_addrlen, host, sizeof host, nullptr, 0, NI_NUMERICHOST) != 0) continue;
    const std::string text = one->ai_family == AF_INET6 ? "[" + std::string(host) + "]" : host;
    if (const auto address = tcp::Address::parse("tcp:" + text + ":" + std::to_string(place.port)))
      addresses.push_back(*address);
    else
      base::add_word(useless, host);
  }
  if (addresses.empty()) return {{}, "the name " + place.host + " leads to no address to call, but to " + useless};
  return {std::move(addresses)};
}

}  // namespace

StoreAddresses resolve(const HostAndPort& place) { return look_up(place, 0); }

std::vector<base::Descriptor> listen_for_store(const HostAndPort& place) {
  std::vector<tcp::Address> wanted = look_up(place, place.host == "localhost" ? 0 : AI_NUMERICHOST).addresses;
  const std::string port = std::to_string(place.port);
  std::vector<base::Descriptor> sockets;
  for (int attempt = 0; attempt < 2 && sockets.empty(); ++attempt) {
    // An address that is not this host's may still lead here: through a load balancer, or a container's port.
    if (attempt == 1 || wanted.empty())
      wanted = {*tcp::Address::parse("tcp:0.0.0.0:" + port), *tcp::Address::parse("tcp:[::]:" + port)};
    for (const tcp::Address& address : wanted) {
      if (base::Descriptor socket = listen_at_port(address))
        sockets.push_back(std::move(socket));
      else if (!tcp::is_unusable(errno))
        throw system_error("rank 0 cannot serve the job's store at " + place.text() +
                           (errno == EADDRINUSE ? " (another program listens there, perhaps another rank 0 or another "
                                                  "job; choose another port in TUTTI_STORE, or another --mpi of srun)"
                                                : ""));
    }
  }
  if (sockets.empty()) throw system_error("rank 0 cannot serve the job's store at " + place.text());
  return sockets;
}

base::Descriptor call_store(const FindStore& find, const std::string& where, const Secret& secret, Rank rank,
                            Deadline& deadline) {
  Calls calls(secret, where);
  const std::uint64_t begun = base::now();
  std::uint64_t looked_up = 0, remark = begun + first_remark;
  for (;;) {
    std::uint64_t now = base::now();
    if (looked_up == 0 || now - looked_up > look_up_again) {
      calls.know(find());
      looked_up = now = base::now();
    }
    const std::string place = calls.place();
    deadline.await("rank 0, which serves the job's store at " + place + ",");
    if (now > remark) {
      base::log("rank " + std::to_string(rank) + " waits for rank 0 at " + place);
      remark = now + next_remark;
    }
    if (now - begun > strangers_time && calls.met_strangers_alone())
      throw Error(Cause::system,
                  "who answers at " + where +
                      " does not know this job's secret: TUTTI_SECRET, or the file of it, is not the same for "
                      "all ranks, or another program has that address");
    const std::uint64_t next = calls.begin(now);
    if (!deadline.wait(calls.descriptor(), POLLIN, next > now ? next - now : 1)) continue;
    if (base::Descriptor socket = calls.look()) return socket;
  }
}

}  // namespace tutti::launch
