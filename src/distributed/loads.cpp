// Two ways to count along a component: what blocks of each two ranks have in common, or element by element.
#include "distributed/loads.hpp"

#include "core/text.hpp"
#include "distributed/join.hpp"

#include <cstdint>
#include <limits>
#include <optional>

namespace axisloom::distributed {
namespace {

/// Elements of a component that are looked at one by one; each takes two bytes.
constexpr double most_elements_looked_at = 1 << 25;

/// Numbers that are kept for receivers to come.
constexpr i64 most_kept = 1 << 22;

/// Calls visit(number) for every element of a block, whose numbers count row-major.
void each_element(Block block, std::span<const i64> extents, i64 begin, auto&& visit) {
  const Comb& comb = block[0];
  for (i64 k = 0; k < comb.count; ++k)
    for (i64 i = comb.first + k * comb.step; i < comb.first + k * comb.step + comb.length; ++i) {
      const i64 number = begin * extents[0] + i;
      if (block.size() == 1)
        visit(number);
      else
        each_element(block.subspan(1), extents.subspan(1), number, visit);
    }
}

void each_element(const Blocks& blocks, std::span<const i64> extents, auto&& visit) {
  for (size_t i = 0; i < blocks.size(); ++i) each_element(blocks[i], extents, 0, visit);
}

double elements_of(const Component& component) {
  double elements = 1;
  for (const i64 extent : component.extents) elements *= double(extent);
  return elements;
}

}  // namespace

/// Counts along one component.
class ComponentLoads {
 public:
  ComponentLoads(const Distribution& in, const Distribution& out, std::span<const i64> extents, const Mesh& mesh,
                 const Component& component)
      : component_(component),
        mesh_(mesh),
        out_maker_(out, extents, component.axes),
        received_(component.axes.size()),
        known_(size_t(component.out.count())) {
    BlockMaker in_maker(in, extents, component.axes);
    const auto make = [&](int at, Blocks& blocks) {
      in_maker.make(mesh.coordinates(component.in.rank_at(at)), blocks);
    };
    Blocks sent(component.axes.size());
    make(0, sent);
    if (is_shorter_by_elements(sent)) {
      sender_.resize(size_t(elements_of(component)));
      for (int at = 0; at < component.in.count(); ++at) {
        make(at, sent);
        each_element(sent, component.extents, [&](i64 element) { sender_[size_t(element)] = Sender(at); });
      }
    } else {
      for (int at = 0; at < component.in.count(); ++at) make(at, sent_.emplace_back(component.axes.size()));
    }
  }

  /// By position of the sender, what a receiver gets.
  std::span<const i64> received_by(int rank) {
    const int at = component_.out.position(rank);
    auto& known = known_[size_t(at)];
    if (known) return *known;
    const bool keeps = i64{component_.in.count()} * component_.out.count() <= most_kept;
    if (last_ && !keeps) last_->reset();
    last_ = &known;
    return known.emplace(counted(rank));
  }

 private:
  using Sender = std::uint16_t;  // its position

  /// A guess from the blocks of the first sender and the first receiver.
  bool is_shorter_by_elements(const Blocks& sent) {
    if (component_.axes.empty() || core::contains(component_.is_new, true)) return false;  // of these, boxes count
    out_maker_.make(mesh_.coordinates(0), received_);
    const double elements = elements_of(component_), senders = component_.in.count();
    return elements <= most_elements_looked_at && senders <= std::numeric_limits<Sender>::max() &&
           elements < senders * component_.out.count() * double(sent.size()) * double(received_.size());
  }

  std::vector<i64> counted(int rank) {
    std::vector<i64> counts(size_t(component_.in.count()), 0);
    out_maker_.make(mesh_.coordinates(rank), received_);
    if (!sender_.empty()) {
      each_element(received_, component_.extents, [&](i64 element) { ++counts[sender_[size_t(element)]]; });
      return counts;
    }
    Join join(received_, false, component_.extents, component_.is_new);
    for (size_t at = 0; at < counts.size(); ++at) counts[at] = join.count(sent_[at]);
    return counts;
  }

  const Component& component_;
  const Mesh& mesh_;
  BlockMaker out_maker_;
  std::vector<Blocks> sent_;    // by position of the sender, where blocks are compared
  std::vector<Sender> sender_;  // else, of each element
  Blocks received_;
  std::vector<std::optional<std::vector<i64>>> known_;  // by position of the receiver
  std::optional<std::vector<i64>>* last_ = nullptr;
};

Loads::Loads(const Distribution& in, const Distribution& out, std::span<const i64> extents, const Mesh& mesh,
             const std::vector<Component>& components)
    : components_(components), received_(components.size()) {
  for (const Component& component : components)
    loads_.push_back(std::make_unique<ComponentLoads>(in, out, extents, mesh, component));
}

Loads::~Loads() = default;

void Loads::receive(int to) {
  for (size_t i = 0; i < loads_.size(); ++i) received_[i] = loads_[i]->received_by(to);
}

i64 Loads::from(int rank) const {
  i64 elements = 1;
  for (size_t i = 0; i < received_.size() && elements > 0; ++i)
    elements *= received_[i][size_t(components_[i].in.position(rank))];
  return elements;
}

}  // namespace axisloom::distributed
