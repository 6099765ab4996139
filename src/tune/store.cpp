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
#include <optional>
#include <variant>

#include "core/folder.hpp"
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

/// Takes from the parser what a line says, member by member. No document is built of it: one allocates when it is
/// destroyed, and where there is no memory left that ends the process.
class LineReader {
 public:
  // What the parser calls, in the names that it asks for; false would end the reading without a reason.
  bool null() { return take({}); }
  bool boolean(bool) { return take({}); }
  bool number_integer(std::int64_t value) { return take(value); }
  bool number_unsigned(std::uint64_t value) {
    if (value > std::numeric_limits<std::int64_t>::max()) return take(static_cast<double>(value));
    return take(static_cast<std::int64_t>(value));
  }
  bool number_float(double value, const std::string&) { return take(value); }
  bool string(std::string& value) { return take(std::move(value)); }
  bool binary(json::binary_t&) { return take({}); }
  bool start_object(std::size_t) { return open(true); }
  bool start_array(std::size_t) { return open(false); }
  bool end_object() { return --depth_ >= 0; }
  bool end_array() { return --depth_ >= 0; }
  bool key(std::string& name) {
    if (depth_ == 1) member_ = std::move(name);
    if (depth_ == 2) inner_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const json::exception&) { return false; }

  bool is_rates() const { return rates_.has_value(); }
  RatesLine rates(const std::string& place) const;
  Measurement measurement(const std::string& place) const;

 private:
  using Value = std::variant<std::monostate, std::string, std::int64_t, double>;  // the first: anything else

  bool open(bool object);
  bool take(Value value);
  void read_environment(const std::string& place, Line& line) const;

  int depth_ = 0;
  std::string member_, inner_;  // where the parser is: a member of the line, and one of that
  std::map<std::string, std::string, std::less<>> texts_ = {
      {"candidate", {}}, {"device", {}}, {"family", {}}, {"problem", {}}, {"shape_class", {}}};
  double seconds_ = std::numeric_limits<double>::infinity();
  std::optional<Configuration> values_;
  std::optional<std::map<std::string, double, std::less<>>> rates_;
};

bool LineReader::open(bool object) {
  if (depth_ == 0 && !object) throw Unusable{"not a JSON object"};
  if (depth_ == 1 && object && member_ == "values")
    values_.emplace();
  else if (depth_ == 1 && object && member_ == "rates")
    rates_.emplace();
  else if (depth_ > 0)
    take({});
  if (++depth_ > max_depth) throw Unusable{"nested deeper than " + std::to_string(max_depth) + " levels"};
  return true;
}

bool LineReader::take(Value value) {
  const auto positive = [&](const std::string& name) {
    const auto* const whole = std::get_if<std::int64_t>(&value);
    const auto* const real = std::get_if<double>(&value);
    const double number = whole ? static_cast<double>(*whole) : real ? *real : 0;
    if (!(number > 0) || !std::isfinite(number)) throw Unusable{"\"" + name + "\" is not a positive number"};
    return number;
  };
  if (depth_ == 0) throw Unusable{"not a JSON object"};
  if (depth_ == 1 && (member_ == "values" || member_ == "rates"))
    throw Unusable{"\"" + member_ + "\" is not an object"};
  if (depth_ == 1 && member_ == "seconds") seconds_ = positive(member_);
  if (const auto text = texts_.find(member_); depth_ == 1 && text != texts_.end()) {
    if (!std::holds_alternative<std::string>(value)) throw Unusable{"\"" + member_ + "\" is not a string"};
    text->second = std::get<std::string>(std::move(value));
  }
  if (depth_ == 2 && member_ == "values") {
    const auto* const whole = std::get_if<std::int64_t>(&value);
    if (!whole) throw Unusable{"the value of \"" + inner_ + "\" is not an integer"};
    (*values_)[inner_] = *whole;
  }
  if (depth_ == 2 && member_ == "rates" && (inner_ == "copy" || inner_ == "cached" || inner_ == "launch"))
    (*rates_)[inner_] = positive(inner_);
  return true;
}

void LineReader::read_environment(const std::string& place, Line& line) const {
  line.place = place;
  line.device = texts_.at("device");
  line.family = texts_.at("family");
  if (line.device.empty() && line.family.empty()) throw Unusable{"neither \"device\" nor \"family\" is given"};
}

RatesLine LineReader::rates(const std::string& place) const {
  RatesLine line;
  read_environment(place, line);
  for (const char* name : {"copy", "launch"})
    if (!rates_->contains(name)) throw Unusable{std::string("\"") + name + "\" is missing"};
  line.copy = rates_->at("copy");
  line.launch = rates_->at("launch");
  const auto cached = rates_->find("cached");
  line.cached = cached == rates_->end() ? line.copy : cached->second;
  return line;
}

Measurement LineReader::measurement(const std::string& place) const {
  Measurement line;
  read_environment(place, line);
  line.candidate = texts_.at("candidate");
  if (line.candidate.empty()) throw Unusable{"neither \"candidate\" nor \"rates\" is given"};
  line.problem = texts_.at("problem");
  line.shape_class = texts_.at("shape_class");
  if (!values_) throw Unusable{"\"values\" is missing"};
  line.values = *values_;
  line.seconds = seconds_;
  return line;
}

LineReader read_line(std::string_view line) {
  if (line.size() > max_line_bytes) throw Unusable{"longer than " + std::to_string(max_line_bytes) + " bytes"};
  LineReader reader;
  if (!json::sax_parse(line, &reader)) throw Unusable{"not a JSON object"};
  return reader;
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
  for (const fs::path& path : core::entries_of(folder, "", ".jsonl")) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    stamps.push_back({path.string(), status.st_mtim.tv_sec * std::int64_t{1'000'000'000} + status.st_mtim.tv_nsec,
                      static_cast<std::uint64_t>(status.st_size), status.st_ino});
  }
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
      const LineReader read = read_line(line);
      if (read.is_rates())
        rates.push_back(read.rates(place));
      else
        measurements.push_back(read.measurement(place));
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
