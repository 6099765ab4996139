// Any operation with any views, options and device, put together from random bytes: a plan that keeps within the
// device's limits, or a typed error. Nothing is run.
#include "planning.hpp"

#include "planner/registry.hpp"

namespace {

using namespace axisloom;
using fuzz::Numbers;

/// Short texts from a list of what patterns, axes and layouts are made of.
std::string text_from(Numbers& numbers) {
  static constexpr std::string_view parts[] = {
      "a",    "b",    "c",       "d",  " ",   "(",  ")",     " -> ", ",",        "...",  "1",   "2",   "0",  "-1",
      "NCHW", "NHWC", "NC/8HW8", "->", "h w", "ij", "(a b)", "inf",  "portable", "relu", "f32", "i64", "nan"};
  std::string text;
  for (int count = numbers.byte() % 8; count > 0; --count)
    text += numbers.one_of(std::span<const std::string_view>(parts));
  return text;
}

View view_from(Numbers& numbers) {
  const auto dtypes = all_dtypes();
  View view;
  view.dtype = numbers.byte() == 255 ? static_cast<Dtype>(numbers.byte()) : dtypes[numbers.byte() % dtypes.size()];
  for (int rank = numbers.byte() % 8; rank > 0; --rank) view.shape.push_back(numbers.extent());
  if (numbers.yes()) {
    try {
      return View::contiguous(view.dtype, view.shape);
    } catch (const Error&) {
      return view;
    }
  }
  for (int axis = 0; axis < view.shape.size(); ++axis) view.strides.push_back(numbers.signed_number());
  view.offset = numbers.signed_number();
  view.align = numbers.yes() ? std::int64_t{1} << numbers.byte() % 10 : numbers.signed_number();
  return view;
}

Operation operation_from(Numbers& numbers) {
  const ops::OpEntry& entry = ops::registry()[numbers.byte() % ops::registry().size()];
  Operation op{std::string(entry.name)};
  for (std::size_t i = 0; i < entry.arguments.size(); ++i) op.arguments.push_back(text_from(numbers));
  if (!entry.options.empty())
    for (int count = numbers.byte() % 3; count > 0; --count) {
      const ops::Option& option = entry.options[numbers.byte() % entry.options.size()];
      op.options.emplace_back(option.name, option.value.empty() ? "" : text_from(numbers));
    }
  for (int count = numbers.byte() % 3; count > 0; --count)
    op.lengths.emplace_back(text_from(numbers), numbers.signed_number());
  return op;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return ::setenv("AXISLOOM_CACHE_DIR", "off", 1);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Numbers numbers(std::span(data, size));
  const DeviceInfo info = fuzz::device_from(numbers);
  PlanOptions options;
  options.index = static_cast<IndexWidth>(numbers.byte() % 3);
  options.in_place = numbers.byte() % 8 == 1;
  options.checked = numbers.byte() % 8 == 1;
  const Operation op = operation_from(numbers);
  std::vector<View> views;
  for (int count = numbers.byte() % 5; count > 0; --count) views.push_back(view_from(numbers));
  fuzz::try_plan(op, views, info, options);
  return 0;
}
