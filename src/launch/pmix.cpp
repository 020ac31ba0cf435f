// SPDX-License-Identifier: BSD-3-Clause
// PMIx, whose library is opened at run time: what is declared here is the same in its versions 2 to 6.
#include <dlfcn.h>
#include <link.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/proc.hpp"
#include "launch/cluster.hpp"
#include "launch/message.hpp"

namespace tutti::launch {

namespace {

constexpr char library[] = "libpmix.so.2", store_key[] = "tutti.store", job_size[] = "pmix.job.size";

/// pmix_proc_t
struct Proc {
  std::array<char, 256> job{};
  std::uint32_t rank = 0;
};
/// pmix_value_t: the union is larger in some versions, never smaller, and what it holds starts here.
struct PmixValue {
  std::uint16_t type = 0;
  alignas(8) union {
    const char* string;
    std::uint32_t number;
    std::array<std::byte, 48> rest;
  } data{.rest = {}};
};
static_assert(offsetof(PmixValue, data) == 8);

constexpr std::uint16_t is_string = 3, is_uint32 = 14;
constexpr std::uint8_t for_all = 3;                 // PMIX_GLOBAL
constexpr std::uint32_t any_rank = UINT32_MAX - 1;  // PMIX_RANK_WILDCARD
constexpr int success = 0, done_already = -157;     // PMIX_OPERATION_SUCCEEDED: no callback comes

struct Functions {
  int (*init)(Proc*, void*, std::size_t);
  int (*get)(const Proc*, const char*, const void*, std::size_t, PmixValue**);
  int (*put)(std::uint8_t, const char*, PmixValue*);
  int (*commit)();
  int (*start_fence)(const Proc*, std::size_t, const void*, std::size_t, void (*)(int, void*), void*);
  int (*start_get)(const Proc*, const char*, const void*, std::size_t, void (*)(int, PmixValue*, void*), void*);
  int (*finalize)(const void*, std::size_t);
  const char* (*error_string)(int);
};

/// The libpmix that a process has loaded; empty when it has none, or is none of ours.
std::string library_of(pid_t process) {
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  for (std::string line; std::getline(maps, line);)
    if (const std::size_t path = line.find('/'); path != line.npos && line.find("/libpmix.so", path) != line.npos)
      return line.substr(path);
  return {};
}

/// 0 when it cannot be known.
pid_t parent_of(pid_t process) {
  std::istringstream rest(base::read_stat(process));
  char state = 0;
  pid_t parent = 0;
  rest >> state >> parent;
  return parent;
}

struct Opened {
  void* handle = nullptr;
  std::string why;
};

/// The copy that this process has, else the launcher's, else the system's: another release may not understand the
/// launcher's.
Opened open_library() {
  if (void* handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD)) return {handle, "the library that is loaded already"};
  for (pid_t process = getppid(); process > 1; process = parent_of(process)) {
    const std::string path = library_of(process);
    if (path.empty()) continue;
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
      return {handle, path + ", the launcher's own (process " + std::to_string(process) + ")"};
  }
  if (void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL)) return {handle, library};
  const char* reason = dlerror();
  throw Error(Cause::system,
              std::string("PMIX_NAMESPACE is set, so a launcher offers PMIx, but libpmix cannot be opened: ") +
                  (reason == nullptr ? "it is not there" : reason) +
                  "; put its folder into LD_LIBRARY_PATH, or set TUTTI_RANK and the others by hand (docs/launch.md)");
}

Functions functions_of(void* handle) {
  const auto find = [handle](const char* name, auto& function) {
    void* const symbol = dlsym(handle, name);
    if (symbol == nullptr) throw Error(Cause::system, std::string("libpmix has no ") + name);
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
  };
  Functions made{};
  find("PMIx_Init", made.init);
  find("PMIx_Get", made.get);
  find("PMIx_Put", made.put);
  find("PMIx_Commit", made.commit);
  find("PMIx_Fence_nb", made.start_fence);
  find("PMIx_Get_nb", made.start_get);
  find("PMIx_Finalize", made.finalize);
  find("PMIx_Error_string", made.error_string);
  return made;
}

/// What the library says later, in a thread of its own. It belongs to both sides: this one may have given up by then.
class Answer {
 public:
  /// For the library, which gives it back with its only call of `fence_over` or `got`.
  static void* hand_out(const std::shared_ptr<Answer>& answer) {
    return std::make_unique<std::shared_ptr<Answer>>(answer).release();
  }
  /// Of one that it will not call for.
  static void take_back(void* handed) { const std::unique_ptr<Held> held(static_cast<Held*>(handed)); }
  static void fence_over(int status, void* handed) { got(status, nullptr, handed); }
  static void got(int status, PmixValue* value, void* handed) {
    const std::unique_ptr<Held> held(static_cast<Held*>(handed));
    const bool text =
        status == success && value != nullptr && value->type == is_string && value->data.string != nullptr;
    (*held)->tell(status, text ? value->data.string : "");
  }

  struct Said {
    int status = success;
    std::string text;
  };
  /// Throws Error (timeout, interrupted, system).
  Said await(Deadline& deadline) {
    deadline.wait(told_.get(), POLLIN);
    const std::scoped_lock lock(mutex_);
    return said_;
  }

