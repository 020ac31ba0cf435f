// SPDX-License-Identifier: BSD-3-Clause
// The one error type: what failed, in which operation, who, why, and what the user can do.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "tutti/export.hpp"
#include "tutti/types.hpp"

namespace tutti {

/// Why an operation failed.
enum class Cause : std::uint8_t {
  usage,        ///< A wrong argument; found before anything was sent; the group is intact.
  mismatch,     ///< Ranks called different operations; the group is broken.
  peer_lost,    ///< A process of the group is gone; the group is broken.
  timeout,      ///< The time ran out. A request is still pending; a blocking call was given up: broken group.
  broken,       ///< A rank gave its request up, a reduction function threw, or MPI_Finalize ended the group.
  system,       ///< The operating system refused something (memory, a descriptor, a socket).
  interrupted,  ///< A signal asked the wait inside a call to stop (Python's Ctrl-C).
};

/// The base of everything Tutti throws. `what()` is one readable text that ends with what to do.
class TUTTI_API Error : public std::exception {
 public:
  Error(Cause cause, std::string text, Rank peer = -1);
  const char* what() const noexcept override { return text_.c_str(); }
  Cause cause() const noexcept { return cause_; }
  /// The rank in the group that is lost or disagrees; -1 where there is none.
  Rank peer() const noexcept { return peer_; }

 private:
  Cause cause_;
  Rank peer_;
  std::string text_;
};

/// A process of the group is gone.
struct TUTTI_API PeerLost : Error {
  using Error::Error;
};
/// Ranks called operations that do not belong together.
struct TUTTI_API Mismatch : Error {
  using Error::Error;
};
/// The time given to a wait ran out.
struct TUTTI_API Timeout : Error {
  using Error::Error;
};

/// Throws `error` as its own subclass (PeerLost, Mismatch, Timeout, or Error).
[[noreturn]] TUTTI_API void raise(const Error& error);

}  // namespace tutti
