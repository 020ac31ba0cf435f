// SPDX-License-Identifier: BSD-3-Clause
#include "fortran.hpp"

#ifdef OPEN_MPI

#include <array>
#include <cctype>
#include <span>

#include "communicators.hpp"
#include "completion.hpp"
#include "helper.hpp"
#include "life.hpp"
#include "requests.hpp"

namespace tutti::mpi::fortran {
namespace {

struct Conversions {
  decltype(&PMPI_Comm_f2c) comm = nullptr;
  decltype(&PMPI_Type_f2c) type = nullptr;
  decltype(&PMPI_Op_f2c) op = nullptr;
  decltype(&PMPI_Info_f2c) info = nullptr;
  decltype(&PMPI_Request_f2c) request = nullptr;
  decltype(&PMPI_Message_f2c) message = nullptr;
  decltype(&PMPI_Request_c2f) request_number = nullptr;
  decltype(&PMPI_Message_c2f) message_number = nullptr;
  decltype(&PMPI_Op_c2f) op_number = nullptr;
  decltype(&PMPI_Type_c2f) type_number = nullptr;
  decltype(&PMPI_Status_c2f) status = nullptr;
} convert;

/// Fortran compilers spell the names of common blocks in these ways.
using Spellings = std::array<const void*, 4>;
Spellings in_place, bottom, status_ignore, statuses_ignore;

bool is(const void* address, const Spellings& spellings) {
  for (const void* one : spellings)
    if (one != nullptr && one == address) return true;
  return false;
}

Spellings spellings(Finder find, const std::string& name) {
  std::string upper = name;
  for (char& letter : upper) letter = static_cast<char>(std::toupper(letter));
  // A leading "=" asks for the name itself, in the program first.
  return {find(("=" + name + "_").c_str()), find(("=" + name + "__").c_str()), find(("=" + name).c_str()),
          find(("=" + upper).c_str())};
}

template <class Function>
void look_up(Finder find, const char* name, Function& function) {
  function = reinterpret_cast<Function>(find(name));
}

constexpr int status_numbers = sizeof(MPI_Status) / sizeof(MPI_Fint);

MPI_Fint* status_at(MPI_Fint* statuses, int index) {
  return is_ignored(statuses) ? statuses : statuses + static_cast<std::ptrdiff_t>(index) * status_numbers;
}

/// A list of requests in C's form, written back at the end.
class List {
 public:
  List(MPI_Fint count, MPI_Fint* numbers) : numbers_(numbers) {
    for (MPI_Fint i = 0; i < count; ++i) handles_.push_back(handle(numbers[i], MPI_Request{}));
    statuses_.resize(handles_.size());
  }
  int count() const { return static_cast<int>(handles_.size()); }
  MPI_Request* handles() { return handles_.data(); }
  MPI_Status* statuses() { return statuses_.data(); }
  void write(MPI_Fint* statuses, int some) {
    for (std::size_t i = 0; i < handles_.size(); ++i) numbers_[i] = number(handles_[i]);
    for (int i = 0; i < some && !is_ignored(statuses); ++i)
      copy(statuses_[static_cast<std::size_t>(i)], status_at(statuses, i));
  }

