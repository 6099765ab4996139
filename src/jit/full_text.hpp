// Putting together what a kernel compiler sees, from any set of sources.
#pragma once

#include <functional>
#include <optional>

#include "jit/constants.hpp"
#include "jit/embedded.hpp"

namespace axisloom::jit {

/// The text of a file by its embedded name; empty when there is none.
using Sources = std::function<std::optional<std::string_view>(std::string_view name)>;

std::string full_text(const Specialisation& what, Api api, const Sources& sources);

/// The constants that a kernel file, what it includes and the prelude declare, sorted by name.
std::vector<Constant> declared_constants(const std::string& file, Api api, const Sources& sources = find_embedded);

}  // namespace axisloom::jit
