// Ladders: one job from the textbook's first kernel to the tuned one, rung by rung.
#pragma once

#include "bench/bench.hpp"
#include "harness/table.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace axisloom::bench::ladder {

/// What a tunable's value counts: what the tunable itself does, or elements, so that it grows with the element's size.
enum class Unit { its_own, elements };

/// A tunable that a rung forces. One in elements becomes bytes, and then the largest allowed value that is not above.
struct Setting {
  std::string_view tunable;
  i64 value;
  Unit unit = Unit::its_own;
};

/// How a rung's case differs from that of its lesson: not at all; a copy of the same array; both arrays begin one
/// element behind an aligned address; the first matrix is stored transposed.
enum class Change { none, copy, misaligned, a_along_m };

/// A named configuration of a candidate. `why` says in a sentence or two what it changed against the rung `over` and
/// why that helps; the other two say it for CPU devices and for CUDA, where it is not the same there.
struct Rung {
  std::string_view name = {}, candidate = {};  // no candidate: what Axisloom chooses
  std::vector<Setting> settings = {};
  std::string_view why = {}, on_cpu = {}, on_cuda = {};
  Change change = Change::none;
  std::string_view over = {};  // an earlier rung; empty: the one before
  std::string_view isa = {};   // on the host with kernels that need no more than this, as AXISLOOM_ISA names it
};

enum class Size { lesson, large };

/// Shapes as cases have them: of the lesson, and large enough that memory and not the launch decides.
struct Shapes {
  std::string_view lesson, large_on_cpu, large_on_gpu;
};

/// A job and its rungs, in the order in which they are taught.
struct Lesson {
  std::string_view title;
  std::string_view op, arguments = {};  // "relayout", "NCHW NC/32HW32"
  std::string_view dtype;
  Shapes shapes;
  std::vector<Rung> rungs;
};

struct Ladder {
  std::string_view name, summary;
  std::vector<Lesson> lessons;
  std::vector<std::string_view> peers = {};  // who is shown beside the rungs
};

/// All ladders with all their rungs: the one table.
std::span<const Ladder> ladders();

/// What a user may ask for instead of a lesson's own; empty: the lesson's.
struct Choice {
  Size size = Size::lesson;
  std::string shape = {}, dtype = {}, arguments = {};
  std::vector<std::string> isas = {};  // for each a rung more: what is chosen on a host that has no more than that
};

/// The case of a rung, in the grammar of the test cases. Throws Error(usage) for a shape or dtype that cannot be read.
std::string case_text(const Lesson& lesson, const Choice& choice, const DeviceInfo& device, Change change);
/// Candidate and configuration of a rung for elements of so many bytes.
PlanOptions options_of(const Rung& rung, std::string_view op, i64 element_bytes);
/// The rungs of a lesson, and those for instruction sets at the end.
std::vector<Rung> rungs_of(const Lesson& lesson, const Choice& choice);
/// The sentence about a rung that is true on this device.
std::string_view sentence(const Rung& rung, const DeviceInfo& device);

/// Times every rung of a lesson in turns with each other, the reference and the ladder's peers that `settings` lets
/// take part, each result checked. One member of the document's "lessons", see docs/ladder.md.
Json climb(const Ladder& ladder, const Lesson& lesson, const Choice& choice, const Device& device, Team& team,
           Session& session, const Settings& settings, const Progress& progress);

}  // namespace axisloom::bench::ladder
