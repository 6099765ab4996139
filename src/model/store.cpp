// Reading stores: what a line must hold, and when files are read again.
#include "model/store.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <variant>

#include "core/flat_json.hpp"
#include "core/folder.hpp"
#include "core/integers.hpp"
#include "core/text.hpp"
#include "device/device.hpp"
#include "jit/environment.hpp"
#include "jit/jit.hpp"

namespace axisloom::model {
namespace {

namespace fs = std::filesystem;

// Far above any measurement; what is larger was not written by a tuner, and is not worth the memory.
constexpr size_t max_line_bytes = 64 << 10;
constexpr u64 max_file_bytes = 64 << 20;

/// Why a line is skipped; caught by Store::add.
struct Unusable {
  std::string why;
};

/// The members of a line.
class LineReader {
 public:
  explicit LineReader(std::string_view text) {
    if (text.size() > max_line_bytes) throw Unusable{concat("longer than ", max_line_bytes, " bytes")};
    try {
      members_ = core::flat_json(text);
    } catch (const std::invalid_argument& unreadable) {
      throw Unusable{unreadable.what()};
    }
  }

  bool has_figures() const { return members_.contains("model"); }
  FiguresLine figures(const std::string& place) const {
    FiguresLine line;
    read_environment(place, line);
    if (!is_object("model")) throw Unusable{"\"model\" is not an object"};
    bool any = false;
    for (const Figure& figure : model::figures()) {
      double& value = line.model.*figure.place;
      value = positive(concat("model.", figure.name), 0);
      any |= value > 0;
    }
    if (!any) throw Unusable{"\"model\" holds no figure"};
    return line;
  }

  Measurement measurement(const std::string& place) const {
    Measurement line;
    read_environment(place, line);
    line.candidate = text("candidate");
    if (line.candidate.empty()) throw Unusable{"neither \"candidate\" nor \"model\" is given"};
    line.problem = text("problem");
    line.shape_class = text("shape_class");
    line.values = configuration();
    line.seconds = positive("seconds", std::numeric_limits<double>::infinity());
    return line;
  }

 private:
  std::string text(const std::string& name) const {
    const auto at = members_.find(name);
    if (at == members_.end()) return {};
    if (const auto* const value = std::get_if<std::string>(&at->second)) return *value;
    throw Unusable{"\"" + name + "\" is not a string"};
  }
  bool is_object(std::string_view name) const {
    const auto at = members_.find(name);
    return at != members_.end() && at->second == core::JsonValue(core::JsonNest::object);
  }
  double positive(const std::string& name, double otherwise) const {
    const auto at = members_.find(name);
    if (at == members_.end()) return otherwise;
    const double number = core::number_of(at->second);
    if (!(number > 0) || !std::isfinite(number)) throw Unusable{"\"" + name + "\" is not a positive number"};
    return number;
  }
  Configuration configuration() const {
    constexpr std::string_view prefix = "values.";
    if (!is_object("values")) throw Unusable{"\"values\" is not an object"};
    Configuration values;
    for (const auto& [path, value] : members_) {
      if (!path.starts_with(prefix)) continue;
      const auto* const whole = std::get_if<i64>(&value);
      if (!whole) throw Unusable{"\"" + path + "\" is not an integer"};
      values[path.substr(prefix.size())] = *whole;
    }
    return values;
  }

  void read_environment(const std::string& place, Line& line) const {
    line.place = place;
    line.device = text("device");
    line.family = text("family");
    if (line.device.empty() && line.family.empty()) throw Unusable{"neither \"device\" nor \"family\" is given"};
  }

  core::FlatJson members_;
};

/// What tells one state of a folder from another.
struct Stamp {
  std::string path;
  i64 changed = 0;  // nanoseconds
  u64 bytes = 0;
  u64 inode = 0;
  bool operator==(const Stamp&) const = default;
};

std::vector<Stamp> stamps_of(const fs::path& folder) {
  std::vector<Stamp> stamps;
  for (const fs::path& path : core::entries_of(folder, "", ".jsonl")) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    stamps.push_back({path.string(), status.st_mtim.tv_sec * i64{1'000'000'000} + status.st_mtim.tv_nsec,
                      u64(status.st_size), status.st_ino});
  }
  return stamps;
}

SharedStore read_user_store(const std::vector<Stamp>& stamps) {
  auto store = std::make_shared<Store>();
  for (const Stamp& stamp : stamps) {
    std::ifstream in(stamp.path, std::ios::binary);
    if (!in || stamp.bytes > max_file_bytes) {
      device::log(stamp.path + " is skipped: " + (in ? "larger than 64 MiB" : "it cannot be read"));
      continue;
    }
    store->add(stamp.path, std::string(std::istreambuf_iterator<char>(in), {}));
  }
  return store;
}

SharedStore read_shipped_store(const std::vector<Stamp>&) {
  auto store = std::make_shared<Store>();
  for (const std::string_view file : jit::embedded_files())
    if (file.starts_with("tuning/") && file.ends_with(".jsonl")) store->add(file, jit::embedded(file));
  return store;
}

/// A store that was read, and the state of its files then.
struct Kept {
  std::mutex mutex;
  std::vector<Stamp> stamps;
  SharedStore store;
};
struct AllKept {
  Kept user, shipped;
};

AllKept& kept() {
  static AllKept& instance = *new AllKept;
  return instance;
}

/// The store, read again when its files are not what they were.
SharedStore current(Kept& kept, const std::vector<Stamp>& stamps, SharedStore (*read)(const std::vector<Stamp>&)) {
  {
    const std::lock_guard lock(kept.mutex);
    if (kept.store && kept.stamps == stamps) return kept.store;
  }
  // Read without the lock, since what is wrong with a line goes to the user's log callback.
  SharedStore fresh = read(stamps);
  const std::lock_guard lock(kept.mutex);
  kept.stamps = stamps;
  return kept.store = std::move(fresh);
}

}  // namespace

void Store::add(std::string_view file, std::string_view text) {
  for (size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = core::take_part(text, '\n');
    if (line.find_first_not_of(" \t\r") == line.npos) continue;

    const std::string place = concat(file, ":", number);
    try {
      const LineReader read(line);
      if (read.has_figures())
        figures.push_back(read.figures(place));
      else
        measurements.push_back(read.measurement(place));
    } catch (const Unusable& unusable) {
      device::log(place + " is skipped: " + unusable.why);
    }
  }
}

Store::Found Store::find_figures(std::string_view device, std::string_view wanted_family) const {
  const auto last = [&](std::string_view wanted, std::string Line::*name) -> const DeviceModel* {
    const auto line =
        std::find_if(figures.rbegin(), figures.rend(), [&](const FiguresLine& one) { return one.*name == wanted; });
    return line == figures.rend() || wanted.empty() ? nullptr : &line->model;
  };
  return {last(device, &Line::device), last(wanted_family, &Line::family)};
}

SharedStore user_store() {
  const auto folder = jit::user_folder("XDG_DATA_HOME", ".local/share");
  return current(kept().user, folder ? stamps_of(*folder) : std::vector<Stamp>{}, read_user_store);
}

SharedStore shipped_store() {
  return current(kept().shipped, {}, read_shipped_store);
}

void reset_stores() {
  for (Kept* const one : {&kept().user, &kept().shipped}) {
    const std::lock_guard lock(one->mutex);
    one->store = nullptr;
  }
}

}  // namespace axisloom::model
