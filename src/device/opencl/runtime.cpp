// The OpenCL runtime: enumeration over all platforms, opening by number, and what was looked for and found.
#include "device/opencl/describe.hpp"
#include "device/opencl/device.hpp"
#include "device/opencl/icd.hpp"
#include "device/opencl/pocl.hpp"
#include "device/process.hpp"

#include <algorithm>

namespace axisloom::device {

namespace opencl {

namespace {

/// What a clGet...IDs function lists; `none` is its code for an empty list, `from` are the arguments before the count.
template <typename Id>
std::vector<Id> list_ids(cl_int none, const auto& entry, const auto&... from) {
  cl_uint count = 0;
  const cl_int code = entry(from..., 0, nullptr, &count);
  if (code == none) return {};
  check(entry, code);
  std::vector<Id> list(count);
  if (count) call(entry, from..., count, list.data(), nullptr);
  return list;
}

std::vector<cl_platform_id> platforms() {
  return list_ids<cl_platform_id>(CL_PLATFORM_NOT_FOUND_KHR, cl().clGetPlatformIDs);
}

std::vector<cl_device_id> devices_of(cl_platform_id platform) {
  return list_ids<cl_device_id>(CL_DEVICE_NOT_FOUND, cl().clGetDeviceIDs, platform, cl_device_type{CL_DEVICE_TYPE_ALL});
}

// Every device in the order that gives them their numbers; a platform that fails is left out and reported.
std::vector<cl_device_id> device_ids() {
  if (!library().usable()) return {};
  std::vector<cl_device_id> all;
  for (const cl_platform_id platform : platforms()) {
    try {
      std::ranges::copy(devices_of(platform), std::back_inserter(all));
    } catch (const Error& error) {
      log(concat("an OpenCL platform is left out: ", error.what()));
    }
  }
  if (!all.empty()) remember_process();
  return all;
}

std::string missing_remedy(const IcdSearch& search) {
  if (!library().file)
    return "install an OpenCL loader and driver (Debian, Ubuntu: apt install ocl-icd-libopencl1 pocl-opencl-icd)";
  if (!library().usable()) return "install a newer OpenCL loader (Debian, Ubuntu: apt install ocl-icd-libopencl1)";
  const auto names_nvidia = [](const IcdFile& file) {
    return file.library.find("libnvidia-opencl") != file.library.npos;
  };
  const std::string driver[] = {"libnvidia-opencl.so.1"};
  if (std::ranges::none_of(search.files, names_nvidia) && DynamicLibrary(driver))
    return "register NVIDIA's driver with the OpenCL loader: echo libnvidia-opencl.so.1 > "
           "/etc/OpenCL/vendors/nvidia.icd";
  return "install an OpenCL driver (Debian, Ubuntu: apt install pocl-opencl-icd)";
}

void add_platforms(RuntimeStatus& status) {
  for (const cl_platform_id platform : platforms()) {
    const std::string name = query_text(cl().clGetPlatformInfo, platform, CL_PLATFORM_NAME);
    const std::string version = query_text(cl().clGetPlatformInfo, platform, CL_PLATFORM_VERSION);
    status.facts.emplace_back("platform", concat(name, ", ", version, ", ", devices_of(platform).size(), " devices"));
    if (name != pocl_platform) continue;
    const std::string fault = pocl_folder_fault();
    status.facts.emplace_back("PoCL keeps programs in",
                              pocl_folder() + (fault.empty() ? "" : ", which cannot be used: " + fault));
    if (fault.empty()) continue;
    status.tried.push_back("PoCL, which cannot use " + pocl_folder() + ": " + fault);
    status.remedy = pocl_folder_remedy;
  }
}

void add_workarounds(RuntimeStatus& status, const DeviceInfo& info) {
  for (const Workaround& workaround : workarounds(info))
    status.facts.emplace_back("worked around on " + info.label(), concat(workaround.why, " (", workaround.option, ")"));
}

class OpenclRuntime final : public Runtime {
 public:
  std::vector<DeviceInfo> devices() override {
    const Starting alone;
    std::vector<DeviceInfo> infos;
    try {
      const std::vector<cl_device_id> ids = device_ids();
      for (size_t i = 0; i < ids.size(); ++i) {
        // A device that cannot be described keeps its number, so that the others keep theirs.
        try {
          infos.push_back(describe(ids[i], int(i)));
        } catch (const Error& error) {
          log(concat("opencl:", i, " is left out: ", error.what()));
        }
      }
    } catch (const Error& error) {
      log(concat("OpenCL is left out: ", error.what()));
    }
    return infos;
  }

  SharedDevice open(int index) override {
    const Starting alone;
    const std::vector<cl_device_id> ids = device_ids();
    if (index < 0 || size_t(index) >= ids.size())
      throw Error(Errc::no_device,
                  concat("there is no device opencl:", index, "; OpenCL shows ", ids.size(), " devices"));
    return open_device(ids[size_t(index)], index);
  }

  std::vector<RuntimeStatus> status() override {
    const Starting alone;
    const Library& opened = library();
    RuntimeStatus status;
    status.name = "OpenCL";
    status.library = opened.file.path();
    status.tried = opened.file.tried();
    for (const std::string& name : opened.missing) status.facts.emplace_back("missing function", name);
    const IcdSearch search = find_icd_files();
    status.facts.emplace_back("driver files in", search.place);
    status.tried.push_back(search.place);
    for (const IcdFile& file : search.files) status.facts.emplace_back(file.path, describe(file));
    try {
      status.found = !device_ids().empty();
      if (opened.usable()) add_platforms(status);
      for (const DeviceInfo& info : devices()) add_workarounds(status, info);
    } catch (const Error& error) {
      status.facts.emplace_back("failure", error.what());
    }
    if (!status.found && status.remedy.empty()) status.remedy = missing_remedy(search);
    return {std::move(status)};
  }
};

}  // namespace

}  // namespace opencl

Runtime& opencl_runtime() {
  static opencl::OpenclRuntime runtime;
  return runtime;
}

SharedDevice borrow_opencl(void* context, void* id) {
  if (!context || !id) throw Error(Errc::usage, "cannot borrow a null cl_context or cl_device_id");
  const Starting alone;
  const std::vector<cl_device_id> ids = opencl::device_ids();
  if (!opencl::library().usable())
    throw Error(Errc::no_device, "the OpenCL loader was not found", "install libOpenCL.so.1");
  const auto found = std::ranges::find(ids, static_cast<cl_device_id>(id));
  const int index = found == ids.end() ? -1 : int(found - ids.begin());
  return opencl::borrow_device(static_cast<cl_context>(context), static_cast<cl_device_id>(id), index);
}

}  // namespace axisloom::device
