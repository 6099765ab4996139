// Looks for NVRTC in the places where systems, toolkits, conda and pip put it, and chooses one that suits the driver.
#include "device/cuda/nvrtc.hpp"

#include "core/folder.hpp"
#include "device/dynamic_library.hpp"
#include "device/environment.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

namespace axisloom::device::cuda {

namespace fs = std::filesystem;

namespace {

constexpr const char* kNames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};

/// Adds those that a folder has, unless it begins wherever the program happens to run.
void add_files(std::vector<std::string>& to, const fs::path& folder) {
  if (!folder.is_absolute()) return;
  for (const char* name : kNames) {
    std::error_code ignored;
    if (fs::exists(folder / name, ignored)) to.push_back((folder / name).string());
  }
}

void add_toolkit(std::vector<std::string>& to, const fs::path& root) {
  add_files(to, root / "lib64");
  add_files(to, root / "lib");
}

/// The pip packages of NVIDIA in one Python installation, or below ~/.local.
void add_python(std::vector<std::string>& to, const fs::path& prefix) {
  for (const char* lib : {"lib", "lib64", "local/lib"}) {
    for (const fs::path& python : core::entries_of(prefix / lib, "python3", "")) {
      for (const char* packages : {"site-packages", "dist-packages"}) {
        add_files(to, python / packages / "nvidia/cu13/lib");
        add_files(to, python / packages / "nvidia/cuda_nvrtc/lib");
      }
    }
  }
}

/// Prefixes of the python3 that a shell would start: the folder it is found in, and where its link leads.
std::vector<fs::path> python_prefixes() {
  const std::string path = environment("PATH");
  for (std::string_view rest = path; !rest.empty();) {
    const fs::path folder = core::take_part(rest, ':');
    const fs::path python = folder / "python3";
    std::error_code error;
    if (!folder.is_absolute() || !fs::exists(python, error)) continue;
    std::vector<fs::path> prefixes = {folder.parent_path()};
    const fs::path real = fs::canonical(python, error);
    if (!error && real.parent_path().parent_path() != prefixes[0]) prefixes.push_back(real.parent_path().parent_path());
    return prefixes;
  }
  return {};
}

/// Loads the part of NVRTC that it opens itself, by name alone, when it first compiles: the loader does not look for it
/// where a Python package has put both.
void load_builtins(const std::string& nvrtc, const Version& version) {
  const std::string file = (fs::path(nvrtc).parent_path() / ("libnvrtc-builtins.so." + version.text())).string();
  DynamicLibrary(std::span(&file, 1));
}

/// Fills in what a library is. Why it is not usable; empty when it is.
std::string examine(const DynamicLibrary& library, Nvrtc& nvrtc) {
  std::vector<std::string> missing;
#define AXISLOOM_REQUIRE(name, parameters) library.require(#name, nvrtc.api.name.function, missing);
  AXISLOOM_NVRTC(AXISLOOM_REQUIRE)
#undef AXISLOOM_REQUIRE
  if (!missing.empty()) return "lacks " + missing.front();
  int count = 0;
  if (nvrtc.api.nvrtcVersion(&nvrtc.version.major, &nvrtc.version.minor) != kNvrtcSuccess ||
      nvrtc.api.nvrtcGetNumSupportedArchs(&count) != kNvrtcSuccess || count <= 0)
    return "does not report its version and architectures";
  nvrtc.architectures.resize(size_t(count));
  if (nvrtc.api.nvrtcGetSupportedArchs(nvrtc.architectures.data()) != kNvrtcSuccess)
    return "does not report its architectures";
  std::ranges::sort(nvrtc.architectures);
  nvrtc.path = library.path();
  load_builtins(nvrtc.path, nvrtc.version);
  return {};
}

std::string install_remedy(const std::string& major) {
  return "install NVRTC" + (major.empty() ? "" : " " + major) +
         ": the package cuda-nvrtc of the CUDA toolkit, 'pip install nvidia-cuda-nvrtc" +
         (major == "12" || major == "11" ? "-cu" + major : "") + "', or 'conda install cuda-nvrtc'; or set CUDA_PATH";
}

std::string capability_text(int capability) {
  return concat(capability / 10, ".", capability % 10);
}

}  // namespace

