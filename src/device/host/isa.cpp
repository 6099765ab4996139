// Asking the processor by cpuid, and the system's compiler runtime for what needs its support (registers that it
// saves).
#include "device/host/isa.hpp"

#include "core/text.hpp"
#include "device/environment.hpp"

#include <axisloom/error.hpp>

#include <sys/utsname.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <algorithm>

namespace axisloom::device::host {

namespace {

constexpr const char* isa_variable = "AXISLOOM_ISA";
constexpr Isa all_isas[] = {Isa::baseline, Isa::v3, Isa::v4, Isa::v4_vnni, Isa::v4_bf16, Isa::neon};

#ifdef __x86_64__
// What level 3 of the x86-64 psABI has beyond what __builtin_cpu_supports knows in every compiler.
bool has_f16c_movbe_lzcnt() noexcept {
  constexpr unsigned extended = 0x80000001;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_F16C) == 0 || (c & bit_MOVBE) == 0) return false;
  return __get_cpuid(extended, &a, &b, &c, &d) != 0 && (c & bit_LZCNT) != 0;
}

bool has_v3() noexcept {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("fma") && has_f16c_movbe_lzcnt();
}

bool has_v4() noexcept {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

bool has_vnni() noexcept {
  return has_v4() && __builtin_cpu_supports("avx512vnni");
}
#endif

std::string known_isas() {
  std::vector<std::string_view> names;
  for (const Isa isa : all_isas)
    if (has(isa)) names.push_back(name(isa));
  return joined(names, ", ");
}

}  // namespace

std::string_view name(Isa isa) noexcept {
  switch (isa) {
    case Isa::baseline:
      return "baseline";
    case Isa::v3:
      return "v3";
    case Isa::v4:
      return "v4";
    case Isa::v4_vnni:
      return "v4_vnni";
    case Isa::v4_bf16:
      return "v4_bf16";
    case Isa::neon:
      return "neon";
  }
  return "unknown";
}

std::string level(Isa isa) {
  utsname system{};
  std::string text = ::uname(&system) == 0 ? system.machine : "unknown";
  std::ranges::replace(text, '_', '-');
  return isa == Isa::baseline ? text : concat(text, "-", name(isa));
}

bool has(Isa isa) noexcept {
#ifdef __x86_64__
  if (isa == Isa::v3) return has_v3();
  if (isa == Isa::v4) return has_v4();
  if (isa == Isa::v4_vnni) return has_vnni();
  if (isa == Isa::v4_bf16) return has_vnni() && __builtin_cpu_supports("avx512bf16");
#endif
#ifdef __aarch64__
  if (isa == Isa::neon) return true;
#endif
  return isa == Isa::baseline;
}

Isa best_isa() noexcept {
  Isa best = Isa::baseline;
  for (const Isa isa : all_isas)
    if (has(isa)) best = isa;
  return best;
}

Isa allowed_isa() {
  const std::string wanted = environment(isa_variable);
  if (wanted.empty()) return best_isa();
  const auto found = std::ranges::find(all_isas, wanted, [](Isa isa) { return name(isa); });
  if (found != std::end(all_isas) && has(*found)) return *found;
  const char* const why = found == std::end(all_isas) ? "is no instruction set" : "is not in this processor";
  throw Error(Errc::usage, concat("environment variable ", isa_variable, ": \"", wanted, "\" ", why),
              concat("set it to one of ", known_isas(), ", or not at all"));
}

Entry find_kernel(std::span<const BuiltIn> kernels, std::string_view name, Isa most) {
  Entry best = nullptr;
  auto at = std::ranges::lower_bound(kernels, name, {}, &BuiltIn::name);
  for (; at != kernels.end() && at->name == name; ++at)
    if (at->isa <= most && has(at->isa)) best = at->entry;
  return best;
}

}  // namespace axisloom::device::host
