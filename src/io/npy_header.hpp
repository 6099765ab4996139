// The header of a .npy file, as text and as values.
#pragma once

#include "core/integers.hpp"
#include "io/io.hpp"

namespace axisloom::io {

struct NpyHeader {
  Dtype dtype = Dtype::u8;
  bool swapped = false;  // elements are in the byte order this machine does not have
  bool fortran = false;
  Dims shape;
};

/// Parses the dictionary of a header: a Python literal of which only the three keys and the forms that NumPy writes are
/// understood. Nothing is evaluated. `path` is for messages.
NpyHeader parse_npy_header(std::string_view text, const std::string& path);

/// The dictionary for a header that is to be written.
std::string format_npy_header(const NpyHeader& header);

/// All of a file that stands before its elements.
std::string npy_head(const NpyHeader& header);

/// The type code NumPy has for a dtype, such as "<f4"; empty for bf16, which NumPy lacks.
std::string npy_descr(Dtype dtype);

}  // namespace axisloom::io
