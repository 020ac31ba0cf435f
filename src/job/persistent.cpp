// SPDX-License-Identifier: BSD-3-Clause
#include "tutti/persistent.hpp"

#include <utility>

#include "job/runtime.hpp"

namespace tutti {

Persistent::Persistent() = default;
Persistent::Persistent(std::unique_ptr<const job::Prepared> prepared) : prepared_(std::move(prepared)) {}
Persistent::Persistent(Persistent&& other) noexcept = default;
Persistent::~Persistent() = default;

Persistent& Persistent::operator=(Persistent&& other) noexcept {
  if (this != &other) {
    request_ = std::move(other.request_);  // first: ends what runs by the old plan
    prepared_ = std::move(other.prepared_);
  }
  return *this;
}

const job::Prepared& Persistent::startable() const {
  if (!prepared_) throw Error(Cause::usage, "an empty Persistent cannot be started; make one by an `_init` form");
  if (request_)
    throw Error(Cause::usage, "this persistent collective is still under way; wait for it before it is started again");
  return *prepared_;
}

void Persistent::start() {
  const job::Prepared& prepared = startable();
  request_ = prepared.member->start(prepared);
}

void Persistent::run() {
  const job::Prepared& prepared = startable();
  prepared.member->run(prepared);
}

}  // namespace tutti
