! SPDX-License-Identifier: BSD-3-Clause
! Grids, graphs, the collectives along their edges in every form, and sparse_exchange.
module neighbors
  use matrix
  use around, only: check_refused
  use, intrinsic :: iso_c_binding, only: c_loc
  implicit none

contains

  ! Every rank sends to all ranks above it: 0 ... np - 1 sources, np - 1 ... 0 destinations.
  subroutine check_neighbors(form, n)
    integer, intent(in) :: form, n
    type(tutti_group) :: above
    integer :: i, s
    call tutti_adjacent_graph(group, [(s, s = 0, me - 1)], [(s, s = me + 1, np - 1)], above, ierror)
    call check_ok('adjacent_graph')
    call fresh(n, n * me)
    select case (form)
    case (blocking); call tutti_neighbor_allgather(above, in, out, ierror)
    case (started); call tutti_ineighbor_allgather(above, in, out, request, ierror)
    case (persistent); call tutti_neighbor_allgather_init(above, in, out, again, ierror)
    end select
    call finish(form, 'neighbor_allgather')
    call check(all(out == [((value(s, i), i = 1, n), s = 0, me - 1)]), 'neighbor_allgather')
    call fresh(n, n)
    select case (form)
    case (blocking); call tutti_neighbor_reduce(above, in, out, TUTTI_SUM, ierror)
    case (started); call tutti_ineighbor_reduce(above, in, out, TUTTI_SUM, request, ierror)
    case (persistent); call tutti_neighbor_reduce_init(above, in, out, TUTTI_SUM, again, ierror)
    end select
    call finish(form, 'neighbor_reduce')
    if (me > 0) call check(all(out == [(sum([(value(s, i), s = 0, me - 1)]), i = 1, n)]), 'neighbor_reduce')
    call fresh(n * (np - 1 - me), n * me)
    select case (form)
    case (blocking); call tutti_neighbor_alltoall(above, in, out, ierror)
    case (started); call tutti_ineighbor_alltoall(above, in, out, request, ierror)
    case (persistent); call tutti_neighbor_alltoall_init(above, in, out, again, ierror)
    end select
    call finish(form, 'neighbor_alltoall')
    call check(all(out == [((value(s, n * (me - s - 1) + i), i = 1, n), s = 0, me - 1)]), 'neighbor_alltoall')
    call check_varying_neighbors(above, form, n)
    call check_parts_of_neighbors(above, form, n)
    call tutti_group_free(above)
  end subroutine

  ! As neighbor_alltoall, where layouts say what sections say there.
  subroutine check_parts_of_neighbors(above, form, n)
    type(tutti_group), intent(in) :: above
    integer, intent(in) :: form, n
    type(tutti_layout) :: one, block_in, block_out, send(np - 1 - me), recv(me)
    integer(c_int64_t) :: from(np - 1 - me), to(me)
    integer :: i, s
    call tutti_layout_strided(one, TUTTI_INT64, 1_int64, 1_int64, 1_int64)
    call tutti_layout_nested(block_in, one, int(n, int64), 8_int64 * in_step, ierror)
    call check_ok('layout_nested')
    call tutti_layout_nested(block_out, one, int(n, int64), 8_int64 * out_step)
    send = block_in
    recv = block_out
    from = [(8_int64 * in_step * n * s, s = 0, np - 2 - me)]
    to = [(8_int64 * out_step * n * s, s = 0, me - 1)]
    call fresh(n * (np - 1 - me), n * me)
    select case (form)
    case (blocking); call tutti_neighbor_alltoallw(above, in, out, send, recv, ierror, from, to)
    case (started); call tutti_ineighbor_alltoallw(above, in, out, send, recv, request, ierror, from, to)
    case (persistent); call tutti_neighbor_alltoallw_init(above, in, out, send, recv, again, ierror, from, to)
    end select
    call tutti_layout_free(one)
    call tutti_layout_free(block_in)
    call tutti_layout_free(block_out)
    call finish(form, 'neighbor_alltoallw')
    call check(all(out == [((value(s, n * (me - s - 1) + i), i = 1, n), s = 0, me - 1)]), 'neighbor_alltoallw')
  end subroutine

  ! Rank r gives n + r elements to each; blocks of the allgatherv lie two elements apart.
  subroutine check_varying_neighbors(above, form, n)
    type(tutti_group), intent(in) :: above
    integer, intent(in) :: form, n
    integer(c_int64_t) :: recv(me), offsets(me), send(np - 1 - me)
    integer :: i, s, first
    recv = [(int(n + s, c_int64_t), s = 0, me - 1)]
    offsets = [(int(s * (n + np + 2), c_int64_t), s = 0, me - 1)]
    send = n + me
    call fresh(n + me, me * (n + np + 2))
    select case (form)
    case (blocking); call tutti_neighbor_allgatherv(above, in, out, recv, ierror, offsets)
    case (started); call tutti_ineighbor_allgatherv(above, in, out, recv, request, ierror, offsets)
    case (persistent); call tutti_neighbor_allgatherv_init(above, in, out, recv, again, ierror, offsets)
    end select
    call finish(form, 'neighbor_allgatherv')
    do s = 0, me - 1
      first = int(offsets(s + 1))
      call check(all(out(first + 1:first + n + s) == [(value(s, i), i = 1, n + s)]), 'neighbor_allgatherv')
      call check(all(out(first + n + s + 1:first + n + np + 2) == poison), 'neighbor_allgatherv between the blocks')
    end do
    call fresh(int(sum(send)), int(sum(recv)))
    select case (form)
    case (blocking); call tutti_neighbor_alltoallv(above, in, out, send, recv, ierror)
    case (started); call tutti_ineighbor_alltoallv(above, in, out, send, recv, request, ierror)
    case (persistent); call tutti_neighbor_alltoallv_init(above, in, out, send, recv, again, ierror)
    end select
    call finish(form, 'neighbor_alltoallv')
    call check(all(out == [((value(s, (n + s) * (me - s - 1) + i), i = 1, n + s), s = 0, me - 1)]), &
      'neighbor_alltoallv')
  end subroutine

  ! A field of 2 x 3 elements with a halo around it, on a ring that cuts its columns; one array on both sides.
  subroutine check_halo(form)
    integer, intent(in) :: form
    integer(int64), asynchronous :: field(4, 5)
    type(tutti_group) :: ring
    type(tutti_layout) :: inner(2), outer(2)
    integer :: i, j, side
    integer(c_int64_t), parameter :: whole(2) = [4, 5], part(2) = [2, 1]
    call tutti_cartesian(group, [np], ring, ierror, periodic=[.true._c_bool])
    call check_ok('cartesian')
    do side = 1, 2
      call tutti_layout_box(inner(side), TUTTI_INT64, whole, part, [1_int64, 2_int64 * side - 1], ierror)
      call check_ok('a column inside')
      call tutti_layout_box(outer(side), TUTTI_INT64, whole, part, [1_int64, 4_int64 * (side - 1)])
    end do
    field = poison
    field(2:3, 2:4) = reshape([(value(me, i), i = 1, 6)], [2, 3])
    select case (form)
    case (blocking); call tutti_neighbor_alltoallw(ring, field, field, inner, outer, ierror)
    case (started); call tutti_ineighbor_alltoallw(ring, field, field, inner, outer, request, ierror)
    case (persistent); call tutti_neighbor_alltoallw_init(ring, field, field, inner, outer, again, ierror)
    end select
    do side = 1, 2
      call tutti_layout_free(inner(side))
      call tutti_layout_free(outer(side))
    end do
    call finish(form, 'neighbor_alltoallw')
    call check(all(field(2:3, 1) == [(value(modulo(me - 1, np), i), i = 5, 6)]), 'the left halo')
    call check(all(field(2:3, 5) == [(value(modulo(me + 1, np), i), i = 1, 2)]), 'the right halo')
    call check(all(field(2:3, 2:4) == reshape([(value(me, i), i = 1, 6)], [2, 3])), 'the inside')
    call check(all([(field(1, j) == poison .and. field(4, j) == poison, j = 1, 5)]), 'the rest')
    call tutti_group_free(ring)
  end subroutine

  subroutine check_grids
    type(tutti_group) :: grid, row
    integer(c_int) :: dims(2), got(2), at(2), dimensions, ranks
    logical(c_bool) :: around(2)
    integer(c_int32_t) :: there, source, destination, neighbors(4), sources, destinations
    dims = 0
    call tutti_dims_create(np, dims)
    call check(dims(1) * dims(2) == np .and. dims(1) >= dims(2), 'dims_create')
    dims = [2, 0]
    call tutti_dims_create(6, dims)
    call check(all(dims == [2, 3]), 'dims that are given')
    dims = [1, np]
    call tutti_cartesian(group, dims, grid, ierror, [.false._c_bool, .true._c_bool], .false._c_bool)
    call check_ok('cartesian')
    call tutti_grid(grid, dimensions, ierror, got, around)
    call check_ok('grid')
    call check(dimensions == 2 .and. all(got == dims) .and. around(2) .and. .not. around(1), 'grid')
    call tutti_grid(grid, ranks)
    call check(ranks == 2, 'dimensions alone')
    call tutti_coordinates(grid, me, at)
    call check(all(at == [0, me]), 'coordinates')
    call tutti_rank_at(grid, [0, me + 1], there)
    call check(there == modulo(me + 1, np), 'around')
    call tutti_rank_at(grid, [1, me], there)
    call check(there == TUTTI_NONE, 'beyond the border')
    call tutti_shift(grid, 1, 1, source, destination)
    call check(source == modulo(me - 1, np) .and. destination == modulo(me + 1, np), 'shift')
    call tutti_shift(grid, 0, 1, source, destination)
    call check(source == TUTTI_NONE .and. destination == TUTTI_NONE, 'shift beyond the border')
    call tutti_degrees(grid, sources, destinations)
    call check(sources == 4 .and. destinations == 4, 'degrees of a grid')
    call tutti_neighbors(grid, neighbors, neighbors)
    call check(all(neighbors == [TUTTI_NONE, TUTTI_NONE, modulo(me - 1, np), modulo(me + 1, np)]), 'neighbours')
    call tutti_sub_grid(grid, [.true._c_bool, .false._c_bool], row)
    call check(tutti_size(row) == 1, 'sub_grid across')
    call tutti_group_free(row)
    call tutti_sub_grid(grid, [.false._c_bool, .true._c_bool], row)
    call check(tutti_size(row) == np, 'sub_grid along')
    call tutti_group_free(row)
    call tutti_cartesian(group, [1], row)
    call check((tutti_size(row) == 1) .eqv. (me == 0), 'a grid for the first rank alone')
    call tutti_group_free(row)
    call tutti_group_free(grid)
  end subroutine

  ! Rank 0 sends twice to the last one and nobody else has an edge: those say by their columns how long blocks are.
  subroutine check_graphs
    type(tutti_group) :: pair
    integer(c_int32_t) :: edges(2, 2), sources, destinations
    integer(c_int32_t), allocatable :: from(:), to(:)
    integer(int64), allocatable :: give(:, :), take(:, :)
    integer, parameter :: n = 40000
    integer :: i
    edges(1, :) = 0
    edges(2, :) = np - 1
    call tutti_graph(group, edges(:, :merge(2, 0, me == np - 1)), pair, ierror)
    call check_ok('graph')
    call tutti_degrees(pair, sources, destinations)
    call check(sources == merge(2, 0, me == np - 1) .and. destinations == merge(2, 0, me == 0), 'degrees')
    allocate (from(sources), to(destinations), give(n, destinations), take(n, sources))
    from = 7
    to = 7
    call tutti_neighbors(pair, from, to)
    call check(all(from == 0) .and. all(to == np - 1), 'neighbours')
    give = reshape([(value(me, i), i = 1, n * destinations)], [n, int(destinations)])
    take = poison
    call tutti_neighbor_alltoall(pair, give, take, ierror)
    call check_ok('blocks of ranks without edges')
    call tutti_barrier(pair, ierror)                        ! finds out who called something else
    call check_ok('blocks of ranks without edges')
    call check(all(take == reshape([(value(0, i), i = 1, n * sources)], [n, int(sources)])), 'two edges')
    call tutti_group_free(pair)
  end subroutine

  ! Everybody sends its rank + 1 elements to rank 0, and nothing to itself.
  subroutine check_exchange
    integer(int64), target :: mine(np)
    type(tutti_parcel) :: parcels(2)
    type(tutti_exchange) :: exchange
    type(tutti_parcel), pointer :: came(:)
    type(tutti_request), pointer :: pending
    integer(int64), pointer :: numbers(:)
    integer :: form, i, k, r
    mine = [(value(me, i), i = 1, np)]
    parcels = [tutti_parcel(0, me + 1, c_loc(mine)), tutti_parcel(me, 0, c_null_ptr)]
    call tutti_exchange_request(exchange, pending)
    call check(.not. associated(pending), 'the request of no exchange')
    nullify (came)
    do form = blocking, started
      if (form == blocking) call tutti_sparse_exchange(group, parcels, TUTTI_INT64, exchange)
      if (form == started) then
        call tutti_isparse_exchange(group, parcels, TUTTI_INT64, exchange)
        call tutti_exchange_request(exchange, pending)
        call tutti_wait(pending)
      end if
      call tutti_deliveries(exchange, came, ierror)
      call check_ok('deliveries')
      call check(size(came) == merge(np + 1, 1, me == 0), 'what came')
      k = 0
      do r = 0, merge(np - 1, -1, me == 0)
        k = k + 1
        call c_f_pointer(came(k)%data, numbers, [came(k)%count])
        call check(came(k)%rank == r .and. all(numbers == [(value(r, i), i = 1, r + 1)]), 'a parcel')
        if (r == 0) k = k + 1
        if (r == 0) call check(came(k)%rank == 0 .and. came(k)%count == 0, 'an empty parcel')
      end do
      call tutti_exchange_free(exchange)
    end do
    call tutti_sparse_exchange(group, parcels(:0), TUTTI_INT64, exchange)
    call tutti_deliveries(exchange, came)
    call check(associated(came) .and. size(came) == 0, 'nothing came')
    call tutti_exchange_free(exchange)
    call tutti_deliveries(exchange, came, ierror)
    call check_refused(TUTTI_USAGE, 'pass an exchange', 'deliveries of no exchange')
  end subroutine

  subroutine check_neighbor_errors
    type(tutti_group) :: ring
    type(tutti_layout) :: layouts(3)
    integer(int64) :: give(4), take(4)
    integer(c_int) :: at(2), dimensions
    integer(c_int32_t) :: rank, edges(3, 1), sources(2), destinations(1)
    call tutti_cartesian(group, [np], ring, ierror, [.true._c_bool, .true._c_bool])
    call check_refused(TUTTI_USAGE, 'periodic has 2 elements and must have 1', 'periodic of another length')
    call tutti_cartesian(group, [np], ring, periodic=[.true._c_bool])
    call tutti_coordinates(ring, me, at, ierror)
    call check_refused(TUTTI_USAGE, 'coordinates has 2 elements and must have 1', 'too many coordinates')
    call tutti_rank_at(ring, at, rank, ierror)
    call check_refused(TUTTI_USAGE, 'coordinates has 2 elements and must have 1', 'the rank at too many coordinates')
    call tutti_grid(ring, dimensions, ierror, dims=at)
    call check_refused(TUTTI_USAGE, 'dims has 2 elements and must have 1', 'too many dims')
    call tutti_grid(group, dimensions, ierror)
    call check_refused(TUTTI_USAGE, 'no neighbours', 'a group that is no grid')
    call tutti_sub_grid(ring, [(.true._c_bool, rank = 1, 2)], ring, ierror)
    call check_refused(TUTTI_USAGE, 'keep has 2 elements and must have 1', 'keep of another length')
    call tutti_neighbors(ring, sources, destinations, ierror)
    call check_refused(TUTTI_USAGE, 'destinations has 1 elements and must have 2', 'a short list of neighbours')
    edges = 0
    call tutti_graph(group, edges, ring, ierror)
    call check_refused(TUTTI_USAGE, 'edges(2, n)', 'edges by rows')
    give = me
    call tutti_neighbor_allgather(group, give, take, ierror)
    call check_refused(TUTTI_USAGE, 'no neighbours', 'a group without edges')
    call tutti_neighbor_allgather(ring, give, take, ierror)
    call check_refused(TUTTI_USAGE, 'out has 4 elements and must have 8', 'a short array of blocks')
    call tutti_neighbor_alltoall(ring, give(:2), take, ierror)
    call check_refused(TUTTI_USAGE, 'in has 2 elements and must have 4', 'fewer blocks than destinations')
    call tutti_neighbor_allgatherv(ring, give, take, [1_int64], ierror)
    call check_refused(TUTTI_USAGE, 'counts has 1 elements and must have 2', 'fewer counts than sources')
    call tutti_neighbor_alltoallw(ring, give, take, layouts, layouts(:2), ierror)
    call check_refused(TUTTI_USAGE, 'send has 3 elements and must have 2', 'more layouts than edges')
    call tutti_neighbor_alltoallw(ring, give, tutti_in_place, layouts(:2), layouts(:2), ierror)
    call check_refused(TUTTI_USAGE, 'out is tutti_in_place', 'no place for the halo')
    call tutti_neighbor_alltoall(ring, tutti_in_place, take, ierror)
    call check_refused(TUTTI_USAGE, 'in place', 'edges in place')
    call tutti_group_free(ring)
  end subroutine

end module neighbors
