// Times exchanges of a matrix of f64 on four ranks: Axisloom's three paths, ScaLAPACK's pdtran and pdgemr2d, and as the
// reference a copy, in which each rank copies its own part with memcpy. They take turns, and every result is checked
// element by element in the same run.
//
// ScaLAPACK is column-major: where it is given the memory of a row-major matrix, it sees the transposed one. So its
// rows are our columns, and its process grid has as many rows as ours has columns.
#include <axisloom/host_array.hpp>
#include <axisloom/mpi.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void descinit_(int* desc, const int* m, const int* n, const int* mb, const int* nb, const int* first_row,
               const int* first_column, const int* context, const int* lld, int* info);
void pdtran_(const int* m, const int* n, const double* alpha, const double* a, const int* ia, const int* ja,
             const int* desc_a, const double* beta, double* c, const int* ic, const int* jc, const int* desc_c);
void pdgemr2d_(const int* m, const int* n, const double* a, const int* ia, const int* ja, const int* desc_a, double* b,
               const int* ib, const int* jb, const int* desc_b, const int* context);
}

namespace {

/// A cut of an axis: its parts, which of them this rank has, and the blocks that are dealt in turn.
struct Cut {
  int parts = 1, mine = 0, block = 1;
  std::int64_t global(std::int64_t local) const { return (local / block * parts + mine) * block + local % block; }
};

/// How a matrix lies: two cuts, slowest axis first. `turned`: its first axis is the input's second.
struct Side {
  Cut rows, columns;
  bool turned = false;
};

struct Case {
  std::string pattern, mesh;
  Side in, out;
};

/// A process grid: the rank at (row, column) of ours is at (column, row) of this one. Each is made once.
int context_of(int rows, int columns) {
  static std::map<std::pair<int, int>, int> made;
  const auto [found, is_new] = made.try_emplace({rows, columns}, -1);
  if (is_new) {
    Cblacs_get(-1, 0, &found->second);
    Cblacs_gridinit(&found->second, "C", columns, rows);
  }
  return found->second;
}

/// ScaLAPACK's view of a side.
struct Described {
  int context = -1;
  int desc[9] = {};
};

Described described(const Side& side, int extent, std::int64_t local_columns) {
  Described made{.context = context_of(side.rows.parts, side.columns.parts)};
  const int zero = 0, lld = int(std::max<std::int64_t>(local_columns, 1));
  int info = 0;
  descinit_(made.desc, &extent, &extent, &side.columns.block, &side.rows.block, &zero, &zero, &made.context, &lld,
            &info);
  if (info != 0) throw std::runtime_error("descinit fails");
  return made;
}

std::vector<Case> cases(int rank, int extent) {
  const int quarter = extent / 4, row = rank / 2, column = rank % 2;
  const auto strip = [&](bool turned) { return Side{{4, rank, quarter}, {1, 0, extent}, turned}; };
  const auto dealt = [&](int rows, int columns, bool turned) {
    return Side{{2, row, rows}, {2, column, columns}, turned};
  };
  return {
      {"i@x j -> j@x i", "x=4", strip(false), strip(true)},
      {"i@(r c) j -> i@r:64 j@c:64", "r=2 c=2", strip(false), dealt(64, 64, false)},
      {"i@r:64 j@c:64 -> i@r:48 j@c:80", "r=2 c=2", dealt(64, 64, false), dealt(48, 80, false)},
      {"i@r:64 j@c:64 -> j@r:64 i@c:64", "r=2 c=2", dealt(64, 64, false), dealt(64, 64, true)},
  };
}

using Visit = std::function<void(double& element, double wanted)>;

/// Every local element with what it should be: its number in the input.
void each(const Side& side, const axisloom::Dims& shape, double* memory, std::int64_t extent, const Visit& visit) {
  for (std::int64_t i = 0; i < shape[0]; ++i)
    for (std::int64_t j = 0; j < shape[1]; ++j) {
      const std::int64_t row = side.rows.global(i), column = side.columns.global(j);
      visit(memory[i * shape[1] + j], double(side.turned ? column * extent + row : row * extent + column));
    }
}

struct Contestant {
  std::string name;
  std::function<void()> run;
  double* result = nullptr;
  const Side* side = nullptr;  // as which the result lies
  std::vector<double> seconds = {};
};

/// Seconds from when the first rank begins until the last is done, by the clock of the host that all are on.
double timed(const std::function<void()>& run) {
  const auto now = [] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()); };
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = now().count();
  run();
  double end = now().count();
  MPI_Allreduce(MPI_IN_PLACE, &begin, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &end, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return end - begin;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// Run by run, so that what slows the machine down for a while slows both.
std::vector<double> quotients(const std::vector<double>& ours, const std::vector<double>& theirs) {
  std::vector<double> found;
  for (std::size_t run = 0; run < ours.size(); ++run) found.push_back(ours[run] / theirs[run]);
  return found;
}

std::string quoted(const std::string& text) {
  return '"' + text + '"';
}

/// Prints the figures, and returns them as JSON, on rank 0.
std::string measure(const Case& job, int extent, int runs, const std::shared_ptr<axisloom::Communicator>& ranks) {
  using axisloom::Dtype, axisloom::Exchange;
  Exchange windows(job.pattern, job.mesh, {extent, extent}, Dtype::f64, ranks);
  Exchange messages(job.pattern, job.mesh, {extent, extent}, Dtype::f64, ranks, {.windows = false});
  axisloom::SharedOutput shared = windows.share_output();
  const axisloom::Dims &in_shape = windows.in_view().shape, &out_shape = windows.out_view().shape;
  axisloom::Array in(Dtype::f64, in_shape), out(Dtype::f64, out_shape), copied(Dtype::f64, in_shape);
  auto* const from = static_cast<double*>(in.data());
  auto* const to = static_cast<double*>(out.data());
  each(job.in, in_shape, from, extent, [](double& element, double wanted) { element = wanted; });

  const Described a = described(job.in, extent, in_shape[1]), c = described(job.out, extent, out_shape[1]);
  const int one = 1;
  const double alpha = 1, beta = 0;
  std::vector<Contestant> contestants{
      {"memcpy", [&] { std::memcpy(copied.data(), from, std::size_t(in.view().count()) * 8); },
       static_cast<double*>(copied.data()), &job.in},
      {"direct", [&] { windows.run(from, shared); }, static_cast<double*>(shared.data()), &job.out},
      {"windows", [&] { windows.run(from, to); }, to, &job.out},
      {"messages", [&] { messages.run(from, to); }, to, &job.out},
      {job.out.turned ? "pdtran" : "pdgemr2d",
       [&] {
         if (job.out.turned)
           pdtran_(&extent, &extent, &alpha, from, &one, &one, a.desc, &beta, to, &one, &one, c.desc);
         else
           pdgemr2d_(&extent, &extent, from, &one, &one, a.desc, to, &one, &one, c.desc, &a.context);
       },
       to, &job.out}};
  for (int run = 0; run <= runs; ++run)
    for (Contestant& contestant : contestants) {
      const axisloom::Dims& shape = contestant.side == &job.in ? in_shape : out_shape;
      // All find their output alike: just written, with what no result has.
      std::fill_n(contestant.result, axisloom::element_count(shape), -1.0);
      const double seconds = timed(contestant.run);
      if (run > 0) contestant.seconds.push_back(seconds);  // the first one warms up
      each(*contestant.side, shape, contestant.result, extent, [&](double& element, double wanted) {
        if (element == wanted) return;
        std::fprintf(stderr, "%s: %s is wrong: %g instead of %g\n", job.pattern.c_str(), contestant.name.c_str(),
                     element, wanted);
        MPI_Abort(MPI_COMM_WORLD, 1);
      });
    }
  if (ranks->rank() != 0) return "";
  const std::vector<double>& copies = contestants[0].seconds;
  const double bytes = 16.0 * extent * extent;
  std::printf("%s over %s\n", job.pattern.c_str(), job.mesh.c_str());
  std::string figures;
  for (const Contestant& contestant : contestants) {
    const double seconds = median(contestant.seconds), share = median(quotients(copies, contestant.seconds));
    std::printf("  %-9s %8.2f ms %7.2f GB/s %6.2f of memcpy\n", contestant.name.c_str(), seconds * 1e3,
                bytes / seconds / 1e9, share);
    figures += (figures.empty() ? "" : ", ") + quoted(contestant.name) + ": {\"seconds\": " + std::to_string(seconds) +
               ", \"share_of_memcpy\": " + std::to_string(share) + "}";
  }
  std::fflush(stdout);
  return "{\"pattern\": " + quoted(job.pattern) + ", \"mesh\": " + quoted(job.mesh) + ", " + figures + "}";
}

/// Writes what the cases measured.
void write(const char* path, int extent, int runs, const std::string& figures) {
  double load = 0;
  getloadavg(&load, 1);
  std::ofstream file(path);
  file << "{\"extent\": " << extent << ", \"ranks\": 4, \"processors\": " << std::thread::hardware_concurrency()
       << ", \"runs\": " << runs << ", \"load\": " << load << ", \"cases\": [" << figures << "]}\n";
  if (!file.flush()) throw std::runtime_error(std::string("cannot write ") + path);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const int extent = argc > 1 ? std::atoi(argv[1]) : 4096, runs = argc > 2 ? std::atoi(argv[2]) : 9;
    const auto ranks = axisloom::mpi::communicator(MPI_COMM_WORLD);
    if (ranks->size() != 4 || extent % 4 != 0) throw std::invalid_argument("wants 4 ranks, and a side that 4 divides");
    if (ranks->rank() == 0) std::printf("f64 %d x %d, 4 ranks, median of %d\n", extent, extent, runs);
    std::string figures;
    for (const Case& job : cases(ranks->rank(), extent))
      figures += (figures.empty() ? "" : ", ") + measure(job, extent, runs, ranks);
    if (ranks->rank() == 0 && argc > 3) write(argv[3], extent, runs, figures);
  }
  MPI_Finalize();
}
