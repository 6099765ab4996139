// Who sends what to whom: both sides of a pattern, and what each pair of ranks has in common.
#include <axisloom/distributed.hpp>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "core/checked.hpp"
#include "core/pattern.hpp"
#include "core/text.hpp"
#include "distributed/copies.hpp"
#include "distributed/distribution.hpp"
#include "distributed/peers.hpp"

namespace axisloom {

using core::BoundPattern;
using distributed::Block;
using distributed::Common;
using distributed::Distribution;

struct RedistributionImpl {
  std::string text;
  Lengths lengths;
  Mesh mesh;
  Dims in_shape, out_shape;
  std::vector<i64> extents;  // of the axes of both sides
  Distribution in, out;
  std::vector<int> in_axis, out_axis;  // of the arrays, by elementary axis; -1 where a side lacks it
  distributed::Peers peers;
  bool empty = false;

  std::vector<Block> blocks_of(const Distribution& side, int rank) const {
    return distributed::local_blocks(side, extents, mesh.coordinates(rank));
  }
};

namespace {

using Impl = RedistributionImpl;
using AxisParts = std::vector<std::vector<Common>>;  // by elementary axis

auto in_context(std::string_view pattern, const Mesh& mesh, const Dims& shape, auto&& body) {
  try {
    return body();
  } catch (const Error& error) {
    throw error.with({.op = concat("rearrange \"", pattern, "\" over the mesh \"", to_string(mesh), "\""),
                      .shapes = to_string(shape)});
  }
}

std::vector<int> array_axes(const Distribution& side) {
  std::vector<int> axes(side.axis_cuts.size(), -1);
  for (size_t dim = 0; dim < side.dims.size(); ++dim)
    for (const int axis : side.dims[dim].axes) axes[axis] = int(dim);
  return axes;
}

/// What two blocks have in common along every axis. False where it is nothing along one of them.
bool common_parts(const Block& in, const Block& out, AxisParts& parts) {
  parts.resize(in.size());
  for (size_t axis = 0; axis < in.size(); ++axis) {
    parts[axis].clear();
    distributed::add_common(in[axis], out[axis], parts[axis]);
    if (parts[axis].empty()) return false;
  }
  return true;
}

/// Elements that travel: along a new axis one for each part.
i64 elements_of(const Impl& impl, const AxisParts& parts) {
  i64 elements = 1;
  for (size_t axis = 0; axis < parts.size(); ++axis) {
    i64 along = 0;
    for (const Common& part : parts[axis]) along += impl.in_axis[axis] < 0 ? 1 : part.size();
    elements *= along;
  }
  return elements;
}

void add_loops(const Impl& impl, int axis, const Common& part, TransferBox& box) {
  const int from = impl.in_axis[axis], to = impl.out_axis[axis];
  if (from >= 0) box.from[from] += part.in;
  box.to[to] += part.out;
  for (const Common::Level& level : {part.periods, part.runs, part.run})
    if (level.extent > 1) box.loops.push_back({level.extent, from, level.in, to, level.out});
}

/// A box for each choice of a part along every axis.
void add_boxes(const Impl& impl, const AxisParts& parts, std::vector<TransferBox>& boxes) {
  std::vector<TransferBox> made{
      {.from = Dims::filled(impl.in_shape.size(), 0), .to = Dims::filled(impl.out_shape.size(), 0), .loops = {}}};
  for (size_t axis = 0; axis < parts.size(); ++axis) {
    std::vector<TransferBox> longer;
    for (const TransferBox& box : made)
      for (const Common& part : parts[axis]) add_loops(impl, int(axis), part, longer.emplace_back(box));
    made = std::move(longer);
    distributed::check_parts(made.size() + boxes.size());
  }
  for (TransferBox& box : made) {
    std::ranges::sort(box.loops, [](const TransferLoop& a, const TransferLoop& b) {
      return std::tuple(a.to_axis, -a.to, a.from) < std::tuple(b.to_axis, -b.to, b.from);
    });
    boxes.push_back(std::move(box));
  }
}

/// What two ranks have in common; no boxes where it is nothing.
Transfer transfer(const Impl& impl, int from, int to, const std::vector<Block>& in, const std::vector<Block>& out) {
  Transfer result{.from = from, .to = to, .elements = 0, .boxes = {}};
  AxisParts parts;
  for (const Block& read : in)
    for (const Block& written : out) {
      if (!common_parts(read, written, parts)) continue;
      result.elements += elements_of(impl, parts);
      add_boxes(impl, parts, result.boxes);
    }
  std::ranges::sort(result.boxes, [](const TransferBox& a, const TransferBox& b) {
    return std::ranges::lexicographical_compare(a.to, b.to);
  });
  return result;
}

i64 elements_between(const Impl& impl, const std::vector<Block>& in, const std::vector<Block>& out,
                     AxisParts& scratch) {
  i64 elements = 0;
  for (const Block& read : in)
    for (const Block& written : out)
      if (common_parts(read, written, scratch)) elements += elements_of(impl, scratch);
  return elements;
}

/// What is a sum already cannot be taken apart again.
void check_addends(const core::Pattern& pattern) {
  for (const core::MeshName& name : pattern.output.addends)
    if (std::ranges::find(pattern.inputs[0].addends, name.name, &core::MeshName::name) ==
        pattern.inputs[0].addends.end())
      throw core::fault(pattern.text, name.column - 1, int(name.name.size()) + 1,
                        concat("there are no addends along '", name.name, "' on the left"),
                        "write '+' on the left too, or leave it out on the right");
}

std::shared_ptr<Impl> made(std::string_view text, const Mesh& mesh, const Dims& shape, const Lengths& lengths) {
  const core::Pattern pattern = core::parse_distributed(text);
  if (pattern.inputs.size() != 1)
    throw core::fault(text, int(text.find(',')), 1,
                      concat("one array is rearranged, the pattern names ", pattern.inputs.size()),
                      "rearrange one after the other");
  check_addends(pattern);
  const BoundPattern bound = core::bind(pattern, {&shape, 1}, lengths, core::OneSided::right);
  auto impl = std::make_shared<Impl>(
      Impl{.text = std::string(text),
           .lengths = lengths,
           .mesh = mesh,
           .in_shape = shape,
           .out_shape = core::output_shape(bound),
           .extents = {},
           .in = distributed::distribution(pattern, pattern.inputs[0], bound.inputs[0], bound, mesh),
           .out = distributed::distribution(pattern, pattern.output, bound.output, bound, mesh),
           .in_axis = {},
           .out_axis = {},
           .peers = {}});
  for (const core::BoundAxis& axis : bound.axes) impl->extents.push_back(axis.extent);
  impl->peers = distributed::Peers(mesh, impl->in, impl->out);
  impl->empty = element_count(impl->in_shape) == 0 || element_count(impl->out_shape) == 0;
  if (!impl->empty) distributed::merge_axes(impl->extents, impl->in, impl->out);
  impl->in_axis = array_axes(impl->in);
  impl->out_axis = array_axes(impl->out);
  return impl;
}

/// The blocks of classes of ranks, each made when it is first asked for.
class BlocksOfClasses {
 public:
  BlocksOfClasses(const Impl& impl, const Distribution& side, int classes)
      : impl_(impl), side_(side), known_(classes) {}

