! SPDX-License-Identifier: BSD-3-Clause
! `tutti run -n P fortran_api`.
program fortran_api
  use around
  use layouts
  use neighbors
  implicit none
  integer, parameter :: counts(4) = [0, 1, 5, 20000], steps(2, 4) = reshape([1, 1, 2, 1, 1, -3, -1, 2], [2, 4])
  integer :: form, n, root, apart
  integer(c_int64_t) :: first_place
  call tutti_world(group)
  me = tutti_rank(group)
  np = tutti_size(group)
  first_place = next_place()
  do apart = 1, size(steps, 2)
    in_step = steps(1, apart)
    out_step = steps(2, apart)
    do form = blocking, persistent
      do n = 1, size(counts)
        call check_combining(form, counts(n))
        call check_exchanging(form, counts(n))
        call check_neighbors(form, counts(n))
        do root = 0, np - 1
          call check_rooted(form, counts(n), root)
          call check_varying(form, counts(n), root)
          if (form == blocking) call check_in_place(counts(n), root)
        end do
      end do
    end do
  end do
  do form = blocking, persistent
    call check_transposition(form)
    call check_halo(form)
  end do
  call check_layouts
  call check_sections
  call check_grids
  call check_graphs
  call check_exchange
  call check_neighbor_errors
  call check_types
  call check_places
  call check_memory
  call check_operations
  call check_groups
  call check_survivors
  call check_messages
  call check_errors
  call check(next_place() == first_place, 'layouts that are left behind')
  call tutti_barrier(group)
  if (me == 0) print '(a, i0, a, i0, a)', 'fortran_api: all right on ', np, ' ranks, ', checks, ' checks'
  call tutti_group_free(group)
end program
