// SPDX-License-Identifier: BSD-3-Clause
// Waiting for requests and testing them, where some may be ours.
#pragma once

#include "abi.hpp"

namespace tutti::mpi::completion {

int wait(MPI_Request* request, MPI_Status* status) noexcept;
int waitall(int count, MPI_Request* requests, MPI_Status* statuses) noexcept;
int waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) noexcept;
int waitsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) noexcept;
int test(MPI_Request* request, int* flag, MPI_Status* status) noexcept;
int testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) noexcept;
int testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) noexcept;
int testsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) noexcept;
int request_get_status(MPI_Request request, int* flag, MPI_Status* status) noexcept;
/// Of MPI 4.1: where the MPI is older, it is asked about one request after the other.
int request_get_status_all(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses) noexcept;
int request_get_status_any(int count, const MPI_Request* requests, int* index, int* flag, MPI_Status* status) noexcept;
int request_get_status_some(int count, const MPI_Request* requests, int* done, int* indices,
                            MPI_Status* statuses) noexcept;
int request_free(MPI_Request* request) noexcept;
int start(MPI_Request* request) noexcept;
int startall(int count, MPI_Request* requests) noexcept;

}  // namespace tutti::mpi::completion
