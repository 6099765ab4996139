// Lines of case files that stand for many cases: lists, ranges and products in braces.
#pragma once

#include "harness/arguments.hpp"

namespace axisloom::harness {

/// No line may stand for more cases.
inline constexpr u64 most_cases_of_line = 100'000;

/// Replaces every brace by each of its values, in all combinations, the leftmost changing slowest:
///   {u8,f32}         one of a list; {2,0,1;1,2,0} where the items hold commas
///   {1..70} {1..9..2}  a range, ends included, with an optional step
///   {c=1..67}        a list or range with a name, so that later braces follow it:
///   {c} {c/32} {c*2} {c+x}  its value, its quotient rounded up, and so on
/// What stands before a colon after "with" only gives names: with {c=1..67}: relayout u8 1x{c/4}x3x5x4 ... channels={c}
/// Throws Error(usage) for a brace that cannot be read, and for a line of too many cases.
Texts expand(std::string_view line);

}  // namespace axisloom::harness
