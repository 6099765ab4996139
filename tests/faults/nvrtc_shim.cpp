// A libnvrtc.so.13 that compiles nothing: it reads from a kernel's text what arguments the emulated driver must take.
#include "emulated_image.hpp"
#include "export.hpp"
#include "preload/injection.hpp"

#include "device/cuda/nvrtc_api.hpp"

#include <algorithm>
#include <string>

namespace {

using namespace axisloom::device::cuda;

struct Compilation {
  std::string source, log, lines;
};

Compilation& compilation(nvrtcProgram program) {
  return *reinterpret_cast<Compilation*>(program);
}

nvrtcResult give(const std::string& text, char* to) {
  std::copy_n(text.c_str(), text.size() + 1, to);
  return kNvrtcSuccess;
}
nvrtcResult give_size(const std::string& text, std::size_t* size) {
  *size = text.size() + 1;
  return kNvrtcSuccess;
}

nvrtcResult create(nvrtcProgram* program, const char* source, const char*, int, const char* const*,
                   const char* const*) {
  *program = reinterpret_cast<nvrtcProgram>(new Compilation{source, {}, {}});
  return kNvrtcSuccess;
}

nvrtcResult destroy(nvrtcProgram* program) {
  delete &compilation(*program);
  *program = nullptr;
  return kNvrtcSuccess;
}

nvrtcResult compile(nvrtcProgram program, int, const char* const*) {
  Compilation& what = compilation(program);
  const auto lines = axisloom::faults::kernels_in(what.source);
  if (lines) return what.lines = *lines, kNvrtcSuccess;
  what.log = "the emulated compiler cannot tell this kernel's arguments";
  return kNvrtcCompilation;
}

const NvrtcApi& emulation() {
  static const NvrtcApi& api = *[] {
    auto* const e = new NvrtcApi;
    e->nvrtcVersion.function = [](int* major, int* minor) { return *major = 13, *minor = 9, kNvrtcSuccess; };
    e->nvrtcGetNumSupportedArchs.function = [](int* count) { return *count = 2, kNvrtcSuccess; };
    e->nvrtcGetSupportedArchs.function = [](int* list) { return list[0] = 80, list[1] = 90, kNvrtcSuccess; };
    e->nvrtcCreateProgram.function = create;
    e->nvrtcDestroyProgram.function = destroy;
    e->nvrtcCompileProgram.function = compile;
    e->nvrtcGetProgramLogSize.function = [](nvrtcProgram p, std::size_t* n) {
      return give_size(compilation(p).log, n);
    };
    e->nvrtcGetProgramLog.function = [](nvrtcProgram p, char* to) { return give(compilation(p).log, to); };
    e->nvrtcGetCUBINSize.function = [](nvrtcProgram p, std::size_t* n) {
      return give_size(axisloom::faults::machine_code(compilation(p).lines), n);
    };
    e->nvrtcGetCUBIN.function = [](nvrtcProgram p, char* to) {
      return give(axisloom::faults::machine_code(compilation(p).lines), to);
    };
    e->nvrtcGetPTXSize.function = [](nvrtcProgram p, std::size_t* n) {
      return give_size(axisloom::faults::ptx(compilation(p).lines), n);
    };
    e->nvrtcGetPTX.function = [](nvrtcProgram p, char* to) {
      return give(axisloom::faults::ptx(compilation(p).lines), to);
    };
    return e;
  }();
  return api;
}

template <auto Entry, typename Signature>
struct Forward;
template <auto Entry, typename... Args>
struct Forward<Entry, nvrtcResult(Args...)> {
  static nvrtcResult run(Args... args) {
    const auto& entry = emulation().*Entry;
    int code = 0;
    const bool strikes = axisloom_fault_strikes(entry.name, __builtin_return_address(0), &code) != 0;
    if (strikes && entry.name != emulation().nvrtcDestroyProgram.name) return code;  // which destroys it all the same
    const nvrtcResult answer = entry.function(args...);
    return strikes ? code : answer;
  }
};

}  // namespace

#define AXISLOOM_SHIM(name, parameters) AXISLOOM_EXPORT(name, (&Forward<&NvrtcApi::name, nvrtcResult parameters>::run))
AXISLOOM_NVRTC(AXISLOOM_SHIM)
