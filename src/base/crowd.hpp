// SPDX-License-Identifier: BSD-3-Clause
// Where hosts are containers that share the cores of one machine.
#pragma once

namespace tutti::base {

/// Where so many ranks want each core, who waits sleeps at once: a turn of all who would yield takes longer than to be
/// woken. (A barrier of 16 processes on 2 cores takes 550 us with yields and 340 without; of 8 it is 180 and 165, of 4
/// it is 55 and 90. Of 8 hosts with 4 ranks on each: 1290 and 890.)
inline constexpr int sleeping_crowd = 4;

}  // namespace tutti::base
