// What tests that run a kernel on the host share: a launch's constants against those that the kernel was compiled with, and
// its groups, one after the other, each item a thread. Included after the words.
#pragma once

#include "host_intrinsics.h"

namespace axisloom::emulated {

using Constants = std::map<std::string, std::int64_t>;

/// The constants that a launch is compiled with, types left out.
inline Constants constants_of(const Launch& launch) {
  const Constants forms = {
      {"FORM_SAME", FORM_SAME}, {"FORM_CAST", FORM_CAST}, {"FORM_F16", FORM_F16}, {"FORM_BF16", FORM_BF16}};
  std::istringstream text(launch.kernel.defines.text());
  Constants constants;
  for (std::string define, name, value; text >> define >> name >> value;)
    if (name != "ELEMENT" && name != "RESULT" && name != "ACC" && name != "SCALAR")
      constants[name] = forms.contains(value) ? forms.at(value) : std::stoll(value);
  return constants;
}

/// The specialisation's constants are those of the launch, all of them.
inline void expect_constants(const Constants& constants, const Launch& launch) {
  EXPECT_EQ(constants, constants_of(launch));
}

/// Calls prepare(item) once and run_group() for each group on a thread for each of `items`. Expects no fault, and nothing
/// written beyond local memory, which begins at `begin` in its address space.
template <class Prepare, class RunGroup>
void run_groups(const Launch& launch, u32 items, u32 begin, Prepare prepare, RunGroup run_group) {
  EXPECT_EQ(launch.geometry.items, items);
  struct alignas(128) Line {
    std::byte bytes[128];
  };
  std::vector<Line> local(launch.geometry.local_bytes / sizeof(Line) + 2);
  auto* const first = reinterpret_cast<std::byte*>(local.data());
  const std::size_t all = local.size() * sizeof(Line);
  std::fill(first, first + all, std::byte{0xff});
  std::barrier<> arrived(items);
  Group shared{reinterpret_cast<u8*>(first), begin, arrived};
  group_total = static_cast<u32>(launch.geometry.groups);
  std::vector<std::jthread> threads;
  for (u32 item = 0; item < items; ++item)
    threads.emplace_back([&, item] {
      group = &shared;
      item_number = item;
      prepare(item);
      for (group_number = 0; group_number < group_total; ++group_number) {
        run_group();
        arrived.arrive_and_wait();
      }
    });
  threads.clear();
  EXPECT_EQ(shared.faults, 0);
  for (std::size_t at = launch.geometry.local_bytes; at < all; ++at)
    ASSERT_EQ(first[at], std::byte{0xff}) << "written beyond local memory";
}

}  // namespace axisloom::emulated
