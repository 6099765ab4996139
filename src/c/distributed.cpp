// Plans of distributed arrays for C: transfers and copies as lists that are asked for their members.
#include <axisloom/distributed.hpp>

#include "c/handles.hpp"
#include "c/operation.hpp"
#include "c/redistribution.hpp"
#include "c/tensor.hpp"
#include "core/integers.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <memory>
#include <vector>

using namespace axisloom;

struct axl_transfers {
  Redistribution plan;
  std::vector<Transfer> list;
};
struct axl_copies {
  std::vector<axl_copy> list;
};

namespace axisloom::c {
namespace {

Dims dims_of(const std::int64_t* shape, std::int32_t ndim) {
  if (ndim < 0) throw Error(Errc::shape, concat("the array has ", ndim, " axes"), "give 0 or more");
  if (ndim > 0) required(shape, "the shape");
  return Dims(std::span(shape, size_t(ndim)));
}

axl_shape shape_of(const Dims& dims) {
  axl_shape shape{std::int32_t(dims.size()), {}};
  std::ranges::copy(dims, shape.extents);
  return shape;
}

template <class T>
const T& member(const std::vector<T>& list, size_t number, const char* what) {
  if (number < list.size()) return list[number];
  throw Error(Errc::usage, concat("there are ", list.size(), " ", what, ", none of number ", number), "count from 0");
}

const Transfer& transfer_at(const axl_transfers* transfers, size_t number) {
  return member(required(transfers, "the list of transfers").list, number, "transfers");
}

/// Offsets as C has them: in a local array from its element [0,...,0], which stands at `origin` of the view's buffer.
axl_copy copy_of(const TransferCopy& copy, i64 from_origin, i64 to_origin) {
  axl_copy result{};
  result.ndim = copy.from.rank();
  result.from_offset = copy.from.offset - from_origin;
  result.to_offset = copy.to.offset - to_origin;
  std::ranges::copy(copy.from.shape, result.extents);
  std::ranges::copy(copy.from.strides, result.from_strides);
  std::ranges::copy(copy.to.strides, result.to_strides);
  return result;
}

std::unique_ptr<axl_copies> listed(const std::vector<TransferCopy>& copies, i64 from_origin, i64 to_origin) {
  auto result = std::make_unique<axl_copies>();
  for (const TransferCopy& copy : copies) result->list.push_back(copy_of(copy, from_origin, to_origin));
  return result;
}

}  // namespace
}  // namespace axisloom::c

using namespace axisloom::c;

axl_status axl_redistribution_create(const char* pattern, const char* mesh, const std::int64_t* shape,
                                     std::int32_t ndim, const axl_length* lengths, size_t length_count,
                                     axl_redistribution** plan) {
  return guarded([&] {
    give(&required(plan, "the plan"),
         Redistribution(&required(pattern, "the pattern"), Mesh(&required(mesh, "the mesh")), dims_of(shape, ndim),
                        lengths_of(lengths, length_count)));
  });
}

axl_status axl_redistribution_ranks(const axl_redistribution* plan, std::int32_t* ranks) {
  return guarded([&] { required(ranks, "the number of ranks") = required(plan, "the plan").plan.mesh().ranks(); });
}

axl_status axl_redistribution_shapes(const axl_redistribution* pointer, std::int32_t rank, axl_shape* in,
                                     axl_shape* out) {
  return guarded([&] {
    const Redistribution& plan = required(pointer, "the plan").plan;
    const bool whole = rank == AXL_WHOLE;
    const axl_shape in_shape = shape_of(whole ? plan.in_shape() : plan.in_shape(rank));
    const axl_shape out_shape = shape_of(whole ? plan.out_shape() : plan.out_shape(rank));
    if (in) *in = in_shape;
    if (out) *out = out_shape;
  });
}

axl_status axl_redistribution_addends(const axl_redistribution* plan, std::int32_t* addends) {
  return guarded([&] { required(addends, "the number of addends") = required(plan, "the plan").plan.addends(); });
}

axl_status axl_redistribution_load(const axl_redistribution* plan, DLDataType dtype, axl_transfer_load* load) {
  return guarded([&] {
    axl_transfer_load& result = required(load, "the load");
    const TransferLoad most = required(plan, "the plan").plan.largest_load(dtype_of(dtype, the_tensor));
    result = {most.bytes_sent, most.bytes_received, most.messages_sent, most.messages_received};
  });
}

axl_status axl_redistribution_sends(const axl_redistribution* pointer, std::int32_t rank, axl_transfers** transfers) {
  return guarded([&] {
    axl_transfers** const place = &required(transfers, "the list of transfers");
    const Redistribution& plan = required(pointer, "the plan").plan;
    *place = new axl_transfers{plan, plan.sends(rank)};
  });
}

axl_status axl_redistribution_receives(const axl_redistribution* pointer, std::int32_t rank,
                                       axl_transfers** transfers) {
  return guarded([&] {
    axl_transfers** const place = &required(transfers, "the list of transfers");
    const Redistribution& plan = required(pointer, "the plan").plan;
    *place = new axl_transfers{plan, plan.receives(rank)};
  });
}

void axl_redistribution_free(axl_redistribution* plan) {
  delete plan;
}

size_t axl_transfers_count(const axl_transfers* transfers) {
  return transfers ? transfers->list.size() : 0;
}

axl_status axl_transfers_get(const axl_transfers* transfers, size_t number, axl_transfer* transfer) {
  return guarded([&] {
    axl_transfer& result = required(transfer, "the transfer");
    const Transfer& found = transfer_at(transfers, number);
    result = {found.from, found.to, found.elements};
  });
}

axl_status axl_transfers_pack(const axl_transfers* transfers, size_t number, const DLTensor* in, std::int64_t at,
                              axl_copies** copies) {
  return guarded([&] {
    axl_copies*& place = required(copies, "the list of copies");
    const Transfer& transfer = transfer_at(transfers, number);
    const View view = array_of(in, the_input).view();
    place = listed(transfers->plan.pack(transfer, view, at), view.offset, 0).release();
  });
}

axl_status axl_transfers_unpack(const axl_transfers* transfers, size_t number, const DLTensor* out, std::int64_t at,
                                axl_copies** copies) {
  return guarded([&] {
    axl_copies*& place = required(copies, "the list of copies");
    const Transfer& transfer = transfer_at(transfers, number);
    const View view = array_of(out, the_output).view();
    place = listed(transfers->plan.unpack(transfer, view, at), 0, view.offset).release();
  });
}

axl_status axl_transfers_direct(const axl_transfers* transfers, size_t number, const DLTensor* in, const DLTensor* out,
                                axl_copies** copies) {
  return guarded([&] {
    axl_copies*& place = required(copies, "the list of copies");
    const Transfer& transfer = transfer_at(transfers, number);
    const View from = array_of(in, the_input).view(), to = array_of(out, the_output).view();
    place = listed(transfers->plan.direct(transfer, from, to), from.offset, to.offset).release();
  });
}

void axl_transfers_free(axl_transfers* transfers) {
  delete transfers;
}

size_t axl_copies_count(const axl_copies* copies) {
  return copies ? copies->list.size() : 0;
}

axl_status axl_copies_get(const axl_copies* copies, size_t number, axl_copy* copy) {
  return guarded([&] {
    axl_copy& result = required(copy, "the copy");
    result = member(required(copies, "the list of copies").list, number, "copies");
  });
}

void axl_copies_free(axl_copies* copies) {
  delete copies;
}
