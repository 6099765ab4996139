// einsum, matmul and dot: three spellings of a contraction, which share everything but their arguments.
#include "core/checked.hpp"
#include "core/integers.hpp"
#include "ops/einsum/contract.hpp"
#include "ops/einsum/oracle.hpp"
#include "ops/einsum/path.hpp"
#include "ops/einsum/problem.hpp"
#include "ops/matmul/candidate.hpp"
#include "planner/registry.hpp"

#include <axisloom/call.hpp>

namespace axisloom::ops {
namespace {

constexpr Argument pattern_arguments[] = {
    {"pattern", "axes of each array and of the result, such as \"i k, k j -> i j\" or ik,kj->ij"}};

constexpr Option alpha{"alpha", "X", "Multiply the result by X"};
constexpr Option beta{"beta", "X", "Add X times one more input, which is broadcast to the result"};
constexpr Option activation{"activation", "NAME", "relu: negative results become 0"};
constexpr Option out_dtype{"out-dtype", "DTYPE", "Dtype of the result, no narrower than that of the inputs"};
constexpr Option no_broadcast{"no-broadcast", "", "An axis of length 1 goes with no other length of its name"};
constexpr Option options[] = {alpha, beta, activation, out_dtype};
constexpr Option einsum_options[] = {alpha, beta, activation, out_dtype, no_broadcast};
constexpr Option matmul_options[] = {{"transpose-a", "", "Exchange the last two axes of the first array"},
                                     {"transpose-b", "", "Exchange the last two axes of the second array"},
                                     alpha,
                                     beta,
                                     activation,
                                     out_dtype};

i64 bytes_of(const Contraction& problem, const Term& term) {
  return core::checked_mul(size_of(term.dtype), problem.points(moving_axes(term)), "the number of bytes moved");
}

i64 bytes_of(const Contraction& problem) {
  i64 sum = bytes_of(problem, problem.out);
  for (const Term& operand : problem.operands) sum += bytes_of(problem, operand);
  if (problem.addend && problem.beta != 0) sum += bytes_of(problem, *problem.addend);
  return sum;
}

SharedPlan make_plan(const Operation& op, Views views, const Device& device, const PlanOptions& options) {
  const Contraction problem = contraction_of(op, views);
  auto plan = plan_contraction(problem, views, device, options);
  plan->report.bytes_moved = bytes_of(problem);
  return plan;
}

Slices slices(const Operation& op, Views views, const Device& device, const PlanOptions& options, i64 limit) {
  return slice_contraction(contraction_of(op, views), device, options, limit);
}

void oracle(const Operation& op, Views views, HostBuffers in, std::byte* out) {
  contract_on_host(contraction_of(op, views), in, out);
}

std::vector<double> bound(const Operation& op, Views views, HostBuffers in) {
  return contraction_bound(contraction_of(op, views), in);
}

i64 bytes(const Operation& op, Views views) {
  return bytes_of(contraction_of(op, views));
}

double operations(const Operation& op, Views views) {
  const Contraction problem = contraction_of(op, views);
  return path_operations(problem, contraction_path(problem));
}

/// `own`: what is an operation's own, its name and texts.
OpEntry entry_of(OpEntry own) {
  own.inputs = count_inputs;
  own.result = contraction_result;
  own.plan = make_plan;
  own.oracle = oracle;
  own.bound = bound;
  own.bytes = bytes;
  own.operations = operations;
  own.slices = slices;
  own.candidates = product_candidates().infos();
  return own;
}

}  // namespace

std::span<const OpEntry> einsum_entries() {
  static const std::vector<OpEntry> entries = {
      entry_of({.name = "einsum",
                .summary = "Multiply any number of arrays and sum over axes, by an einsum pattern.",
                .examples = "axisloom einsum \"i k, k j -> i j\" a.npy b.npy -o c.npy\n"
                            "axisloom einsum \"b h i d, b h j d -> b h i j\" q.npy k.npy --alpha 0.125 -o scores.npy\n"
                            "axisloom einsum ik,kl,lj a.npy b.npy c.npy -o d.npy --verbose",
                .arguments = pattern_arguments,
                .options = einsum_options,
                .lengths = true,
                .draw = Draw::einsum,
                .known_as = "contraction"}),
      entry_of({.name = "matmul",
                .summary = "Multiply matrices, or batches of them, by the rules of NumPy's matmul.",
                .examples =
                    "axisloom matmul a.npy b.npy -o c.npy --verify\n"
                    "axisloom matmul --transpose-b x.npy weights.npy --beta 1 bias.npy --activation relu -o y.npy",
                .options = matmul_options,
                .draw = Draw::two_matrices,
                .known_as = "matmul"}),
      entry_of({.name = "dot",
                .summary = "Multiply two arrays of one axis element by element, and sum.",
                .examples = "axisloom dot x.npy y.npy",
                .options = options,
                .draw = Draw::two_vectors,
                .known_as = "contraction"})};
  return entries;
}

}  // namespace axisloom::ops

namespace axisloom {

Operation einsum(std::string_view pattern, const Options& options, const Lengths& lengths) {
  return {"einsum", {std::string(pattern)}, lengths, options};
}

Operation matmul(const Options& options) {
  return {"matmul", {}, {}, options};
}

Operation dot(const Options& options) {
  return {"dot", {}, {}, options};
}

Array einsum(std::string_view pattern, std::initializer_list<InputArray> inputs, const ProductOptions& options,
             const Lengths& lengths, const Device& device) {
  return run(einsum(pattern, options, lengths), inputs, device);
}

Array matmul(const InputArray& a, const InputArray& b, const ProductOptions& options, const Device& device) {
  return run(matmul(options), {a, b}, device);
}

Array dot(const InputArray& a, const InputArray& b, const ProductOptions& options, const Device& device) {
  return run(dot(options), {a, b}, device);
}

}  // namespace axisloom
