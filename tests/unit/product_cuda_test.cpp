// What can be told of the product's CUDA kernels without a card: every form compiles for every generation of cards, and
// the register tile is what its header promises.
#include "device/cuda/compile.hpp"
#include "ops/matmul/candidate.hpp"
#include "ops_support.hpp"

#include <gtest/gtest.h>

#include <regex>

namespace axisloom::ops_test {
namespace {

using namespace std::string_literals;

constexpr std::array architectures = {"sm_80", "sm_90", "sm_100"};
constexpr std::array hopper = {"sm_90"};

ops::ProductProblem product_of(Dtype dtype, bool a_transposed, bool b_transposed, std::int64_t m = 4096,
                               std::int64_t n = 4096, std::int64_t k = 4096) {
  ops::ProductProblem problem;
  ops::Product& product = problem;
  product.in = product.out = dtype;
  product.m = {.extent = m, .in = a_transposed ? 1 : k, .out = n};
  product.n = {.extent = n, .out = 1, .other = b_transposed ? k : 1};
  product.k = {.extent = k, .in = a_transposed ? m : 1, .other = b_transposed ? 1 : n};
  return problem;
}

const ops::ProductCandidate& variant_named(std::string_view name) {
  for (const ops::ProductCandidate& candidate : ops::product_candidates())
    if (candidate.info.name == name) return candidate;
  throw std::runtime_error("no variant of that name");
}

/// The launches of a problem, or none where the variant refuses it.
std::vector<Launch> launches_of(std::string_view name, const ops::ProductProblem& problem,
                                const Configuration& forced = {}) {
  const ops::ProductCandidate& candidate = variant_named(name);
  Configuration values = default_values(candidate.info);
  for (const auto& [tunable, value] : forced) values[tunable] = value;
  if (!ops_test::refusal_of(candidate, problem, values, gpu_info()).empty()) return {};
  return ops_test::launches_of(candidate, problem, values, gpu_info()).list;
}

std::vector<std::byte> compiled(const Launch& launch, const std::string& architecture, std::string* log = nullptr) {
  std::vector<std::string> options = jit::build_options(gpu_info(), launch.kernel.contract);
  if (log && architecture.starts_with("sm")) {
    options.push_back("--ptxas-options=--warn-on-spills");
    options.push_back("--ptxas-options=--warn-on-local-memory-usage");
  }
  return device::cuda::compile_cuda({launch.kernel.kernel, jit::full_text(launch.kernel, Api::cuda), options},
                                    architecture, log);
}

enum class Spills { forbidden, allowed };

/// For the generation of cards whose turn it is.
void expect_compiles(const std::vector<Launch>& launches, const std::string& what, std::size_t turn,
                     Spills spills = Spills::forbidden) {
  ASSERT_FALSE(launches.empty()) << what << " is refused";
  const char* const architecture = architectures[turn % architectures.size()];
  for (const Launch& launch : launches) {
    EXPECT_LE(launch.params.size() + launch.buffers.size() * 24 + 8, 1000u);
    std::string log;
    try {
      compiled(launch, architecture, &log);
      EXPECT_TRUE(log.empty() || spills == Spills::allowed) << what << " for " << architecture << ": " << log;
    } catch (const Error& error) {
      ADD_FAILURE() << what << " for " << architecture << ": " << error.what();
    }
  }
}

/// Compiles the variant of the tensor cores as cards of these architectures ask for it; returns the machine-independent
/// code of the last one.
std::string expect_tensor_cores(const ops::ProductProblem& problem, std::span<const char* const> cards,
                                const Configuration& forced = {}) {
  const ops::ProductCandidate& mma = variant_named("mma");
  Configuration values = default_values(mma.info);
  for (const auto& [tunable, value] : forced) values[tunable] = value;
  std::string ptx;
  for (const std::string architecture : cards) {
    DeviceInfo card = gpu_info();
    card.architecture = architecture;
    if (architecture == "sm_80") card.local_memory_max = 163 << 10;
    for (const Launch& launch : ops_test::launches_of(mma, problem, values, card).list) {
      std::string log;
      compiled(launch, architecture, &log);
      EXPECT_EQ(log, "") << architecture;
      if (launch.kernel.kernel != "mma" || architecture != cards.back()) continue;
      const std::vector<std::byte> code = compiled(launch, "compute" + architecture.substr(2));
      ptx.assign(reinterpret_cast<const char*>(code.data()), code.size());
    }
  }
  return ptx;
}

std::ptrdiff_t occurrences(const std::string& text, const char* pattern) {
  const std::regex expression(pattern);
  return std::distance(std::sregex_iterator(text.begin(), text.end(), expression), std::sregex_iterator());
}

class ProductsCuda : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_FALSE(device::cuda::installed_nvrtc().found.empty()) << "INCOMPLETE: no NVRTC; tools/nvrtc.sh installs it";
  }
};

