// SPDX-License-Identifier: BSD-3-Clause
#include "fortran.hpp"

#include <vector>

#include "communicators.hpp"
#include "completion.hpp"
#include "fortran_values.hpp"
#include "helper.hpp"
#include "life.hpp"
#include "requests.hpp"
#include "timing.hpp"

namespace tutti::mpi::fortran {
namespace {

constexpr int status_numbers = sizeof(MPI_Status) / sizeof(Integer);

Integer* status_at(Integer* statuses, int index) {
  return is_ignored(statuses) ? statuses : statuses + static_cast<std::ptrdiff_t>(index) * status_numbers;
}

/// A list of requests in C's form, written back at the end.
class List {
 public:
  List(Integer count, Integer* numbers) : numbers_(numbers) {
    for (Integer i = 0; i < count; ++i) handles_.push_back(handle(numbers[i], MPI_Request{}));
    statuses_.resize(handles_.size());
  }
  int count() const { return static_cast<int>(handles_.size()); }
  MPI_Request* handles() { return handles_.data(); }
  MPI_Status* statuses() { return statuses_.data(); }
  void write(Integer* statuses, int some) {
    for (std::size_t i = 0; i < handles_.size(); ++i) numbers_[i] = number(handles_[i]);
    for (int i = 0; i < some && !is_ignored(statuses); ++i)
      copy(statuses_[static_cast<std::size_t>(i)], status_at(statuses, i));
  }

 private:
  Integer* numbers_;
  std::vector<MPI_Request> handles_;
  std::vector<MPI_Status> statuses_;
};

/// Fortran counts from one.
Integer position(int index) { return index == MPI_UNDEFINED ? index : index + 1; }

void put(Integer* error, int code) {
  if (error != nullptr) *error = code;
}

void wait(Integer* request, Integer* status, Integer* error) {
  List list(1, request);
  put(error, Timed<&completion::wait>::call(list.handles(), list.statuses()));
  list.write(status, 1);
}
void test(Integer* request, Integer* flag, Integer* status, Integer* error) {
  List list(1, request);
  put(error, Timed<&completion::test>::call(list.handles(), flag, list.statuses()));
  list.write(status, *flag != 0 ? 1 : 0);
}
void request_get_status(Integer* request, Integer* flag, Integer* status, Integer* error) {
  MPI_Status found;
  put(error, completion::request_get_status(handle(*request, MPI_Request{}), flag, &found));
  if (*flag != 0 && !is_ignored(status)) copy(found, status);
}

// What asks about all, any or some of a list, whatever it does with those that are complete.
template <auto function>
void all(Integer* count, Integer* requests, Integer* flag, Integer* statuses, Integer* error) {
  List list(*count, requests);
  put(error, function(list.count(), list.handles(), flag, list.statuses()));
  list.write(statuses, *flag != 0 ? list.count() : 0);
}
template <auto function>
void any(Integer* count, Integer* requests, Integer* index, Integer* flag, Integer* status, Integer* error) {
  List list(*count, requests);
  int found = 0;
  put(error, function(list.count(), list.handles(), &found, flag, list.statuses()));
  *index = position(found);
  list.write(status, *flag != 0 && list.count() > 0 ? 1 : 0);
}
template <auto function>
void some(Integer* count, Integer* requests, Integer* done, Integer* indices, Integer* statuses, Integer* error) {
  List list(*count, requests);
  std::vector<int> found(static_cast<std::size_t>(list.count()) + 1);
  *done = 0;
  put(error, function(list.count(), list.handles(), done, found.data(), list.statuses()));
  const int complete = *done == MPI_UNDEFINED ? 0 : *done;
  for (int i = 0; i < complete; ++i) indices[i] = position(found[static_cast<std::size_t>(i)]);
  list.write(statuses, complete);
}
void waitall(Integer* count, Integer* requests, Integer* statuses, Integer* error) {
  List list(*count, requests);
  put(error, Timed<&completion::waitall>::call(list.count(), list.handles(), list.statuses()));
  list.write(statuses, list.count());
}
void waitany(Integer* count, Integer* requests, Integer* index, Integer* status, Integer* error) {
  List list(*count, requests);
  int found = 0;
  put(error, Timed<&completion::waitany>::call(list.count(), list.handles(), &found, list.statuses()));
  *index = position(found);
  list.write(status, list.count() > 0 ? 1 : 0);
}

void request_free(Integer* request, Integer* error) {
  List list(1, request);
  put(error, Timed<&completion::request_free>::call(list.handles()));
  list.write(nullptr, 0);
}
void start(Integer* request, Integer* error) {
  List list(1, request);
  put(error, completion::start(list.handles()));
  list.write(nullptr, 0);
}
void startall(Integer* count, Integer* requests, Integer* error) {
  List list(*count, requests);
  put(error, completion::startall(list.count(), list.handles()));
  list.write(nullptr, 0);
}

/// Fortran gives no command line.
void initialise(Integer* error) { put(error, life::init(nullptr, nullptr)); }
void initialise_thread(Integer* required, Integer* provided, Integer* error) {
  put(error, life::init_thread(nullptr, nullptr, *required, provided));
}

/// The MPI's own Fortran function, with the helper thread on while operations are open.
enum class Name {
#define BLOCKING(name, fortran) name,
#define BLOCKING_C(name)
#define CONSTRUCTOR(name, fortran) name,
#define DESTRUCTOR(name, fortran) name,
#include "blocking.def"
#undef DESTRUCTOR
#undef CONSTRUCTOR
#undef BLOCKING_C
#undef BLOCKING
};

template <class>
using Address = void*;

template <class C, Name name>
struct Forwarded;
template <class... Arguments, Name name>
struct Forwarded<int (*)(Arguments...), name> {
  inline static void (*own)(Address<Arguments>..., Integer*) = nullptr;
  /// Texts come with hidden lengths: such functions are left alone.
  static constexpr bool plain = !((std::is_same_v<Arguments, const char*> || std::is_same_v<Arguments, char*> ||
                                   std::is_same_v<Arguments, char**>) ||
                                  ...);

