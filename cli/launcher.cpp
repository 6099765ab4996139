// Launchers are known by the variables that they set.
#include "cli/launcher.hpp"

#include "core/text.hpp"
#include "device/environment.hpp"

#include <array>

namespace axisloom::cli {
namespace {

struct Variables {
  const char *rank, *ranks;
};

// Of several the first that is set: Slurm sets those of its steps beside those of MPI's own interfaces.
constexpr std::array<Variables, 4> launchers{{
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},  // OpenMPI
    {"PMI_RANK", "PMI_SIZE"},                          // MPICH, Intel MPI, Slurm with PMI-2
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},    // MVAPICH
    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"},             // Slurm and others with PMIx
}};

std::optional<int> number_in(const char* variable) {
  return core::whole_number<int>(device::environment(variable));
}

}  // namespace

std::optional<Launcher> launcher() {
  if (device::environment(mpi_variable) == "off") return std::nullopt;
  for (const Variables& known : launchers)
    if (const auto rank = number_in(known.rank)) {
      const auto ranks = number_in(known.ranks);
      if (ranks == 1) return std::nullopt;
      return Launcher{*rank, ranks};
    }
  return std::nullopt;
}

}  // namespace axisloom::cli
