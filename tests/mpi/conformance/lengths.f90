! SPDX-License-Identifier: BSD-3-Clause
! Arrays of datatypes as long as there are ranks in the other group, or neighbours: more of them, and fewer, than ranks
! in this one. Behind them stands what is no datatype.
program lengths
  implicit none
  include 'mpif.h'
  integer, parameter :: most = 8, nothing = -1, no_type = 12345678
  integer :: ierr, rank, ranks, first, half, between, grid, shape(3), wrong, i
  integer :: sent(most), received(most), expected(most), counts(most), places(most), types(most)
  integer(kind=MPI_ADDRESS_KIND) :: wide(most)
  logical :: round(3)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  sent = (/ (100 * rank + i, i = 1, most) /)
  counts = 1
  places = (/ (4 * (i - 1), i = 1, most) /)
  wide = places
  wrong = 0

  ! Rank 0 and all the others.
  if (ranks > 1) then
    first = merge(1, 0, rank == 0)
    call MPI_Comm_split(MPI_COMM_WORLD, first, rank, half, ierr)
    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, first, 5, between, ierr)
    expected = nothing
    if (rank == 0) expected(1:ranks - 1) = (/ (100 * i + 1, i = 1, ranks - 1) /)
    if (rank > 0) expected(1) = rank
    types = no_type
    types(1:merge(ranks - 1, 1, rank == 0)) = MPI_INTEGER
    received = nothing
    call MPI_Alltoallw(sent, counts, places, types, received, counts, places, types, between, ierr)
    wrong = wrong + count(received /= expected)
    call MPI_Comm_free(between, ierr)
    call MPI_Comm_free(half, ierr)
  end if

  ! A line of ranks in three dimensions: six neighbours, most of which are nobody.
  shape = (/ ranks, 1, 1 /)
  round = .false.
  call MPI_Cart_create(MPI_COMM_WORLD, 3, shape, round, .false., grid, ierr)
  expected = nothing
  if (rank > 0) expected(1) = 100 * (rank - 1) + 2
  if (rank < ranks - 1) expected(2) = 100 * (rank + 1) + 1
  types = no_type
  types(1:6) = MPI_INTEGER
  received = nothing
  call MPI_Neighbor_alltoallw(sent, counts, wide, types, received, counts, wide, types, grid, ierr)
  wrong = wrong + count(received /= expected)
  call MPI_Comm_free(grid, ierr)
  print '(a,i0,a,i0,a)', 'rank ', rank, ': ', wrong, ' wrong'
  call MPI_Finalize(ierr)
end program
