// SPDX-License-Identifier: BSD-3-Clause
// The two files of a machine: its table, and the measurements behind it.
#pragma once

#include <functional>
#include <string>

#include "tune/source.hpp"
#include "tuner/measurements.hpp"

namespace tutti::tuner {

/// Beside the table: the same name with ".json".
std::string measurements_path(const std::string& table_path);

/// Replaces a file as a whole: whoever reads meanwhile has the old one or the new one, whoever writes meanwhile loses
/// or wins as a whole. Makes the folders that are missing. Throws Error (system).
void write_file(const std::string& path, const std::string& text);

/// Finds out before long work whether a file can be written there. Throws Error (system) when not.
void require_place(const std::string& path);

/// What was measured on this machine before; empty when there is nothing, or nothing that can be read. `trouble` says
/// what of it is not used, and why; else it is empty.
Measurements read_measurements(const std::string& path, const tune::Machine& machine, std::string& trouble);

/// Adds to what was measured on this machine before, and writes both files: all of it, and the lines that `lines_of`
/// makes of it.
/// Others that add meanwhile wait until that is done. `trouble`: as above. Throws Error (system).
Measurements add_to_saved(const std::string& table_path, const tune::Machine& machine, const Measurements& newer,
                          const std::function<std::string(const Measurements&)>& lines_of, std::string& trouble);

}  // namespace tutti::tuner
