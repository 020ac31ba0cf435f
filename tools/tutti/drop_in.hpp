// SPDX-License-Identifier: BSD-3-Clause
// The MPI drop-in, as it lies beside this program.
#pragma once

#include <filesystem>
#include <string>

namespace tutti::command {

/// What is preloaded. Throws Error (usage) when it is not there.
std::filesystem::path drop_in();

/// Where it is and which MPIs it serves, or why none: for `tutti info`.
std::string describe_drop_in();

}  // namespace tutti::command
