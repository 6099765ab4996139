// Each rank writes one stretch of the output file. On one host it takes the elements from wherever they lie in the
// input file, which all have in memory; on several, each reads one stretch of that too, and the ranks exchange
// elements.
#include "cli/sharing.hpp"

#include "cli/messages.hpp"

#include "core/move.hpp"
#include "core/text.hpp"
#include "io/npy_header.hpp"
#include "io/quoting.hpp"

#include <axisloom/call.hpp>
#include <axisloom/distributed.hpp>
#include <axisloom/host_array.hpp>
#include <axisloom/plan.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace axisloom::cli {
namespace {

using core::Loop, core::Loops, core::Operand;
using io::HostArray;

// --- patterns --------------------------------------------------------------------------------------------------------

bool by_pattern(const ops::OpEntry& entry) {
  return entry.draw == ops::Draw::pattern || entry.draw == ops::Draw::new_axes;
}

bool is_part_of_cut(char c) {
  return core::is_letter(c) || core::is_digit(c) || c == '_' || c == ':';
}

/// The pattern without its cuts: "@x", "@(x y):balanced".
std::string without_cuts(std::string_view pattern) {
  std::string plain;
  for (size_t at = 0; at < pattern.size();) {
    if (pattern[at] != '@') {
      plain += pattern[at++];
      continue;
    }
    if (++at < pattern.size() && pattern[at] == '(') at = pattern.find(')', at) + 1;
    while (at < pattern.size() && is_part_of_cut(pattern[at])) ++at;
  }
  return plain;
}

/// The names of mesh axes that a pattern cuts over, each once.
Texts mesh_names(std::string_view pattern) {
  Texts names;
  for (size_t at = pattern.find('@'); at != pattern.npos; at = pattern.find('@', at + 1)) {
    std::string_view over = pattern.substr(at + 1);
    over = over.starts_with('(') ? over.substr(1, over.find(')') - 1)
                                 : over.substr(0, std::ranges::find_if_not(over, is_part_of_cut) - over.begin());
    for (const std::string_view name : split(over.substr(0, over.find(':')), " "))
      if (!name.empty()) add_once(names, std::string(name));
  }
  return names;
}

std::string mesh_of(const SharedMove& move, const std::string& pattern, int ranks) {
  if (!move.mesh.empty()) return move.mesh;
  const Texts names = mesh_names(pattern);
  if (names.size() > 1)
    refuse(fmt::format("say how {} ranks form a grid, as in --mesh \"{}=2 {}={}\"", ranks, names[0], names[1],
                       std::max(1, ranks / 2)),
           "\"{}\" names {} axes of a mesh, and there is no --mesh", pattern, names.size());
  return fmt::format("{}={}", names.empty() ? "ranks" : names[0], ranks);
}

/// The operation as one process has it. Cuts are checked, and the result does not depend on them.
Operation plain_operation(const SharedMove& move, const Dims& shape, int ranks) {
  Operation op = move.op;
  const std::string pattern = by_pattern(move.entry) ? op.arguments[0] : "";
  if (pattern.find('+') != pattern.npos) refuse("leave '+' out", "\"{}\": a file holds no addends", pattern);
  if (pattern.find('@') == pattern.npos && move.mesh.empty()) return op;
  const Mesh mesh(mesh_of(move, pattern, ranks));
  if (mesh.ranks() != ranks)
    refuse("give one that has as many", "the mesh \"{}\" has {} ranks, and {} were started", to_string(mesh),
           mesh.ranks(), ranks);
  if (pattern.find('@') == pattern.npos) return op;
  static_cast<void>(Redistribution(pattern, mesh, shape, op.lengths));
  op.arguments[0] = without_cuts(pattern);
  return op;
}

// --- plans -----------------------------------------------------------------------------------------------------------

/// One side's axes in the order of its file, slowest first: numbers of a move's axes.
std::vector<size_t> file_order(const Loops& axes, Operand side) {
  std::vector<size_t> order;
  for (size_t axis = 0; axis < axes.size(); ++axis)
    if (axes[axis].*side != 0) order.push_back(axis);
  std::ranges::sort(order, [&](size_t a, size_t b) { return axes[a].*side > axes[b].*side; });
  i64 elements = 1;
  for (size_t i = order.size(); i-- > 0; elements *= axes[order[i]].extent)
    if (axes[order[i]].*side != elements) refuse("run it without ranks", "the move leaves gaps in a file");
  return order;
}

std::string composed(std::span<const size_t> axes) {
  return concat("(", joined(axes, " ", [](size_t axis) { return concat("e", axis); }), ")");
}

/// A file's elements as one axis, and cut over the ranks, in patterns; and the shapes that go with them.
struct FileSide {
  std::string whole, cut;
  Dims whole_shape, cut_shape;
};

/// Cuts the slowest axes together: as few of them as leave ranks with nearly as much as each other.
FileSide file_side(const Loops& axes, Operand side, int ranks) {
  constexpr i64 shares = 20;  // all but one of so many parts of a rank's work are what a fair share would be
  const std::vector<size_t> order = file_order(axes, side);
  if (order.empty()) return {};  // the one element of a file, which all ranks read
  i64 slow = 1, fast = 1;
  size_t count = 0;
  for (bool fair = false; !fair && count < order.size(); ++count) {
    slow *= axes[order[count]].extent;
    const i64 most = (slow + ranks - 1) / ranks;
    fair = shares * (most * ranks - slow) <= slow;
  }
  for (size_t i = count; i < order.size(); ++i) fast *= axes[order[i]].extent;
  const std::span all(order);
  FileSide made{.whole = composed(all),
                .cut = composed(all.first(count)) + "@ranks:balanced",
                .whole_shape = {slow * fast},
                .cut_shape = {slow}};
  if (count == order.size()) return made;
  made.cut += " " + composed(all.subspan(count));
  made.cut_shape.push_back(fast);
  return made;
}

/// A move from file to file over the mesh of all ranks. Its patterns name the axes by which elements lie in the files.
struct FileMove {
  FileSide in, out;
  Lengths lengths;
};

FileMove file_move(const core::Move& lowered, int ranks) {
  const core::Move move = core::normalise(lowered);
  if (move.tail) refuse("run it without ranks", "ranks do not fill up blocks of channels");
  Loops axes = move.axes;
  if (axes.empty() || move.count() == 0) axes = {Loop{.extent = move.count(), .in = 1, .out = 1}};
  FileMove made{.in = file_side(axes, &Loop::in, ranks), .out = file_side(axes, &Loop::out, ranks), .lengths = {}};
  for (size_t axis = 0; axis < axes.size(); ++axis) made.lengths.emplace_back(concat("e", axis), axes[axis].extent);
  return made;
}

// --- files -----------------------------------------------------------------------------------------------------------

HostArray input_of(const SharedMove& move) {
  if (move.input == "-") refuse("name a file", "ranks do not read standard input");
  io::ReadOptions reading = move.reading;
  reading.map_from = 0;
  HostArray array = io::read(io::InputFile(move.input), reading);
  if (array.image)
    refuse("write it as .npy first: axisloom copy", "ranks read arrays, and {} is an image", io::printable(move.input));
  end_with_message_on_lost_pages();
  return array;
}

/// What stands in a file before its elements.
std::string head_of(const SharedMove& move, const View& result) {
  if (move.output.empty() || move.output == "-") refuse("add -o FILE", "ranks write a file, and none is named");
  const io::Format& format = io::format_to_write(move.output, move.output_format);
  if (format.name != "npy" && format.name != "raw")
    refuse("name a .npy file", "ranks write .npy and raw files, not {}", format.name);
  io::check_writable(move.output, result, move.output_format);
  if (format.name == "raw") return "";
  return io::npy_head({.dtype = result.dtype, .swapped = false, .fortran = false, .shape = result.shape});
}

/// The output file, which the first rank makes and all of them write.
class Output {
 public:
  Output(const Ranks& ranks, const SharedMove& move, const std::string& head, const View& result)
      : ranks_(ranks), head_(head), bytes_(head.size() + size_t(result.count()) * size_of(result.dtype)) {
    using Naming = io::OutputFile::Naming;
    if (ranks.on_one_host()) {
      make(move, Naming::none);
      try {
        open(move);
        return;
      } catch (const RanksError&) {  // in containers of their own, ranks see no other's files without a name
      }
    }
    make(move, Naming::hidden);
    open(move);
  }

