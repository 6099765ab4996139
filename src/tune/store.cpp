// Reading stores: what a line must hold, and when files are read again.
#include "tune/store.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>

#include "device/device.hpp"
#include "jit/environment.hpp"
#include "jit/jit.hpp"

namespace axisloom::tune {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Far above any measurement; what is larger was not written by a tuner, and is not worth the memory.
constexpr std::size_t max_line_bytes = 64 << 10;
constexpr std::uint64_t max_file_bytes = 64 << 20;
constexpr int max_depth = 8;

/// Why a line is skipped; caught by Store::add.
struct Unusable {
  std::string why;
};

/// Deepest nesting of brackets outside strings, looked at before parsing so that no parser meets a hostile depth.
int depth_of(std::string_view line) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_string && c == '\\')
      ++i;
    else if (c == '"')
      in_string = !in_string;
    else if (!in_string && (c == '{' || c == '['))
      deepest = std::max(deepest, ++depth);
    else if (!in_string && (c == '}' || c == ']'))
      --depth;
  }
  return deepest;
}

json parse_line(std::string_view line) {
  if (line.size() > max_line_bytes) throw Unusable{"longer than " + std::to_string(max_line_bytes) + " bytes"};
  if (depth_of(line) > max_depth) throw Unusable{"nested deeper than " + std::to_string(max_depth) + " levels"};
  json object = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) throw Unusable{"not a JSON object"};
  return object;
}

std::string text_member(const json& object, const char* name) {
  const auto at = object.find(name);
  if (at == object.end()) return {};
  if (!at->is_string()) throw Unusable{std::string("\"") + name + "\" is not a string"};
  return at->get<std::string>();
}

double positive_member(const json& object, const char* name, double missing) {
  const auto at = object.find(name);
  if (at == object.end()) return missing;
  const double value = at->is_number() ? at->get<double>() : 0;
  if (!(value > 0) || !std::isfinite(value)) throw Unusable{std::string("\"") + name + "\" is not a positive number"};
  return value;
}

double required_member(const json& object, const char* name) {
  if (!object.contains(name)) throw Unusable{std::string("\"") + name + "\" is missing"};
  return positive_member(object, name, 0);
}

Configuration values_of(const json& object) {
  const auto at = object.find("values");
  if (at == object.end() || !at->is_object()) throw Unusable{"\"values\" is not an object"};
  Configuration values;
  for (const auto& [name, value] : at->items()) {
    if (!value.is_number_integer()) throw Unusable{"the value of \"" + name + "\" is not an integer"};
    values[name] = value.get<std::int64_t>();
  }
  return values;
}

void read_environment(const json& object, const std::string& place, Line& line) {
  line.place = place;
  line.device = text_member(object, "device");
  line.family = text_member(object, "family");
  if (line.device.empty() && line.family.empty()) throw Unusable{"neither \"device\" nor \"family\" is given"};
}

RatesLine read_rates(const json& object, const std::string& place) {
  RatesLine line;
  read_environment(object, place, line);
  const json& rates = object.at("rates");
  if (!rates.is_object()) throw Unusable{"\"rates\" is not an object"};
  line.copy = required_member(rates, "copy");
  line.launch = required_member(rates, "launch");
  line.cached = positive_member(rates, "cached", line.copy);
  return line;
}

Measurement read_measurement(const json& object, const std::string& place) {
  Measurement line;
  read_environment(object, place, line);
  line.candidate = text_member(object, "candidate");
  if (line.candidate.empty()) throw Unusable{"neither \"candidate\" nor \"rates\" is given"};
  line.problem = text_member(object, "problem");
  line.shape_class = text_member(object, "shape_class");
  line.values = values_of(object);
  line.seconds = positive_member(object, "seconds", std::numeric_limits<double>::infinity());
  return line;
}

/// What tells one state of a folder from another.
struct Stamp {
  std::string path;
  std::int64_t changed = 0;  // nanoseconds
  std::uint64_t bytes = 0;
  std::uint64_t inode = 0;
  bool operator==(const Stamp&) const = default;
};

std::vector<Stamp> stamps_of(const fs::path& folder) {
  std::vector<Stamp> stamps;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != ".jsonl") continue;
    struct stat status {};
    if (::stat(it->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    stamps.push_back({it->path().string(), status.st_mtim.tv_sec * std::int64_t{1'000'000'000} + status.st_mtim.tv_nsec,
                      static_cast<std::uint64_t>(status.st_size), status.st_ino});
  }
  std::ranges::sort(stamps, {}, &Stamp::path);
  return stamps;
}

std::shared_ptr<const Store> read_user_store(const std::vector<Stamp>& stamps) {
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

std::shared_ptr<const Store> read_shipped_store() {
  auto store = std::make_shared<Store>();
  for (const std::string_view file : jit::embedded_files()) {
    if (file.starts_with("tuning/") && file.ends_with(".jsonl")) store->add(file, jit::embedded(file));
  }
  return store;
}

struct Stores {
  std::mutex mutex;
  std::vector<Stamp> stamps;
  std::shared_ptr<const Store> user;
  std::shared_ptr<const Store> shipped;
};

Stores& stores() {
  static Stores& instance = *new Stores;
  return instance;
}

}  // namespace

void Store::add(std::string_view file, std::string_view text) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;

    const std::string place = std::string(file) + ":" + std::to_string(number);
    try {
      const json object = parse_line(line);
      if (object.contains("rates")) {
        rates.push_back(read_rates(object, place));
      } else {
        measurements.push_back(read_measurement(object, place));
      }
    } catch (const Unusable& unusable) {
      device::log(place + " is skipped: " + unusable.why);
    }
  }
}

std::shared_ptr<const Store> user_store() {
  const auto folder = jit::user_folder("XDG_DATA_HOME", ".local/share");
  std::vector<Stamp> stamps = folder ? stamps_of(*folder) : std::vector<Stamp>{};
  {
    const std::lock_guard lock(stores().mutex);
    if (stores().user && stores().stamps == stamps) return stores().user;
  }
  // Read without the lock, since what is wrong with a line goes to the user's log callback.
  std::shared_ptr<const Store> read = read_user_store(stamps);
  const std::lock_guard lock(stores().mutex);
  stores().stamps = std::move(stamps);
  stores().user = read;
  return read;
}

std::shared_ptr<const Store> shipped_store() {
  {
    const std::lock_guard lock(stores().mutex);
    if (stores().shipped) return stores().shipped;
  }
  std::shared_ptr<const Store> read = read_shipped_store();
  const std::lock_guard lock(stores().mutex);
  stores().shipped = read;
  return read;
}

void reset_stores() {
  const std::lock_guard lock(stores().mutex);
  stores().stamps.clear();
  stores().user = nullptr;
  stores().shipped = nullptr;
}

}  // namespace axisloom::tune