std::vector<std::string> nvrtc_candidates() {
  std::vector<std::string> all(std::begin(kNames), std::end(kNames));
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"}) add_toolkit(all, environment(variable));
  for (const fs::path& root : core::entries_of("/usr/local", "cuda", "")) add_toolkit(all, root);
  const fs::path conda = environment("CONDA_PREFIX");
  add_files(all, conda / "lib");
  add_python(all, conda);
  add_python(all, environment("VIRTUAL_ENV"));
  for (const fs::path& prefix : python_prefixes()) add_python(all, prefix);
  add_python(all, fs::path(environment("HOME")) / ".local");
  std::set<std::string> seen;
  std::erase_if(all, [&](const std::string& path) { return !seen.insert(path).second; });
  return all;
}

NvrtcSearch find_nvrtc(std::span<const std::string> candidates) {
  NvrtcSearch search;
  RuntimeStatus& status = search.status;
  status.name = "NVRTC";
  std::set<fs::path> seen;
  for (const std::string& candidate : candidates) {
    std::error_code error;
    if (candidate.starts_with('/') && seen.contains(fs::canonical(candidate, error))) continue;
    const DynamicLibrary library(std::span(&candidate, 1));
    std::ranges::copy(library.tried(), std::back_inserter(status.tried));
    if (!library) continue;
    const fs::path file = fs::canonical(library.path(), error);
    if (!seen.insert(error ? fs::path(library.path()) : file).second) continue;
    auto nvrtc = std::make_shared<Nvrtc>();
    const std::string why = examine(library, *nvrtc);
    if (why.empty()) {
      status.facts.emplace_back("NVRTC " + nvrtc->version.text(), nvrtc->path);
      search.found.push_back(std::move(nvrtc));
    } else {
      status.facts.emplace_back("unusable", library.path() + " " + why);
    }
  }
  std::ranges::stable_sort(search.found, [](const auto& a, const auto& b) { return a->version > b->version; });
  status.found = !search.found.empty();
  if (status.found)
    status.library = search.found.front()->path;
  else
    status.remedy = install_remedy("");
  return search;
}

const NvrtcSearch& installed_nvrtc() {
  // Never destroyed: compilers may still be in use while static objects of other libraries go.
  static const NvrtcSearch& search = *new NvrtcSearch(find_nvrtc(nvrtc_candidates()));
  return search;
}

std::shared_ptr<const Nvrtc> suitable_nvrtc(const NvrtcSearch& search, std::optional<Version> driver) {
  const auto known = [&](const auto& nvrtc) { return !driver || nvrtc->version.major <= driver->major; };
  const auto found = std::ranges::find_if(search.found, known);
  return found == search.found.end() ? nullptr : *found;
}

std::shared_ptr<const Nvrtc> choose_nvrtc(const NvrtcSearch& search, std::optional<Version> driver) {
  if (auto suitable = suitable_nvrtc(search, driver)) return suitable;
  if (search.found.empty())
    throw Error(Errc::unsupported, "kernels cannot be compiled for CUDA: NVRTC, its run-time compiler, was not found",
                install_remedy(driver ? std::to_string(driver->major) : ""));
  throw Error(Errc::unsupported,
              "NVRTC " + joined(search.found, ", ", [](const auto& nvrtc) { return nvrtc->version.text(); }) +
                  " is newer than the driver, which knows CUDA " + driver->text(),
              install_remedy(std::to_string(driver->major)) + "; or install a newer driver");
}

std::string target_architecture(const Nvrtc& nvrtc, int capability) {
  const auto above = std::ranges::upper_bound(nvrtc.architectures, capability);
  if (above == nvrtc.architectures.begin()) {
    const int oldest = nvrtc.architectures.empty() ? 0 : nvrtc.architectures.front();
    throw Error(Errc::unsupported,
                "the card has compute capability " + capability_text(capability) + "; NVRTC " + nvrtc.version.text() +
                    " compiles for " + capability_text(oldest) + " and later",
                "install an older NVRTC, or use the card through OpenCL (device opencl)");
  }
  const int best = *std::prev(above);
  if (best != capability) return concat("compute_", best);
  // With `a` the instructions of exactly this architecture are there (wgmma, bulk copies); NVRTC 12.0 was the first.
  const bool specific = capability >= 90 && nvrtc.version >= Version{12, 0};
  return concat("sm_", capability, specific ? "a" : "");
}

}  // namespace axisloom::device::cuda
