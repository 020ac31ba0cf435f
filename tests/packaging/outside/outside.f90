! SPDX-License-Identifier: BSD-3-Clause
program outside
  use tutti
  implicit none
  type(tutti_group) :: world
  character(len=20) :: version
  integer :: total
  call tutti_version(version)
  call tutti_world(world)
  call tutti_allreduce(world, 42, total, TUTTI_SUM)
  if (tutti_rank(world) == 0) &
    print '(3a, i0, a, i0)', 'tutti ', trim(version), ': the sum over ', tutti_size(world), ' is ', total
  call tutti_group_free(world)
end program
