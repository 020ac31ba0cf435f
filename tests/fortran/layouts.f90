! SPDX-License-Identifier: BSD-3-Clause
! Layouts, alltoallw in every form, and sections of several dimensions, of components and of other types.
module layouts
  use matrix
  use around, only: check_refused, located
  use, intrinsic :: iso_c_binding, only: c_int16_t, c_loc, c_sizeof
  implicit none

  type, bind(c) :: record
    integer(c_int32_t) :: kind
    real(c_double) :: values(2)
    integer(c_int16_t) :: mark
  end type

contains

  ! Pairs of every rank's row become columns; then back, in place.
  subroutine check_transposition(form)
    integer, intent(in) :: form
    type(tutti_layout) :: pair, apart
    type(tutti_layout) :: send(np), recv(np)
    integer(c_int64_t) :: from(np), to(np)
    integer :: i
    call tutti_layout_strided(pair, TUTTI_INT64, 1_int64, 2_int64, 2_int64, ierror)
    call check_ok('layout_strided')
    call tutti_layout_strided(apart, TUTTI_INT64, 2_int64, 1_int64, int(np, int64))
    send = pair
    recv = apart
    from = [(16_int64 * i, i = 0, np - 1)]
    to = [(8_int64 * i, i = 0, np - 1)]
    in_step = 1
    out_step = 1
    call fresh(2 * np, 2 * np)
    select case (form)
    case (blocking); call tutti_alltoallw(group, in, out, send, recv, ierror, from, to)
    case (started); call tutti_ialltoallw(group, in, out, send, recv, request, ierror, from, to)
    case (persistent); call tutti_alltoallw_init(group, in, out, send, recv, again, ierror, from, to)
    end select
    call tutti_layout_free(pair)
    call finish(form, 'alltoallw')
    call check(all(out == [(value(i, 2 * me + 1), i = 0, np - 1), (value(i, 2 * me + 2), i = 0, np - 1)]), 'alltoallw')
    call tutti_alltoallw(group, tutti_in_place, out, recv(:0), recv, ierror, recv_offsets=to)
    call check_ok('alltoallw in place')
    call check(all(out == [(value(me, 2 * i + 1), i = 0, np - 1), (value(me, 2 * i + 2), i = 0, np - 1)]), 'in place')
    call tutti_alltoallw(group, in, out, recv(:0), recv, ierror)
    call check_refused(TUTTI_USAGE, 'send has 0 elements', 'layouts of no rank')
    call tutti_layout_free(apart)
  end subroutine

  ! What a layout takes out of memory, as this rank sends it to itself.
  function taken(memory, layout, n) result(packed)
    integer(int64), intent(inout) :: memory(..)
    type(tutti_layout), intent(in) :: layout
    integer, intent(in) :: n
    integer(int64) :: packed(n)
    type(tutti_layout) :: send(np), recv(np), side_by_side
    call tutti_layout_strided(side_by_side, TUTTI_INT64, int(n, int64), 1_int64, 1_int64)
    send(me + 1) = layout
    recv(me + 1) = side_by_side
    packed = poison
    call tutti_alltoallw(group, memory, packed, send, recv, ierror)
    call check_ok('what a layout takes')
    call tutti_layout_free(side_by_side)
  end function

  ! Layouts that nobody uses any more have their places taken by others; sections leave none behind.
  integer(c_int64_t) function next_place()
    type(tutti_layout) :: layout
    interface
      integer(c_int64_t) function laid_out(sent, received) bind(c, name="tutti_laid_out")
        import :: c_int64_t, c_ptr
        type(c_ptr), value :: sent, received
      end function
    end interface
    call tutti_layout_strided(layout, TUTTI_INT8, 1_int64, 1_int64, 1_int64)
    next_place = laid_out(layout%handle, c_null_ptr)
    call tutti_layout_free(layout)
  end function

  subroutine check_layouts
    integer(int64) :: a(4, 3, 2)
    type(tutti_layout) :: box, pieces, strided, wide, twice
    integer :: i
    a = reshape([(value(me, i), i = 1, 24)], shape(a))
    call tutti_layout_box(box, TUTTI_INT64, [4_int64, 3_int64, 2_int64], [2_int64, 2_int64, 1_int64], &
      [1_int64, 0_int64, 1_int64], ierror)
    call check_ok('layout_box')
    call check(tutti_layout_size(box) == 32 .and. tutti_layout_extent(box) == 8 * 24, 'the size of a box')
    call check(all(taken(a, box, 4) == reshape(a(2:3, 1:2, 2), [4])), 'a box')
    call tutti_layout_indexed(pieces, TUTTI_INT64, [2_int64, 1_int64], [5_int64, 0_int64])
    call check(all(taken(a, pieces, 3) == [(value(me, i), i = 6, 7), value(me, 1)]), 'pieces')
    call tutti_layout_strided(strided, TUTTI_INT64, 3_int64, 2_int64, 4_int64)
    call check(all(taken(a, strided, 6) == reshape(a(1:2, :, 1), [6])), 'strided')
    call tutti_layout_resized(wide, strided, 0_int64, 96_int64)
    call check(tutti_layout_extent(wide) == 96, 'resized')
    call tutti_layout_nested(twice, wide, 2_int64, 96_int64)
    call check(all(taken(a, twice, 12) == reshape(a(1:2, :, :), [12])), 'nested')
    call check(all(taken(a(3, 1, 1), strided, 6) == reshape(a(3:4, :, 1), [6])), 'from an element on')
    call tutti_layout_free(box)
    call tutti_layout_free(pieces)
    call tutti_layout_free(strided)
    call tutti_layout_free(wide)
    call tutti_layout_free(twice)
    call check(tutti_layout_size(box) == -1, 'a layout that is gone')
    call tutti_layout_box(box, TUTTI_INT64, [4_int64, 3_int64], [2_int64], [1_int64, 0_int64], ierror)
    call check_refused(TUTTI_USAGE, 'part has 1 elements and must have 2', 'a box of other dimensions')
    call tutti_layout_indexed(pieces, TUTTI_INT64, [2_int64], [5_int64, 0_int64], ierror)
    call check_refused(TUTTI_USAGE, 'offsets has 2 elements and must have 1', 'more offsets than pieces')
    call tutti_layout_mixed(pieces, [0_int64], [box, box], ierror)
    call check_refused(TUTTI_USAGE, 'parts has 2 elements and must have 1', 'more parts than offsets')
    call tutti_layout_strided(strided, TUTTI_INT64, -1_int64, 1_int64, 1_int64, ierror)
    call check_refused(TUTTI_USAGE, 'negative', 'a negative count')
    call check_records
  end subroutine

  ! The first and the last component of two records travel around a ring; the second stays.
  subroutine check_records
    type(record) :: mine(2), theirs(2)
    type(tutti_layout) :: kind, mark, one, both, send(np), recv(np)
    integer(c_int64_t) :: bytes
    integer :: before
    bytes = int(c_sizeof(mine(1)), int64)
    call tutti_layout_strided(kind, TUTTI_INT32, 1_int64, 1_int64, 1_int64)
    call tutti_layout_strided(mark, TUTTI_INT16, 1_int64, 1_int64, 1_int64)
    call tutti_layout_mixed(one, [0_int64, 24_int64], [kind, mark], ierror)
    call check_ok('layout_mixed')
    call tutti_layout_nested(both, one, 2_int64, bytes)
    call check(tutti_layout_size(both) == 12, 'the size of two components')
    before = modulo(me - 1, np)
    send(modulo(me + 1, np) + 1) = both
    recv(before + 1) = both
    mine = [record(me, [1, 2], -2_int16), record(me + 1, [3, 4], int(me, int16))]
    theirs = record(-1, [-1, -1], -1_int16)
    call tutti_alltoallw(group, mine, theirs, send, recv, ierror)
    call check_ok('records')
    call check(all(theirs%kind == [before, before + 1]) .and. all(theirs%mark == [-2, before]), 'components')
    call check(all(abs(theirs%values(1) + 1) <= 0) .and. all(abs(theirs%values(2) + 1) <= 0), 'the other component')
    call tutti_layout_free(kind)
    call tutti_layout_free(mark)
    call tutti_layout_free(one)
    call tutti_layout_free(both)
  end subroutine

  subroutine check_sections
    integer(int64), asynchronous :: a(4, 3, 2), b(4, 3, 2), rows(0:np - 1, 3), line(8)
    integer :: i, r
    call fresh(0, 0)
    a = reshape([(value(me, i), i = 1, 24)], shape(a))
    b = poison
    call tutti_allreduce(group, a(4:1:-3, ::2, :), b(1:2, 2:3, 2:1:-1), TUTTI_MAX, ierror)
    call check_ok('blocks of three dimensions')
    call check(all(b(1:2, 2:3, 2:1:-1) == a(4:1:-3, ::2, :) + value(np - 1 - me, 0)), 'blocks of three dimensions')
    call check(count(b == poison) == 16, 'around the blocks')
    call tutti_allreduce(group, a(4:1:-3, ::2, :), line, TUTTI_MIN, ierror)
    call check_ok('a section side by side')
    call check(all(line == reshape(a(4:1:-3, ::2, :) - value(me, 0), [8])), 'the order of elements')
    rows = poison
    call tutti_iallgather(group, a(2, :, 1), rows(:, 2), request, ierror)
    call check_refused(TUTTI_USAGE, 'out has', 'a short column')
    rows(me, :) = a(2, :, 1)
    do r = 0, np - 1
      call tutti_bcast(group, rows(r, :), r, ierror)
      call check_ok('a row')
      call check(all(rows(r, :) == [(value(r, i), i = 2, 10, 4)]), 'a row')
    end do
    call tutti_allreduce(group, tutti_in_place, rows(:, ::2), TUTTI_MIN, ierror)
    call check_ok('columns in place')
    call check(all(rows(0, :) == [(value(0, i), i = 2, 10, 4)]), 'columns in place')
    if (np > 1 .and. me == 0) call tutti_send(group, a(::2, 3, ::1), 1, 3)
    if (me == 1) then
      call tutti_recv(group, b(4, 3:1:-2, :), 0, 3)
      call check(all(b(4, 3, :) == [value(0, 9), value(0, 21)]), 'a message, its first half')
      call check(all(b(4, 1, :) == [value(0, 11), value(0, 23)]), 'a message, its second half')
    end if
    call check_parts
  end subroutine

  ! Components, parts of complex numbers, substrings; sums; elements whose type Fortran cannot say.
  subroutine check_parts
    type(located) :: points(5), nearest(2)
    complex(real64) :: waves(3)
    character(kind=c_char, len=3) :: words(2)
    real(real64) :: total
    integer :: r
    points = [(located(real(10 * me + r, c_double), -me), r = 1, 5)]
    call tutti_allreduce(group, tutti_in_place, points%place, TUTTI_SUM, ierror)
    call check_ok('a component')
    call check(all(points%place == -np * (np - 1) / 2), 'a component')
    call check(all(abs(points%value - [(10 * me + r, r = 1, 5)]) <= 0), 'the component beside it')
    call tutti_allreduce(group, points(5:1:-4), nearest, TUTTI_MINLOC, ierror, element=TUTTI_LOCATED_FLOAT64)
    call check_ok('located values with gaps')
    call check(all(abs(nearest%value - [5, 1]) <= 0), 'located values with gaps')
    waves = [(cmplx(r, -1, real64), r = 1, 3)]
    call tutti_allreduce(group, waves%re, waves%im, TUTTI_SUM, ierror)
    call check_ok('real parts')
    call check(all(abs(waves - [(cmplx(r, np * r, real64), r = 1, 3)]) <= 0), 'real parts')
    total = 0
    call tutti_sum_of(group, waves(3:1:-2)%im, total)
    call check(abs(total - 4 * np * np) <= 0, 'the sum of a section')
    words = merge('abc', '...', me == 0)
    call tutti_bcast(group, words(:)(2:2), 0)
    call check(all(words == merge('abc', '.b.', me == 0)), 'substrings')
  end subroutine

end module layouts
