// The files by which the OpenCL loader finds drivers; read only to explain what was found and what is missing.
#pragma once

#include <string>
#include <vector>

namespace axisloom::device::opencl {

/// One .icd file, or one library named directly.
struct IcdFile {
  std::string path;
  std::string library;   // the driver it names
  std::string why = {};  // it does not open: the loader's reason; empty when it does
};

struct IcdSearch {
  std::string place;  // folder, file or library that the loader looks at
  std::vector<IcdFile> files;
};

/// Follows OCL_ICD_VENDORS where it is set, else /etc/OpenCL/vendors.
IcdSearch find_icd_files();
/// "libpocl.so.2 (opens)"
std::string describe(const IcdFile& file);

}  // namespace axisloom::device::opencl
