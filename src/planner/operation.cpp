// Operations as values, and their text as it would be typed.
#include <axisloom/ops.hpp>

#include "core/axes.hpp"
#include "core/number.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <iterator>

namespace axisloom {
namespace {

// Quoted unless a shell would pass it on as it is.
std::string quoted(const std::string& word) {
  static constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./,:=";
  if (!word.empty() && word.find_first_not_of(plain) == word.npos) return word;
  return '"' + word + '"';
}

/// The fewest digits from which the number can be read back.
std::string digits(double number) {
  return core::number_text(Dtype::f64, reinterpret_cast<const std::byte*>(&number));
}

constexpr const char* order_texts[] = {"fast", "portable"};
constexpr const char* norm_texts[] = {"2", "1", "inf"};
static_assert(std::size(order_texts) == size_t(Order::portable) + 1);
static_assert(std::size(norm_texts) == size_t(NormOrder::inf) + 1);

/// The text of a value of an enumeration; of what is none a number, which is refused where it is read.
template <class Value, size_t count>
std::string text_of(Value value, const char* const (&texts)[count]) {
  return size_t(value) < count ? texts[size_t(value)] : std::to_string(int(value));
}

}  // namespace

Axes::Axes(std::initializer_list<int> axes) : Axes(std::span(axes.begin(), axes.size())) {}

Axes::Axes(std::span<const int> axes) : text_(axes.empty() ? core::no_axes : joined(axes, ",")) {}

Axes Axes::none() {
  return Axes(std::span<const int>());
}

Scalar::Scalar(std::complex<double> number)
    : text_(core::number_text(Dtype::c128, reinterpret_cast<const std::byte*>(&number))) {}

std::string Scalar::typed(double number) {
  return digits(number);
}

std::string Scalar::typed(i64 number) {
  return std::to_string(number);
}

std::string Scalar::typed(u64 number) {
  return std::to_string(number);
}

ReduceOptions::operator Options() const {
  Options options;
  if (!axes.text().empty()) options.emplace_back("axes", axes.text());
  if (keepdims) options.emplace_back("keepdims", "");
  if (order != Order()) options.emplace_back("order", text_of(order, order_texts));
  if (ord != NormOrder()) options.emplace_back("ord", text_of(ord, norm_texts));
  if (initial) options.emplace_back("initial", initial->text());
  if (dtype) options.emplace_back("compute-dtype", name(*dtype));
  if (where) options.emplace_back("where", "");
  return options;
}

ProductOptions::operator Options() const {
  Options options;
  if (alpha != 1) options.emplace_back("alpha", digits(alpha));
  if (beta) options.emplace_back("beta", digits(*beta));
  if (relu) options.emplace_back("activation", "relu");
  if (out_dtype) options.emplace_back("out-dtype", name(*out_dtype));
  if (transpose_a) options.emplace_back("transpose-a", "");
  if (transpose_b) options.emplace_back("transpose-b", "");
  if (!broadcast) options.emplace_back("no-broadcast", "");
  return options;
}

std::string to_string(const Operation& op) {
  std::string text = op.name;
  for (const std::string& word : op.arguments) text += ' ' + quoted(word);
  for (const auto& [name, length] : op.lengths) text += concat(' ', name, '=', length);
  for (const auto& [name, value] : op.options) text += " --" + name + (value.empty() ? "" : ' ' + quoted(value));
  return text;
}

std::optional<std::string_view> Operation::option(std::string_view option_name) const {
  const auto found = std::ranges::find(options, option_name, &Options::value_type::first);
  if (found == options.end()) return std::nullopt;
  return found->second;
}

}  // namespace axisloom
