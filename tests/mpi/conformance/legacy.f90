! SPDX-License-Identifier: BSD-3-Clause
! Collectives by way of mpif.h: MPI_IN_PLACE, MPI_BOTTOM, Fortran's types and an operator written in Fortran.
program legacy
  implicit none
  include 'mpif.h'
  integer :: ierr, rank, ranks, op, type, request, provided, i, status(MPI_STATUS_SIZE)
  integer :: numbers(10), all(100), lengths(1)
  integer(kind=MPI_ADDRESS_KIND) :: places(1)
  logical :: flags(3), any(3)
  complex :: waves(4)
  complex(kind=kind(0d0)) :: long_waves(2)
  real :: pairs(2, 2), least(2, 2)
  double precision :: values(5)
  character(len=16) :: name
  external :: compose

  ! With threads, so that a request with a function of the program's may be Tutti's.
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  write(name, '(a,i0)') 'legacy.', rank
  open(unit=7, file=name)

  numbers = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, numbers, 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  write(7, *) 'in place', numbers
  all = -1
  all(rank * 3 + 1:rank * 3 + 3) = rank * 10
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 3, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  write(7, *) 'allgather', all(1:3 * ranks)

  values = rank * 1.5d0
  call MPI_Get_address(values, places(1), ierr)
  lengths(1) = 5
  call MPI_Type_create_hindexed(1, lengths, places, MPI_DOUBLE_PRECISION, type, ierr)
  call MPI_Type_commit(type, ierr)
  call MPI_Bcast(MPI_BOTTOM, 1, type, ranks - 1, MPI_COMM_WORLD, ierr)
  call MPI_Type_free(type, ierr)
  write(7, *) 'bottom', values

  flags = (/ .true., mod(rank, 2) == 0, .false. /)
  call MPI_Allreduce(flags, any, 3, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr)
  write(7, *) 'and', any
  call MPI_Reduce(flags, any, 3, MPI_LOGICAL, MPI_LOR, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) write(7, *) 'or', any

  waves = cmplx(rank + 1, -rank)
  call MPI_Allreduce(MPI_IN_PLACE, waves, 4, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, ierr)
  write(7, *) 'complex', waves
  long_waves = dcmplx(1, rank)
  call MPI_Scan(MPI_IN_PLACE, long_waves, 2, MPI_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD, ierr)
  write(7, *) 'double complex', long_waves

  pairs(1, :) = (/ real(10 - rank), real(rank) /)
  pairs(2, :) = rank
  call MPI_Allreduce(pairs, least, 2, MPI_2REAL, MPI_MINLOC, MPI_COMM_WORLD, ierr)
  write(7, *) 'least', least

  call MPI_Op_create(compose, .false., op, ierr)
  do i = 1, 5
    numbers(2 * i - 1) = rank + 2
    numbers(2 * i) = i
  end do
  call MPI_Type_contiguous(2, MPI_INTEGER, type, ierr)
  call MPI_Type_commit(type, ierr)
  call MPI_Allreduce(numbers, all, 5, type, op, MPI_COMM_WORLD, ierr)
  write(7, *) 'composed', all(1:10)
  call MPI_Iallreduce(numbers, all, 5, type, op, MPI_COMM_WORLD, request, ierr)
  call MPI_Wait(request, status, ierr)
  write(7, *) 'composed later', all(1:10), request == MPI_REQUEST_NULL
  call MPI_Op_free(op, ierr)
  call MPI_Type_free(type, ierr)
  close(7)
  call MPI_Finalize(ierr)
end program

! The composition of x -> a x + b.
subroutine compose(in, inout, length, type)
  implicit none
  integer :: length, type, i
  integer :: in(2, length), inout(2, length)
  do i = 1, length
    inout(2, i) = in(1, i) * inout(2, i) + in(2, i)
    inout(1, i) = in(1, i) * inout(1, i)
  end do
end subroutine
