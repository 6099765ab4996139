// What the emulated NVRTC hands to the emulated driver in place of machine code: the kernels' names and arguments.
#pragma once

#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace axisloom::faults {

/// A kernel and the sizes of its arguments in bytes.
using EmulatedKernel = std::pair<std::string, std::vector<std::size_t>>;

inline constexpr std::size_t kElfHeader = 64;  // bytes that the library looks at; a header without sections is whole

/// What a source defines of its arguments: the bytes of its parameters, and whether it has a mask.
struct Defined {
  std::size_t params = 0;
  bool masked = false;
};

/// The bytes behind the argument that a word of the dialect declares; nothing for words that other macros make.
inline std::optional<std::vector<std::size_t>> sizes_of(const std::string& word, const Defined& defined) {
  if (word == "MASK_ARGUMENT" && !defined.masked) return std::vector<std::size_t>{};
  if (word == "MASK_ARGUMENT" || word == "IN" || word == "OUT" || word == "INOUT")
    return std::vector<std::size_t>{8, 8};
  if (word == "TENSOR_MAP") return std::vector<std::size_t>{128};
  if (word == "PARAMS") return std::vector<std::size_t>{defined.params};
  return std::nullopt;
}

/// "KERNEL(tile, IN(u32, a), OUT(u32, b), PARAMS(MoveParams))" as "tile 8 8 8 8 96"; empty where a word is not known.
inline std::string kernel_line(const std::string& name, const std::string& declared, const Defined& defined) {
  static const std::regex word("([A-Z_]+)(\\([^()]*\\))?,? *");
  std::string line = name;
  for (std::sregex_iterator at(declared.begin(), declared.end(), word), end; at != end; ++at) {
    if (at->str(1).empty()) continue;
    const auto sizes = sizes_of(at->str(1), defined);
    if (!sizes) return {};
    for (const std::size_t size : *sizes) line += " " + std::to_string(size);
  }
  return line + "\n";
}

/// A line for each kernel of a full source text; nothing when there is one whose arguments cannot be told.
inline std::optional<std::string> kernels_in(const std::string& source) {
  static const std::regex kernel("\nKERNEL\\((\\w+), (.*)\\) \\{"), params("#define AXL_PARAMS_SIZE (\\d+)");
  std::smatch size;
  const std::size_t bytes = std::regex_search(source, size, params) ? std::stoul(size.str(1)) : 0;
  const Defined defined{bytes, source.find("\n#define MASKED 1\n") != std::string::npos};
  std::string lines;
  for (std::sregex_iterator at(source.begin(), source.end(), kernel), end; at != end; ++at) {
    const std::string line = kernel_line(at->str(1), at->str(2), defined);
    if (line.empty()) return std::nullopt;
    lines += line;
  }
  return lines;
}

inline std::string machine_code(const std::string& lines) {
  std::string header =
      "\x7f"
      "ELF";
  header.resize(kElfHeader);
  return header + lines;
}
inline std::string ptx(const std::string& lines) {
  return ".version 9.0 .entry twice\n" + lines;  // what the emulated driver takes for PTX
}

/// The kernels of an image, which ends with a zero.
inline std::vector<EmulatedKernel> kernels_of(const char* image) {
  std::string text = image[0] == '.' ? std::string(image) : std::string(image + kElfHeader);
  if (image[0] == '.') text.erase(0, text.find('\n') + 1);
  std::vector<EmulatedKernel> kernels;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    EmulatedKernel kernel;
    words >> kernel.first;
    for (std::size_t size = 0; words >> size;) kernel.second.push_back(size);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace axisloom::faults