// nvrtc: without spills, of every dtype but f16 vectors, to which sm_100's assembler gives 32 registers however many
// there are, and spills three.
TEST_F(ProductsCuda, EveryDtypeCompilesAndEveryVariantForEveryGeneration) {
  std::size_t turn = 0;
  for (const Dtype dtype : all_dtypes()) {
    const ops::ProductProblem matrices = product_of(dtype, false, false), vector = product_of(dtype, false, true, 1);
    for (const char* variant : {"tile", "local16", "plain"})
      expect_compiles(launches_of(variant, matrices), std::string(variant) + " of " + std::string(name(dtype)), turn++);
    expect_compiles(launches_of("gemv", vector), "gemv of " + std::string(name(dtype)), turn++,
                    dtype == Dtype::f16 ? Spills::allowed : Spills::forbidden);
  }
}

TEST_F(ProductsCuda, EveryFormOfTilesCompiles) {
  std::size_t turn = 0;
  for (const bool a_transposed : {false, true})
    for (const bool b_transposed : {false, true}) {
      expect_compiles(launches_of("tile", product_of(Dtype::f32, a_transposed, b_transposed)), "tile", turn++);
      expect_compiles(launches_of("tile", product_of(Dtype::f32, a_transposed, b_transposed, 4095, 4095, 4095)),
                      "unaligned tile", turn++);
    }
  for (std::size_t generation = 0; generation < architectures.size(); ++generation)
    for (const bool b_transposed : {false, true})
      expect_compiles(launches_of("tile", product_of(Dtype::f32, false, b_transposed, 1024, 1024, 1024)),
                      "tile of 128 x 64", generation);
  const ops::ProductProblem transposed = product_of(Dtype::f32, true, false);
  for (const Configuration& values :
       {Configuration{{"buffers", 1}}, Configuration{{"access", 4}}, Configuration{{"step_k", 16}},
        Configuration{{"block_m", 256}, {"tile_m", 16}}, Configuration{{"async", 1}}, Configuration{{"split", 4}}})
    expect_compiles(launches_of("tile", transposed, values), ops::to_string(values), turn++, Spills::allowed);
}

// 64 x 64 outputs of a warp are 4 x 8 fragments, and 64 k's four instructions deep; 32 x 32 of f64 are 2 x 4 and one.
TEST_F(ProductsCuda, TensorCoresTakeEveryOrientationWithoutSpills) {
  for (const bool a_transposed : {false, true})
    for (const bool b_transposed : {false, true}) {
      SCOPED_TRACE(std::to_string(a_transposed) + std::to_string(b_transposed));
      const std::string halves = expect_tensor_cores(product_of(Dtype::f16, a_transposed, b_transposed), hopper);
      EXPECT_EQ(occurrences(halves, R"(mma\.sync\.aligned\.m16n8k16\.row\.col\.f32\.f16)"), 4 * 8 * 4);
      EXPECT_EQ(occurrences(halves, R"(ldmatrix\.sync)"), (4 + 4) * 4);
      EXPECT_EQ(occurrences(halves, R"(ldmatrix\.sync\.aligned\.m8n8\.x4\.trans)"),
                (a_transposed + !b_transposed) * 4 * 4);
      EXPECT_GE(occurrences(halves, R"(cp\.async\.cg\.shared\.global)"), 2 * (4 + 4));
      const std::string doubles = expect_tensor_cores(product_of(Dtype::f64, a_transposed, b_transposed), hopper);
      EXPECT_EQ(occurrences(doubles, R"(mma\.sync\.aligned\.m16n8k16\.row\.col\.f64)"), 2 * 4);
      EXPECT_EQ(occurrences(halves + doubles, R"(\.local)"), 0) << "registers that are indexed at run time";
    }
}

TEST_F(ProductsCuda, OtherFormsOfTensorCoresCompileWithoutSpills) {
  expect_tensor_cores(product_of(Dtype::bf16, false, false), architectures);
  expect_tensor_cores(product_of(Dtype::f64, false, false), architectures);
  expect_tensor_cores(product_of(Dtype::bf16, false, false, 4095, 4095, 4095), hopper);
  expect_tensor_cores(product_of(Dtype::f64, false, false, 4095, 4095, 4095), hopper);
  expect_tensor_cores(product_of(Dtype::f16, false, false, 300, 200, 8192), hopper);  // in parts, by small blocks
  const ops::ProductProblem squares = product_of(Dtype::f64, false, false);
  for (const Configuration& values :
       {Configuration{{"block_m", 64}, {"block_n", 64}, {"warp_m", 32}, {"resident", 3}}, Configuration{{"depth", 4}}})
    expect_tensor_cores(squares, hopper, values);
}

