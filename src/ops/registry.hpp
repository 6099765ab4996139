// The one list of operations. Command line, Python, tests and bench are driven by it; adding an op adds one entry.
#pragma once

#include <axisloom/plan.hpp>

#include "ops/slices.hpp"
#include "tune/configuration.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace axisloom::ops {

/// A positional word of an operation, such as the pattern of `rearrange`.
struct Word {
  std::string_view name;  // "pattern", "axes", "from"
  std::string_view help;
};

/// A named option of an operation, --name VALUE on the command line.
struct Option {
  std::string_view name;
  std::string_view value;  // what stands for its value in help texts, such as "LIST"; empty: a flag
  std::string_view help;
};

/// A variant as users see it: for help texts, forcing, tests and the tuner.
struct CandidateInfo {
  std::string_view name;     // "tile"
  std::string_view summary;  // one sentence
  std::span<const tune::Tunable> tunables;
  bool opencl = true;  // runtimes that its kernel is written for
  bool cuda = true;
};

/// For operations of one array.
inline int one_input(const Operation&) {
  return 1;
}

struct OpEntry {
  std::string_view name;     // "rearrange"
  std::string_view summary;  // "Reorder, split and merge axes by an einops pattern."
  std::span<const Word> words = {};
  std::span<const Option> options = {};
  bool lengths = false;  // takes name=value lengths
  /// How many inputs it takes; the operation's words and options are complete when this is asked.
  int (*inputs)(const Operation& op) = one_input;
  /// Shape and dtype of the result, contiguous; checks everything that needs no device.
  View (*result)(const Operation& op, std::span<const View> inputs);
  /// `views` complete: inputs, then the output.
  std::shared_ptr<PlanImpl> (*plan)(const Operation& op, std::span<const View> views, const Device& device,
                                    const PlanOptions& options);
  /// Plain loops on host memory; `in` and `out` point at the buffers' starts.
  void (*oracle)(const Operation& op, std::span<const View> views, std::span<const std::byte* const> in,
                 std::byte* out);
  /// By how much each element of a right result may differ from the oracle's, in row-major order; of complex elements
  /// each component. 0: not at all, and NaN only where the oracle has NaN. Infinity: in any way, since the order of
  /// what is done decides between numbers, infinities and NaN. Null: results are compared bit for bit.
  std::vector<double> (*bound)(const Operation& op, std::span<const View> views,
                               std::span<const std::byte* const> in) = nullptr;
  /// Bytes read plus written, each element once.
  std::int64_t (*bytes)(const Operation& op, std::span<const View> views);
  /// Arithmetic operations, a multiplication and an addition being two, or eight of complex numbers. Null: it does
  /// none.
  double (*operations)(const Operation& op, std::span<const View> views) = nullptr;
  /// The same in parts, none of which needs more than `limit` bytes of one array.
  Slices (*slices)(const Operation& op, std::span<const View> views, const Device& device, const PlanOptions& options,
                   std::int64_t limit);
  std::span<const CandidateInfo> candidates = {};
};

std::span<const OpEntry> registry();
/// The entry of a name; throws Error(usage) listing the known ones.
const OpEntry& entry(std::string_view name);

}  // namespace axisloom::ops
