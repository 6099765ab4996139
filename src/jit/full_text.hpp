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

/// A kernel as the host has it: all that is compiled in, as one name, and the numbers of the settings, by name.
struct HostKernel {
  std::string name;  // "rearrange/block.kernel block 1 ELEMENT=u32 ..."
  std::vector<i32> settings;
};
HostKernel host_kernel(const Specialisation& what);
/// The part of its function's name that follows "axl_" and the level: "_rearrange_block_kernel_block_1_ELEMENT_u32".
std::string host_identifier(std::string_view host_name);
/// The text from which it is compiled with the library; its settings are open.
std::string built_in_text(std::string_view host_name);

}  // namespace axisloom::jit
