// Asking the processor by cpuid, and xgetbv for what the system has to support: registers that it saves.
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
struct Answer {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

/// What cpuid answers; nothing to a question that the processor does not know.
Answer ask(unsigned leaf, unsigned part = 0) noexcept {
  Answer answer;
  __get_cpuid_count(leaf, part, &answer.a, &answer.b, &answer.c, &answer.d);
  return answer;
}

constexpr bool holds(unsigned bits, unsigned wanted) noexcept {
  return (bits & wanted) == wanted;
}

/// The registers that the system saves for each thread, as XCR0 has them; without them instructions are there in vain.
unsigned saved_registers(const Answer& basic) noexcept {
  if (!holds(basic.c, bit_OSXSAVE)) return 0;
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

/// The most of the levels of the x86-64 psABI, and of those beyond them. The compilers' own __builtin_cpu_supports
/// lacks some of their features, and knows none at all in Zig's runtime.
Isa level_of_processor() noexcept {
  constexpr unsigned basic_leaf = 1, features_leaf = 7, extended_leaf = 0x80000001;
  constexpr unsigned xmm_ymm = 0x6, opmask_zmm = 0xe0;  // of XCR0
  const Answer basic = ask(basic_leaf), features = ask(features_leaf), extended = ask(extended_leaf);
  const unsigned saved = saved_registers(basic);
  if (!holds(saved, xmm_ymm) || !holds(basic.c, bit_AVX | bit_FMA | bit_F16C | bit_MOVBE) ||
      !holds(features.b, bit_AVX2 | bit_BMI | bit_BMI2) || !holds(extended.c, bit_LZCNT))
    return Isa::baseline;
  const bool is_v4 = holds(saved, opmask_zmm) &&
                     holds(features.b, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL);
  if (!is_v4) return Isa::v3;
  if (!holds(features.c, bit_AVX512VNNI)) return Isa::v4;
  return holds(ask(features_leaf, 1).a, bit_AVX512BF16) ? Isa::v4_bf16 : Isa::v4_vnni;
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
  static const Isa most = level_of_processor();  // once: where the system is a guest, each question takes microseconds
  if (isa != Isa::neon) return isa <= most;
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

Isa isa_named(std::string_view text) {
  const auto found = std::ranges::find(all_isas, text, [](Isa isa) { return name(isa); });
  if (found != std::end(all_isas) && has(*found)) return *found;
  const char* const why = found == std::end(all_isas) ? "is no instruction set" : "is not in this processor";
  throw Error(Errc::unsupported, concat("\"", text, "\" ", why), concat("name one of ", known_isas()));
}

Isa allowed_isa() try {
  const std::string wanted = environment(isa_variable);
  return wanted.empty() ? best_isa() : isa_named(wanted);
} catch (const Error& error) {
  throw Error(Errc::usage, concat("environment variable ", isa_variable, ": ", error.parts().message),
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
