// What the demo shows: operations carried out, timed and checked, a row for each and each device.
#pragma once

#include "harness/table.hpp"

#include "io/io.hpp"

#include <axisloom/plan.hpp>

#include <filesystem>
#include <functional>

namespace axisloom::cli {

/// An operation that was run several times.
struct Done {
  io::HostArray result;
  PlanReport report;
  double operations = 0;  // of arithmetic; 0 for moves
  double seconds = 0;     // by the device's clock, the best of the runs
};

class Show {
 public:
  Show(std::vector<Device> devices, std::filesystem::path folder)
      : devices_(std::move(devices)), folder_(std::move(folder)) {}

  /// Carries an operation out on every device and holds the results against the oracle's; returns that of the first,
  /// which is saved in `file`, unless empty.
  io::HostArray step(const char* what, const Operation& op, const io::HostArray& input, const std::string& file,
                     const PlanOptions& options = {});
  /// The same, the results being held bit for bit against an array that is known.
  io::HostArray step_to(const char* what, const Operation& op, std::span<const io::HostArray> inputs,
                        const io::HostArray& known, const PlanOptions& options = {});
  void save(const io::HostArray& array, const std::string& file) const;

  bool right() const noexcept { return right_; }
  const harness::Table& table() const noexcept { return table_; }

 private:
  using Judge = std::function<bool(const io::HostArray& result)>;
  io::HostArray carry_out_everywhere(const char* what, const Operation& op, std::span<const io::HostArray> inputs,
                                     const PlanOptions& options, const std::string& file, const Judge& is_right);
  void add_row(const char* what, const Device& device, const Done& done, const std::string& file, bool right);

  std::vector<Device> devices_;
  std::filesystem::path folder_;
  bool right_ = true;
  harness::Table table_{{"what", "shapes", "device", "candidate", "time", "GB/s", "GFLOP/s", "check", "file"}};
};

}  // namespace axisloom::cli
