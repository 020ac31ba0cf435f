! SPDX-License-Identifier: BSD-3-Clause
! Collectives by way of `use mpi`: nonblocking ones with MPI_IN_PLACE, lists of requests, v-forms, groups.
program older
  use mpi
  implicit none
  integer :: ierr, rank, ranks, i, requests(3), statuses(MPI_STATUS_SIZE, 3), done, indices(3)
  integer, allocatable :: counts(:), places(:), whole(:), mine(:)
  double precision :: values(1000), sums(1000)
  integer :: group, group_rank, once, total
  logical :: flag
  character(len=16) :: name

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  write(name, '(a,i0)') 'older.', rank
  open(unit=7, file=name)

  values = rank
  sums = rank + 1
  once = rank
  call MPI_Iallreduce(MPI_IN_PLACE, sums, 1000, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Ibcast(values, 1000, MPI_DOUBLE_PRECISION, ranks - 1, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Ibarrier(MPI_COMM_WORLD, requests(3), ierr)
  call MPI_Waitall(3, requests, statuses, ierr)
  write(7, *) 'waitall', sums(1000), values(1000), all(requests == MPI_REQUEST_NULL)

  allocate(counts(ranks), places(ranks))
  counts = (/ (i, i = 1, ranks) /)
  places = (/ (i * (i - 1) / 2 + i - 1, i = 1, ranks) /)
  allocate(whole(places(ranks) + ranks), mine(ranks))
  whole = -1
  mine = rank * 100 + (/ (i, i = 1, ranks) /)
  call MPI_Allgatherv(mine, rank + 1, MPI_INTEGER, whole, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  write(7, *) 'allgatherv', whole
  call MPI_Igatherv(mine, rank + 1, MPI_INTEGER, whole, counts, places, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(1), ierr)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE, ierr)
  end do
  if (rank == 0) write(7, *) 'igatherv', whole

  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, group, ierr)
  call MPI_Comm_rank(group, group_rank, ierr)
  call MPI_Exscan(once, total, 1, MPI_INTEGER, MPI_SUM, group, ierr)
  if (group_rank > 0) write(7, *) 'exscan', total
  call MPI_Iscan(once, total, 1, MPI_INTEGER, MPI_SUM, group, requests(1), ierr)
  requests(2:3) = MPI_REQUEST_NULL
  call MPI_Waitsome(3, requests, done, indices, MPI_STATUSES_IGNORE, ierr)
  write(7, *) 'iscan', total, done, indices(1)
  call MPI_Comm_free(group, ierr)
  close(7)
  call MPI_Finalize(ierr)
end program
