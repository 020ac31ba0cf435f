! SPDX-License-Identifier: BSD-3-Clause
! What a module of Python is made of, loaded when the MPI may be known already, and for its loader alone.
subroutine solve() bind(c)
  implicit none
  include 'mpif.h'
  integer :: ierr, rank, ranks, i, sums(10), requests(20), all(20)
  logical :: begun
  character(len=16) :: name

  call MPI_Initialized(begun, ierr)
  if (.not. begun) call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  write(name, '(a,i0)') 'module.', rank
  open(unit=7, file=name)
  sums = (/ (i + rank, i = 1, 10) /)
  call MPI_Allreduce(MPI_IN_PLACE, sums, 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  write(7, *) 'sums', sums
  all = -1
  do i = 1, 20
    call MPI_Iallreduce(rank, all(i), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(i), ierr)
  end do
  call MPI_Waitall(20, requests, MPI_STATUSES_IGNORE, ierr)
  write(7, *) 'all', all
  close(7)
  if (.not. begun) call MPI_Finalize(ierr)
end subroutine
