// Who sends what to whom: both sides of a pattern, and what each pair of ranks has in common.
#include <axisloom/distributed.hpp>

#include <algorithm>
#include <deque>
#include <optional>
#include <tuple>

#include "core/checked.hpp"
#include "core/pattern.hpp"
#include "core/text.hpp"
#include "distributed/components.hpp"
#include "distributed/copies.hpp"
#include "distributed/distribution.hpp"
#include "distributed/join.hpp"
#include "distributed/loads.hpp"
#include "distributed/peers.hpp"

namespace axisloom {

using core::BoundPattern;
using distributed::Common;
using distributed::Component;
using distributed::Distribution;
using distributed::Joint;

struct RedistributionImpl {
  std::string text;
  Lengths lengths;
  Mesh mesh;
  Dims in_shape, out_shape;
  std::vector<i64> extents;  // of the axes of both sides
  Distribution in, out;
  std::vector<int> in_axis, out_axis;  // of the arrays, by elementary axis; -1 where a side lacks it
  distributed::Peers peers;
  std::vector<Component> components;
  bool empty = false;
};

namespace {

using Impl = RedistributionImpl;
using Joints = std::vector<const Joint*>;  // by component

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

void add_loops(const Impl& impl, int axis, const Common& part, TransferBox& box) {
  const int from = impl.in_axis[axis], to = impl.out_axis[axis];
  if (from >= 0) box.from[from] += part.in;
  box.to[to] += part.out;
  for (const Common::Level& level : {part.periods, part.runs, part.run})
    if (level.extent > 1) box.loops.push_back({level.extent, from, level.in, to, level.out});
}

/// The box of one choice for each component.
TransferBox box_of(const Impl& impl, const Joints& joints, size_t choice) {
  TransferBox box{
      .from = Dims::filled(impl.in_shape.size(), 0), .to = Dims::filled(impl.out_shape.size(), 0), .loops = {}};
  for (size_t i = joints.size(); i-- > 0; choice /= joints[i]->boxes) {
    const Joint& joint = *joints[i];
    const Common* const parts = &joint.parts[choice % joint.boxes * joint.axes];
    for (size_t axis = 0; axis < joint.axes; ++axis) add_loops(impl, impl.components[i].axes[axis], parts[axis], box);
  }
  std::ranges::sort(box.loops, [](const TransferLoop& a, const TransferLoop& b) {
    return std::tuple(a.to_axis, -a.to, a.from) < std::tuple(b.to_axis, -b.to, b.from);
  });
  return box;
}

/// What two ranks have in common, which is something along every component.
Transfer transfer(const Impl& impl, int from, int to, const Joints& joints) {
  Transfer result{.from = from, .to = to, .elements = 1, .boxes = {}};
  size_t boxes = 1;
  for (const Joint* joint : joints) {
    distributed::check_parts(boxes *= joint->boxes);
    result.elements *= joint->elements;
  }
  result.boxes.reserve(boxes);
  for (size_t choice = 0; choice < boxes; ++choice) result.boxes.push_back(box_of(impl, joints, choice));
  std::ranges::sort(result.boxes, [](const TransferBox& a, const TransferBox& b) {
    return std::ranges::lexicographical_compare(a.to, b.to);
  });
  return result;
}

/// What a rank has in common with others along one component, each found when it is first asked for.
class ComponentJoints {
 public:
  ComponentJoints(const Impl& impl, const Component& component, int rank, bool sends)
      : impl_(impl),
        mesh_(sends ? component.out : component.in),
        maker_(sends ? impl.out : impl.in, impl.extents, component.axes),
        mine_(component.axes.size()),
        theirs_(component.axes.size()),
        found_(component.axes.size()),
        join_(mine_, sends, component.extents, component.is_new),
        known_(size_t(mesh_.count())) {
    distributed::BlockMaker(sends ? impl.in : impl.out, impl.extents, component.axes)
        .make(impl.mesh.coordinates(rank), mine_);
  }
  ComponentJoints(const ComponentJoints&) = delete;
  ComponentJoints& operator=(const ComponentJoints&) = delete;

  const Joint& with(int rank) {
    auto& known = known_[size_t(mesh_.position(rank))];
    if (known) return *known;
    maker_.make(impl_.mesh.coordinates(rank), theirs_);
    join_.find(theirs_, found_);
    return known.emplace(found_);
  }

 private:
  const Impl& impl_;
  const distributed::SubMesh& mesh_;
  distributed::BlockMaker maker_;
  distributed::Blocks mine_, theirs_;
  Joint found_;
  distributed::Join join_;
  std::vector<std::optional<Joint>> known_;  // by position in the mesh
};

/// What a rank sends to others, or receives from them.
class TransferFinder {
 public:
  TransferFinder(const Impl& impl, int rank, bool sends) : impl_(impl), joints_(impl.components.size()) {
    for (const Component& component : impl.components) components_.emplace_back(impl, component, rank, sends);
  }

  void add(int from, int to, int other, std::vector<Transfer>& found) {
    for (size_t i = 0; i < joints_.size(); ++i) {
      joints_[i] = &components_[i].with(other);
      if (joints_[i]->boxes == 0) return;
    }
    found.push_back(transfer(impl_, from, to, joints_));
  }

 private:
  const Impl& impl_;
  std::deque<ComponentJoints> components_;
  Joints joints_;
};

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
           .peers = {},
           .components = {}});
  for (const core::BoundAxis& axis : bound.axes) impl->extents.push_back(axis.extent);
  impl->peers = distributed::Peers(mesh, impl->in, impl->out);
  impl->empty = element_count(impl->in_shape) == 0 || element_count(impl->out_shape) == 0;
  if (!impl->empty) distributed::merge_axes(impl->extents, impl->in, impl->out);
  impl->in_axis = array_axes(impl->in);
  impl->out_axis = array_axes(impl->out);
  impl->components = distributed::components(impl->in, impl->out, impl->extents, mesh);
  return impl;
}

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
    TransferFinder finder(*impl_, rank, true);
    for (int to = 0; to < impl_->mesh.ranks(); ++to)
      if (peers.sender(peers.in_class(rank), to) == rank) finder.add(rank, to, to, found);
    return found;
  });
}

std::vector<Transfer> Redistribution::receives(int rank) const {
  return in_context(impl_->text, impl_->mesh, impl_->in_shape, [&] {
    std::vector<Transfer> found;
    if (is_empty_at(*impl_, rank)) return found;
    TransferFinder finder(*impl_, rank, false);
    for (int theirs = 0; theirs < impl_->peers.in_classes(); ++theirs) {
      const int from = impl_->peers.sender(theirs, rank);
      if (from >= 0) finder.add(from, rank, from, found);
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
    if (impl_->empty) return TransferLoad{};
    distributed::Loads loads(impl_->in, impl_->out, impl_->extents, impl_->mesh, impl_->components);
    for (int to = 0; to < ranks; ++to) {
      loads.receive(to);
      for (int theirs = 0; theirs < peers.in_classes(); ++theirs) {
        const int from = peers.sender(theirs, to);
        if (from < 0 || from == to) continue;
        const i64 elements = loads.from(from);
        if (elements == 0) continue;
        sent.add(from, elements);
        received.add(to, elements);
      }
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