// 128 rows by 128 or 256 columns are two warpgroups' products, 64 k's four instructions deep.
TEST_F(ProductsCuda, WarpgroupsTakeEveryOrientationWithoutSpills) {
  for (const int columns : {128, 256})
    for (const bool a_transposed : {false, true})
      for (const bool b_transposed : {false, true}) {
        SCOPED_TRACE(std::to_string(columns) + std::to_string(a_transposed) + std::to_string(b_transposed));
        const Dtype dtype = a_transposed ? Dtype::bf16 : Dtype::f16;
        const std::vector<Launch> launches =
            launches_of("wgmma", product_of(dtype, a_transposed, b_transposed), {{"block_n", columns}});
        ASSERT_EQ(launches.size(), 1u);
        std::string log;
        compiled(launches[0], "sm_90a", &log);
        EXPECT_EQ(log, "");
        const std::vector<std::byte> code = compiled(launches[0], "compute_90a");
        const std::string ptx(reinterpret_cast<const char*>(code.data()), code.size());
        EXPECT_EQ(occurrences(ptx, R"(wgmma\.mma_async)"), 4);
        EXPECT_EQ(occurrences(ptx, columns == 128 ? "m64n128k16" : "m64n256k16"), 4);
        EXPECT_EQ(occurrences(ptx, R"(st\.global\.v2\.[bu]16)"), columns / 8 * 2) << "pairs of 16 bits";
        EXPECT_EQ(occurrences(ptx, R"(\.local)"), 0) << "registers that are indexed at run time";
      }
}

TEST_F(ProductsCuda, OtherFormsOfWarpgroupsCompileWithoutSpills) {
  ops::ProductProblem scaled = product_of(Dtype::f16, false, false), wide = scaled, odd = scaled;
  ops::Product& product = scaled;
  product.d = product.c;
  product.alpha = 0.5, product.beta = 2, product.relu = true;
  wide.index_bits = 64;
  odd.out = Dtype::f32;
  odd.m.out = 4097;
  for (const ops::ProductProblem& problem : {scaled, wide, odd}) {
    const std::vector<Launch> launches = launches_of("wgmma", problem);
    ASSERT_EQ(launches.size(), 1u);
    std::string log;
    compiled(launches[0], "sm_90a", &log);
    EXPECT_EQ(log, "");
  }
}

TEST(Warpgroups, RefuseWhatTheyCannotTake) {
  const auto refusal = [](const ops::ProductProblem& problem, const Configuration& forced = {},
                          const std::string& architecture = "sm_90") {
    DeviceInfo card = gpu_info();
    card.architecture = architecture;
    Configuration values = default_values(variant_named("wgmma").info);
    for (const auto& [tunable, value] : forced) values[tunable] = value;
    return ops_test::refusal_of(variant_named("wgmma"), problem, values, card);
  };
  const auto says = [&](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text << " does not say " << part;
  };
  ops::ProductProblem fits = product_of(Dtype::f16, false, false);
  EXPECT_EQ(refusal(fits), "");
  says(refusal(fits, {}, "sm_80"), "9.0, the device is sm_80");
  says(refusal(fits, {}, "sm_100"), "9.0, the device is sm_100");
  says(refusal(product_of(Dtype::f32, false, false)), "f32");
  says(refusal(product_of(Dtype::f16, false, true, 1)), "vector");
  says(refusal(product_of(Dtype::f16, false, true, 4096, 4096, 0)), "no terms");
  says(refusal(product_of(Dtype::f16, false, false, 4096, 4096, 4100)), "multiples of 16");
  says(refusal(fits, {{"block_n", 256}, {"stages", 6}}), "local memory");
  EXPECT_FALSE(variant_named("wgmma").info.checkable);
  fits.batch = {{4, 1 << 24, 1 << 24, 1 << 24}, {4, 1 << 26, 1 << 27, 1 << 27}};
  says(refusal(fits), "one batch axis");
  fits.batch.pop_back();
  EXPECT_EQ(refusal(fits), "");
  fits.batch[0].in = 1 << 24 | 4;
  says(refusal(fits), "multiples of 16");
  fits.batch.clear();
  fits.m.in = -4096;
  says(refusal(fits), "backwards");
}

TEST(TensorCores, RefuseBlocksThatAreNotMadeOfWarps) {
  const ops::ProductCandidate& mma = variant_named("mma");
  for (const Dtype dtype : {Dtype::f16, Dtype::f64}) {
    for (const char* side : {"block_m", "block_n"}) {
      Configuration values = default_values(mma.info);
      values[side] = 32;
      values[side == std::string_view("block_m") ? "warp_m" : "warp_n"] = 64;
      EXPECT_EQ(ops_test::refusal_of(mma, product_of(dtype, false, false), values, gpu_info()),
                "a block is not made of whole warps");
    }
  }
}

