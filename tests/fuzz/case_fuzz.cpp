// Any text as a line of cases: expanded, read and planned for a made-up device, or a typed error. The input is the
// line, a NUL, and numbers that describe the device.
#include "planning.hpp"

#include "harness/case.hpp"
#include "harness/expand.hpp"
#include "planner/registry.hpp"

#include <algorithm>

namespace {

using namespace axisloom;

View placed(Dtype dtype, const Dims& shape, const harness::Placement& placement) {
  View view{dtype, shape, placement.strides.value_or(contiguous_strides(shape)), 0, placement.align};
  if (view.strides.size() == shape.size()) view.offset = placement.offset - view.bounds().low;
  return view;
}

void plan_case(const harness::Case& c, const DeviceInfo& info) {
  std::vector<View> views;
  for (std::size_t i = 0; i < c.shapes.size(); ++i) views.push_back(placed(c.dtypes[i], c.shapes[i], c.inputs[i]));
  const View result = result_view(c.op, views);
  views.push_back(placed(result.dtype, result.shape, c.output));
  PlanOptions options = c.options;
  options.in_place = c.in_place;
  fuzz::try_plan(c.op, views, info, options);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return ::setenv("AXISLOOM_CACHE_DIR", "off", 1);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Of a line that stands for thousands of cases the first few are enough.
  constexpr std::size_t most_cases = 4;
  const std::string all(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(all.find('\0'), size);
  fuzz::Numbers numbers(std::span(data, size).subspan(std::min(end + 1, size)));
  const DeviceInfo info = fuzz::device_from(numbers);
  try {
    std::vector<std::string> lines = harness::expand(all.substr(0, end));
    lines.resize(std::min(lines.size(), most_cases));
    for (const std::string& line : lines)
      if (!harness::parse_random(line)) plan_case(harness::parse_case(line), info);
  } catch (const Error&) {
    // Refused, with words.
  }
  return 0;
}