  /// Where element `at` is in memory, and in the file.
  std::byte* elements(size_t at) { return shared_->map(bytes_).data() + head_.size() + at; }
  void write(size_t at, std::span<const std::byte> part) {
    shared_->write_at(head_.size() + at, part);
    shared_->flush();
  }
  /// All parts are written.
  void commit() {
    ranks_.by_first([&] {
      file_->write(head_);
      file_->commit();
    });
  }

 private:
  void make(const SharedMove& move, io::OutputFile::Naming naming) {
    ranks_.by_first([&] {
      file_.reset();
      file_ = std::make_unique<io::OutputFile>(move.output, naming, move.older);
      file_->reserve(bytes_);
    });
  }

  void open(const SharedMove& move) {
    const io::FileDoor mine = ranks_.first() ? file_->door() : io::FileDoor();
    const std::string told =
        ranks_.told_by_first(concat(mine.named ? 1 : 0, " ", mine.device, " ", mine.inode, " ", mine.path));
    std::string_view rest = told;
    const auto number = [&rest] { return core::whole_number<u64>(core::take_part(rest, ' ')).value_or(0); };
    io::FileDoor door{.path = {}, .named = number() == 1, .device = number(), .inode = number()};
    door.path = rest;
    ranks_.together([&] { shared_ = std::make_unique<io::SharedFile>(door, move.output); });
  }

