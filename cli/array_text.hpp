// Arrays as text, for people and for the next program of a pipe.
#pragma once

#include "core/integers.hpp"
#include "io/io.hpp"

namespace axisloom::cli {

/// An array of more elements belongs into a file.
inline constexpr i64 most_printed = 1000;

/// A line for each row of the last axis, elements apart by blanks; an empty line between matrices, two between arrays
/// of them, and so on. For contiguous arrays.
std::string array_text(const io::HostArray& array);

}  // namespace axisloom::cli
