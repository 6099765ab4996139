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

void try_library(IcdFile& file) {
  if (file.library.empty()) {
    file.why = "names no library";
    return;
  }
  const DynamicLibrary library(std::span(&file.library, 1));
  file.opens = bool(library);
  if (!file.opens) file.why = library.tried().front();
}

IcdFile read_icd(const fs::path& path) {
  IcdFile file;
  file.path = path.string();
  std::ifstream stream(path);
  std::getline(stream, file.library);
  file.library.erase(file.library.find_last_not_of(" \t\r\n") + 1);
  try_library(file);
  return file;
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
    IcdFile file{"OCL_ICD_VENDORS", search.place, false, {}};
    try_library(file);
    search.files.push_back(std::move(file));
  }
  return search;
}

std::string describe(const IcdFile& file) {
  if (file.opens) return file.library + " (opens)";
  return file.library + (file.library.empty() ? "" : " ") + "(does not open: " + file.why + ")";
}

}  // namespace axisloom::device::opencl
