// Meshes: their text, and ranks as coordinates.
#include <axisloom/distributed.hpp>
#include <axisloom/error.hpp>

#include <algorithm>
#include <limits>

#include "core/integers.hpp"
#include "core/pattern.hpp"
#include "core/text.hpp"

namespace axisloom {
namespace {

constexpr const char* mesh_remedy = "write names and numbers of ranks, as in \"x=2 y=3\"";

[[noreturn]] void fail(std::string_view text, size_t column, size_t length, const std::string& message) {
  throw core::fault(text, int(column), int(length), message, mesh_remedy, Errc::usage);
}

bool is_mesh_name(std::string_view name) {
  return !name.empty() && core::is_letter(name.front()) &&
         std::ranges::all_of(name, [](char c) { return core::is_letter(c) || core::is_digit(c) || c == '_'; });
}

MeshAxis axis_of(std::string_view text, size_t column, std::string_view word) {
  std::string_view rest = word;
  const std::string_view name = core::take_part(rest, '=');
  if (!is_mesh_name(name)) fail(text, column, word.size(), "this is no axis of a mesh");
  const auto extent = core::whole_number<int>(rest);
  if (!extent || *extent < 1)
    fail(text, column, word.size(), concat("the mesh axis '", name, "' has no positive number of ranks"));
  return {std::string(name), *extent};
}

}  // namespace

Mesh::Mesh(std::string_view text) {
  i64 ranks = 1;
  for (size_t at = text.find_first_not_of(' '); at < text.size(); at = text.find_first_not_of(' ', at)) {
    const std::string_view word = text.substr(at, text.find(' ', at) - at);
    MeshAxis axis = axis_of(text, at, word);
    for (const MeshAxis& other : axes_)
      if (other.name == axis.name) fail(text, at, word.size(), concat("the mesh axis '", axis.name, "' stands twice"));
    ranks *= axis.extent;
    if (ranks > std::numeric_limits<int>::max()) fail(text, at, word.size(), "the mesh has more than 2^31 - 1 ranks");
    axes_.push_back(std::move(axis));
    at += word.size();
  }
  ranks_ = int(ranks);
}

std::vector<int> Mesh::coordinates(int rank) const {
  if (rank < 0 || rank >= ranks_)
    throw Error(Errc::usage, concat("the mesh \"", to_string(*this), "\" has no rank ", rank),
                concat("give a rank from 0 to ", ranks_ - 1));
  std::vector<int> coordinates(axes_.size());
  for (size_t i = axes_.size(); i-- > 0; rank /= axes_[i].extent) coordinates[i] = rank % axes_[i].extent;
  return coordinates;
}

int Mesh::rank_at(std::span<const int> coordinates) const {
  if (coordinates.size() != axes_.size())
    throw Error(Errc::usage,
                concat("the mesh \"", to_string(*this), "\" has ", axes_.size(), " axes, not ", coordinates.size()),
                "give a coordinate for each axis");
  int rank = 0;
  for (size_t i = 0; i < axes_.size(); ++i) {
    if (coordinates[i] < 0 || coordinates[i] >= axes_[i].extent)
      throw Error(Errc::usage,
                  concat("the mesh \"", to_string(*this), "\" has nothing at ", axes_[i].name, "=", coordinates[i]),
                  concat("give a coordinate from 0 to ", axes_[i].extent - 1));
    rank = rank * axes_[i].extent + coordinates[i];
  }
  return rank;
}

std::string to_string(const Mesh& mesh) {
  return joined(mesh.axes(), " ", [](const MeshAxis& axis) { return concat(axis.name, "=", axis.extent); });
}

}  // namespace axisloom
