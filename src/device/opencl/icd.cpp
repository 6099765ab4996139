// Reading the vendor files of the OpenCL loader.
#include "device/opencl/icd.hpp"

#include "core/folder.hpp"
#include "device/dynamic_library.hpp"
#include "device/environment.hpp"

#include <filesystem>
#include <fstream>

namespace axisloom::device::opencl {

namespace {

namespace fs = std::filesystem;

IcdFile tried(std::string path, std::string library) {
  const DynamicLibrary opened(std::span(&library, library.empty() ? 0 : 1));
  std::string why = opened ? "" : library.empty() ? "names no library" : opened.tried().front();
  return {std::move(path), std::move(library), std::move(why)};
}

IcdFile read_icd(const fs::path& path) {
  std::ifstream stream(path);
  std::string library;
  std::getline(stream, library);
  library.erase(library.find_last_not_of(" \t\r\n") + 1);
  return tried(path.string(), std::move(library));
}

}  // namespace

IcdSearch find_icd_files() {
  const std::string variable = environment("OCL_ICD_VENDORS");
  IcdSearch search{variable.empty() ? "/etc/OpenCL/vendors" : variable, {}};
  std::error_code error;
  if (fs::is_directory(search.place, error)) {
    for (const fs::path& path : core::entries_of(search.place, "", ".icd")) search.files.push_back(read_icd(path));
  } else if (search.place.ends_with(".icd")) {
    // A bare name means the file of that name in the default folder.
    const fs::path path = search.place;
    search.files.push_back(read_icd(path.has_parent_path() ? path : "/etc/OpenCL/vendors" / path));
  } else if (!variable.empty()) {
    search.files.push_back(tried("OCL_ICD_VENDORS", search.place));
  }
  return search;
}

std::string describe(const IcdFile& file) {
  if (file.why.empty()) return file.library + " (opens)";
  return file.library + (file.library.empty() ? "" : " ") + "(does not open: " + file.why + ")";
}

}  // namespace axisloom::device::opencl
