// Variant "rows_cpu": runs of memory in whole vectors, by parts that the cores share. For CPUs.
#include "core/integers.hpp"
#include "core/number.hpp"
#include "ops/reduce/model.hpp"
#include "ops/reduce/params.hpp"

#include <algorithm>
#include <bit>

namespace axisloom::ops {
namespace {

// Of a piece beside its vectors; a core of an EPYC 9005 took 6 to 7 ns for a row of 3, 16 or 31 floats, 13 for one of 7
// x 7 floats, of which an axis is kept inside of another; 24 for a row of 8 or 9 doubles. On the host 2 to 10 ns for a
// row of 4 to 31 floats, 11 for one of 9 doubles.
constexpr double piece_seconds = 8e-9, wide_piece_seconds = 24e-9, host_wide_piece_seconds = 10e-9;
constexpr double rest_seconds = 2e-9;  // what is left of a run when whole vectors are taken
constexpr i64 few_chains = 4, many_chains = 8;
constexpr i64 most_additions = 4096;  // of a lane of a chain
constexpr i64 wanted_tasks = 32;      // for the cores to share; 2^20 floats on two of them: 32 175 us, 8 258 us
constexpr i64 least_piece = 131072;   // bytes, where the tasks would be fewer
constexpr i64 most_parts = 4096;      // of an output: one running sum takes them all
constexpr i64 most_pieces = 4096;     // of a part, likewise

/// Vectors of running sums, and the ranges of a piece that they take side by side.
struct Width {
  i64 chains, ranges;
};

/// 8 vectors where they fit the registers, else 4; of a short run 4 ranges, for as many vectors. A place is found by
/// one chain, which has to see its elements in order.
Width width(const ReduceProblem& problem, i64 ranges, const DeviceModel& device) {
  constexpr i64 registers = 16, register_bytes = 64, long_bytes = 32768;
  const Recipe& recipe = problem.recipe;
  const i64 vectors = ceil_div(lanes_of(problem, device) * i64(size_of(recipe.value)), register_bytes);
  const i64 chains = many_chains * vectors * recipe.u64s() <= registers ? many_chains : few_chains;
  if (problem.reduced.back().extent * problem.element_bytes() < long_bytes) return {chains, few_chains};
  return {chains, recipe.accumulation == Accumulation::place ? chains : ranges};
}

constexpr std::string_view amd = "AuthenticAMD";  // as CPUs tell their vendor

/// What is left open: through PoCL as on the Xeon; on the host as on two cores of an EPYC 9005, where 2^26 floats took
/// 6.5 ms by 4 ranges and 2 KiB ahead, 7.2 with 1 or 4 KiB, and 8.4 to 9.8 by 16. AMD's processors read in order, but
/// for those without AVX-512 from memory: of the rate of reading two cores of an EPYC 7003 reached 1.1 to 1.3 by ranges
/// there and 0.9 to 1.1 in order, from the cache 1.3 to 1.5 and 1.6 to 1.9. Those ask 512 bytes ahead: the time of
/// eight sums, means and maxima was 0.80 to 1.09 of reading's, 0.93 in the middle, with 2 KiB 0.88 to 1.12 and 0.99.
Configuration decided(Configuration values, const ReduceProblem& problem, const DeviceModel& device) {
  const bool host = device.api == Api::host;
  const bool from_memory = ahead_bytes(problem, 1, device) > 0;
  const bool narrow = host && !device.api_version.starts_with("x86-64-v4");
  const bool in_order = device.vendor == amd && !(narrow && from_memory);
  if (values.at("ranges") == 0) values["ranges"] = host ? 4 : 16;
  if (values.at("ahead") == 0) values["ahead"] = !host ? 1024 : device.vendor == amd && narrow ? 512 : 2048;
  if (values.at("least_range") == 0) values["least_range"] = in_order ? 1048576 : 2048;
  return values;
}

/// Bytes of a piece: `most`, or less where the tasks would be too few.
i64 piece_bytes(const ReduceProblem& problem, i64 most) {
  const i64 all = problem.outputs() * problem.count() * problem.element_bytes();
  if (all <= most) return most;
  const auto even = i64(std::bit_floor(u64(all / wanted_tasks)));
  return std::min(most, std::max(least_piece, even));
}

/// How a reduction is cut, by shape alone.
Pieces cut(const ReduceProblem& problem, i64 bytes, const DeviceModel& device) {
  const i64 most_elements = most_additions * lanes_of(problem, device) * few_chains;
  const i64 piece = std::min(bytes / problem.element_bytes(), most_elements);
  const i64 run = problem.reduced.back().extent;
  const i64 pieces = ceil_div(run, piece);
  const i64 all = pieces * (problem.count() / run);
  const i64 wanted = std::min(ceil_div(problem.count(), piece), std::max<i64>(1, most_parts / problem.outputs()));
  const i64 parts = std::min(std::max(wanted, ceil_div(all, most_pieces)), all);
  const i64 per_part = ceil_div(all, parts);
  return {piece, pieces, ceil_div(all, per_part), per_part};
}

/// A row of up to half a vector, of which the kernel folds several together; rows of 2 to 8 elements took a core of a
/// Xeon 1.1 to 2.4 ns, of doubles 1.8 to 4.4, of halves 3.7 to 4.7. Rows of 9 and more cost what a piece does.
double joined_row_seconds(const ReduceProblem& problem, i64 lanes) {
  constexpr double quarter_seconds = 1.4e-9, half_seconds = 2.2e-9, convert_seconds = 2.6e-9;
  const double row = 4 * problem.count() <= lanes ? quarter_seconds : half_seconds;
  const double wide = size_of(problem.recipe.value) == 8 && problem.recipe.value_floats() ? 2 : 1;
  return wide * row + (core::is_small_float(problem.recipe.in) ? convert_seconds : 0);
}

double predicted_seconds(const ReduceProblem& problem, const Pieces& c, const DeviceModel& device) {
  const Loop& run = problem.reduced.back();
  const i64 tasks = problem.outputs() * c.parts;
  const i64 lanes = lanes_of(problem, device);
  const bool contiguous = is_contiguous(problem), whole = !contiguous || run.extent % lanes == 0;
  const double wide = device.api == Api::host ? host_wide_piece_seconds : wide_piece_seconds;
  const double piece = size_of(problem.recipe.value) == 8 ? wide : piece_seconds;
  const bool joined = contiguous && problem.kept.size() == 1 && 2 * problem.count() <= lanes;
  const double pieces =
      double(tasks) * c.per_part * (joined ? joined_row_seconds(problem, lanes) : piece + (whole ? 0 : rest_seconds));
  const double strided = single_seconds(problem, device) + single_vector_seconds(problem, device) / vector_lanes +
                         own_line_seconds(problem, run.in, device);
  const double loads = contiguous ? 0 : problem.elements() * strided;
  const double read = read_seconds(problem, run, device) - device.launch;
  const double loops = device.on_cores(pieces + loads);
  return device.launch + shared_seconds(contiguous ? read + loops : std::max(read, loops), tasks, device);
}

jit::Defines& define(ReduceLaunch& main, const Configuration& values, const ReduceProblem& problem,
                     const DeviceModel& device) {
  return main.defines()
      .set("CHAINS", width(problem, values.at("ranges"), device).chains)
      .set("RANGES", values.at("ranges"))
      .set("LEAST_RANGE", values.at("least_range") / problem.element_bytes())
      .set("CONTIGUOUS", is_contiguous(problem))
      .set("AHEAD", ahead_bytes(problem, values.at("ahead"), device) / problem.element_bytes());
}

/// On the host, sums in the portable order.
Proposal in_pairs(const ReduceProblem& problem, Configuration values, const DeviceModel& device) {
  constexpr i64 least_elements = 16384;  // of a group: long against its start
  if (problem.recipe.masked) return refuse(no_masks);
  constexpr i64 block = 256;  // elements that are brought together at once, at most
  const bool whole_blocks = problem.reduced.size() == 1 || problem.reduced.back().extent % block == 0;
  if (!is_contiguous(problem) || problem.recipe.accumulation != Accumulation::compensated) return refuse(own_order);
  if (!whole_blocks) return refuse("its runs end within blocks");
  const auto [pieces, split] = host_parts(problem, device, problem.outputs());
  values["launches"] = 1;
  const i64 ranges = width(problem, values.at("ranges"), device).ranges;
  values["ranges"] = ranges;
  return {.seconds = read_seconds(problem, problem.reduced.back(), device),
          .configuration = values,
          .launches = [=, pieces = pieces, split = split, &problem] {
            ReduceLaunch main("rows_cpu", problem);
            main.all_arguments = true;
            main.set_pieces(pieces);
            ReduceParams& params = main.params;
            params.per_group = std::max<i64>(1, least_elements / (params.count / pieces.parts));
            define(main, values, problem, device).set("IN_PAIRS", 1);
            return main.with_parts(ceil_div(params.tasks, params.per_group), split, params.outputs);
          }};
}

Proposal propose(const ReduceProblem& problem, const Configuration& wish, const DeviceModel& device) {
  Configuration values = decided(wish, problem, device);
  if (problem.portable && device.api == Api::host && problem.count() > 0) return in_pairs(problem, values, device);
  if (std::string why = unfit(problem); !why.empty()) return refuse(std::move(why));
  const Width vectors = width(problem, values.at("ranges"), device);
  values["piece"] = piece_bytes(problem, wish.at("piece"));
  values["ranges"] = vectors.ranges;
  const Pieces c = cut(problem, values.at("piece"), device);
  const Split split = split_of(c.parts, problem.outputs(), values, device);
  const auto launches = [=, &problem, units = i64(device.units())] {
    ReduceLaunch main("rows_cpu", problem);
    main.all_arguments = true;
    main.set_pieces(c);
    ReduceParams& params = main.params;
    const i64 element = problem.element_bytes();
    params.per_group = tasks_of_group(params.tasks, params.count / c.parts * element, c.piece * element, units);
    const i64 lanes = std::max(vector_lanes, lanes_of(problem, device));
    if (params.per_group > lanes) params.per_group = ceil_div(params.per_group, lanes) * lanes;
    define(main, values, problem, device).set("IN_PAIRS", 0);
    return main.with_parts(ceil_div(params.tasks, params.per_group), split, params.outputs);
  };
  return {.seconds = predicted_seconds(problem, c, device), .configuration = values, .launches = launches};
}

}  // namespace

ReduceCandidate rows_cpu_reduction() {
  return {
      {.name = "rows_cpu",
       .summary = "runs of memory in whole vectors on a CPU",
       .tunables = {{"piece",
                     524288,
                     {16384, 65536, 131072, 262144, 524288, 1048576},
                     "bytes",
                     "of a run that a task takes; f32 from memory, of the read-only rate: 0.97, with half or twice "
                     "as much, too"},
                    {"ranges",
                     0,
                     {0, 4, 8, 16},
                     "ranges",
                     "of a piece that are read side by side; f32 from memory, of the read-only rate: 16 0.97, 8 "
                     "0.90; rows of 65536 0.98, 0.95, 4 0.92; 0: by runtime"},
                    {"ahead", 0, zero_or_doublings(512, 4096), "bytes",
                     "how far ahead of the loads memory is asked for; f32, of the read-only rate: 1024 0.97, 512 "
                     "0.96, 2048 0.93; 0: by runtime. The host does not ask for what waits in its cache"},
                    {"least_range", 0, zero_or_doublings(2048, 1048576), "bytes",
                     "of each range; pieces with less are read in the order in which they lie. 16384 rows of 16384 "
                     "floats took two cores of an EPYC 9005 27.7 ms with 2048 and 21.6 with 32768, of a Xeon 46 and "
                     "59; 2^28 floats took the EPYC 22.6 ms with 32768 and 21.2 with 1048576, which no piece has; "
                     "0: by processor"},
                    launches_tunable()},
       .runtimes = {Api::opencl, Api::host},
       .runs_on = cpus},
      propose};
}

}  // namespace axisloom::ops
