// The library's functions for C: a communicator of MPI, and MPI for programs that are not linked with it.
#include <axisloom/mpi.h>
#include <axisloom/mpi_job.h>
#include <axisloom/communicator.hpp>
#include <axisloom/error.hpp>
#include <axisloom/mpi.hpp>

#include <string>

using namespace axisloom;

axl_status axl_mpi_communicator(MPI_Comm comm, axl_communicator* ranks) {
  return status_of([&] {
    if (!ranks) throw Error(Errc::usage, "the communicator is null", "give one");
    *ranks = table_of(mpi::communicator(comm));
  });
}

axl_status axl_mpi_begin(axl_communicator* world) {
  return status_of([&] {
    // One thread calls MPI, and others run kernels.
    int provided = MPI_THREAD_SINGLE;
    if (const int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided); code != MPI_SUCCESS)
      throw Error(Errc::device, {.message = "MPI does not begin", .call = "MPI_Init_thread", .native = code});
    *world = table_of(mpi::communicator(MPI_COMM_WORLD));
  });
}

const char* axl_mpi_version() {
  static const std::string first_line = [] {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    MPI_Get_library_version(text, &length);
    const std::string whole(text);
    return whole.substr(0, whole.find_first_of(",\n"));
  }();
  return first_line.c_str();
}

void axl_mpi_end(axl_communicator* world) {
  world->release(world->context);
  MPI_Finalize();
}

void axl_mpi_abort(std::int32_t code) {
  MPI_Abort(MPI_COMM_WORLD, code);
}
