/* An exchange in C: the ranks of MPI_COMM_WORLD have rows of a matrix, and get columns. */
#include <axisloom/mpi.h>

#include <stdio.h>

enum { ranks = 4, rows = 8, columns = 16 };

/* A row-major tensor of int32 in host memory. */
static DLTensor tensor(int32_t* data, int64_t* shape) {
  DLTensor made = {0};
  made.data = data;
  made.device.device_type = kDLCPU;
  made.ndim = 2;
  made.dtype.code = kDLInt;
  made.dtype.bits = 32;
  made.dtype.lanes = 1;
  made.shape = shape;
  return made;
}

static int check(axl_status status) {
  if (status != AXL_OK) fprintf(stderr, "%s: %s\n", axl_status_name(status), axl_last_error());
  return status == AXL_OK;
}

static int exchange(const axl_communicator* world) {
  static int32_t mine[rows / ranks * columns], got[columns / ranks * rows];
  int64_t shape[] = {rows, columns}, in_shape[] = {rows / ranks, columns}, out_shape[] = {rows, columns / ranks};
  DLTensor in = tensor(mine, in_shape), out = tensor(got, out_shape);
  axl_redistribution* plan = NULL;
  axl_exchange* ready = NULL;
  int i, right = 0;
  for (i = 0; i < rows / ranks * columns; ++i) mine[i] = rows / ranks * columns * world->rank + i;
  if (check(axl_redistribution_create("s@x h -> s h@x", "x=4", shape, 2, NULL, 0, &plan)) &&
      check(axl_exchange_create(plan, &in, &out, world, NULL, NULL, &ready)) &&
      check(axl_exchange_run(ready, &in, &out)))
    for (right = 1, i = 0; i < columns / ranks * rows; ++i) {
      const int row = i / (columns / ranks), column = world->rank * (columns / ranks) + i % (columns / ranks);
      right = right && got[i] == columns * row + column;
    }
  axl_exchange_free(ready);
  axl_redistribution_free(plan);
  return right;
}

int main(int argc, char** argv) {
  axl_communicator world = {0};
  int right;
  if (axl_mpi_communicator(MPI_COMM_WORLD, &world) != AXL_USAGE) return 1; /* MPI has not begun */
  MPI_Init(&argc, &argv);
  right = check(axl_mpi_communicator(MPI_COMM_WORLD, &world)) && exchange(&world);
  if (world.release) world.release(world.context);
  MPI_Finalize();
  return !right;
}
