// SPDX-License-Identifier: BSD-3-Clause
// From measurements to a table.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "collectives/collective.hpp"
#include "tune/source.hpp"
#include "tuner/measurements.hpp"

namespace tutti::tuner {

/// Of a candidate's name. Throws Error (usage) for a name that is none.
const collectives::Algorithm& algorithm_of(Kind kind, std::string_view name);

/// Of what is not there for every call that a table serves (memory of others, a commutative reduction, a power of two):
/// how much of it both need.
int common_needs(const collectives::Needs& one, const collectives::Needs& other);

/// What shall be chosen at a point, whatever else was measured there.
using Pins = std::map<std::tuple<Kind, Rank, Count>, std::string>;

/// The lines of a table for the machine of the measurements. At each point the fastest candidate; among those that are
/// as fast, within the noise, what was chosen for the next smaller size, or what the standard table has there. Limits
/// lie between measured sizes and numbers of ranks; neighbours with the same choice share a line. Where the choice
/// needs what a call may not have (memory of others, a commutative reduction, a power of two), the next line has the
/// fastest without that need. Beyond twice the measured number of ranks, and below the smallest, the standard table
/// holds.
std::string derive(const Measurements& measurements, const tune::Machine& machine, const Pins& pins = {});

/// As fast as the fastest, as far as the measurements can tell.
bool as_fast(const Candidate& candidate, const Candidate& best);

}  // namespace tutti::tuner
