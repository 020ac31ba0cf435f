! SPDX-License-Identifier: BSD-3-Clause
! Types, operations, arrays of several dimensions, places, messages, groups, errors.
module around
  use matrix
  implicit none

  type, bind(c) :: located
    real(c_double) :: value
    integer(c_int64_t) :: place
  end type

contains

  subroutine check_types
    integer(int8) :: i1(2), o1(2)
    integer(int16) :: i2(2), o2(2)
    integer(int32) :: i4(2, 2), o4(2, 2)
    real(real32) :: r4, s4
    real(real64) :: r8(2, 3, 2), s8(2, 3, 2)
    complex(real32) :: c8(2), d8(2)
    complex(real64) :: c16(2), d16(2)
    logical(c_bool) :: truth(2), all_true(2)
    character(kind=c_char, len=1) :: letters(3)
    type(located) :: mine(1), least(1)
    i1 = 1; i2 = 1; i4 = reshape([1, 2, 3, 4], [2, 2]); r4 = 0.5; r8 = 0.25; c8 = (1, -1); c16 = (2, -2)
    call tutti_allreduce(group, i1, o1, TUTTI_SUM)
    call tutti_allreduce(group, i2, o2, TUTTI_SUM)
    call tutti_allreduce(group, i4, o4, TUTTI_PROD)
    call tutti_allreduce(group, r4, s4, TUTTI_SUM)
    call tutti_allreduce(group, r8, s8, TUTTI_SUM)
    call tutti_allreduce(group, c8, d8, TUTTI_SUM)
    call tutti_allreduce(group, c16, d16, TUTTI_SUM)
    call check(all(o1 == np) .and. all(o2 == np), 'small integers')
    call check(all(o4 == i4**np), 'integers')
    call check(abs(s4 - np * r4) <= 0 .and. all(abs(s8 - np * r8) <= 0), 'reals')
    call check(all(abs(d8 - np * c8) <= 0) .and. all(abs(d16 - np * c16) <= 0), 'complex numbers')
    truth = [logical(.true., c_bool), logical(me /= 0, c_bool)]
    call tutti_allreduce(group, truth, all_true, TUTTI_LAND)
    call check(logical(all_true(1) .and. .not. all_true(2)), 'logicals')
    letters = merge(['a', 'b', 'c'], ['.', '.', '.'], me == np - 1)
    call tutti_bcast(group, letters, np - 1)
    call check(all(letters == ['a', 'b', 'c']), 'characters')
    mine = located(real(-me, c_double), me)
    call tutti_allreduce(group, mine, least, TUTTI_MINLOC, element=TUTTI_LOCATED_FLOAT64)
    call check(least(1)%place == np - 1, 'located values')
  end subroutine

  subroutine check_memory
    integer(c_int64_t), parameter :: length = 30000
    type(c_ptr) :: memory, other
    real(c_double), pointer :: field(:)
    real(c_double), allocatable :: total(:)
    integer(c_int) :: status
    call tutti_allocate(group, 8 * length, memory)
    call c_f_pointer(memory, field, [length])
    call check(all(abs(field) <= 0), 'memory of the host is zeroed')
    field = me
    allocate (total(length))
    call tutti_allreduce(group, field, total, TUTTI_SUM)
    field = -1
    call check(all(abs(total - np * (np - 1) / 2) <= 0), 'a sum of memory of the host')
    call tutti_release(memory)
    call tutti_release(memory, status)
    call check(status == TUTTI_USAGE, 'memory that was given back')
    other = memory
    call tutti_allocate(group, -1_c_int64_t, other, status)
    call check(status == TUTTI_USAGE, 'less memory than none')
  end subroutine

  subroutine check_places
    integer :: total(3), column(3), table(3, 0:3), r
    total = me + 1
    call tutti_allreduce(group, tutti_in_place, total, TUTTI_SUM)
    call check(all(total == np * (np + 1) / 2), 'in place')
    column = me
    table = -1
    if (np <= 4) then
      table(:, me) = me
      call tutti_allgather(group, tutti_in_place, table(:, 0:np - 1))
      call check(all(table(1, 0:np - 1) == [(r, r = 0, np - 1)]), 'allgather in place, by columns')
    end if
    total = -1
    if (me == 0) then
      call tutti_reduce(group, tutti_in_place, column, TUTTI_MAX, 0)
      call check(all(column == np - 1), 'reduce in place')
    else
      call tutti_reduce(group, column, total, TUTTI_MAX, 0)
    end if
  end subroutine

  subroutine largest_first(lower, higher, n, context) bind(c)
    type(c_ptr), value :: lower, higher, context
    integer(c_int64_t), value :: n
    integer(c_int), pointer :: a(:), b(:)
    call c_f_pointer(lower, a, [n])
    call c_f_pointer(higher, b, [n])
    b = max(a, b)
    if (c_associated(context)) b = -1
  end subroutine

  subroutine check_operations
    type(tutti_op) :: op
    type(tutti_group) :: exact
    real(real64) :: hidden, total
    real(real64), allocatable :: numbers(:)
    integer :: largest
    call tutti_op_create(c_funloc(largest_first), c_null_ptr, logical(.true., c_bool), op)
    call tutti_allreduce(group, me, largest, op)
    call check(largest == np - 1, 'a function of mine')
    call tutti_reproducible(group, exact)
    hidden = merge(1.0_real64, merge(-1.0_real64, 1e-30_real64, me == 1), me == 0)
    call tutti_allreduce(exact, hidden, total, TUTTI_SUM)
    if (np == 3) call check(abs(total - 1e-30_real64) <= 0, 'a reproducible sum')
    allocate (numbers(merge(3, 0, me == 0)))
    if (me == 0) numbers(:) = [1.0_real64, 1e-30_real64, -1.0_real64]
    call tutti_sum_of(group, numbers, total)
    call check(abs(total - 1e-30_real64) <= 0, 'the sum of an array')
    total = 0
    call tutti_isum_of(group, numbers, total, request)
    call tutti_wait(request)
    call check(abs(total - 1e-30_real64) <= 0, 'the same by a request')
    call tutti_group_free(exact)
  end subroutine

  subroutine check_groups
    type(tutti_group) :: part, same
    integer :: i, sum_of_part
    character(len=20) :: name
    call tutti_name(group, name)
    call check(name == 'world', 'the name')
    call tutti_split(group, mod(me, 2), -me, part)
    call tutti_allreduce(part, me, sum_of_part, TUTTI_SUM)
    call check(sum_of_part == sum([(i, i = mod(me, 2), np - 1, 2)]), 'a part')
    call check(tutti_rank(part) == tutti_size(part) - 1 - me / 2, 'the order of a part')
    call tutti_group_free(part)
    call tutti_subgroup(group, [0], part)
    if (me == 0) call check(tutti_size(part) == 1, 'a subgroup')
    call tutti_group_free(part)
    if (me == np - 1) then
      call tutti_create(group, [np - 1], part)
      call check(tutti_size(part) == 1, 'a group of those who make it')
      call tutti_group_free(part)
    end if
    call tutti_dup(group, same)
    call tutti_choose(same, 'allreduce', 'reduce_bcast')
    call tutti_allreduce(same, 1, i, TUTTI_SUM)
    call check(i == np, 'another algorithm')
    call tutti_group_free(same)
    call tutti_split_by_host(group, 0, same)
    call tutti_group_free(same)
  end subroutine

  subroutine check_survivors
    type(tutti_group) :: survivors
    integer :: all
    integer(c_int32_t) :: ranks(2), count
    call tutti_agree(group, merge(1, 0, me < np - 1), all)
    call check(all == 0, 'one does not agree')
    call tutti_agree(group, 1, all)
    call check(all == 1, 'all agree')
    call tutti_shrink(group, survivors)
    call check(tutti_size(survivors) == np .and. tutti_rank(survivors) == me, 'all survive')
    call tutti_lost(group, ranks, count)
    call check(count == 0, 'nobody is lost')
    call tutti_group_free(survivors)
  end subroutine

  subroutine check_messages
    type(tutti_request) :: both(2)
    integer, asynchronous :: to, from
    integer :: place
    logical(c_bool) :: done
    if (np == 1) return
    to = me
    from = -1
    call tutti_isend(group, to, mod(me + 1, np), 7, both(1))
    call tutti_irecv(group, from, mod(me + np - 1, np), 7, both(2))
    call tutti_wait_any(both, place)
    call check(place == 1 .or. place == 2, 'the place of a request')
    call tutti_wait_all(both)
    call check(from == mod(me + np - 1, np), 'a message')
    call tutti_wait_any(both, place)
    call check(place == 0, 'no request')
    call tutti_ibarrier(group, request)
    done = .false.
    do while (.not. done)
      call tutti_test(request, done)
    end do
    if (me == 0) call tutti_send(group, 5, 1, 0)
    if (me == 1) call tutti_recv(group, from, 0, 0)
    if (me == 1) call check(from == 5, 'a blocking message')
  end subroutine

  subroutine check_refused(status, words, what)
    integer, intent(in) :: status
    character(len=*), intent(in) :: words, what
    character(len=400) :: text
    integer(c_int32_t) :: peer
    call check(ierror == status, what)
    call tutti_error_message(text, peer)
    call check(index(text, words) > 0, what // ': ' // trim(text))
    call check(peer == -1, what)
  end subroutine

  subroutine check_errors
    real(real64) :: table(4, 3), whole(4, 3), few(2)
    integer :: other(12), i
    logical :: yes(12)
    integer(c_int64_t) :: lengths(2)
    type(tutti_group) :: none
    lengths = [1000, 1]
    yes = .true.
    other = 0
    table = 1
    whole = 0
    call tutti_allreduce(group, table(:, 2:3), whole(:, 2:3), TUTTI_SUM, ierror)
    call check_ok('a section of whole columns')
    call check(all(abs(whole(:, 2:3) - np) <= 0) .and. all(abs(whole(:, 1)) <= 0), 'a section of whole columns')
    call tutti_allreduce(group, table, few, TUTTI_SUM, ierror)
    call check_refused(TUTTI_USAGE, 'out has 2 elements and must have 12', 'a short array')
    call tutti_allreduce(group, table, other, TUTTI_SUM, ierror)
    call check_refused(TUTTI_USAGE, 'another type', 'two types')
    call tutti_allreduce(group, yes, other, TUTTI_SUM, ierror)
    call check_refused(TUTTI_USAGE, 'another type', 'logicals and integers')
    call tutti_allreduce(group, yes, tutti_in_place, TUTTI_SUM, ierror)
    call check_refused(TUTTI_USAGE, 'out is tutti_in_place', 'logicals without a place')
    call tutti_allreduce(group, tutti_in_place, yes, TUTTI_SUM, ierror)
    call check_refused(TUTTI_USAGE, 'does not go with', 'a sum of logicals')
    call tutti_bcast(group, yes, 0, ierror)
    call check_ok('logicals as bytes')
    call check(all(yes), 'logicals as bytes')
    call tutti_bcast(group, table, np, ierror)
    call check_refused(TUTTI_USAGE, 'root', 'a root that is not there')
    call tutti_allreduce(none, table, whole, TUTTI_SUM, ierror)
    call check_refused(TUTTI_USAGE, 'group is NULL', 'no group')
    call tutti_reduce_scatter(none, few, few, lengths(2:2), TUTTI_SUM, ierror)
    call check_refused(TUTTI_USAGE, 'group is NULL', 'no group, of which no rank has a part')
    call tutti_allreduce(group, table, tutti_in_place, TUTTI_SUM, ierror)
    call check_refused(TUTTI_USAGE, 'out is tutti_in_place', 'no place for the result')
    call tutti_allgatherv(group, few, table, [(1_int64, i = 0, np)], ierror)
    call check_refused(TUTTI_USAGE, 'counts has', 'counts of more ranks than there are')
    call tutti_allgatherv(group, few, table, [(1_int64, i = 1, np)], ierror, offsets=[1_int64, (1_int64, i = 1, np)])
    call check_refused(TUTTI_USAGE, 'offsets has', 'offsets of more ranks than there are')
    call tutti_allreduce(group, table, whole, TUTTI_SUM, ierror, element=TUTTI_INT32)
    call check_refused(TUTTI_USAGE, 'another size', 'a wrong element')
    call unbounded(table)
  end subroutine

  subroutine unbounded(table)
    real(real64), intent(in) :: table(*)
    real(real64) :: whole(4, 3)
    call tutti_allreduce(group, table, whole, TUTTI_SUM, ierror)
    call check_refused(TUTTI_USAGE, 'assumed size', 'an array of assumed size')
    call tutti_allreduce(group, table(1:12), whole, TUTTI_SUM, ierror)
    call check_ok('an array of assumed size with bounds')
  end subroutine

end module around
