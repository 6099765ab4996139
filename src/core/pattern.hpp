// The einops grammar: patterns such as "b c (h h2) (w w2) -> b c h w", parsed and bound to shapes. Pure host code.
#pragma once

#include "core/integers.hpp"
#include "core/nest.hpp"

#include <axisloom/array.hpp>
#include <axisloom/error.hpp>
#include <axisloom/ops.hpp>

#include <string>
#include <vector>

namespace axisloom::core {

/// The name of a mesh axis in a pattern.
struct MeshName {
  std::string name = {};
  int column = 0;
  bool operator==(const MeshName&) const = default;
};

/// How a cut divides an axis among ranks: blocks of one length, of which the last may be shorter or empty; lengths that
/// differ by at most one; or blocks dealt in turn.
enum class Deal { chunks, balanced, cyclic };

/// "@x", "@(x y)", "@x:balanced", "@x:64" after an axis: it is cut over these mesh axes, the first one slowest.
struct Cut {
  std::vector<MeshName> over = {};
  Deal deal = Deal::chunks;
  i64 block = 0;  // of Deal::cyclic
  bool operator==(const Cut&) const = default;
};
using Cuts = std::vector<Cut>;  // each cuts what the one before it left

/// One elementary axis as it stands in a pattern. Anonymous lengths ("1", "3") have an empty name.
struct Axis {
  std::string name = {};
  i64 length = -1;  // of an anonymous axis, at least 2; -1 for a named one
  int column = 0;   // where it stands in the pattern's text, for messages
  Cuts cuts = {};   // of patterns of distributed arrays alone
  bool operator==(const Axis&) const = default;
};

/// One axis of an array: nothing "()", one elementary axis, or several composed "(h h2)", slowest first.
struct Group {
  std::vector<Axis> axes = {};
  bool ellipsis = false;  // "..." or "(...)"; then axes before/after it in a composition are kept in order around `at`
  size_t at = 0;          // position of the ellipsis among `axes`
  bool composed = false;  // written in parentheses
  int column = 0;
  Cuts cuts = {};  // behind the parenthesis
};

struct Side {
  std::vector<Group> groups;
  std::vector<MeshName> addends;  // "+x": the ranks along x hold addends
  const Group* ellipsis() const;  // the group that has one; null where none has
};

/// "a, b -> c": one side per operand and one for the result.
struct Pattern {
  std::string text;
  std::vector<Side> inputs;
  Side output;
};

/// Parses with einops' own rules, except that names are of ASCII letters. Axes written "1" are left out: at the top
/// level they leave a group without axes, as "()" does. Throws Error(pattern) whose message shows the pattern with a
/// caret below the fault.
Pattern parse(std::string_view text);

/// The same for arrays that are distributed over ranks: an axis or a parenthesis may have cuts, and a side may end with
/// mesh axes along which ranks hold addends. A mesh axis stands on a side at most once.
Pattern parse_distributed(std::string_view text);

/// Parses a pattern of einsum, in einops' spelling ("i k, k j -> i j") or in NumPy's ("ik,kj->ij", "ik,kj"). A name may
/// stand twice in one operand, which means its diagonal. The spelling follows from the text and the operands' ranks:
///   - a parenthesis, digit or underscore makes it einops', and where there is a '->' so does a blank (other than
///   around
///     ',' and '->'); without one, blanks say nothing;
///   - otherwise a letter is an axis, as in NumPy, unless there are operands of several letters and all of these are
///     1-d arrays: then each is one name, as in "row, row ->".
/// Without '->', in NumPy's spelling only, the result has the ellipsis' axes and then, in alphabetical order (capitals
/// first), every letter that stands once. An ellipsis on the right alone stands for no axes.
Pattern parse_einsum(std::string_view text, std::span<const Dims> shapes);

/// How many operands an einsum's pattern has: one more than commas.
int count_operands(std::string_view text);

/// An Error whose message shows `text` with carets below `length` characters from `column` on (0: no carets).
Error fault(std::string_view text, int column, int length, const std::string& message, const std::string& remedy,
            Errc code = Errc::pattern);

/// An elementary axis with its extent, after binding.
struct BoundAxis {
  std::string name;  // "..0", "..1" for those of the ellipsis, "" for anonymous ones
  i64 extent = 0;
};

/// The elementary axes of an array's axis, slowest first: indices into BoundPattern::axes.
using Composition = std::vector<int>;
using BoundSide = std::vector<Composition>;  // by axis of the array

/// A pattern with every length known.
struct BoundPattern {
  std::vector<BoundAxis> axes;
  std::vector<BoundSide> inputs;
  BoundSide output;
  /// Axes on the right only (repeat), and on the left only (reduce, einsum).
  std::vector<int> added;
  std::vector<int> removed;
};

/// Which axes may appear on one side only. einops: rearrange none, repeat those on the right, reduce those on the left.
enum class OneSided { none, right, left };

/// Whether an axis of length 1 goes with any other length of that name, and an ellipsis with a longer one, as in
/// einsum.
enum class Broadcast { no, yes };

/// Binds a pattern to shapes and named lengths. Throws where einops does: Error(shape) for a rank or a length that does
/// not fit or divide, Error(pattern) for an unknown or unused name and for a composed axis with two unknowns.
BoundPattern bind(const Pattern& pattern, std::span<const Dims> shapes, const Lengths& lengths, OneSided allowed,
                  Broadcast broadcast = Broadcast::no);

/// The same of the pattern of an operation on one array.
BoundPattern bind_one(const Operation& op, std::string_view text, const Dims& shape, OneSided allowed);

/// Shape of the output: the product of each of its compositions.
Dims output_shape(const BoundPattern& bound);

/// Strides of the elementary axes that `side` uses, indexed as BoundPattern::axes (0 for those it lacks): a composed
/// axis (a b) of stride s gives b the stride s and a the stride s * extent(b). An axis that stands twice gets the sum.
std::vector<i64> elementary_strides(const BoundPattern& bound, const BoundSide& side, const Dims& strides);

/// The elementary axes as loops over the input, which is one, and the output.
Loops loops_over(const BoundPattern& bound, const Dims& in_strides, const Dims& out_strides);

}  // namespace axisloom::core
