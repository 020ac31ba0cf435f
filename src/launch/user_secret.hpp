// SPDX-License-Identifier: BSD-3-Clause
// What all processes of a user know and nobody else, on all hosts that share the user's home folder.
#pragma once

#include <string>

#include "launch/secret.hpp"

namespace tutti::launch {

/// tutti/secret in $XDG_CONFIG_HOME, or in ~/.config. Throws Error (usage) when the variables name no folder.
std::string user_secret_path();

/// A secret for one purpose, from the one in that file: whoever knows it cannot tell those for others. The file is made
/// when it is not there. Throws Error (system): it cannot be made or opened; (usage): others may read it, or it holds
/// anything else.
Secret user_secret_for(const std::string& purpose);

}  // namespace tutti::launch