 private:
  using Held = std::shared_ptr<Answer>;
  void tell(int status, std::string text) {
    const std::scoped_lock lock(mutex_);
    said_ = {status, std::move(text)};
    eventfd_write(told_.get(), 1);
  }

  std::mutex mutex_;
  Said said_;
  base::Descriptor told_{eventfd(0, EFD_CLOEXEC)};
};

class Pmix final : public Cluster {
 public:
  explicit Pmix(const Opened& found) : pmix_(functions_of(found.handle)) {
    check(pmix_.init(&self_, nullptr, 0), "PMIx_Init");
    Proc job = self_;
    job.rank = any_rank;
    const PmixValue& size = get(job, job_size, is_uint32);
    if (size.data.number > most_ranks || self_.rank >= size.data.number)
      throw Error(Cause::system, "the launcher (PMIx) says that this is rank " + std::to_string(self_.rank) + " of " +
                                     std::to_string(size.data.number) + "; Tutti takes up to " +
                                     std::to_string(most_ranks) + " ranks");
    rank_ = static_cast<Rank>(self_.rank);
    size_ = static_cast<int>(size.data.number);
    const bool slurm = std::string_view(self_.job.data()).starts_with("slurm.");
    name_ = std::string(slurm ? "srun" : "mpirun") + ", by PMIx (PMIX_NAMESPACE is set; " + found.why + ")";
  }
  /// The library counts: an MPI in this process takes leave by itself.
  ~Pmix() override { pmix_.finalize(nullptr, 0); }
  Pmix(const Pmix&) = delete;
  Pmix& operator=(const Pmix&) = delete;

  std::size_t longest() const override { return 4096; }
  std::string share(const std::string& text, Deadline& deadline) override {
    deadline.await("the launcher or the other ranks (PMIx)");
    if (rank_ == 0) {
      PmixValue value;
      value.type = is_string;
      value.data.string = text.c_str();
      check(pmix_.put(for_all, store_key, &value), "PMIx_Put");
      check(pmix_.commit(), "PMIx_Commit");
    }
    // The blocking forms of these wait for a rank that never comes, and nothing ends them.
    await("PMIx_Fence_nb", deadline,
          [this](void* answer) { return pmix_.start_fence(nullptr, 0, nullptr, 0, Answer::fence_over, answer); });
    if (rank_ == 0) return text;
    Proc first = self_;
    first.rank = 0;
    return await("PMIx_Get_nb", deadline,
                 [&](void* answer) { return pmix_.start_get(&first, store_key, nullptr, 0, Answer::got, answer); });
  }

 private:
  /// What comes of an operation that start(answer) begins.
  template <class Start>
  std::string await(const char* what, Deadline& deadline, Start start) const {
    const auto answer = std::make_shared<Answer>();
    void* const handed = Answer::hand_out(answer);
    const int begun = start(handed);
    if (begun != success) Answer::take_back(handed);
    if (begun == done_already) return {};
    check(begun, what);
    const Answer::Said said = answer->await(deadline);
    check(said.status, what);
    return said.text;
  }

  /// What is got is a few bytes and stays: releasing it takes more of the library than we use.
  const PmixValue& get(const Proc& whose, const char* name, std::uint16_t type) const {
    PmixValue* value = nullptr;
    const std::string what = std::string("PMIx_Get of ") + name;
    check(pmix_.get(&whose, name, nullptr, 0, &value), what);
    if (value == nullptr || value->type != type)
      throw Error(Cause::system, "the launcher's answer to " + what + " is of another type");
    return *value;
  }

  void check(int status, const std::string& what) const {
    if (status == success) return;
    throw Error(Cause::system, what + " failed: " + pmix_.error_string(status) +
                                   "; start the program with mpirun or srun, or unset PMIX_NAMESPACE to run it alone");
  }

  Functions pmix_;
  Proc self_;
};

}  // namespace

std::unique_ptr<Cluster> find_pmix() {
  if (std::getenv(pmix_variable) == nullptr) return nullptr;
  check_mpi();
  return std::make_unique<Pmix>(open_library());
}

Mpi mpi_here() {
  // They are opened afterwards: the list is locked meanwhile, and another thread that opens a library waits for it.
  std::vector<std::string> paths;
  const auto collect = [](dl_phdr_info* info, std::size_t, void* found) {
    const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
    if (path.substr(path.rfind('/') + 1).starts_with("libmpi"))
      static_cast<std::vector<std::string>*>(found)->emplace_back(path);
    return 0;
  };
  dl_iterate_phdr(collect, &paths);
  // Whatever it is called, it has this function; Python loads it so that only its own handle finds that.
  for (const std::string& path : paths) {
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    void* const symbol = handle == nullptr ? nullptr : dlsym(handle, "MPI_Initialized");
    if (handle != nullptr) dlclose(handle);
    if (symbol == nullptr) continue;
    int initialized = 0;
    reinterpret_cast<int (*)(int*)>(symbol)(&initialized);
    return initialized == 0 ? Mpi::loaded : Mpi::initialized;
  }
  return Mpi::none;
}

void check_mpi() {
  if (mpi_here() == Mpi::loaded)
    throw Error(Cause::usage,
                "this program has an MPI library that is not initialised, and both would speak to the launcher; call "
                "MPI_Init before Tutti starts, or set TUTTI_RANK and the others by hand (docs/launch.md)");
}

}  // namespace tutti::launch
