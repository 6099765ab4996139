// A rank that runs an exchange until somebody ends it: through windows, by messages ("messages") or into shared outputs
// ("direct"). Its first rank says "running" when all of them run.
#include <axisloom/mpi.hpp>

#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string_view how = argc > 1 ? argv[1] : "windows";
  const auto ranks = axisloom::mpi::communicator(MPI_COMM_WORLD);
  axisloom::Exchange exchange("s@x h -> h@x s", "x=4", {512, 512}, axisloom::Dtype::f32, ranks,
                              {.workspace = 1 << 16, .windows = how != "messages"});
  std::optional<axisloom::SharedOutput> shared;
  if (how == "direct") shared.emplace(exchange.share_output());
  std::vector<float> in(512 * 128), out(512 * 128);
  for (long run = 0;; ++run) {
    if (shared)
      exchange.run(in.data(), *shared);
    else
      exchange.run(in.data(), out.data());
    if (run == 3 && ranks->rank() == 0) std::puts("running"), std::fflush(stdout);
  }
}
