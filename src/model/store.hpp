// Stores of measurements: JSON Lines files, one tuned configuration or the figures of one device a line.
//
//   {"candidate":"rearrange/tile","device":"NVIDIA H200","family":"nvidia sm_90","driver":"580.1","problem":"...",
//    "shape_class":"...","values":{"tile_in":64},"seconds":1e-3}
//   {"model":{"copy_rate":4.29e12,"launch":4e-6},"device":"NVIDIA H200","family":"nvidia sm_90"}
//
// Figures are those of DeviceModel, as many as were measured; seconds. Other members ("driver", "note", ...) say where
// a line comes from and are not looked at.
#pragma once

#include "model/device_model.hpp"

#include <axisloom/plan.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace axisloom::model {

struct Line {
  std::string place;  // "mine.jsonl:12"
  std::string device;
  std::string family;
};

struct Measurement : Line {
  std::string candidate;
  std::string problem;
  std::string shape_class;
  Configuration values;
  double seconds = 0;  // infinite when the line has none
  /// Set when the line was logged as unusable for its candidate, so that it is logged once. Shared by copies.
  std::shared_ptr<std::atomic_flag> reported = std::make_shared<std::atomic_flag>();
};

struct FiguresLine : Line {
  DeviceModel model;  // what was not measured is 0
};

/// Lines in the order of their files and of their places in them.
struct Store {
  std::vector<Measurement> measurements;
  std::vector<FiguresLine> figures;

  /// Adds the lines of one file; a line that cannot be used is logged and skipped.
  void add(std::string_view file, std::string_view text);

  /// The last figures of the device itself and of its family; null where there are none. They live as long as the
  /// store.
  struct Found {
    const DeviceModel *device, *family;
  };
  Found find_figures(std::string_view device, std::string_view family) const;
};

using SharedStore = std::shared_ptr<const Store>;

/// The user's store ($XDG_DATA_HOME/axisloom, else ~/.local/share/axisloom, every *.jsonl), read again when a file of
/// it has changed; and the store that travels inside the library. Neither is ever null.
SharedStore user_store();
SharedStore shipped_store();
struct Stores {
  SharedStore user, shipped;
};
inline Stores stores() {
  return {user_store(), shipped_store()};
}
/// Forgets what was read, for tests.
void reset_stores();

}  // namespace axisloom::model
