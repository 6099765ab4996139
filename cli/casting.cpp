// Nothing is cut off unless somebody asked for it.
#include "cli/casting.hpp"

#include "cli/generated_text.hpp"

#include "core/number.hpp"
#include "io/cast.hpp"
#include "io/quoting.hpp"

#include <cmath>

namespace axisloom::cli {
namespace {

constexpr const char* dtype_option = "--out-dtype";
constexpr const char* normalize_option = "--normalize";

bool is_float(Dtype dtype) {
  return core::kind_of(dtype) == core::NumberKind::floating;
}

bool is_of_pictures(Dtype dtype) {
  return dtype == Dtype::u8 || dtype == Dtype::u16;
}

std::string fault_of_factor(const std::string& text) {
  double number = 0;
  const bool good = CLI::detail::lexical_cast(text, number) && std::isfinite(number);
  return good ? "" : io::in_quotes(text) + " is not a finite number";
}

Dtype chosen_dtype(const CastOptions& options, const io::HostArray& input, Dtype result, bool picture) {
  if (!options.dtype.empty()) return parse_dtype(options.dtype);
  if (!picture || is_of_pictures(result)) return result;
  if (options.normalize) return input.image ? input.view.dtype : Dtype::u8;
  return input.image && is_float(result) ? input.view.dtype : result;
}

}  // namespace

void add_cast_options(App& command, CastOptions& options) {
  if (!has_option(command, dtype_option))  // products compute in the dtype that theirs names
    add_value(command, dtype_option, options.dtype, dtype_value,
              "Element type of the output: numbers are rounded, and those beyond the range of integers become its ends")
        ->group(file_group);
  command
      .add_flag(normalize_option, options.normalize,
                "Stretch the result over the range of the output's integers (pictures: u8 unless --out-dtype says "
                "otherwise), or floats from 0 to 1")
      ->group(file_group);
  add_value(command, "--scale", options.scale, "FACTOR",
            "Multiply the result by this number before it is rounded; what its dtype cannot hold is refused, unless "
            "--out-dtype is given")
      ->check(CLI::Validator([](const std::string& text) { return fault_of_factor(text); }, ""))
      ->excludes(option_of(command, normalize_option))
      ->group(file_group);
}

Cast::Cast(const CastOptions& options, const io::HostArray& input, Dtype result, bool picture)
    : dtype_(chosen_dtype(options, input, result, picture)),
      normalize_(options.normalize),
      asked_(!options.dtype.empty()),
      scale_(options.scale) {}

io::HostArray Cast::of(const io::HostArray& result) const {
  if (normalize_) return io::normalized(result, dtype_);
  return io::cast(result, dtype_, asked_ ? io::Beyond::nearest : io::Beyond::refused, scale_);
}

}  // namespace axisloom::cli
