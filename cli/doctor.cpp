// axisloom doctor: what was looked for, what was found, whether it works, and what to install.
#include "cli/app.hpp"
#include "cli/drivers.hpp"
#include "cli/findings.hpp"
#include "cli/messages.hpp"
#include "harness/compare.hpp"

#include "device/device.hpp"
#include "device/opencl/pocl.hpp"
#include "jit/environment.hpp"
#include "jit/jit.hpp"

#include <filesystem>

namespace axisloom::cli {
namespace {

/// Returns what to do where the runtime shows no device.
std::string look_at_runtime(device::Runtime& runtime, FindingSink& findings) {
  std::string remedy;
  for (const device::RuntimeStatus& status : runtime.status()) {
    const std::string where = status.found ? status.library : "looked for " + joined(status.tried, ", ");
    findings.add({status.name, status.found ? "ok" : "missing", where, status.remedy});
    for (const auto& [fact, value] : status.facts) findings.add({status.name, "note", fact + ": " + value});
    if (!status.found) remedy = status.remedy;
  }
  return remedy;
}

constexpr const char* host_remedy = "try AXISLOOM_ISA=baseline, or name another device with --device";

// A launch that a wrong driver, compiler or kernel cannot survive unnoticed: small, but with partial tiles on both
// sides.
Finding try_device(const DeviceInfo& info) {
  const Operation op = rearrange("h w c -> w c h");
  io::HostArray input = io::HostArray::allocate(View::contiguous(Dtype::u32, {37, 19, 3}));
  size_t value = 0;
  for (std::byte& byte : input.span()) byte = std::byte(value++ * 167 >> 3);
  try {
    const io::HostArray result = io::HostArray::allocate(result_view(op, std::span(&input.view, 1)));
    const View views[] = {input.view, result.view};
    const std::span<const std::byte> bytes[] = {input.span()};
    const PlanReport report = run_on_host(op, views, bytes, result.span(), Device::open(info.spec()));
    if (const auto difference = difference_from_oracle(op, std::span(&input, 1), result))
      return {info.label(), "failed", "a small rearrange differs from the oracle " + to_string(*difference),
              info.api == Api::host ? host_remedy : "update the driver, or name another device with --device", true};
    return {info.label(), "ok", fmt::format("a small rearrange is right (candidate {})", report.candidate), "", true};
  } catch (const Error& error) {
    return {info.label(), "failed", error.parts().message, error.parts().remedy, true};
  }
}

Finding look_at_cache() {
  const jit::CacheFolder folder = jit::cache_folder();
  if (folder.path.empty()) return {"program cache", "note", folder.why};
  return {"program cache", "ok",
          fmt::format("{} ({} programs, {})", folder.path, folder.entries, human_bytes(folder.bytes))};
}

void look_at_stores(FindingSink& findings) {
  std::error_code ignored;
  if (const auto user = jit::user_folder("XDG_DATA_HOME", ".local/share")) {
    const bool present = std::filesystem::is_directory(*user, ignored);
    findings.add({"configurations", "note", "the user's: " + user->string() + (present ? "" : " (none yet)")});
  }
  for (const std::string_view file : jit::embedded_files())
    if (file.ends_with(".jsonl")) findings.add({"configurations", "note", concat("shipped: ", file)});
}

void look_at_all(FindingSink& findings) {
  Texts remedies;
  for (const Api api : device::all_apis) {
    findings.looking_at(std::string(device::title(api)));
    const std::string remedy = look_at_runtime(device::runtime_of(api), findings);
    if (!remedy.empty()) remedies.push_back(fmt::format("for {}: {}", device::title(api), remedy));
  }
  findings.add(look_at_cache());
  look_at_stores(findings);
  findings.looking_at("devices");
  const std::vector<DeviceInfo> infos = devices();
  for (const DeviceInfo& info : infos) {
    findings.looking_at(info.label());
    findings.add(try_device(info));
  }
  if (infos.empty()) findings.add({"device", "missing", "no device can be used", joined(remedies, "; ")});
}

// What a driver says where it ends a process has gone to standard error.
void advise(std::vector<Finding>& findings) {
  for (Finding& finding : findings) {
    if (finding.state != "failed" || !finding.remedy.empty()) continue;
    if (finding.subject.starts_with(name(Api::host))) {
      finding.remedy = host_remedy;
      continue;
    }
    const bool may_be_pocl = finding.subject.starts_with(name(Api::opencl)) ||
                             finding.subject == device::title(Api::opencl) || finding.subject == "devices";
    finding.remedy =
        may_be_pocl
            ? fmt::format("remove {}, whose files may be damaged, if it is PoCL's device; else update the driver",
                          device::opencl::pocl_folder())
            : "update the driver";
    distrust_drivers();
  }
}

// Which devices are ready, in one line; else what is missing.
Finding conclusion(const std::vector<Finding>& findings) {
  Texts ready, failed;
  for (const Finding& finding : findings) {
    if (finding.state == "failed") failed.push_back(finding.subject);
    if (finding.device && finding.state == "ok") ready.push_back(finding.subject);
  }
  std::string text = ready.empty() ? "no device can be used" : joined(ready, ", ");
  if (!failed.empty()) text += "; failed: " + joined(failed, ", ");
  return {"conclusion", ready.empty() ? "not ready" : "ready", text};
}

// Paths and remedies are long: for people each remedy stands below what it is for.
std::string as_list(const std::vector<Finding>& findings, const Finding& last) {
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{:<8}{}: {}\n", finding.state, finding.subject, finding.detail);
    if (!finding.remedy.empty()) text += fmt::format("        remedy: {}\n", finding.remedy);
  }
  return text + fmt::format("{}: {}\n", last.state, last.detail);
}

Table as_table(std::vector<Finding> findings, const Finding& last) {
  Table table({"subject", "state", "detail", "remedy"});
  findings.push_back(last);
  for (const Finding& finding : findings) table.add({finding.subject, finding.state, finding.detail, finding.remedy});
  return table;
}

void run_doctor(Context& context) {
  arrange_drivers();
  std::vector<Finding> findings = found_by_child(look_at_all);
  advise(findings);
  const Finding last = conclusion(findings);
  for (const Finding& finding : findings) {
    if (finding.state == "failed") context.exit_code = exit_code(Errc::device);
    if (finding.subject == "device" && finding.state == "missing") context.exit_code = exit_no_device;
  }
  if (context.format == Format::table) return print(as_list(findings, last));
  print(as_table(findings, last), context);
}

}  // namespace

void add_doctor(App& app, Context& context) {
  add_command(app, context,
              {"doctor",
               "Show which runtimes and devices were found, try each with a small launch, and say what to install.",
               "axisloom doctor\naxisloom doctor --format md",
               {.format = true}},
              run_doctor);
}

}  // namespace axisloom::cli
