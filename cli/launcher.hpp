// Whether MPI's mpirun, or another launcher, started this process as one of several.
#pragma once

#include <optional>

namespace axisloom::cli {

/// What a launcher says in the environment of a process that it starts.
struct Launcher {
  int rank = 0;
  std::optional<int> ranks;  // some launchers leave that to MPI
};

/// Nothing where no launcher started this process, or one started it alone, or AXISLOOM_MPI is "off".
std::optional<Launcher> launcher();

/// The variable that names libaxisloom_mpi, or says "off".
inline constexpr const char* mpi_variable = "AXISLOOM_MPI";

}  // namespace axisloom::cli
