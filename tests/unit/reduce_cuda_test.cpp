// What can be told of the reductions' CUDA kernels without a card.
#include "nvrtc_support.hpp"
#include "ops/reduce/lowering.hpp"
#include "reduce_support.hpp"

#include <gtest/gtest.h>

namespace axisloom::ops_test {
namespace {

ops::ReduceProblem problem_for(const Operation& op, const View& in, IndexWidth width = IndexWidth::automatic) {
  return ops::reduce_problem(ops::lower_reduce(op, with_result(op, in)), width);
}

/// Each accumulation in scalars and complex numbers, each way to load an element and to finish.
const std::vector<std::pair<const char*, Dtype>> recipes = {
    {"sum", Dtype::f32},    {"sum", Dtype::u32},  {"sum", Dtype::i8},     {"mean", Dtype::f16},
    {"mean", Dtype::u8},    {"mean", Dtype::i64}, {"prod", Dtype::c64},   {"prod", Dtype::bf16},
    {"max", Dtype::u8},     {"min", Dtype::c128}, {"argmax", Dtype::f16}, {"argmin", Dtype::i16},
    {"argmax", Dtype::c64}, {"any", Dtype::f64},  {"all", Dtype::bf16},   {"count_nonzero", Dtype::c64},
    {"norm", Dtype::c128},  {"norm", Dtype::i32}};

class Texts {
 public:
  void add(const Operation& op, const View& in, IndexWidth width = IndexWidth::automatic,
           const Configuration& forced = {}) {
    const ops::ReduceProblem problem = problem_for(op, in, width);
    for (const ops::ReduceCandidate& candidate : ops::reduce_candidates()) {
      if (!candidate.info.runtimes.contains(Api::cuda)) continue;
      Configuration values = default_values(candidate.info);
      for (const auto& [name, value] : forced)
        if (values.contains(name)) values[name] = value;
      if (!ops_test::refusal_of(candidate, problem, values, gpu_info()).empty()) continue;
      taken_[std::string(candidate.info.name)] += 1;
      for (Launch& launch : ops_test::launches_of(candidate, problem, values, gpu_info()).list)
        add(launch, to_string(op) + " of " + to_string(in));
    }
  }
  const std::map<std::string, std::string>& plain() const { return plain_; }
  const std::map<std::string, std::string>& checked() const { return checked_; }
  int taken(const std::string& candidate) const { return taken_.contains(candidate) ? taken_.at(candidate) : 0; }

 private:
  void add(Launch& launch, const std::string& what) {
    EXPECT_EQ(launch.kernel.items, launch.geometry.items);
    EXPECT_LE(launch.geometry.local_bytes, gpu_info().local_memory);
    EXPECT_GE(launch.geometry.groups, 1u);
    EXPECT_LE(launch.params.size() + launch.buffers.size() * 24 + 8, 1000u);
    const std::string name = launch.kernel.kernel + ": " + what;
    plain_.try_emplace(jit::full_text(launch.kernel, Api::cuda), name);
    launch.kernel.checked = true;
    checked_.try_emplace(jit::full_text(launch.kernel, Api::cuda), name);
  }

