! SPDX-License-Identifier: BSD-3-Clause
! Every collective in every form, for all roots and several counts, with values checked on every rank; then types, errors
! and the functions around them: `tutti run -n P fortran_api`.
module matrix
  use tutti
  use, intrinsic :: iso_fortran_env, only: error_unit, int8, int16, int32, int64, real32, real64
  use, intrinsic :: iso_c_binding, only: c_associated, c_bool, c_char, c_double, c_f_pointer, &
    c_funloc, c_int, c_int32_t, c_int64_t, c_null_ptr, c_ptr
  implicit none

  integer, parameter :: blocking = 1, started = 2, persistent = 3
  integer(int64), parameter :: poison = -7777, gap = -8888
  type(tutti_group) :: group
  type(tutti_request) :: request
  type(tutti_persistent) :: again
  integer :: me, np, ierror
  integer :: checks = 0
  ! How far apart their elements lie in memory: sections with gaps, and backwards.
  integer :: in_step = 1, out_step = 1
  integer(int64), pointer, asynchronous :: in(:), out(:)
  integer(int64), allocatable, target :: in_memory(:), out_memory(:)

contains

  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    checks = checks + 1
    if (right) return
    write (error_unit, *) 'rank', me, 'of', np, ': wrong: ', what
    error stop 1
  end subroutine

  subroutine check_ok(what)
    character(len=*), intent(in) :: what
    character(len=400) :: text
    if (ierror == TUTTI_OK) return
    call tutti_error_message(text)
    write (error_unit, *) what, ': ', trim(text)
    error stop 1
  end subroutine

  ! What has been called by one of the forms is brought to its end.
  subroutine finish(form, what)
    integer, intent(in) :: form
    character(len=*), intent(in) :: what
    call check_ok(what)
    if (form == started) call tutti_wait(request, ierror)
    if (form == persistent) then
      call tutti_start(again, ierror)
      call check_ok(what)
      call tutti_persistent_wait(again, ierror)
      call check_ok(what)
      call tutti_persistent_free(again, ierror)
    end if
    call check_ok(what)
    call check(count(in_memory == gap) == size(in_memory) - size(in), what // ': what is between the elements of in')
    call check(count(out_memory == gap) == size(out_memory) - size(out), what // ': what is between those of out')
  end subroutine

  ! Element i (from 1 on) of rank r.
  elemental integer(int64) function value(r, i)
    integer, intent(in) :: r, i
    value = 1000 * r + i
  end function

  ! The sum of ranks first ... last.
  elemental integer(int64) function summed(first, last, i)
    integer, intent(in) :: first, last, i
    integer :: r
    summed = 0
    do r = first, last
      summed = summed + value(r, i)
    end do
  end function

  subroutine fresh(gives, takes)
    integer, intent(in) :: gives, takes
    integer :: i
    call place(in_memory, gives, in_step, in)
    call place(out_memory, takes, out_step, out)
    in = [(value(me, i), i = 1, gives)]
    out = poison
  end subroutine

  ! n elements, `step` apart in memory of their own that has something around them.
  subroutine place(memory, n, step, elements)
    integer(int64), allocatable, target, intent(inout) :: memory(:)
    integer, intent(in) :: n, step
    integer(int64), pointer, intent(out) :: elements(:)
    if (allocated(memory)) deallocate (memory)
    allocate (memory(0:n * abs(step) + 1), source=gap)
    if (step > 0) elements => memory(1:n * step:step)
    if (step < 0) elements => memory(n * abs(step):1:step)
  end subroutine

  subroutine check_rooted(form, n, root)
    integer, intent(in) :: form, n, root
    integer :: i, r
    call fresh(n, n)
    if (me == root) out = in
    select case (form)
    case (blocking); call tutti_bcast(group, out, root, ierror)
    case (started); call tutti_ibcast(group, out, root, request, ierror)
    case (persistent); call tutti_bcast_init(group, out, root, again, ierror)
    end select
    call finish(form, 'bcast')
    call check(all(out == [(value(root, i), i = 1, n)]), 'bcast')
    call fresh(n, n)
    select case (form)
    case (blocking); call tutti_reduce(group, in, out, TUTTI_SUM, root, ierror)
    case (started); call tutti_ireduce(group, in, out, TUTTI_SUM, root, request, ierror)
    case (persistent); call tutti_reduce_init(group, in, out, TUTTI_SUM, root, again, ierror)
    end select
    call finish(form, 'reduce')
    if (me == root) call check(all(out == [(summed(0, np - 1, i), i = 1, n)]), 'reduce')
    if (me /= root) call check(all(out == poison), 'reduce elsewhere')
    call fresh(n, n * np)
    select case (form)
    case (blocking); call tutti_gather(group, in, out, root, ierror)
    case (started); call tutti_igather(group, in, out, root, request, ierror)
    case (persistent); call tutti_gather_init(group, in, out, root, again, ierror)
    end select
    call finish(form, 'gather')
    if (me == root) call check(all(out == [((value(r, i), i = 1, n), r = 0, np - 1)]), 'gather')
    call fresh(n * np, n)
    select case (form)
    case (blocking); call tutti_scatter(group, in, out, root, ierror)
    case (started); call tutti_iscatter(group, in, out, root, request, ierror)
    case (persistent); call tutti_scatter_init(group, in, out, root, again, ierror)
    end select
    call finish(form, 'scatter')
    call check(all(out == [(value(root, me * n + i), i = 1, n)]), 'scatter')
  end subroutine

  subroutine check_combining(form, n)
    integer, intent(in) :: form, n
    integer :: i
    call fresh(n, n)
    select case (form)
    case (blocking); call tutti_allreduce(group, in, out, TUTTI_SUM, ierror)
    case (started); call tutti_iallreduce(group, in, out, TUTTI_SUM, request, ierror)
    case (persistent); call tutti_allreduce_init(group, in, out, TUTTI_SUM, again, ierror)
    end select
    call finish(form, 'allreduce')
    call check(all(out == [(summed(0, np - 1, i), i = 1, n)]), 'allreduce')
    call fresh(n, n)
    select case (form)
    case (blocking); call tutti_scan(group, in, out, TUTTI_SUM, ierror)
    case (started); call tutti_iscan(group, in, out, TUTTI_SUM, request, ierror)
    case (persistent); call tutti_scan_init(group, in, out, TUTTI_SUM, again, ierror)
    end select
    call finish(form, 'scan')
    call check(all(out == [(summed(0, me, i), i = 1, n)]), 'scan')
    call fresh(n, n)
    select case (form)
    case (blocking); call tutti_exscan(group, in, out, TUTTI_SUM, ierror)
    case (started); call tutti_iexscan(group, in, out, TUTTI_SUM, request, ierror)
    case (persistent); call tutti_exscan_init(group, in, out, TUTTI_SUM, again, ierror)
    end select
    call finish(form, 'exscan')
    if (me > 0) call check(all(out == [(summed(0, me - 1, i), i = 1, n)]), 'exscan')
    if (me == 0) call check(all(out == poison), 'exscan on the first rank')
    call fresh(n * np, n)
    select case (form)
    case (blocking); call tutti_reduce_scatter_block(group, in, out, TUTTI_SUM, ierror)
    case (started); call tutti_ireduce_scatter_block(group, in, out, TUTTI_SUM, request, ierror)
    case (persistent); call tutti_reduce_scatter_block_init(group, in, out, TUTTI_SUM, again, ierror)
    end select
    call finish(form, 'reduce_scatter_block')
    call check(all(out == [(summed(0, np - 1, me * n + i), i = 1, n)]), 'reduce_scatter_block')
  end subroutine

  subroutine check_exchanging(form, n)
    integer, intent(in) :: form, n
    integer :: i, r
    if (form == blocking) call tutti_barrier(group, ierror)
    if (form == started) call tutti_ibarrier(group, request, ierror)
    if (form == persistent) call tutti_barrier_init(group, again, ierror)
    call finish(form, 'barrier')
    call fresh(n, n * np)
    select case (form)
    case (blocking); call tutti_allgather(group, in, out, ierror)
    case (started); call tutti_iallgather(group, in, out, request, ierror)
    case (persistent); call tutti_allgather_init(group, in, out, again, ierror)
    end select
    call finish(form, 'allgather')
    call check(all(out == [((value(r, i), i = 1, n), r = 0, np - 1)]), 'allgather')
    call fresh(n * np, n * np)
    select case (form)
    case (blocking); call tutti_alltoall(group, in, out, ierror)
    case (started); call tutti_ialltoall(group, in, out, request, ierror)
    case (persistent); call tutti_alltoall_init(group, in, out, again, ierror)
    end select
    call finish(form, 'alltoall')
    call check(all(out == [((value(r, me * n + i), i = 1, n), r = 0, np - 1)]), 'alltoall')
  end subroutine

  ! What is given already lies where the result goes.
  subroutine check_in_place(n, root)
    integer, intent(in) :: n, root
    integer :: i, r, first
    first = me * n
    call fresh(n, n)
    out = in
    call tutti_scan(group, tutti_in_place, out, TUTTI_SUM, ierror)
    call finish(blocking, 'scan in place')
    call check(all(out == [(summed(0, me, i), i = 1, n)]), 'scan in place')
    call fresh(n, n * np)
    if (me == root) then
      out(first + 1:first + n) = in
      call tutti_gather(group, tutti_in_place, out, root, ierror)
      call check(all(out == [((value(r, i), i = 1, n), r = 0, np - 1)]), 'gather in place')
    else
      call tutti_gather(group, in, out, root, ierror)
    end if
    call finish(blocking, 'gather in place')
    call fresh(n * np, n)
    if (me == root) then
      call tutti_scatter(group, in, tutti_in_place, root, ierror)
      call check(all(in == [(value(me, i), i = 1, n * np)]) .and. all(out == poison), 'scatter in place')
    else
      call tutti_scatter(group, in, out, root, ierror)
      call check(all(out == [(value(root, first + i), i = 1, n)]), 'scatter in place')
    end if
    call finish(blocking, 'scatter in place')
    call fresh(n * np, n * np)
    out(first + 1:first + n) = in(:n)
    call tutti_allgather(group, tutti_in_place, out, ierror)
    call finish(blocking, 'allgather in place')
    call check(all(out == [((value(r, i), i = 1, n), r = 0, np - 1)]), 'allgather in place')
    out = in
    call tutti_alltoall(group, tutti_in_place, out, ierror)
    call finish(blocking, 'alltoall in place')
    call check(all(out == [((value(r, first + i), i = 1, n), r = 0, np - 1)]), 'alltoall in place')
    out = in
    call tutti_reduce_scatter_block(group, tutti_in_place, out, TUTTI_SUM, ierror)
    call finish(blocking, 'reduce_scatter_block in place')
    call check(all(out(:n) == [(summed(0, np - 1, first + i), i = 1, n)]), 'reduce_scatter_block in place')
  end subroutine

  ! Rank r has n + r elements; blocks lie two elements apart.
  subroutine check_varying(form, n, root)
    integer, intent(in) :: form, n, root
    integer(c_int64_t) :: counts(np), offsets(np)
    integer :: i, r
    counts = [(int(n + r, c_int64_t), r = 0, np - 1)]
    offsets = [(int(r * (n + np + 2), c_int64_t), r = 0, np - 1)]
    call fresh(n + me, np * (n + np + 2))
    select case (form)
    case (blocking); call tutti_gatherv(group, in, out, counts, root, ierror, offsets)
    case (started); call tutti_igatherv(group, in, out, counts, root, request, ierror, offsets)
    case (persistent); call tutti_gatherv_init(group, in, out, counts, root, again, ierror, offsets)
    end select
    call finish(form, 'gatherv')
    if (me == root) call check_blocks(n, offsets, 'gatherv')
    call fresh(n + me, np * (n + np + 2))
    select case (form)
    case (blocking); call tutti_allgatherv(group, in, out, counts, ierror, offsets)
    case (started); call tutti_iallgatherv(group, in, out, counts, request, ierror, offsets)
    case (persistent); call tutti_allgatherv_init(group, in, out, counts, again, ierror, offsets)
    end select
    call finish(form, 'allgatherv')
    call check_blocks(n, offsets, 'allgatherv')
    call fresh(int(sum(counts)), n + me)
    select case (form)
    case (blocking); call tutti_scatterv(group, in, out, counts, root, ierror)
    case (started); call tutti_iscatterv(group, in, out, counts, root, request, ierror)
    case (persistent); call tutti_scatterv_init(group, in, out, counts, root, again, ierror)
    end select
    call finish(form, 'scatterv')
    call check(all(out == [(value(root, int(sum(counts(:me))) + i), i = 1, n + me)]), 'scatterv')
    call fresh(int(sum(counts)), n + me)
    select case (form)
    case (blocking); call tutti_reduce_scatter(group, in, out, counts, TUTTI_SUM, ierror)
    case (started); call tutti_ireduce_scatter(group, in, out, counts, TUTTI_SUM, request, ierror)
    case (persistent); call tutti_reduce_scatter_init(group, in, out, counts, TUTTI_SUM, again, ierror)
    end select
    call finish(form, 'reduce_scatter')
    call check(all(out == [(summed(0, np - 1, int(sum(counts(:me))) + i), i = 1, n + me)]), 'reduce_scatter')
    call check_alltoallv(form, n)
  end subroutine

  subroutine check_blocks(n, offsets, what)
    integer, intent(in) :: n
    integer(c_int64_t), intent(in) :: offsets(:)
    character(len=*), intent(in) :: what
    integer :: i, r, first
    do r = 0, np - 1
      first = int(offsets(r + 1))
      call check(all(out(first + 1:first + n + r) == [(value(r, i), i = 1, n + r)]), what)
      call check(all(out(first + n + r + 1:first + n + np + 2) == poison), what // ' between the blocks')
    end do
  end subroutine

  ! Rank r sends n + r elements to each.
  subroutine check_alltoallv(form, n)
    integer, intent(in) :: form, n
    integer(c_int64_t) :: sent(np), received(np)
    integer :: i, r
    sent = n + me
    received = [(int(n + r, c_int64_t), r = 0, np - 1)]
    call fresh(np * (n + me), int(sum(received)))
    select case (form)
    case (blocking); call tutti_alltoallv(group, in, out, sent, received, ierror)
    case (started); call tutti_ialltoallv(group, in, out, sent, received, request, ierror)
    case (persistent); call tutti_alltoallv_init(group, in, out, sent, received, again, ierror)
    end select
    call finish(form, 'alltoallv')
    call check(all(out == [((value(r, me * (n + r) + i), i = 1, n + r), r = 0, np - 1)]), 'alltoallv')
  end subroutine

end module matrix
