// SPDX-License-Identifier: BSD-3-Clause
// Words to the user that are no errors: one line on standard error, unless TUTTI_LOG=off.
#pragma once

#include <string>

namespace tutti::base {

void log(const std::string& text);

}  // namespace tutti::base