 private:
  MPI_Fint* numbers_;
  std::vector<MPI_Request> handles_;
  std::vector<MPI_Status> statuses_;
};

/// Fortran counts from one.
MPI_Fint position(int index) { return index == MPI_UNDEFINED ? index : index + 1; }

void put(MPI_Fint* error, int code) {
  if (error != nullptr) *error = code;
}

void wait(MPI_Fint* request, MPI_Fint* status, MPI_Fint* error) {
  List list(1, request);
  put(error, completion::wait(list.handles(), list.statuses()));
  list.write(status, 1);
}
void test(MPI_Fint* request, MPI_Fint* flag, MPI_Fint* status, MPI_Fint* error) {
  List list(1, request);
  put(error, completion::test(list.handles(), flag, list.statuses()));
  list.write(status, *flag != 0 ? 1 : 0);
}
void request_get_status(MPI_Fint* request, MPI_Fint* flag, MPI_Fint* status, MPI_Fint* error) {
  MPI_Status found;
  put(error, completion::request_get_status(handle(*request, MPI_Request{}), flag, &found));
  if (*flag != 0 && !is_ignored(status)) copy(found, status);
}
void waitall(MPI_Fint* count, MPI_Fint* requests, MPI_Fint* statuses, MPI_Fint* error) {
  List list(*count, requests);
  put(error, completion::waitall(list.count(), list.handles(), list.statuses()));
  list.write(statuses, list.count());
}
void testall(MPI_Fint* count, MPI_Fint* requests, MPI_Fint* flag, MPI_Fint* statuses, MPI_Fint* error) {
  List list(*count, requests);
  put(error, completion::testall(list.count(), list.handles(), flag, list.statuses()));
  list.write(statuses, *flag != 0 ? list.count() : 0);
}
void waitany(MPI_Fint* count, MPI_Fint* requests, MPI_Fint* index, MPI_Fint* status, MPI_Fint* error) {
  List list(*count, requests);
  int found = 0;
  put(error, completion::waitany(list.count(), list.handles(), &found, list.statuses()));
  *index = position(found);
  list.write(status, list.count() > 0 ? 1 : 0);
}
void testany(MPI_Fint* count, MPI_Fint* requests, MPI_Fint* index, MPI_Fint* flag, MPI_Fint* status, MPI_Fint* error) {
  List list(*count, requests);
  int found = 0;
  put(error, completion::testany(list.count(), list.handles(), &found, flag, list.statuses()));
  *index = position(found);
  list.write(status, *flag != 0 && list.count() > 0 ? 1 : 0);
}

void write_some(List& list, int done, std::span<const int> found, MPI_Fint* count, MPI_Fint* indices,
                MPI_Fint* statuses) {
  *count = done;
  for (int i = 0; i < (done == MPI_UNDEFINED ? 0 : done); ++i) indices[i] = position(found[static_cast<std::size_t>(i)]);
  list.write(statuses, done == MPI_UNDEFINED ? 0 : done);
}
void waitsome(MPI_Fint* count, MPI_Fint* requests, MPI_Fint* some, MPI_Fint* indices, MPI_Fint* statuses,
              MPI_Fint* error) {
  List list(*count, requests);
  std::vector<int> found(static_cast<std::size_t>(list.count()) + 1);
  int done = 0;
  put(error, completion::waitsome(list.count(), list.handles(), &done, found.data(), list.statuses()));
  write_some(list, done, found, some, indices, statuses);
}
void testsome(MPI_Fint* count, MPI_Fint* requests, MPI_Fint* some, MPI_Fint* indices, MPI_Fint* statuses,
              MPI_Fint* error) {
  List list(*count, requests);
  std::vector<int> found(static_cast<std::size_t>(list.count()) + 1);
  int done = 0;
  put(error, completion::testsome(list.count(), list.handles(), &done, found.data(), list.statuses()));
  write_some(list, done, found, some, indices, statuses);
}
void request_free(MPI_Fint* request, MPI_Fint* error) {
  List list(1, request);
  put(error, completion::request_free(list.handles()));
  list.write(nullptr, 0);
}
void start(MPI_Fint* request, MPI_Fint* error) {
  List list(1, request);
  put(error, completion::start(list.handles()));
  list.write(nullptr, 0);
}
void startall(MPI_Fint* count, MPI_Fint* requests, MPI_Fint* error) {
  List list(*count, requests);
  put(error, completion::startall(list.count(), list.handles()));
  list.write(nullptr, 0);
}

/// Fortran gives no command line.
int initialise() noexcept { return life::init(nullptr, nullptr); }
void initialise_thread(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  put(error, life::init_thread(nullptr, nullptr, *required, provided));
}

/// The MPI's own Fortran function, with the helper thread on while operations are open.
enum class Name {
#define BLOCKING(name, fortran) name,
#define CONSTRUCTOR(name, fortran) name,
#include "blocking.def"
#undef CONSTRUCTOR
#undef BLOCKING
};

template <class C, Name name>
struct Forwarded;
template <class... Arguments, Name name>
struct Forwarded<int (*)(Arguments...), name> {
  inline static void (*own)(Address<Arguments>..., MPI_Fint*) = nullptr;
  /// Texts come with hidden lengths: such functions are left alone.
  static constexpr bool plain = !((std::is_same_v<Arguments, const char*> || std::is_same_v<Arguments, char*> ||
                                   std::is_same_v<Arguments, char**>) || ...);

