#include "native/redistribution.hpp"

#include <axisloom/distributed.hpp>
#include <axisloom/error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace axisloom::python {
namespace {

nb::tuple tuple_of(const Dims& dims) {
  nb::list list;
  for (const std::int64_t value : dims) list.append(value);
  return nb::tuple(list);
}

Dims dims_of(nb::handle numbers) {
  Dims dims;
  for (const nb::handle number : numbers) dims.push_back(nb::cast<std::int64_t>(number));
  return dims;
}

void construct(Redistribution* self, const char* pattern, const char* mesh, nb::handle shape, const nb::dict& lengths) {
  Lengths named;
  for (const auto [name, length] : lengths)
    named.emplace_back(nb::cast<const char*>(name), nb::cast<std::int64_t>(length));
  new (self) Redistribution(pattern, Mesh(mesh), dims_of(shape), named);
}

/// How a local array lies, in elements from its lowest one on. A copy is the same for every dtype, so that of bytes
/// stands for all.
View view_of(const Dims& shape, nb::handle strides) {
  View view = View::contiguous(Dtype::u8, shape);
  if (strides.is_none()) return view;
  view.strides = dims_of(strides);
  for (int axis = 0; axis < std::min(shape.size(), view.strides.size()); ++axis)
    if (shape[axis] > 0) view.offset -= std::min<std::int64_t>(view.strides[axis], 0) * (shape[axis] - 1);
  return view;
}

/// Shape, and where both sides begin and how they step, in elements.
nb::list copies(const std::vector<TransferCopy>& all) {
  nb::list list;
  for (const TransferCopy& copy : all)
    list.append(nb::make_tuple(tuple_of(copy.from.shape), copy.from.offset, tuple_of(copy.from.strides), copy.to.offset,
                               tuple_of(copy.to.strides)));
  return list;
}

nb::list packs(const Redistribution& self, int rank, nb::handle strides) {
  const View in = view_of(self.in_shape(rank), strides);
  nb::list list;
  std::int64_t at = 0;
  for (const Transfer& transfer : self.sends(rank)) {
    if (transfer.to == rank) continue;
    list.append(nb::make_tuple(transfer.to, transfer.elements, copies(self.pack(transfer, in, at))));
    at += transfer.elements;
  }
  return list;
}

nb::list unpacks(const Redistribution& self, int rank, nb::handle strides) {
  const View out = view_of(self.out_shape(rank), strides);
  nb::list list;
  std::int64_t at = 0;
  for (const Transfer& transfer : self.receives(rank)) {
    if (transfer.from == rank) continue;
    list.append(nb::make_tuple(transfer.from, transfer.elements, copies(self.unpack(transfer, out, at))));
    at += transfer.elements;
  }
  return list;
}

nb::list direct(const Redistribution& self, int rank, nb::handle strides) {
  const View in = view_of(self.in_shape(rank), strides);
  nb::list list;
  for (const Transfer& transfer : self.sends(rank)) {
    const View out = View::contiguous(Dtype::u8, self.out_shape(transfer.to));
    list.append(nb::make_tuple(transfer.to, transfer.elements, copies(self.direct(transfer, in, out))));
  }
  return list;
}

nb::list kept_copies(const Redistribution& self, int rank, nb::handle in_strides, nb::handle out_strides) {
  const View in = view_of(self.in_shape(rank), in_strides), out = view_of(self.out_shape(rank), out_strides);
  for (const Transfer& transfer : self.sends(rank))
    if (transfer.to == rank) return copies(self.direct(transfer, in, out));
  return {};
}

nb::tuple load(const Redistribution& self, int element_bytes) {
  const TransferLoad most = self.largest_load(Dtype::u8);
  return nb::make_tuple(most.bytes_sent * element_bytes, most.bytes_received * element_bytes, most.messages_sent,
                        most.messages_received);
}

}  // namespace

void bind_redistribution(nb::module_& module) {
  // PyTorch keeps an operator's functions, and with them the plans that these keep, until after Python has ended.
  nb::set_leak_warnings(false);
  const auto strides = [](const char* name) { return nb::arg(name).none() = nb::none(); };
  nb::class_<Redistribution>(module, "Redistribution",
                             "Who sends what to whom where a distributed array is rearranged.")
      .def("__init__", construct, nb::arg("pattern"), nb::arg("mesh"), nb::arg("shape"), nb::arg("lengths"))
      .def_prop_ro("ranks", [](const Redistribution& self) { return self.mesh().ranks(); })
      .def_prop_ro("addends", &Redistribution::addends)
      .def_prop_ro("in_shape", [](const Redistribution& self) { return tuple_of(self.in_shape()); })
      .def_prop_ro("out_shape", [](const Redistribution& self) { return tuple_of(self.out_shape()); })
      .def("local_in_shape", [](const Redistribution& self, int rank) { return tuple_of(self.in_shape(rank)); })
      .def("local_out_shape", [](const Redistribution& self, int rank) { return tuple_of(self.out_shape(rank)); })
      .def("packs", packs, nb::arg("rank"), strides("strides"))
      .def("unpacks", unpacks, nb::arg("rank"), strides("strides"))
      .def("direct", direct, nb::arg("rank"), strides("strides"))
      .def("kept", kept_copies, nb::arg("rank"), strides("in_strides"), strides("out_strides"))
      .def("largest_load", load, nb::arg("element_bytes"));
}

}  // namespace axisloom::python
