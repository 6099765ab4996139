// What the demo shows: operations carried out, timed and checked, a row each.
#pragma once

#include "harness/table.hpp"

#include "io/io.hpp"

#include <axisloom/plan.hpp>

#include <filesystem>

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
  Show(Device device, std::filesystem::path folder) : device_(std::move(device)), folder_(std::move(folder)) {}

  /// Carries an operation out and holds the result against the oracle's; `file`: where to save it, unless empty.
  io::HostArray step(const char* what, const Operation& op, const io::HostArray& input, const std::string& file,
                     const PlanOptions& options = {});
  /// The same, the result being held bit for bit against an array that is known.
  io::HostArray step_to(const char* what, const Operation& op, std::span<const io::HostArray> inputs,
                        const io::HostArray& known, const PlanOptions& options = {});
  void save(const io::HostArray& array, const std::string& file) const;

  bool right() const noexcept { return right_; }
  const harness::Table& table() const noexcept { return table_; }

 private:
  void add_row(const char* what, const Done& done, const std::string& file, bool right);

  Device device_;
  std::filesystem::path folder_;
  bool right_ = true;
  harness::Table table_{{"what", "shapes", "candidate", "time", "GB/s", "GFLOP/s", "check", "file"}};
};

}  // namespace axisloom::cli
