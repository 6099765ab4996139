/* Exchanges between the ranks of an MPI job, in C. Link with axisloom_mpi, which is compiled against one MPI. */
#ifndef AXISLOOM_MPI_H
#define AXISLOOM_MPI_H

#include <axisloom/axisloom.h>

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The ranks of a communicator, which is duplicated, so that messages never mix with the caller's. All ranks call it,
 * after MPI_Init. When all exchanges that were made with it are freed, all ranks call its release, before
 * MPI_Finalize: ranks.release(ranks.context). */
axl_status axl_mpi_communicator(MPI_Comm comm, axl_communicator* ranks);

#ifdef __cplusplus
}
#endif

#endif /* AXISLOOM_MPI_H */
