// Writes every kernel text that the cases of some files need on a device that is not there, for compilers that are.
// Usage: axisloom_texts hip|gpu|cpu|nvidia|host:LEVEL FOLDER CASES...     CASES: files, or "ladders" for all rungs
//   hip   an AMD GPU through HIP: the CUDA text below the prelude of HIP
//   gpu   an AMD GPU through OpenCL
//   cpu   a CPU through OpenCL
//   nvidia  an H200 through CUDA
//   host:LEVEL  no texts: the names of kernels that the host needs at that level (baseline, v3, v4), in FOLDER/names
// Each text goes into a file of its own, NUMBER-KERNEL.hip, .cl or .cu; what the options of its build were stands
// beside it.
#include "bench/ladder/ladder.hpp"
#include "harness/arena.hpp"
#include "harness/case.hpp"
#include "harness/expand.hpp"
#include "jit/jit.hpp"

#include "../unit/ops_support.hpp"

#include <cstdio>
#include <fstream>

namespace axisloom {
namespace {

class RecordingDevice : public ops_test::PretendedDevice {
 public:
  using PretendedDevice::PretendedDevice;
  std::shared_ptr<device::Program> build(const device::BuildRequest& request) override {
    texts.emplace(request.source, request.options);
    return PretendedDevice::build(request);
  }
  std::shared_ptr<device::Program> built_in(const std::string& name, std::span<const i32>) override {
    names.insert(name);
    return PretendedDevice::build({});
  }
  void take_units(unsigned units) { info_.compute_units = units; }
  std::map<std::string, std::vector<std::string>> texts;  // and their options
  std::set<std::string> names;                            // of kernels of the host
};

DeviceInfo amd_gpu() {
  DeviceInfo info;
  info.kind = Kind::gpu;
  info.name = info.architecture = "gfx90a";
  info.vendor = "Advanced Micro Devices, Inc.";
  info.platform = "AMD Accelerated Parallel Processing";
  info.compute_units = 104;
  info.max_group = 1024;
  info.local_memory = info.local_memory_max = 64 << 10;
  info.global_memory = info.max_allocation = std::size_t{60} << 30;
  info.base_alignment = 256;
  info.last_level_cache = 8 << 20;
  info.f64 = info.f16 = info.atomics_64 = info.byte_stores = true;
  return info;
}

DeviceInfo device_named(const std::string& name) {
  if (name == "nvidia") return ops_test::gpu_info();
  const bool host = name.starts_with("host:"), cpu = host || name == "cpu";
  DeviceInfo info = cpu ? ops_test::cpu_info() : amd_gpu();
  if (host) {
    const std::string level = name.substr(5);
    info.architecture = level.starts_with("v4") ? "skylake-avx512" : level == "v3" ? "haswell" : "x86-64";
    info.byte_dots = level.starts_with("v4_");
    info.bf16_dots = level == "v4_bf16";
    info.api_version = level == "baseline" ? "x86-64" : "x86-64-" + level;
  }
  info.api = host ? Api::host : name == "hip" ? Api::cuda : Api::opencl;
  info.device_scope_order = name == "hip" || host;  // else the texts are OpenCL C 1.2
  info.unified_memory = false;
  return info;
}

/// Plans a case by every candidate that accepts it.
void plan_all(const harness::Case& c, const Device& device) {
  PlanOptions options = c.options;
  options.in_place = c.in_place;
  const std::vector<View> views = views_of(c, harness::canary_bytes);
  const PlanReport report = plan(c.op, views, device, options).report();
  if (!options.candidate.empty()) return;
  for (const CandidateReport& candidate : report.candidates) {
    options.candidate = candidate.name;
    if (candidate.accepted) plan(c.op, views, device, options);
  }
}

/// "K" and "op/file.kernel" in the first line of a text: "// Axisloom: kernel K of op/file.kernel".
std::pair<std::string, std::string> names_in(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  const std::size_t kernel = line.find("kernel ") + 7, of = line.find(" of ", kernel);
  return {line.substr(kernel, of - kernel), line.substr(of + 4)};
}

/// HIP's prelude in place of CUDA's.
std::string below_hip(const std::string& text) {
  const std::size_t prelude = text.find("#line 1 \"dialect/on_cuda.h\"");
  const std::size_t kernel = text.find("#line 1 \"" + names_in(text).second + "\"");
  return text.substr(0, prelude) + "#include \"dialect/on_hip.h\"\n" + text.substr(kernel);
}

/// What must be refused, on this device or on every one, needs no kernel.
void plan_if_possible(const harness::Case& c, const Device& device) {
  if (c.expect || c.slow) return;
  try {
    if (c.largest_buffer)
      ops::entry(c.op.name).slices(c.op, views_of(c, harness::canary_bytes), device,
                                   ops::options_for(device.info(), c.options), *c.largest_buffer);
    else
      plan_all(c, device);
  } catch (const Error& error) {
    if (error.code() != Errc::unsupported && !c.largest_buffer) throw;
  }
}

/// Plans all rungs of the ladders at the lessons' own sizes and at the large ones, for this device with so many cores:
/// some take blocks by their number.
void plan_ladders(RecordingDevice& recording, const Device& device, unsigned cores) {
  namespace ladder = bench::ladder;
  recording.take_units(cores);
  for (const ladder::Ladder& what : ladder::ladders())
    for (const ladder::Lesson& lesson : what.lessons)
      for (const ladder::Rung& rung : lesson.rungs)
        for (const ladder::Size size : {ladder::Size::lesson, ladder::Size::large}) {
          harness::Case c = harness::parse_case(ladder::case_text(lesson, {.size = size}, device.info(), rung.change));
          c.options = ladder::options_of(rung, lesson.op, i64(size_of(harness::parse_dtype(lesson.dtype))));
          if (!c.options.candidate.empty()) plan_if_possible(c, device);
        }
}

void write(const RecordingDevice& device, const std::string& folder) {
  const bool cuda = device.info().api == Api::cuda,
             hip = cuda && device.info().platform != ops_test::gpu_info().platform;
  int number = 0;
  for (const auto& [text, options] : device.texts) {
    const std::string name = folder + "/" + std::to_string(1000 + number++) + "-" + names_in(text).first;
    std::ofstream(name + (hip ? ".hip" : cuda ? ".cu" : ".cl")) << (hip ? below_hip(text) : text);
    std::ofstream list(name + ".options");
    for (const std::string& option : options) list << option << "\n";
  }
  std::ofstream names(folder + "/names");
  for (const std::string& name : device.names) names << name << "\n";
  std::printf("%d texts, %d names\n", number, int(device.names.size()));
}

void run(const std::string& kind, const std::string& folder, std::span<char*> files) {
  const ops_test::NoDiskCache memory_only;
  const auto recording = std::make_shared<RecordingDevice>(device_named(kind));
  const Device device(recording);
  for (const std::string file : files)
    if (file == "ladders")
      for (const unsigned cores : {1, 2, 4, 8, 16, 32, 64, 128, 256}) plan_ladders(*recording, device, cores);
    else
      for (const std::string& line : harness::read_case_lines(file))
        for (const std::string& expanded : harness::expand(line))
          if (!harness::parse_random(expanded)) plan_if_possible(harness::parse_case(expanded), device);
  write(*recording, folder);
}

}  // namespace
}  // namespace axisloom

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  try {
    axisloom::run(argv[1], argv[2], std::span(argv + 3, argv + argc));
  } catch (const axisloom::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return axisloom::exit_code(error.code());
  }
  return 0;
}