  const std::vector<Block>& of(int class_index, int rank) {
    auto& known = known_[class_index];
    if (!known) known = impl_.blocks_of(side_, rank);
    return *known;
  }

 private:
  const Impl& impl_;
  const Distribution& side_;
  std::vector<std::optional<std::vector<Block>>> known_;
};

/// Counts what each rank sends and receives.
struct Traffic {
  explicit Traffic(int ranks) : elements(ranks, 0), messages(ranks, 0) {}
  void add(int rank, i64 more) {
    elements[rank] = core::checked_add(elements[rank], more, "the number of elements that a rank sends or receives");
    ++messages[rank];
  }
  std::vector<i64> elements;
  std::vector<int> messages;
};

TransferLoad largest(const Traffic& sent, const Traffic& received, Dtype dtype) {
  const auto bytes = [dtype](const Traffic& traffic) {
    return core::checked_mul(std::ranges::max(traffic.elements), i64(size_of(dtype)),
                             "the number of bytes that a rank sends or receives");
  };
  return {.bytes_sent = bytes(sent),
          .bytes_received = bytes(received),
          .messages_sent = std::ranges::max(sent.messages),
          .messages_received = std::ranges::max(received.messages)};
}

Dims shape_at(const Impl& impl, const Distribution& side, int rank) {
  return in_context(impl.text, impl.mesh, impl.in_shape,
                    [&] { return distributed::local_shape(side, impl.extents, impl.mesh.coordinates(rank)); });
}

/// Whether nothing is to be sent. Throws for a rank that the mesh does not have.
bool is_empty_at(const Impl& impl, int rank) {
  impl.mesh.coordinates(rank);
  return impl.empty;
}

void check_local(const Impl& impl, const View& view, const Dims& shape, int rank, const char* role) {
  in_context(impl.text, impl.mesh, impl.in_shape, [&] {
    validate(view, role);
    if (!(view.shape == shape))
      throw Error(Errc::shape,
                  concat("the local ", role, " of rank ", rank, " has the shape ", to_string(shape), ", the view ",
                         to_string(view)),
                  "give a view of that shape");
  });
}

}  // namespace

Redistribution::Redistribution(std::string_view pattern, const Mesh& mesh, const Dims& shape, const Lengths& lengths)
    : impl_(in_context(pattern, mesh, shape, [&] { return made(pattern, mesh, shape, lengths); })) {}

const std::string& Redistribution::pattern() const noexcept {
  return impl_->text;
}

const Lengths& Redistribution::lengths() const noexcept {
  return impl_->lengths;
}

const Mesh& Redistribution::mesh() const noexcept {
  return impl_->mesh;
}

const Dims& Redistribution::in_shape() const noexcept {
  return impl_->in_shape;
}

const Dims& Redistribution::out_shape() const noexcept {
  return impl_->out_shape;
}

Dims Redistribution::in_shape(int rank) const {
  return shape_at(*impl_, impl_->in, rank);
}

Dims Redistribution::out_shape(int rank) const {
  return shape_at(*impl_, impl_->out, rank);
}

int Redistribution::addends() const noexcept {
  return impl_->peers.addends();
}

std::vector<Transfer> Redistribution::sends(int rank) const {
  return in_context(impl_->text, impl_->mesh, impl_->in_shape, [&] {
    std::vector<Transfer> found;
    if (is_empty_at(*impl_, rank)) return found;
    const distributed::Peers& peers = impl_->peers;
    const std::vector<Block> mine = impl_->blocks_of(impl_->in, rank);
    BlocksOfClasses theirs(*impl_, impl_->out, peers.out_classes());
    for (int to = 0; to < impl_->mesh.ranks(); ++to) {
      if (peers.sender(peers.in_class(rank), to) != rank) continue;
      Transfer next = transfer(*impl_, rank, to, mine, theirs.of(peers.out_class(to), to));
      if (!next.boxes.empty()) found.push_back(std::move(next));
    }
    return found;
  });
}

std::vector<Transfer> Redistribution::receives(int rank) const {
  return in_context(impl_->text, impl_->mesh, impl_->in_shape, [&] {
    std::vector<Transfer> found;
    if (is_empty_at(*impl_, rank)) return found;
    const std::vector<Block> mine = impl_->blocks_of(impl_->out, rank);
    for (int theirs = 0; theirs < impl_->peers.in_classes(); ++theirs) {
      const int from = impl_->peers.sender(theirs, rank);
      if (from < 0) continue;
      Transfer next = transfer(*impl_, from, rank, impl_->blocks_of(impl_->in, from), mine);
      if (!next.boxes.empty()) found.push_back(std::move(next));
    }
    std::ranges::sort(found, {}, &Transfer::from);
    return found;
  });
}

TransferLoad Redistribution::largest_load(Dtype dtype) const {
  return in_context(impl_->text, impl_->mesh, impl_->in_shape, [&] {
    const distributed::Peers& peers = impl_->peers;
    const int ranks = impl_->mesh.ranks();
    Traffic sent(ranks), received(ranks);
    BlocksOfClasses in(*impl_, impl_->in, peers.in_classes()), out(*impl_, impl_->out, peers.out_classes());
    AxisParts scratch;
    for (int to = 0; !impl_->empty && to < ranks; ++to)
      for (int theirs = 0; theirs < peers.in_classes(); ++theirs) {
        const int from = peers.sender(theirs, to);
        if (from < 0 || from == to) continue;
        const i64 elements = elements_between(*impl_, in.of(theirs, from), out.of(peers.out_class(to), to), scratch);
        if (elements == 0) continue;
        sent.add(from, elements);
        received.add(to, elements);
      }
    return largest(sent, received, dtype);
  });
}

std::vector<TransferCopy> Redistribution::direct(const Transfer& transfer, const View& in, const View& out) const {
  check_local(*impl_, in, in_shape(transfer.from), transfer.from, "input");
  check_local(*impl_, out, out_shape(transfer.to), transfer.to, "output");
  if (in.dtype != out.dtype)
    throw Error(Errc::dtype, concat("the input is ", name(in.dtype), ", the output ", name(out.dtype)),
                "give both the same dtype");
  return distributed::copies(transfer, in, out);
}

std::vector<TransferCopy> Redistribution::pack(const Transfer& transfer, const View& in, i64 at) const {
  check_local(*impl_, in, in_shape(transfer.from), transfer.from, "input");
  return distributed::packing(transfer, in, at);
}

std::vector<TransferCopy> Redistribution::unpack(const Transfer& transfer, const View& out, i64 at) const {
  check_local(*impl_, out, out_shape(transfer.to), transfer.to, "output");
  return distributed::unpacking(transfer, out, at);
}

}  // namespace axisloom
