// Exchanges between the ranks of an MPI job. The library axisloom_mpi is compiled against one MPI, since their binary
// interfaces differ.
//
//   MPI_Init(&argc, &argv);
//   {
//     axisloom::Exchange exchange("s@x h -> s h@x", "x=4", {8, 16}, axisloom::Dtype::f32,
//                                 axisloom::mpi::communicator(MPI_COMM_WORLD));
//     exchange.run(input, output);
//   }
//   MPI_Finalize();
#pragma once

#include <axisloom/exchange.hpp>

#include <mpi.h>

#include <memory>

namespace axisloom::mpi {

/// The ranks of a communicator, which is duplicated, so that messages never mix with the caller's. All ranks call it,
/// after MPI_Init, and let go of it and of its exchanges together, before MPI_Finalize. Ranks of one host share memory
/// by windows of MPI. What a call of MPI reports becomes Error(device), with the call and its code; throws Error(usage)
/// where MPI is not running.
std::shared_ptr<Communicator> communicator(MPI_Comm comm);

}  // namespace axisloom::mpi