  std::map<std::string, std::string> plain_, checked_;
  std::map<std::string, int> taken_;
};

class ReduceCuda : public NvrtcTest {};

TEST_F(ReduceCuda, EveryRecipeCompiles) {
  Texts texts;
  for (const auto& [op, dtype] : recipes) {
    texts.add(reduction(op), View::contiguous(dtype, {1 << 22}));
    texts.add(reduction(op, {{"axes", "0"}}), View::contiguous(dtype, {5000, 130}));
  }
  for (const char* candidate : {"rows", "columns", "lesson", "plain"})
    EXPECT_GE(texts.taken(candidate), 18) << candidate;
  compile_all(texts.plain(), {"sm_90"});
}

TEST_F(ReduceCuda, ShortRowsFewColumnsAndManyRunsCompile) {
  Texts texts;
  for (const auto& [op, dtype] : recipes) {
    texts.add(reduction(op, {{"axes", "1"}}), View::contiguous(dtype, {5000, 33}));
    texts.add(reduction(op, {{"axes", "0"}}), View::contiguous(dtype, {5000, 7}));
    texts.add(reduction(op, {{"axes", "0,2"}}), View::contiguous(dtype, {50, 30, 49}));
  }
  EXPECT_GE(texts.taken("short_rows"), 12);
  EXPECT_GE(texts.taken("few_columns"), 12);
  compile_all(texts.plain(), {"sm_90"});
}

TEST_F(ReduceCuda, ThePortableOrderCompiles) {
  Texts texts;
  for (const auto& [op, dtype] : recipes) {
    const Operation line = reduction(op, {{"order", "portable"}}),
                    columns = reduction(op, {{"axes", "0"}, {"order", "portable"}});
    texts.add(line, View::contiguous(dtype, {(1 << 22) + 3}));
    texts.add(columns, View::contiguous(dtype, {5000, 130}));
    texts.add(reduction(op, {{"axes", "0,2"}, {"order", "portable"}}), View::contiguous(dtype, {30, 3, 50}));
  }
  EXPECT_GE(texts.taken("portable"), 12);
  compile_all(texts.plain(), {"sm_90"});
}

TEST_F(ReduceCuda, EveryGenerationCompilesTheSums) {
  Texts texts;
  texts.add(reduction("sum"), View::contiguous(Dtype::f32, {1 << 22}));
  texts.add(reduction("sum", {{"order", "portable"}}), View::contiguous(Dtype::f32, {1 << 22}));
  texts.add(reduction("sum", {{"axes", "0,2,4,6,8"}}), View::contiguous(Dtype::u32, {3, 5, 3, 5, 3, 5, 3, 5, 300}),
            IndexWidth::bits64);
  compile_all(texts.plain(), {"sm_80", "sm_100"});
}

TEST_F(ReduceCuda, SlicesCompile) {
  const auto card = std::make_shared<PretendedDevice>(gpu_info());
  const NoDiskCache memory_only;
  const std::vector<std::pair<const char*, Dtype>> sliced = {
      {"sum", Dtype::f32}, {"argmax", Dtype::f16}, {"mean", Dtype::u8}};
  for (const auto& [name, dtype] : sliced) {
    const Operation op = reduction(name, {{"axes", "0"}});
    ops::entry(name).slices(op, with_result(op, View::contiguous(dtype, {900, 700})), Device(card), {}, 1 << 17);
  }
  std::map<std::string, std::string> texts;
  for (const std::string& source : card->sources) texts.emplace(source, "a slice");
  EXPECT_GE(texts.size(), 7u);
  compile_all(texts, {"sm_90"});
}

TEST_F(ReduceCuda, EveryRungOfTheLessonCompiles) {
  Texts texts;
  for (const std::int64_t style : {0, 1, 2, 3, 4})
    for (const std::int64_t launches : {1, 2})
      texts.add(reduction("sum"), View::contiguous(Dtype::u32, {1 << 20}), IndexWidth::automatic,
                {{"style", style}, {"launches", launches}});
  EXPECT_EQ(texts.taken("lesson"), 10);
  compile_all(texts.plain(), {"sm_90"});
}

TEST_F(ReduceCuda, SomeCompileChecked) {
  Texts texts;
  texts.add(reduction("argmax"), View::contiguous(Dtype::f32, {1 << 20}));
  texts.add(reduction("sum", {{"axes", "0"}}), View::contiguous(Dtype::c64, {5000, 130}));
  compile_all(texts.checked(), {"sm_90"});
}

/// Of the sum along the last axis.
Launch rows_launch(Dtype dtype, const Dims& shape = {1 << 26}) {
  const View view = View::contiguous(dtype, shape);
  const auto is_rows = [](const ops::ReduceCandidate& candidate) { return candidate.info.name == "rows"; };
  const ops::ReduceCandidate& rows = *std::ranges::find_if(ops::reduce_candidates(), is_rows);
  return ops_test::launch_of(rows, problem_for(reduction("sum", {{"axes", "-1"}}), view), default_values(rows.info),
                             gpu_info());
}

TEST_F(ReduceCuda, OneLaunchOrdersItsGroupsByTickets) {
  const std::string ptx = ptx_of(rows_launch(Dtype::f32));
  EXPECT_EQ(occurrences(ptx, R"(atom\.acq_rel\.gpu\.global\.add\.u32)"), 1);
  EXPECT_GE(occurrences(ptx, R"(st\.relaxed\.gpu\.global\.u32)"), 2);
  EXPECT_GE(occurrences(ptx, R"(ld\.relaxed\.gpu\.global\.u32)"), 2);
}

TEST_F(ReduceCuda, RowsAreReadSixteenBytesAtATime) {
  for (const Dtype dtype : {Dtype::u8, Dtype::f16, Dtype::u32, Dtype::f32, Dtype::f64, Dtype::c64}) {
    SCOPED_TRACE(name(dtype));
    for (const Dims& shape : {Dims{1 << 26}, Dims{1 << 18, 256}}) {
      const Launch launch = rows_launch(dtype, shape);
      EXPECT_GE(occurrences(ptx_of(launch), R"(ld\.global(\.nc)?\.v(4\.[bfu]32|2\.[bfu]64))"), 4)
          << "four loads in flight";
      EXPECT_EQ(assembler_messages(jit::full_text(launch.kernel, Api::cuda)), "") << "registers spill";
    }
  }
}

}  // namespace
}  // namespace axisloom::ops_test
