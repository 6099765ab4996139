// NumPy's tensordot, as the einsum that it is.
#include "core/axes.hpp"
#include "core/integers.hpp"
#include "core/text.hpp"

#include <axisloom/call.hpp>
#include <axisloom/error.hpp>

#include <algorithm>
#include <numeric>

namespace axisloom {
namespace {

/// "a0", "a1", ...
std::vector<std::string> names_of_axes(int rank, char array) {
  std::vector<std::string> names;
  for (int axis = 0; axis < rank; ++axis) names.push_back(concat(array, axis));
  return names;
}

std::vector<int> counted(std::span<const int> axes, int rank) {
  return core::counted_axes(axes, rank, concat("an array of ", rank, rank == 1 ? " axis" : " axes"));
}

/// "a0 a1, a1 b1 -> a0 b1"
std::string tensordot_pattern(std::vector<std::string> a, std::vector<std::string> b, std::span<const int> axes_a,
                              std::span<const int> axes_b) {
  for (size_t i = 0; i < axes_a.size(); ++i) b[size_t(axes_b[i])] = a[size_t(axes_a[i])];
  std::string pattern = joined(a, " ") + ", " + joined(b, " ") + " ->";
  for (const std::string& name : a)
    if (!core::contains(b, name)) pattern += " " + name;
  for (const std::string& name : b)
    if (!core::contains(a, name)) pattern += " " + name;
  return pattern;
}

}  // namespace

Operation tensordot(int rank_a, int rank_b, std::span<const int> axes_a, std::span<const int> axes_b,
                    const Options& options) {
  if (axes_a.size() != axes_b.size())
    throw Error(Errc::axis, concat("tensordot pairs ", axes_a.size(), " axes with ", axes_b.size()),
                "give as many axes of each array");
  const std::string pattern = tensordot_pattern(names_of_axes(rank_a, 'a'), names_of_axes(rank_b, 'b'),
                                                counted(axes_a, rank_a), counted(axes_b, rank_b));
  Operation op = einsum(pattern, options);
  if (!op.option("no-broadcast")) op.options.emplace_back("no-broadcast", "");
  return op;
}

Array tensordot(const InputArray& a, const InputArray& b, std::initializer_list<int> axes_a,
                std::initializer_list<int> axes_b, const ProductOptions& options, const Device& device) {
  return run(tensordot(a.view().rank(), b.view().rank(), std::span(axes_a.begin(), axes_a.size()),
                       std::span(axes_b.begin(), axes_b.size()), options),
             {a, b}, device);
}

Array tensordot(const InputArray& a, const InputArray& b, int count, const ProductOptions& options,
                const Device& device) {
  if (count < 0 || count > std::min(a.view().rank(), b.view().rank()))
    throw Error(Errc::axis,
                concat("tensordot over ", count, " axes of ", to_string(a.view()), " and ", to_string(b.view())),
                "give a count of 0 or more that neither exceeds");
  std::vector<int> last(static_cast<size_t>(count)), first(last.size());
  std::iota(last.begin(), last.end(), a.view().rank() - count);
  std::iota(first.begin(), first.end(), 0);
  return run(tensordot(a.view().rank(), b.view().rank(), last, first, options), {a, b}, device);
}

}  // namespace axisloom
