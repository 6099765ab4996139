// axisloom doctor: what was looked for, what was found, whether it works, and what to install.
#include "app.hpp"
#include "compare.hpp"
#include "messages.hpp"

#include "device/device.hpp"
#include "jit/environment.hpp"
#include "jit/jit.hpp"

#include <axisloom/device.hpp>
#include <axisloom/error.hpp>
#include <axisloom/plan.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

namespace axisloom::cli {
namespace {

/// One thing that was looked at. `state`: ok, missing, failed, or note.
struct Finding {
  std::string subject;
  std::string state;
  std::string detail;
  std::string remedy;
};

void look_at_runtime(device::Runtime& runtime, std::vector<Finding>& findings) {
  for (const device::RuntimeStatus& status : runtime.status()) {
    const std::string where =
        status.found ? status.library : fmt::format("looked for {}", fmt::join(status.tried, ", "));
    findings.push_back({status.name, status.found ? "ok" : "missing", where, status.remedy});
    for (const auto& [fact, value] : status.facts) findings.push_back({status.name, "note", fact + ": " + value, ""});
  }
}

// A launch that a wrong driver, compiler or kernel cannot survive unnoticed: small, but with partial tiles on both
// sides.
Finding try_device(const DeviceInfo& info) {
  const Operation op = rearrange("h w c -> w c h");
  io::HostArray input = io::HostArray::allocate(View::contiguous(Dtype::u32, {37, 19, 3}));
  std::size_t value = 0;
  for (std::byte& byte : input.span()) byte = static_cast<std::byte>(value++ * 167 >> 3);
  try {
    const View views[] = {input.view, result_view(op, std::span(&input.view, 1))};
    const io::HostArray result = io::HostArray::allocate(views[1]);
    const std::span<const std::byte> bytes[] = {input.span()};
    const PlanReport report = run_on_host(op, views, bytes, result.span(), Device::open(info.spec()));
    const OracleResult oracle = oracle_result(op, std::span(&input, 1), views[1]);
    if (const auto difference = first_difference(views[1], oracle.want.memory.get(), result.memory.get(), oracle.bound))
      return {info.label(), "failed", "a small rearrange differs from the oracle " + to_string(*difference),
              "update the driver, or name another device with --device"};
    return {info.label(), "ok", fmt::format("a small rearrange is right (candidate {})", report.candidate), ""};
  } catch (const Error& error) {
    return {info.label(), "failed", error.parts().message, error.parts().remedy};
  }
}

Finding look_at_cache() {
  const jit::CacheFolder folder = jit::cache_folder();
  if (folder.path.empty()) return {"program cache", "note", "in memory only: " + folder.why, ""};
  return {"program cache", "ok",
          fmt::format("{} ({} programs, {})", folder.path, folder.entries, human_bytes(folder.bytes)), ""};
}

void look_at_stores(std::vector<Finding>& findings) {
  std::error_code ignored;
  const auto user = jit::user_folder("XDG_DATA_HOME", ".local/share");
  if (user) {
    const bool present = std::filesystem::is_directory(*user, ignored);
    findings.push_back(
        {"configurations", "note", fmt::format("the user's: {}{}", user->string(), present ? "" : " (none yet)"), ""});
  }
  for (const std::string_view file : jit::embedded_files())
    if (file.ends_with(".jsonl")) findings.push_back({"configurations", "note", fmt::format("shipped: {}", file), ""});
}

// Paths and remedies are long: for people each remedy stands below what it is for.
std::string as_list(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{:<8}{}: {}\n", finding.state, finding.subject, finding.detail);
    if (!finding.remedy.empty()) text += fmt::format("        remedy: {}\n", finding.remedy);
  }
  return text;
}

Table as_table(const std::vector<Finding>& findings) {
  Table table({"subject", "state", "detail", "remedy"});
  for (const Finding& finding : findings) table.add({finding.subject, finding.state, finding.detail, finding.remedy});
  return table;
}

void run(Context& context) {
  std::vector<Finding> findings;
  look_at_runtime(device::cuda_runtime(), findings);
  look_at_runtime(device::opencl_runtime(), findings);
  findings.push_back(look_at_cache());
  look_at_stores(findings);
  const std::vector<DeviceInfo> infos = devices();
  for (const DeviceInfo& info : infos) {
    const Finding finding = try_device(info);
    if (finding.state != "ok") context.exit_code = exit_code(Errc::device);
    findings.push_back(finding);
  }
  if (infos.empty()) {
    context.exit_code = exit_no_device;
    findings.push_back({"device", "missing", "no device can be used",
                        "install pocl-opencl-icd for the CPU, or the driver of your GPU"});
  }
  print(context.format == Format::table ? as_list(findings) : as_table(findings).text(context.format));
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "doctor", "Say which runtimes and devices were found, try each with a small launch, and say what to install.");
  add_common_options(*command, context, {.format = true});
  set_examples(*command, "axisloom doctor\naxisloom doctor --format md");
  set_action(*command, [&context] { run(context); });
}

}  // namespace axisloom::cli