  static void call(Address<Arguments>... given, Integer* error) noexcept {
    if constexpr (name == Name::Comm_free || name == Name::Comm_disconnect)
      destroy(given..., error);
    else
      pass_on(given..., error);
  }

 private:
  static void destroy(void* comm, Integer* error) {
    const auto* const now = static_cast<const Integer*>(comm);
    Leaving leaving(handle(*now, MPI_Comm{}));
    pass_on(comm, error);
    if (handle(*now, MPI_Comm{}) == MPI_COMM_NULL) leaving.is_gone();
  }
  static void pass_on(Address<Arguments>... given, Integer* error) {
    if (resting()) return own(given..., error);
    with_helper([&] {
      own(given..., error);
      return 0;
    });
  }
};

}  // namespace

void tell(Finder find, const Teller& teller) {
  const auto one = [&](const char* name, auto* function) { teller(name, reinterpret_cast<void*>(function)); };
  one("wait", &wait);
  one("waitall", &waitall);
  one("waitany", &waitany);
  one("waitsome", &some<&Timed<&completion::waitsome>::call>);
  one("test", &test);
  one("testall", &all<&Timed<&completion::testall>::call>);
  one("testany", &any<&Timed<&completion::testany>::call>);
  one("testsome", &some<&Timed<&completion::testsome>::call>);
  one("request_get_status", &request_get_status);
  one("request_get_status_all", &all<&completion::request_get_status_all>);
  one("request_get_status_any", &any<&completion::request_get_status_any>);
  one("request_get_status_some", &some<&completion::request_get_status_some>);
  one("request_free", &request_free);
  one("start", &start);
  one("startall", &startall);
  one("init", &initialise);
  one("init_thread", &initialise_thread);
  const auto forwarded = [&]<class C, Name name>(const char* text, Forwarded<C, name>) {
    using Own = Forwarded<C, name>;
    if constexpr (Own::plain) {
      Own::own = reinterpret_cast<decltype(Own::own)>(find((std::string(prefix) + text + ending).c_str()));
      if (Own::own != nullptr) teller(text, reinterpret_cast<void*>(&Own::call));
    }
  };
#define BLOCKING(name, fortran) forwarded(#fortran, Forwarded<decltype(&PMPI_##name), Name::name>());
#define BLOCKING_C(name)
#define CONSTRUCTOR(name, fortran) BLOCKING(name, fortran)
#define DESTRUCTOR(name, fortran) BLOCKING(name, fortran)
#include "blocking.def"
#undef DESTRUCTOR
#undef CONSTRUCTOR
#undef BLOCKING_C
#undef BLOCKING
}

}  // namespace tutti::mpi::fortran
