// What is to be known of an operation. Command line, tests and bench are driven by the entries, and name no operation.
#pragma once

#include <axisloom/plan.hpp>

#include "core/integers.hpp"
#include "core/move.hpp"
#include "planner/candidate.hpp"
#include "planner/slices.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace axisloom::ops {

/// A positional argument of an operation, such as the pattern of `rearrange`.
struct Argument {
  std::string_view name;  // "pattern", "axes", "from"
  std::string_view help;
};

/// A named option of an operation, --name VALUE on the command line.
struct Option {
  std::string_view name;
  std::string_view value;  // what stands for its value in help texts, such as "LIST"; empty: a flag
  std::string_view help;
  bool length = false;  // given to the operation as a length of that name, a whole number above 0
};

/// What random cases of an operation are made of (harness/draft.cpp draws them).
enum class Draw {
  any_array,    // no arguments
  matrices,     // arrays of two axes or more, in place too
  permutation,  // the argument is a list of axes
  layouts,      // two layouts
  pattern,      // an einops pattern
  new_axes,     // one with axes on the right alone
  reduced_axes,
  reduced_pattern,
  einsum,
  two_matrices,
  two_vectors
};

/// How an operation treats a colour image, an array h w c.
struct ImageForm {
  std::string_view pattern;  // of rearrange
  std::string_view note;     // for help texts
};

/// For operations of one array.
inline int one_input(const Operation&) {
  return 1;
}

/// Members are not null unless their comment says so.
struct OpEntry {
  std::string_view name;           // "rearrange"
  std::string_view summary;        // "Reorder, split and merge axes by an einops pattern."
  std::string_view examples = {};  // command lines, for help texts
  std::span<const Argument> arguments = {};
  std::span<const Option> options = {};
  bool lengths = false;  // takes name=value lengths
  ImageForm image = {};
  Draw draw = Draw::any_array;
  /// What the bench's judges and other libraries call it: "sum", "mean", "min", "max", "argmin", "argmax",
  /// "layouts", "matmul" (of two arrays), "contraction". Empty: by none.
  std::string_view known_as = {};
  /// How many inputs it takes; the operation's arguments and options are complete when this is asked.
  int (*inputs)(const Operation& op) = one_input;
  /// Shape and dtype of the result, contiguous; checks everything that needs no device.
  View (*result)(const Operation& op, Views inputs) = nullptr;
  /// Of a move: axis by axis, not yet normalised. May be null: it is none. Here and below `views` are complete: the
  /// inputs, then the output.
  core::Move (*move)(const Operation& op, Views views) = nullptr;
  SharedPlan (*plan)(const Operation& op, Views views, const Device& device, const PlanOptions& options) = nullptr;
  /// Plain loops on host memory; `in` and `out` point at the buffers' starts.
  void (*oracle)(const Operation& op, Views views, HostBuffers in, std::byte* out) = nullptr;
  /// By how much each element of a right result may differ from the oracle's, in row-major order; of complex elements
  /// each component. 0: not at all, and NaN only where the oracle has NaN. Infinity: in any way, since the order of
  /// what is done decides between numbers, infinities and NaN. May be null: results are compared bit for bit.
  std::vector<double> (*bound)(const Operation& op, Views views, HostBuffers in) = nullptr;
  /// Bytes read plus written, each element once.
  i64 (*bytes)(const Operation& op, Views views) = nullptr;
  /// Arithmetic operations, a multiplication and an addition being two, or eight of complex numbers. May be
  /// null: it does none.
  double (*operations)(const Operation& op, Views views) = nullptr;
  /// The same in parts, none of which needs more than `limit` bytes of one array.
  Slices (*slices)(const Operation& op, Views views, const Device& device, const PlanOptions& options,
                   i64 limit) = nullptr;
  std::span<const CandidateInfo> candidates = {};
};

std::span<const OpEntry> registry();
/// The entry of a name; throws Error(usage) listing the known ones.
const OpEntry& entry(std::string_view name);

}  // namespace axisloom::ops
