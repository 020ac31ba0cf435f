// SPDX-License-Identifier: BSD-3-Clause
// The C API's checks with all ranks as threads of one process, where the sanitizers see everything.
#include <gtest/gtest.h>

#include "c/guard.hpp"
#include "job/inproc.hpp"

extern "C" {
#include "check.h"
}

namespace tutti {
namespace {

class CApi : public testing::TestWithParam<int> {};

TEST_P(CApi, EveryFunction) {
  job::run_inproc(GetParam(), {}, [](Group world) {
    tutti_group_handle handle(world);
    check_collectives(&handle);
    check_varying(&handle);
    check_layouts(&handle);
    check_reductions(&handle);
    check_scans(&handle);
    check_persistent(&handle);
    check_neighbors(&handle);
    check_plans(&handle);
    check_groups(&handle);
    check_requests(&handle);
    check_memory(&handle);
    check_errors(&handle);
    ASSERT_EQ(tutti_barrier(&handle), TUTTI_OK) << tutti_last_error();
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, CApi, testing::Values(1, 2, 3, 5));

}  // namespace
}  // namespace tutti
