// The example of docs/distributed.md.
#include <axisloom/mpi.hpp>

#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    auto ranks = axisloom::mpi::communicator(MPI_COMM_WORLD);
    axisloom::Exchange exchange("s@x h -> s h@x", "x=4", {8, 16}, axisloom::Dtype::f32, ranks);
    std::vector<float> in(exchange.in_view().count(), 1), out(exchange.out_view().count());  // [2,16], [8,4]
    exchange.run(in.data(), out.data());
  }
  MPI_Finalize();
}
