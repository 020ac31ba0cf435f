// SPDX-License-Identifier: BSD-3-Clause
// Subcommands that hand over to another program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tutti::command {

/// Where this program lies.
std::filesystem::path binaries();

/// Replaces this process. Throws Error (usage) with the reason and `advice` when the program cannot be started.
[[noreturn]] void become(std::vector<std::string> words, const std::string& advice);

}  // namespace tutti::command