// Without a card what decides is the prediction: tensor cores where they are much faster, and nowhere else.
TEST(TensorCores, AreTakenForWhatTheyAreFasterAt) {
  const auto taken = [](const ops::ProductProblem& problem, const std::string& architecture) {
    DeviceInfo card = gpu_info();
    card.architecture = architecture;
    if (architecture != "sm_90") card.name = "a card of " + architecture;
    std::string_view best;
    double seconds = 0;
    for (const ops::ProductCandidate& candidate : ops::product_candidates()) {
      if (!candidate.info.runs_on.contains(card.kind) || !candidate.info.chosen_on.contains(card.kind)) continue;
      const ops::Proposal proposal = candidate.propose(problem, default_values(candidate.info), model::model_of(card));
      if (!proposal.refusal.empty() || (!best.empty() && proposal.seconds >= seconds)) continue;
      best = candidate.info.name;
      seconds = proposal.seconds;
    }
    return best;
  };
  for (const char* architecture : architectures) {
    EXPECT_EQ(taken(product_of(Dtype::f64, false, false), architecture), "mma");
    EXPECT_EQ(taken(product_of(Dtype::f16, false, true), architecture), architecture == "sm_90"s ? "wgmma" : "mma");
    EXPECT_EQ(taken(product_of(Dtype::f16, false, true, 4100, 4100, 4100), architecture), "mma");
    EXPECT_EQ(taken(product_of(Dtype::f32, false, false), architecture), "tile");
    EXPECT_EQ(taken(product_of(Dtype::f16, false, true, 1), architecture), "gemv");
  }
  EXPECT_EQ(taken(product_of(Dtype::f64, false, false), "sm_75"), "tile");
  EXPECT_EQ(taken(product_of(Dtype::f64, false, false), "sm_89"), "tile");
  EXPECT_EQ(taken(product_of(Dtype::bf16, false, false), "sm_89"), "mma");
}

// A spilled word or two is allowed (sm_100's assembler spills one): vectors wait for memory, not for registers.
TEST_F(ProductsCuda, VectorsInBothOrientationsCompile) {
  for (std::size_t turn = 0; turn < architectures.size(); ++turn) {
    for (const bool transposed : {false, true})
      expect_compiles(launches_of("gemv", product_of(Dtype::f32, false, transposed, 1)), "gemv", turn, Spills::allowed);
    expect_compiles(launches_of("gemv", product_of(Dtype::f32, false, true, 1, 1, 100000000)), "dot", turn,
                    Spills::allowed);
  }
}

// On 132 compute units: groups and launches of a tile's product, the second of which adds the parts of k up.
TEST_F(ProductsCuda, TilesFillTheComputeUnits) {
  struct Expected {
    std::int64_t m, n, k;
    std::size_t launches;
    std::uint64_t groups;
  };
  const Expected list[] = {{2048, 2048, 2048, 1, 16 * 16},     {1024, 1024, 1024, 1, 8 * 16},
                           {997, 1021, 1009, 1, 16 * 16},      {768, 768, 768, 2, 6 * 6 * 3},
                           {2049, 2049, 2049, 2, 17 * 17 * 3}, {64, 64, 65536, 2, 128}};
  for (const Expected& expected : list) {
    const std::vector<Launch> launches =
        launches_of("tile", product_of(Dtype::f32, false, false, expected.m, expected.n, expected.k));
    ASSERT_EQ(launches.size(), expected.launches) << expected.m;
    EXPECT_EQ(launches[0].geometry.groups, expected.groups) << expected.m;
  }
}

TEST_F(ProductsCuda, TilesReadSixteenBytesAndFuse) {
  const std::vector<Launch> launches = launches_of("tile", product_of(Dtype::f32, false, false));
  ASSERT_EQ(launches.size(), 1u);
  const std::vector<std::byte> code = compiled(launches[0], "compute_90");
  const std::string ptx(reinterpret_cast<const char*>(code.data()), code.size());
  EXPECT_EQ(occurrences(ptx, R"(fma\.rn\.f32)"), 8 * 8 * 8) << "8 x 8 outputs, 8 steps";
  EXPECT_EQ(occurrences(ptx, R"(ld\.shared\.v4)"), 4 * 8) << "two strips of A and of B a step";
  EXPECT_GE(occurrences(ptx, R"(ld\.global(\.nc)?\.v4)"), 2);
  EXPECT_GE(occurrences(ptx, R"(st\.global\.v4)"), 16);
  EXPECT_EQ(occurrences(ptx, R"(\.local)"), 0) << "registers that are indexed at run time";
}

}  // namespace
}  // namespace axisloom::ops_test
