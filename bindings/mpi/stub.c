/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands for an MPI library when a back end is linked: only its name is used. */
typedef int tutti_mpi_nothing;
