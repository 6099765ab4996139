// The constants that a kernel declares, CONSTANT(NAME, KIND) or CONSTANT(NAME, KIND, DEFAULT), against those that the
// host sets; SETTING declares one that may be a value of the launch. What the kinds are is told in
// src/dialect/intrinsics.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/integers.hpp"
#include "jit/jit.hpp"

namespace axisloom::jit {

/// One declaration; views of the text in which it stands.
struct Constant {
  std::string_view name, kind;
  std::optional<std::string_view> otherwise;  // what it is where the host does not set it
  std::string file;
  std::size_t line;
  bool setting = false;
};

/// The declaration on a line of a kernel or header; empty where there is none. What looks like one and is none throws
/// Error(file).
std::optional<Constant> declared_on(std::string_view text, const std::string& file, std::size_t line);

/// Sorts declarations by name, and replaces like(NAME) by the kind of that constant.
void sort_and_resolve(std::vector<Constant>& declared);

/// What is compiled in: the host's constants, defaults for those that it did not set, and a number for each word of a
/// one_of. Declarations are sorted. A constant that is missing, unknown or of another kind throws Error(usage), which
/// names `kernel_file`. Settings may be left out where they are `open`.
Defines complete(const std::vector<Constant>& declared, const Defines& set, const std::string& kernel_file,
                 bool open = false);

/// The number that a setting's value stands for.
i32 number_of(const Constant& setting, std::string_view value);

}  // namespace axisloom::jit