  const Ranks& ranks_;
  std::string head_;
  size_t bytes_;
  std::unique_ptr<io::OutputFile> file_;  // of the first rank
  std::unique_ptr<io::SharedFile> shared_;
};

// --- carrying it out -------------------------------------------------------------------------------------------------

/// Bytes of the parts of the ranks before this one. `part`: a rank's shape.
size_t bytes_before(int rank, Dtype dtype, const std::function<Dims(int)>& part) {
  size_t elements = 0;
  for (int other = 0; other < rank; ++other) elements += size_t(element_count(part(other)));
  return elements * size_of(dtype);
}

std::string mesh_of_ranks(const Ranks& ranks) {
  return concat("ranks=", ranks.size());
}

/// On one host: this rank's part of the output, from wherever its elements lie in the input.
std::string take(const Ranks& ranks, const FileMove& files, const HostArray& whole, Output& output) {
  const std::string pattern = concat(files.in.whole, " -> ", files.out.cut);
  ranks.together([&] {
    const Redistribution plan(pattern, Mesh(mesh_of_ranks(ranks)), files.in.whole_shape, files.lengths);
    const Dtype dtype = whole.view.dtype;
    const View in = View::contiguous(dtype, files.in.whole_shape);
    const View out = View::contiguous(dtype, plan.out_shape(ranks.rank()));
    if (out.count() == 0) return;
    std::byte* const to =
        output.elements(bytes_before(ranks.rank(), dtype, [&](int rank) { return plan.out_shape(rank); }));
    for (const Transfer& transfer : plan.receives(ranks.rank()))
      for (const TransferCopy& part : plan.direct(transfer, in, out))
        run_into({part.to, to}, copy(), {InputArray(part.from, whole.memory.get())});
  });
  return pattern;
}

/// On several hosts: this rank's part of the input goes to those who write it.
std::string exchange(const Ranks& ranks, const FileMove& files, const HostArray& whole, i64 workspace, Output& output) {
  const std::string pattern = concat(files.in.cut, " -> ", files.out.cut);
  const Dtype dtype = whole.view.dtype;
  std::optional<Exchange> ready;
  std::optional<Array> part;
  ranks.together([&] {
    ready.emplace(pattern, mesh_of_ranks(ranks), files.in.cut_shape, dtype, ranks.world(),
                  ExchangeOptions{.workspace = workspace, .windows = false}, files.lengths);
    part.emplace(dtype, ready->out_view().shape);
  });
  const Redistribution& plan = ready->redistribution();
  const bool cut = !files.in.cut.empty();
  const size_t from = cut ? bytes_before(ranks.rank(), dtype, [&](int rank) { return plan.in_shape(rank); }) : 0;
  void* const to = part->data();
  ready->run(ready->in_view().count() > 0 ? whole.memory.get() + from : nullptr, to);
  ranks.together([&] {
    const size_t at = bytes_before(ranks.rank(), dtype, [&](int rank) { return plan.out_shape(rank); });
    output.write(at, {static_cast<const std::byte*>(to), size_t(part->view().count()) * size_of(dtype)});
  });
  return pattern;
}

/// What all ranks have to have in common.
std::string asked(const SharedMove& move) {
  return concat("\"", to_string(move.op), " ", io::printable(move.input), " -o ", io::printable(move.output), "\"");
}

}  // namespace

bool can_share(const ops::OpEntry& entry) {
  return entry.move != nullptr;
}

std::string share(const Ranks& ranks, const SharedMove& move) {
  ranks.require_same("the command", asked(move),
                     concat("give all ranks the same; with ", mpi_variable, "=off each process works by itself"));
  HostArray whole;
  ranks.together([&] { whole = input_of(move); });
  ranks.require_same("the input", to_string(whole.view), "let all ranks see the same file");
  std::optional<FileMove> files;
  View result;
  std::string head;
  ranks.together([&] {
    const Operation op = plain_operation(move, whole.view.shape, ranks.size());
    result = result_view(op, {whole.view});
    head = head_of(move, result);
    const std::array views{whole.view, result};
    files = file_move(move.entry.move(op, views), ranks.size());
  });
  Output output(ranks, move, head, result);
  const std::string pattern =
      ranks.on_one_host() ? take(ranks, *files, whole, output) : exchange(ranks, *files, whole, move.workspace, output);
  output.commit();
  return concat(to_string(rearrange(pattern, files->lengths)), " over ", mesh_of_ranks(ranks),
                ranks.on_one_host() ? ", of one host: each writes its part, and takes it from all of the input"
                                    : ", of several hosts: each reads and writes its part, and messages go between");
}

}  // namespace axisloom::cli
