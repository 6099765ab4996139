// One run of NVRTC: source and options in, machine code or PTX and the compiler's messages out.
#include "device/cuda/compile.hpp"

#include "core/not_copied.hpp"

#include <algorithm>
#include <charconv>

namespace axisloom::device::cuda {

namespace {

/// An nvrtcProgram, destroyed when it goes.
class Compilation : core::NotCopied {
 public:
  Compilation(const Nvrtc& nvrtc, const BuildRequest& request) : api_(nvrtc.api), name_(request.name) {
    call(api_.nvrtcCreateProgram, &program_, request.source.c_str(), request.name.c_str(), 0, nullptr, nullptr);
  }
  ~Compilation() {
    if (program_) api_.nvrtcDestroyProgram(&program_);
  }

  nvrtcResult run(const std::vector<std::string>& options) {
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    return api_.nvrtcCompileProgram(program_, int(pointers.size()), pointers.data());
  }

  std::string log() {
    size_t size = 0;
    call(api_.nvrtcGetProgramLogSize, program_, &size);
    std::string text(size, '\0');
    if (size > 0) call(api_.nvrtcGetProgramLog, program_, text.data());
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
    return text;
  }

  std::vector<std::byte> result(bool machine_code) {
    size_t size = 0;
    call(machine_code ? api_.nvrtcGetCUBINSize : api_.nvrtcGetPTXSize, program_, &size);
    std::vector<std::byte> bytes(size);
    call(machine_code ? api_.nvrtcGetCUBIN : api_.nvrtcGetPTX, program_, reinterpret_cast<char*>(bytes.data()));
    return bytes;
  }

  [[noreturn]] void fail(nvrtcResult result, const char* call, std::string message) const {
    throw Error(result == kNvrtcOutOfMemory ? Errc::out_of_memory : Errc::device,
                {.message = name_ + ": " + std::move(message), .call = call, .native = result});
  }

 private:
  void call(const auto& entry, auto... args) const {
    const nvrtcResult result = entry(args...);
    if (result != kNvrtcSuccess) fail(result, entry.name, concat("NVRTC failed with result ", result));
  }

  const NvrtcApi& api_;
  std::string name_;
  nvrtcProgram program_ = nullptr;
};

struct Architecture {
  bool machine_code = false;
  int number = 0;
};

Architecture parse(std::string_view text) {
  constexpr std::string_view kMachine = "sm_", kVirtual = "compute_";
  Architecture parsed{.machine_code = text.starts_with(kMachine)};
  const std::string_view prefix = parsed.machine_code ? kMachine : kVirtual;
  const std::string_view rest = text.starts_with(prefix) ? text.substr(prefix.size()) : std::string_view();
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), parsed.number);
  const std::string_view suffix(end, rest.data() + rest.size());
  if (error != std::errc() || parsed.number <= 0 || !(suffix.empty() || suffix == "a" || suffix == "f"))
    throw Error(Errc::usage, concat("'", text, "' is not a CUDA architecture"),
                "write sm_90, sm_90a or compute_90, say");
  return parsed;
}

}  // namespace

std::vector<std::byte> compile_cuda(const Nvrtc& nvrtc, const BuildRequest& request, std::string_view architecture,
                                    std::string* log) {
  const Architecture wanted = parse(architecture);
  if (!std::ranges::binary_search(nvrtc.architectures, wanted.number)) {
    std::string all;
    for (int known : nvrtc.architectures) all += concat(" sm_", known);
    throw Error(Errc::unsupported,
                concat("NVRTC ", nvrtc.version.text(), " does not compile for ", architecture, ", only for", all),
                "install an NVRTC that knows it, or choose another architecture");
  }
  std::vector<std::string> options = request.options;
  options.push_back(concat("--gpu-architecture=", architecture));
  Compilation compilation(nvrtc, request);
  const nvrtcResult result = compilation.run(options);
  const std::string messages = compilation.log();
  if (log) *log = messages;
  if (result != kNvrtcSuccess)
    compilation.fail(result, "nvrtcCompileProgram",
                     messages.empty() ? concat("does not compile for ", architecture) : messages);
  return compilation.result(wanted.machine_code);
}

std::vector<std::byte> compile_cuda(const BuildRequest& request, std::string_view architecture, std::string* log) {
  return compile_cuda(*choose_nvrtc(installed_nvrtc(), std::nullopt), request, architecture, log);
}

}  // namespace axisloom::device::cuda
