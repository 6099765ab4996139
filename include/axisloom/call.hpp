// One call for one thing: operations on arrays in host memory, whose plans are remembered.
//
//   std::vector<float> pixels(4 * 6);
//   axisloom::Array turned = axisloom::rearrange({pixels, {4, 6}}, "h w -> w h");
//
// All of them return when the result is there. They throw as plan and run do. `device`: the host unless one is named;
// arrays on others go there and back, and in slices where they do not fit.
#pragma once

#include <axisloom/device.hpp>
#include <axisloom/host_array.hpp>
#include <axisloom/ops.hpp>

#include <initializer_list>
#include <span>
#include <string_view>

namespace axisloom {

/// Any operation, with a new array for its result: run(matmul(ProductOptions{.beta = 1}), {a, b, addend}).
Array run(const Operation& op, std::span<const InputArray> inputs, const Device& device = {});
inline Array run(const Operation& op, std::initializer_list<InputArray> inputs, const Device& device = {}) {
  return run(op, std::span(inputs.begin(), inputs.size()), device);
}

/// The same into an array that is there, of the result's shape and dtype.
void run_into(const OutputArray& out, const Operation& op, std::span<const InputArray> inputs,
              const Device& device = {});
inline void run_into(const OutputArray& out, const Operation& op, std::initializer_list<InputArray> inputs,
                     const Device& device = {}) {
  run_into(out, op, std::span(inputs.begin(), inputs.size()), device);
}

/// Moves, as the operations of these names.
Array rearrange(const InputArray& in, std::string_view pattern, const Lengths& lengths = {}, const Device& device = {});
Array repeat(const InputArray& in, std::string_view pattern, const Lengths& lengths = {}, const Device& device = {});
Array copy(const InputArray& in, const Device& device = {});
Array transpose(const InputArray& in, const Device& device = {});
Array permute(const InputArray& in, std::initializer_list<int> axes, const Device& device = {});
Array relayout(const InputArray& in, std::string_view from, std::string_view to, std::int64_t channels = 0,
               const Device& device = {});

/// Reductions. The dtype of the result is NumPy's.
Array reduce(const InputArray& in, std::string_view name, std::string_view pattern, const Lengths& lengths = {},
             const ReduceOptions& options = {}, const Device& device = {});
Array sum(const InputArray& in, const ReduceOptions& options = {}, const Device& device = {});
Array prod(const InputArray& in, const ReduceOptions& options = {}, const Device& device = {});
Array mean(const InputArray& in, const ReduceOptions& options = {}, const Device& device = {});
Array min(const InputArray& in, const ReduceOptions& options = {}, const Device& device = {});
Array max(const InputArray& in, const ReduceOptions& options = {}, const Device& device = {});
Array argmin(const InputArray& in, const ReduceOptions& options = {}, const Device& device = {});
Array argmax(const InputArray& in, const ReduceOptions& options = {}, const Device& device = {});
Array any(const InputArray& in, const ReduceOptions& options = {}, const Device& device = {});
Array all(const InputArray& in, const ReduceOptions& options = {}, const Device& device = {});
Array count_nonzero(const InputArray& in, const ReduceOptions& options = {}, const Device& device = {});
Array norm(const InputArray& in, const ReduceOptions& options = {}, const Device& device = {});

/// Products. With ProductOptions::beta the last input of einsum is what is added; for matmul and dot see run.
Array einsum(std::string_view pattern, std::initializer_list<InputArray> inputs, const ProductOptions& options = {},
             const Lengths& lengths = {}, const Device& device = {});
Array matmul(const InputArray& a, const InputArray& b, const ProductOptions& options = {}, const Device& device = {});
Array dot(const InputArray& a, const InputArray& b, const ProductOptions& options = {}, const Device& device = {});
/// Sums over the last `count` axes of the first array with the first ones of the second, in order.
Array tensordot(const InputArray& a, const InputArray& b, int count = 2, const ProductOptions& options = {},
                const Device& device = {});
/// Sums over the axes axes_a[i] of the first array with the axes axes_b[i] of the second: see the operation.
Array tensordot(const InputArray& a, const InputArray& b, std::initializer_list<int> axes_a,
                std::initializer_list<int> axes_b, const ProductOptions& options = {}, const Device& device = {});

}  // namespace axisloom
