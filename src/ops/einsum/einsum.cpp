// einsum, matmul and dot: three spellings of a contraction, which share everything but their words.
#include "ops/einsum/einsum.hpp"

#include "core/checked.hpp"
#include "core/overlap.hpp"
#include "ops/einsum/contract.hpp"
#include "ops/einsum/oracle.hpp"
#include "ops/einsum/path.hpp"
#include "ops/einsum/problem.hpp"
#include "ops/einsum/slices.hpp"
#include "ops/matmul/product.hpp"

#include <axisloom/error.hpp>

#include <array>

namespace axisloom::ops {
namespace {

constexpr std::array pattern_word = {
    Word{"pattern", "axes of each array and of the result, such as \"i k, k j -> i j\" or ik,kj->ij"}};

constexpr Option alpha{"alpha", "X", "Multiply the result by X"};
constexpr Option beta{"beta", "X", "Add X times one more input, which is broadcast to the result"};
constexpr Option activation{"activation", "NAME", "relu: negative results become 0"};
constexpr Option out_dtype{"out-dtype", "DTYPE", "Dtype of the result, no narrower than that of the inputs"};
constexpr std::array options = {alpha, beta, activation, out_dtype};
constexpr std::array matmul_options = {Option{"transpose-a", "", "Exchange the last two axes of the first array"},
                                       Option{"transpose-b", "", "Exchange the last two axes of the second array"},
                                       alpha,
                                       beta,
                                       activation,
                                       out_dtype};

std::int64_t bytes_of(const Contraction& problem, const Term& term) {
  AxisSet moving = 0;
  for (const int axis : axes_of(term.axes))
    if (term.strides[static_cast<std::size_t>(axis)] != 0) moving |= AxisSet{1} << axis;
  const auto element = static_cast<std::int64_t>(size_of(term.dtype));
  return core::checked_mul(element, problem.points(moving), "the number of bytes moved");
}

std::int64_t bytes_of(const Contraction& problem) {
  std::int64_t sum = bytes_of(problem, problem.out);
  for (const Term& operand : problem.operands) sum += bytes_of(problem, operand);
  if (problem.addend && problem.beta != 0) sum += bytes_of(problem, *problem.addend);
  return sum;
}

void check_output(const Operation& op, std::span<const View> views) {
  const View expected = contraction_result(op, views.first(views.size() - 1)), &out = views.back();
  if (expected.dtype != out.dtype || !(expected.shape == out.shape))
    throw Error(Errc::usage, "the result is " + to_string(expected) + ", the output view " + to_string(out),
                "give an output of that dtype and shape");
  if (core::overlaps_itself(out) != core::Overlap::no)
    throw Error(Errc::overlap, "two elements of the output may lie at one address",
                "give an output whose strides keep its elements apart");
}

std::shared_ptr<PlanImpl> make_plan(const Operation& op, std::span<const View> views, const Device& device,
                                    const PlanOptions& options) {
  check_output(op, views);
  const Contraction problem = contraction_of(op, views);
  auto plan = plan_contraction(problem, {views.begin(), views.end()}, device, options);
  plan->report.bytes_moved = bytes_of(problem);
  return plan;
}

Slices slices(const Operation& op, std::span<const View> views, const Device& device, const PlanOptions& options,
              std::int64_t limit) {
  check_output(op, views);
  return slice_contraction(contraction_of(op, views), device, options, limit);
}

void oracle(const Operation& op, std::span<const View> views, std::span<const std::byte* const> in, std::byte* out) {
  contract_on_host(contraction_of(op, views), in, out);
}

std::vector<double> bound(const Operation& op, std::span<const View> views, std::span<const std::byte* const> in) {
  return contraction_bound(contraction_of(op, views), in);
}

std::int64_t bytes(const Operation& op, std::span<const View> views) {
  return bytes_of(contraction_of(op, views));
}

double operations(const Operation& op, std::span<const View> views) {
  const Contraction problem = contraction_of(op, views);
  return path_operations(problem, contraction_path(problem));
}

OpEntry entry_of(std::string_view name, std::string_view summary, std::span<const Word> words,
                 std::span<const Option> its_options, bool lengths) {
  return {.name = name,
          .summary = summary,
          .words = words,
          .options = its_options,
          .lengths = lengths,
          .inputs = count_inputs,
          .result = contraction_result,
          .plan = make_plan,
          .oracle = oracle,
          .bound = bound,
          .bytes = bytes,
          .operations = operations,
          .slices = slices,
          .candidates = product_candidates()};
}

}  // namespace

std::span<const OpEntry> einsum_entries() {
  static const std::vector<OpEntry> entries = {
      entry_of("einsum", "Multiply any number of arrays and sum over axes, by an einsum pattern.", pattern_word,
               options, true),
      entry_of("matmul", "Multiply matrices, or batches of them, by the rules of NumPy's matmul.", {}, matmul_options,
               false),
      entry_of("dot", "Multiply two arrays of one axis element by element, and sum.", {}, options, false)};
  return entries;
}

}  // namespace axisloom::ops
