! SPDX-License-Identifier: BSD-3-Clause
! Collectives by way of `use mpi_f08`: its types, sections of arrays, and an operator.
program modern
  use mpi_f08
  use iso_c_binding, only: c_f_pointer, c_ptr
  implicit none
  integer :: rank, ranks, i
  integer, asynchronous :: numbers(0:99)
  integer :: matrix(6, 6), sums(6)
  type(MPI_Request) :: request
  type(MPI_Datatype) :: row
  type(MPI_Comm) :: group
  type(MPI_Status) :: status
  logical :: flag
  real :: values(3)
  real(kind=selected_real_kind(15, 307)) :: precise(6)
  integer, target :: buffer(250)
  integer, pointer :: same(:)
  type(c_ptr) :: detached
  type(MPI_Datatype) :: real_type
  character(len=16) :: name

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  write(name, '(a,i0)') 'modern.', rank
  open(unit=7, file=name)

  numbers = merge((/ (i, i = 0, 99) /), -1, rank == 0)
  call MPI_Bcast(numbers, 100, MPI_INTEGER, 0, MPI_COMM_WORLD)
  write(7, *) 'bcast', sum(numbers)
  numbers = rank
  call MPI_Iallreduce(MPI_IN_PLACE, numbers, 100, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
  call MPI_Wait(request, status)
  write(7, *) 'iallreduce', numbers(0), request == MPI_REQUEST_NULL

  matrix = reshape((/ (i + 100 * rank, i = 1, 36) /), (/ 6, 6 /))
  call MPI_Type_vector(6, 1, 6, MPI_INTEGER, row)
  call MPI_Type_commit(row)
  call MPI_Bcast(matrix(3, 1), 1, row, ranks - 1, MPI_COMM_WORLD)
  call MPI_Type_free(row)
  write(7, *) 'row', matrix(3, :), 'not others', matrix(2, 1) - 100 * rank, matrix(4, 6) - 100 * rank

  ! A type of Fortran's that is predefined and has a combiner of its own.
  precise = (/ (i + 10 * rank, i = 1, 6) /)
  call MPI_Type_create_f90_real(15, 307, real_type)
  call MPI_Type_vector(3, 1, 2, real_type, row)
  call MPI_Type_commit(row)
  call MPI_Bcast(precise, 1, row, ranks - 1, MPI_COMM_WORLD)
  call MPI_Type_free(row)
  write(7, *) 'precise', precise

  call MPI_Buffer_attach(buffer, 1000)
  call MPI_Buffer_detach(detached, i)
  call c_f_pointer(detached, same, (/ 250 /))
  same(17) = 4
  write(7, *) 'buffer', buffer(17), i

  call MPI_Comm_dup(MPI_COMM_WORLD, group)
  call MPI_Reduce(matrix(:, 2), sums, 6, MPI_INTEGER, MPI_MAX, 0, group)
  if (rank == 0) write(7, *) 'reduce', sums
  values = (/ 1.0, 2.0, 4.0 /) * (rank + 1)
  call MPI_Allreduce(MPI_IN_PLACE, values, 3, MPI_REAL, MPI_PROD, group)
  write(7, *) 'product', values
  call MPI_Ibarrier(group, request)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(request, flag, MPI_STATUS_IGNORE)
  end do
  call MPI_Comm_free(group)
  close(7)
  call MPI_Finalize()
end program
