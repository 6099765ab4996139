#include "native/cards.hpp"

#include "distributed/cards/launches.hpp"
#include "native/streams.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace axisloom::python {
namespace {

using distributed::cards::Group;
using distributed::cards::Launches;
using distributed::cards::SlotCopy;
using distributed::cards::Stage;

std::vector<std::uint64_t> addresses_of(nb::handle numbers) {
  std::vector<std::uint64_t> addresses;
  for (const nb::handle number : numbers) addresses.push_back(nb::cast<std::uint64_t>(number));
  return addresses;
}

/// Of elements of so many bytes; which numbers they are does not matter.
Dtype dtype_of_width(int bytes) {
  for (const Dtype dtype : {Dtype::u8, Dtype::u16, Dtype::u32, Dtype::u64, Dtype::c128})
    if (size_of(dtype) == std::size_t(bytes)) return dtype;
  throw Error(Errc::usage, "elements have 1, 2, 4, 8 or 16 bytes, not " + std::to_string(bytes));
}

Dims dims_of(nb::handle numbers) {
  Dims dims;
  for (const nb::handle number : numbers) dims.push_back(nb::cast<std::int64_t>(number));
  return dims;
}

/// Python's half of a copy: (shape, from_offset, from_strides, to_offset, to_strides).
SlotCopy slot_copy(nb::handle of, Dtype dtype, const std::vector<std::int64_t>& aligned) {
  const auto parts = nb::cast<nb::tuple>(of);
  const nb::tuple copy = parts[2];
  SlotCopy made{.from = nb::cast<int>(parts[0]), .to = nb::cast<int>(parts[1]), .copy = {}};
  const auto view = [&](int slot, int offset) {
    return View{.dtype = dtype,
                .shape = dims_of(copy[0]),
                .strides = dims_of(copy[std::size_t(offset) + 1]),
                .offset = nb::cast<std::int64_t>(copy[std::size_t(offset)]),
                .align = aligned.at(std::size_t(slot))};
  };
  made.copy.from = view(made.from, 1);
  made.copy.to = view(made.to, 3);
  return made;
}

std::vector<SlotCopy> slot_copies(nb::handle of, Dtype dtype, const std::vector<std::int64_t>& aligned) {
  std::vector<SlotCopy> copies;
  for (const nb::handle one : of) copies.push_back(slot_copy(one, dtype, aligned));
  return copies;
}

struct CardGroup {
  std::shared_ptr<const Group> group;
};

void construct_group(CardGroup* self, int device, int rank, nb::handle flags, double patience,
                     std::int64_t most_bytes) {
  const auto nanoseconds = std::uint64_t(patience * 1e9);
  new (self)
      CardGroup{std::make_shared<const Group>(cuda_device(device), rank, addresses_of(flags), nanoseconds, most_bytes)};
}

void construct_launches(Launches* self, const CardGroup& group, int width, nb::handle fixed, nb::handle in_out_aligned,
                        nb::handle stages) {
  const std::vector<std::uint64_t> slots = addresses_of(fixed);
  std::vector<std::int64_t> aligned;
  for (const nb::handle number : in_out_aligned) aligned.push_back(nb::cast<std::int64_t>(number));
  for (const std::uint64_t address : slots)
    aligned.push_back(std::int64_t(std::min<std::uint64_t>(address & -address, 256)));
  const Dtype dtype = dtype_of_width(width);
  std::vector<Stage> listed;
  for (const nb::handle one : stages) {
    const auto stage = nb::cast<nb::tuple>(one);
    listed.push_back({.sends = slot_copies(stage[0], dtype, aligned),
                      .kept = slot_copies(stage[1], dtype, aligned),
                      .before = nb::cast<bool>(stage[2]),
                      .after = nb::cast<bool>(stage[3])});
  }
  new (self) Launches(group.group, slots, listed);
}

}  // namespace

void bind_cards(nb::module_& module) {
  module.attr("SINGLE_LAUNCH") = distributed::cards::most_single;
  module.attr("LEAST_ROUND") = distributed::cards::least_round;
  module.attr("MOST_ROUNDS") = distributed::cards::most_rounds;
  nb::class_<CardGroup>(module, "CardGroup", "What a rank's launches share.")
      .def("__init__", construct_group, nb::arg("device"), nb::arg("rank"), nb::arg("flags"), nb::arg("patience"),
           nb::arg("most_bytes"));
  nb::class_<Launches>(module, "CardLaunches", "Copies between cards and their meetings, launched by one call.")
      .def("__init__", construct_launches, nb::arg("group"), nb::arg("width"), nb::arg("fixed"), nb::arg("alignments"),
           nb::arg("stages"))
      .def_prop_ro("calls", &Launches::calls)
      .def(
          "run",
          [](const Launches& self, int device, std::uintptr_t stream, std::uintptr_t in, std::uintptr_t out,
             bool apart) { self.run(queue_on(cuda_device(device), reinterpret_cast<void*>(stream)), in, out, apart); },
          nb::arg("device"), nb::arg("stream"), nb::arg("input"), nb::arg("output"), nb::arg("apart"));
}

}  // namespace axisloom::python
