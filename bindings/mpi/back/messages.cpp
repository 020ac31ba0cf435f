// SPDX-License-Identifier: BSD-3-Clause
// Sends, receives and probes while operations of Tutti's are open: their non-blocking forms and the common wait. The
// plain forms and those with 64-bit counts, where the MPI has them.
#include <type_traits>

#include "blocked.hpp"
#include "blocking.hpp"
#include "communicators.hpp"
#include "failure.hpp"
#include "host.hpp"
#include "inside.hpp"
#include "requests.hpp"
#include "small_counts.hpp"

namespace tutti::mpi::blocking {
namespace {

/// The MPI's own call would have ended it, and nobody may ever send.
void give_up(MPI_Request& receive) {
  real.Cancel(&receive);
  finish(receive, MPI_STATUS_IGNORE);
}

/// ULFM keeps a receive from any source that a lost rank has stopped, as only a request can be kept.
int finish_receive(MPI_Request& receive, MPI_Status* status) {
  const int code = finish(receive, status);
  if (code == MPI_SUCCESS || receive == MPI_REQUEST_NULL) return code;
  give_up(receive);
  return is_revoked != nullptr ? lost_class() : code;
}

/// A send of one mode, with counts of N.
template <class N, char mode>
struct Send {
  using Blocking = int(const void*, N, MPI_Datatype, int, int, MPI_Comm);
  using Starting = int(const void*, N, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
  inline static Blocking* own = nullptr;
  inline static Starting* own_start = nullptr;
  inline static FunctionName name{};

  static int call(const void* buffer, N count, MPI_Datatype type, int to, int tag, MPI_Comm comm) noexcept {
    const Inside inside(name, __builtin_return_address(0), Inside::peer(to, comm), tag);
    if (resting()) return blocked([&] { return own(buffer, count, type, to, tag, comm); });
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = own_start(buffer, count, type, to, tag, comm, &request);
    return code == MPI_SUCCESS ? finish(request, MPI_STATUS_IGNORE) : code;
  }
};

template <class N>
struct Receive {
  using Blocking = int(void*, N, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
  using Starting = int(void*, N, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
  inline static Blocking* own = nullptr;
  inline static Starting* own_start = nullptr;
  inline static FunctionName name{};

  static int call(void* buffer, N count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Status* status) noexcept {
    const Inside inside(name, __builtin_return_address(0), Inside::peer(from, comm), tag);
    if (resting()) return blocked([&] { return own(buffer, count, type, from, tag, comm, status); });
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = own_start(buffer, count, type, from, tag, comm, &request);
    return code == MPI_SUCCESS ? finish_receive(request, status) : code;
  }
};

template <class N>
struct ReceiveMatched {
  using Blocking = int(void*, N, MPI_Datatype, MPI_Message*, MPI_Status*);
  using Starting = int(void*, N, MPI_Datatype, MPI_Message*, MPI_Request*);
  inline static Blocking* own = nullptr;
  inline static Starting* own_start = nullptr;
  inline static FunctionName name{};

  static int call(void* buffer, N count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) noexcept {
    const Inside inside(name, __builtin_return_address(0));
    if (resting()) return blocked([&] { return own(buffer, count, type, message, status); });
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = own_start(buffer, count, type, message, &request);
    return code == MPI_SUCCESS ? finish(request, status) : code;
  }
};

template <class N>
struct Exchange {
  using Blocking = int(const void*, N, MPI_Datatype, int, int, void*, N, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
  inline static Blocking* own = nullptr;
  inline static FunctionName name{};

  static int call(const void* out, N sends, MPI_Datatype send_type, int to, int send_tag, void* in, N receives,
                  MPI_Datatype receive_type, int from, int receive_tag, MPI_Comm comm, MPI_Status* status) noexcept {
    const Inside inside(name, __builtin_return_address(0), Inside::peer(from, comm), receive_tag);
    if (resting())
      return blocked([&] {
        return own(out, sends, send_type, to, send_tag, in, receives, receive_type, from, receive_tag, comm, status);
      });
    MPI_Request receive = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL;
    int code = Receive<N>::own_start(in, receives, receive_type, from, receive_tag, comm, &receive);
    if (code != MPI_SUCCESS) return code;
    code = Send<N, 's'>::own_start(out, sends, send_type, to, send_tag, comm, &send);
    if (code != MPI_SUCCESS) {
      give_up(receive);
      return code;
    }
    code = finish(send, MPI_STATUS_IGNORE);
    const int received = finish_receive(receive, status);
    return code == MPI_SUCCESS ? received : code;
  }
};

template <class N>
struct ExchangeInPlace {
  using Blocking = int(void*, N, MPI_Datatype, int, int, int, int, MPI_Comm, MPI_Status*);
  using Starting = int(void*, N, MPI_Datatype, int, int, int, int, MPI_Comm, MPI_Request*);
  inline static Blocking* own = nullptr;
  inline static Starting* own_start = nullptr;  ///< Of MPI 4.
  inline static FunctionName name{};

  static int call(void* buffer, N count, MPI_Datatype type, int to, int send_tag, int from, int receive_tag,
                  MPI_Comm comm, MPI_Status* status) noexcept {
    const Inside inside(name, __builtin_return_address(0), Inside::peer(from, comm), receive_tag);
    const auto itself = [&] { return own(buffer, count, type, to, send_tag, from, receive_tag, comm, status); };
    if (resting() || own_start == nullptr) return guarded(itself);
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = own_start(buffer, count, type, to, send_tag, from, receive_tag, comm, &request);
    return code == MPI_SUCCESS ? finish_receive(request, status) : code;
  }
};

const FunctionName probe_name = host::Inside::name_of("MPI_Probe"), mprobe_name = host::Inside::name_of("MPI_Mprobe");
decltype(&PMPI_Probe) own_probe = nullptr;
decltype(&PMPI_Mprobe) own_mprobe = nullptr;

int probe(int from, int tag, MPI_Comm comm, MPI_Status* status) noexcept {
  const Inside inside(probe_name, __builtin_return_address(0), Inside::peer(from, comm), tag);
  if (resting()) return blocked([&] { return own_probe(from, tag, comm, status); });
  int code = MPI_SUCCESS, found = 0;
  wait_until([&] {
    code = real.Iprobe(from, tag, comm, &found, status);
    return code != MPI_SUCCESS || found != 0;
  });
  return code;
}

int mprobe(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) noexcept {
  const Inside inside(mprobe_name, __builtin_return_address(0), Inside::peer(from, comm), tag);
  if (resting()) return blocked([&] { return own_mprobe(from, tag, comm, message, status); });
  int code = MPI_SUCCESS, found = 0;
  wait_until([&] {
    code = real.Improbe(from, tag, comm, &found, message, status);
    return code != MPI_SUCCESS || found != 0;
  });
  return code;
}

/// A loop of these is a way to wait, too.
int iprobe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status) noexcept {
  if (!idle()) progress();
  return real.Iprobe(from, tag, comm, flag, status);
}

int improbe(int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) noexcept {
  if (!idle()) progress();
  return real.Improbe(from, tag, comm, flag, message, status);
}

decltype(&PMPI_Parrived) own_parrived = nullptr;

int parrived(MPI_Request request, int partition, int* flag) noexcept {
  if (!idle()) progress();
  return own_parrived(request, partition, flag);
}

decltype(&PMPI_Win_test) own_win_test = nullptr;

/// What was sent before one of Tutti's collectives may still stand in the MPI's queues behind it: the MPI's own
/// collectives would have taken it out of them. A look takes a few messages.
constexpr int looks = 16;

int win_test(MPI_Win win, int* flag) noexcept {
  if (!idle()) progress();
  int code = own_win_test(win, flag);
  for (int look = 0; look < looks && Host::get() != nullptr && code == MPI_SUCCESS && *flag == 0; ++look) {
    Host::poll();
    code = own_win_test(win, flag);
  }
  return code;
}

template <class Function>
void look_up(Finder find, const std::string& name, Function*& function) {
  function = reinterpret_cast<Function*>(find(("MPI_" + name).c_str()));
}

/// A blocking function and its non-blocking form.
template <class Call>
void find_pair(Finder find, const std::string& name, const std::string& starting, const char* suffix) {
  look_up(find, name + suffix, Call::own);
  Call::name = host::Inside::name_of("MPI_" + name + suffix);
  look_up(find, starting + suffix, Call::own_start);
}

template <class N>
void find_with(Finder find, const char* suffix) {
  find_pair<Send<N, 's'>>(find, "Send", "Isend", suffix);
  find_pair<Send<N, 'b'>>(find, "Bsend", "Ibsend", suffix);
  find_pair<Send<N, 'y'>>(find, "Ssend", "Issend", suffix);
  find_pair<Send<N, 'r'>>(find, "Rsend", "Irsend", suffix);
  find_pair<Receive<N>>(find, "Recv", "Irecv", suffix);
  find_pair<ReceiveMatched<N>>(find, "Mrecv", "Imrecv", suffix);
  find_pair<ExchangeInPlace<N>>(find, "Sendrecv_replace", "Isendrecv_replace", suffix);
  look_up(find, std::string("Sendrecv") + suffix, Exchange<N>::own);
  Exchange<N>::name = host::Inside::name_of(std::string("MPI_Sendrecv") + suffix);
}

/// A _c form of an MPI that has none.
template <template <class> class Call>
void narrow() {
  Call<MPI_Count>::own = &OverSmall<typename Call<MPI_Count>::Blocking*, &Call<int>::call>::call;
  if constexpr (requires { Call<int>::own_start; })
    if (Call<int>::own_start != nullptr)
      Call<MPI_Count>::own_start = &OverSmall<typename Call<MPI_Count>::Starting*, &Call<int>::own_start>::call;
}

template <class N>
using StandardSend = Send<N, 's'>;
template <class N>
using BufferedSend = Send<N, 'b'>;
template <class N>
using SynchronousSend = Send<N, 'y'>;
template <class N>
using ReadySend = Send<N, 'r'>;

void narrow_messages() {
  narrow<StandardSend>();
  narrow<BufferedSend>();
  narrow<SynchronousSend>();
  narrow<ReadySend>();
  narrow<Receive>();
  narrow<ReceiveMatched>();
  narrow<Exchange>();
  narrow<ExchangeInPlace>();
}

template <class Call>
void tell_one(const Teller& teller, const std::string& name) {
  if (Call::own != nullptr) teller(name, reinterpret_cast<void*>(&Call::call));
}

template <class N>
void tell_with(const Teller& teller, const std::string& suffix) {
  tell_one<Send<N, 's'>>(teller, "Send" + suffix);
  tell_one<Send<N, 'b'>>(teller, "Bsend" + suffix);
  tell_one<Send<N, 'y'>>(teller, "Ssend" + suffix);
  tell_one<Send<N, 'r'>>(teller, "Rsend" + suffix);
  tell_one<Receive<N>>(teller, "Recv" + suffix);
  tell_one<ReceiveMatched<N>>(teller, "Mrecv" + suffix);
  tell_one<Exchange<N>>(teller, "Sendrecv" + suffix);
  tell_one<ExchangeInPlace<N>>(teller, "Sendrecv_replace" + suffix);
}

}  // namespace

void find_messages(Finder find) {
  find_with<int>(find, "");
  find_with<MPI_Count>(find, "_c");
  if (Send<MPI_Count, 's'>::own == nullptr) narrow_messages();
  look_up(find, "Probe", own_probe);
  look_up(find, "Mprobe", own_mprobe);
  look_up(find, "Parrived", own_parrived);
  look_up(find, "Win_test", own_win_test);
}

void tell_messages(const Teller& teller) {
  tell_with<int>(teller, "");
  tell_with<MPI_Count>(teller, "_c");
  teller("Probe", reinterpret_cast<void*>(&probe));
  teller("Mprobe", reinterpret_cast<void*>(&mprobe));
  teller("Iprobe", reinterpret_cast<void*>(&iprobe));
  teller("Improbe", reinterpret_cast<void*>(&improbe));
  if (own_parrived != nullptr) teller("Parrived", reinterpret_cast<void*>(&parrived));
  teller("Win_test", reinterpret_cast<void*>(&win_test));
}

}  // namespace tutti::mpi::blocking
