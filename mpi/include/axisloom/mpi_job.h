/* MPI for programs that are not linked with it: they open libaxisloom_mpi at run time, find these functions by name,
 * and need no header of MPI. Text of errors is axl_last_error's, found in the same library. */
#ifndef AXISLOOM_MPI_JOB_H
#define AXISLOOM_MPI_JOB_H

#include <axisloom/axisloom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Begins MPI, and gives the ranks of the job. */
axl_status axl_mpi_begin(axl_communicator* world);
/* Which MPI this is, in one line. */
const char* axl_mpi_version(void);
/* Gives the ranks back and ends MPI. All ranks call it. */
void axl_mpi_end(axl_communicator* world);
/* Ends all ranks of the job with an exit code, also where they wait for this one. Does not return. */
void axl_mpi_abort(int32_t code);

#ifdef __cplusplus
}
#endif

#endif /* AXISLOOM_MPI_JOB_H */
