// Reading lines of text files.
#include "core/system_file.hpp"

#include <algorithm>
#include <fstream>

namespace axisloom::core {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string field(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (line.starts_with(name) && colon != std::string::npos)
      return line.substr(std::min(line.size(), line.find_first_not_of(" \t", colon + 1)));
  }
  return {};
}

}  // namespace axisloom::core