  static void call(Address<Arguments>... given, MPI_Fint* error) noexcept {
    if (idle()) return own(given..., error);
    with_helper([&] {
      own(given..., error);
      return 0;
    });
  }
};

}  // namespace

bool find(Finder find) {
  look_up(find, "MPI_Comm_f2c", convert.comm);
  look_up(find, "MPI_Type_f2c", convert.type);
  look_up(find, "MPI_Op_f2c", convert.op);
  look_up(find, "MPI_Info_f2c", convert.info);
  look_up(find, "MPI_Request_f2c", convert.request);
  look_up(find, "MPI_Message_f2c", convert.message);
  look_up(find, "MPI_Request_c2f", convert.request_number);
  look_up(find, "MPI_Message_c2f", convert.message_number);
  look_up(find, "MPI_Op_c2f", convert.op_number);
  look_up(find, "MPI_Type_c2f", convert.type_number);
  look_up(find, "MPI_Status_c2f", convert.status);
  in_place = spellings(find, "mpi_fortran_in_place");
  bottom = spellings(find, "mpi_fortran_bottom");
  status_ignore = spellings(find, "mpi_fortran_status_ignore");
  statuses_ignore = spellings(find, "mpi_fortran_statuses_ignore");
  return find("mpi_barrier_") != nullptr;
}

void* buffer(void* address) {
  if (is(address, in_place)) return MPI_IN_PLACE;
  return is(address, bottom) ? MPI_BOTTOM : address;
}
bool is_ignored(const MPI_Fint* status) {
  return status == nullptr || is(status, status_ignore) || is(status, statuses_ignore);
}
int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  return real.Comm_size(comm, &ranks) == MPI_SUCCESS ? ranks : 0;
}

MPI_Comm handle(MPI_Fint number, MPI_Comm) { return convert.comm(number); }
MPI_Datatype handle(MPI_Fint number, MPI_Datatype) { return convert.type(number); }
MPI_Op handle(MPI_Fint number, MPI_Op) { return convert.op(number); }
MPI_Info handle(MPI_Fint number, MPI_Info) { return convert.info(number); }
MPI_Request handle(MPI_Fint number, MPI_Request) { return convert.request(number); }
MPI_Message handle(MPI_Fint number, MPI_Message) { return convert.message(number); }
MPI_Fint number(MPI_Request handle) { return convert.request_number(handle); }
MPI_Fint number(MPI_Message handle) { return convert.message_number(handle); }
MPI_Fint number(MPI_Op handle) { return convert.op_number(handle); }
MPI_Fint number(MPI_Datatype handle) { return convert.type_number(handle); }
void copy(const MPI_Status& from, MPI_Fint* to) { convert.status(&from, to); }

void tell(Finder find, const Teller& teller) {
  const auto one = [&](const char* name, auto* function) { teller(name, reinterpret_cast<void*>(function)); };
  one("wait", &wait);
  one("waitall", &waitall);
  one("waitany", &waitany);
  one("waitsome", &waitsome);
  one("test", &test);
  one("testall", &testall);
  one("testany", &testany);
  one("testsome", &testsome);
  one("request_get_status", &request_get_status);
  one("request_free", &request_free);
  one("start", &start);
  one("startall", &startall);
  one("init", &Called<&initialise>::call);
  one("init_thread", &initialise_thread);
  const auto forwarded = [&]<class C, Name name>(const char* text, Forwarded<C, name>) {
    using Own = Forwarded<C, name>;
    if constexpr (Own::plain) {
      Own::own = reinterpret_cast<decltype(Own::own)>(find(("mpi_" + std::string(text) + "_").c_str()));
      if (Own::own != nullptr) teller(text, reinterpret_cast<void*>(&Own::call));
    }
  };
#define BLOCKING(name, fortran) forwarded(#fortran, Forwarded<decltype(&PMPI_##name), Name::name>());
#define CONSTRUCTOR(name, fortran) BLOCKING(name, fortran)
#include "blocking.def"
#undef CONSTRUCTOR
#undef BLOCKING
}

}  // namespace tutti::mpi::fortran

#endif
