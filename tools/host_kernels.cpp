// Writes kernels as C++ that is compiled with the library, from the list src/ops/host_kernels.txt.
// Usage: axisloom_host_kernels unit LIST FIRST COUNT LEVEL OUTPUT   the kernels of some lines, for one level
//        axisloom_host_kernels table LIST LEVELS MORE OUTPUT        the table of all; LEVELS: those of hot ones,
//        "v3,v4"; MORE: those that only lines name which want them
// A line of the list: cold, hot or a level, then a kernel's name as jit::host_kernel gives it. Cold ones are compiled
// for the level of the library itself, "baseline", hot ones for the levels above it, others for the one that they name.
#include "core/text.hpp"
#include "jit/full_text.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

namespace axisloom {
namespace {

struct Line {
  std::string levels;
  std::string name;
};

std::vector<Line> read_list(const std::string& path) {
  std::ifstream file(path);
  std::vector<Line> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t space = line.find(' ');
    lines.push_back({line.substr(0, space), line.substr(space + 1)});
  }
  if (lines.empty()) throw std::runtime_error(path + " lists no kernel");
  return lines;
}

/// Whether a line begins a header that is there once for all kernels.
bool is_shared(std::string_view line) {
  constexpr std::string_view headers[] = {"host_types.h",       "host_items.h", "host_vectors.h",
                                          "host_conversions.h", "packets.h",    "makers.h"};
  return std::ranges::any_of(headers, [&](std::string_view header) { return line.find(header) != line.npos; });
}

/// The macros that a text defines, but for those that all kernels share.
std::set<std::string> macros_of(std::string_view text) {
  std::set<std::string> names;
  bool shared = false;
  while (!text.empty()) {
    std::string_view line = core::trimmed(core::take_part(text, '\n'));
    if (line.starts_with("#line 1 \"dialect/")) shared = is_shared(line);
    if (line.starts_with("#line") && line.find("dialect/") == line.npos) shared = false;
    if (shared || !line.starts_with("#define ")) continue;
    line.remove_prefix(8);
    names.emplace(line.substr(0, line.find_first_of(" (")));
  }
  return names;
}

std::string unit(const std::vector<Line>& lines, std::size_t first, std::size_t count, const std::string& level) {
  std::string text = "#define AXL_LEVEL " + level + "\n";
  for (std::size_t i = first; i < first + count; ++i) {
    const std::string kernel = jit::built_in_text(lines.at(i).name);
    text += kernel;
    for (const std::string& macro : macros_of(kernel)) text += "#undef " + macro + "\n";
  }
  return text;
}

std::string table(const std::vector<Line>& lines, const std::string& levels, const std::string& more) {
  std::string declarations, rows;
  std::set<std::pair<std::string, std::string>> sorted;  // names, and their levels
  for (const Line& line : lines) {
    const bool present = concat(",", levels, ",", more, ",").find(concat(",", line.levels, ",")) != std::string::npos;
    std::string_view rest = present ? std::string_view(line.levels) : std::string_view();
    if (line.levels == "cold") rest = "baseline";
    if (line.levels == "hot") rest = levels;
    while (!rest.empty()) sorted.emplace(line.name, core::take_part(rest, ','));
  }
  for (const auto& [name, level] : sorted) {
    const std::string entry = "axl_" + level + jit::host_identifier(name);
    declarations += "extern \"C\" void " + entry + "(const KernelCall& call, u64 begin, u64 end);\n";
    rows += "    {\"" + name + "\", Isa::" + level + ", " + entry + "},\n";
  }
  return "#include \"device/host/kernel.hpp\"\n\nnamespace axisloom::device::host {\n\n" + declarations +
         "\nstd::span<const BuiltIn> built_in_kernels() {\n  static constexpr BuiltIn kernels[] = {\n" + rows +
         "  };\n  return kernels;\n}\n\n}  // namespace axisloom::device::host\n";
}

bool says(const std::string& path, const std::string& text) {
  std::ifstream file(path);
  return file && std::string(std::istreambuf_iterator<char>(file), {}) == text;
}

/// Leaves a file alone that says the same already: a change to one kernel is not to compile all of them again.
int write(const std::vector<std::string>& arguments) {
  const std::vector<Line> lines = read_list(arguments.at(1));
  const bool is_unit = arguments.at(0) == "unit";
  const std::string text = is_unit
                               ? unit(lines, std::stoul(arguments.at(2)), std::stoul(arguments.at(3)), arguments.at(4))
                               : table(lines, arguments.at(2), arguments.at(3));
  const std::string& output = arguments.at(is_unit ? 5 : 4);
  if (says(output, text)) return 0;
  std::ofstream file(output);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + arguments.back());
  return 0;
}

}  // namespace
}  // namespace axisloom

int main(int count, char** arguments) try {
  return axisloom::write({arguments + 1, arguments + count});
} catch (const std::exception& error) {
  std::fprintf(stderr, "axisloom_host_kernels: %s\n", error.what());
  return 1;
}
