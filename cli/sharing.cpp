// Each rank writes one stretch of the output file. On one host it takes the elements from wherever they lie in the
// input file, which all have in memory; on several, each reads one stretch of that too, and the ranks exchange
// elements.
#include "cli/sharing.hpp"

#include "cli/messages.hpp"

#include "core/text.hpp"
#include "io/npy_header.hpp"
#include "io/quoting.hpp"

#include <axisloom/call.hpp>
#include <axisloom/distributed.hpp>
#include <axisloom/host_array.hpp>
#include <axisloom/plan.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace axisloom::cli {
namespace {

using io::HostArray;

// --- files -----------------------------------------------------------------------------------------------------------

HostArray input_of(const SharedWork& work) {
  if (work.input == "-") refuse("name a file", "ranks do not read standard input");
  io::ReadOptions reading = work.reading;
  reading.map_from = 0;
  HostArray array = io::read(io::InputFile(work.input), reading);
  if (array.image)
    refuse("write it as .npy first: axisloom copy", "ranks read arrays, and {} is an image", io::printable(work.input));
  end_with_message_on_lost_pages();
  return array;
}

/// What stands in a file before its elements.
std::string head_of(const SharedWork& work, const View& result) {
  if (work.output.empty() || work.output == "-") refuse("add -o FILE", "ranks write a file, and none is named");
  const io::Format& format = io::format_to_write(work.output, work.output_format);
  if (format.name != "npy" && format.name != "raw")
    refuse("name a .npy file", "ranks write .npy and raw files, not {}", format.name);
  io::check_writable(work.output, result, work.output_format);
  if (format.name == "raw") return "";
  return io::npy_head({.dtype = result.dtype, .swapped = false, .fortran = false, .shape = result.shape});
}

/// The output file, which the first rank makes and all of them write.
class Output {
 public:
  Output(const Ranks& ranks, const SharedWork& work, const std::string& head, const View& result)
      : ranks_(ranks), head_(head), bytes_(head.size() + size_t(result.count()) * size_of(result.dtype)) {
    using Naming = io::OutputFile::Naming;
    if (ranks.on_one_host()) {
      make(work, Naming::none);
      try {
        open(work);
        return;
      } catch (const RanksError&) {  // in containers of their own, ranks see no other's files without a name
      }
    }
    make(work, Naming::hidden);
    open(work);
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
  void make(const SharedWork& work, io::OutputFile::Naming naming) {
    ranks_.by_first([&] {
      file_.reset();
      file_ = std::make_unique<io::OutputFile>(work.output, naming, work.older);
      file_->reserve(bytes_);
    });
  }

  void open(const SharedWork& work) {
    const io::FileDoor mine = ranks_.first() ? file_->door() : io::FileDoor();
    const std::string told =
        ranks_.told_by_first(concat(mine.named ? 1 : 0, " ", mine.device, " ", mine.inode, " ", mine.path));
    std::string_view rest = told;
    const auto number = [&rest] { return core::whole_number<u64>(core::take_part(rest, ' ')).value_or(0); };
    io::FileDoor door{.path = {}, .named = number() == 1, .device = number(), .inode = number()};
    door.path = rest;
    ranks_.together([&] { shared_ = std::make_unique<io::SharedFile>(door, work.output); });
  }

  const Ranks& ranks_;
  std::string head_;
  size_t bytes_;
  std::unique_ptr<io::OutputFile> file_;  // of the first rank
  std::unique_ptr<io::SharedFile> shared_;
};

// --- carrying it out -------------------------------------------------------------------------------------------------

/// The shape of a rank's part of the output, of whose elements it has what `plan` brings.
Dims shape_of_part(const FilePlan& files, const Redistribution& plan, int rank) {
  const Dims brought = plan.out_shape(rank);
  return files.then ? Dims(std::span(brought.begin(), brought.end() - 1)) : brought;
}

/// Bytes of the parts of the ranks before this one. `part`: a rank's shape.
size_t bytes_before(int rank, Dtype dtype, const std::function<Dims(int)>& part) {
  size_t elements = 0;
  for (int other = 0; other < rank; ++other) elements += size_t(element_count(part(other)));
  return elements * size_of(dtype);
}

std::string mesh_of_ranks(const Ranks& ranks) {
  return concat("ranks=", ranks.size());
}

/// Where a rank's part of the output is.
struct Part {
  View view;
  size_t begin = 0;  // in bytes behind the file's head
};

Part part_of(const FilePlan& files, const Redistribution& plan, int rank, Dtype dtype) {
  const auto shape = [&](int other) { return shape_of_part(files, plan, other); };
  return {View::contiguous(dtype, shape(rank)), bytes_before(rank, dtype, shape)};
}

/// On one host: the elements of this rank's part of the output from wherever they lie in the input.
void take(const Ranks& ranks, const FilePlan& files, const HostArray& whole, Dtype result, Output& output) {
  const Redistribution plan(concat(files.in.whole, " -> ", files.parts), Mesh(mesh_of_ranks(ranks)),
                            files.in.whole_shape, files.lengths);
  const Part part = part_of(files, plan, ranks.rank(), result);
  if (part.view.count() == 0) return;
  std::byte* const made = output.elements(part.begin);
  const View in = View::contiguous(whole.view.dtype, files.in.whole_shape);
  const View brought = View::contiguous(whole.view.dtype, plan.out_shape(ranks.rank()));
  Array reduced_next;
  if (files.then) reduced_next = Array(brought.dtype, brought.shape);
  void* const to = files.then ? reduced_next.data() : made;
  for (const Transfer& transfer : plan.receives(ranks.rank()))
    for (const TransferCopy& one : plan.direct(transfer, in, brought))
      run_into({one.to, to}, copy(), {InputArray(one.from, whole.memory.get())});
  if (files.then) run_into({part.view, made}, *files.then, {reduced_next});
}

/// On several hosts: the elements of this rank's part of the input go to those who need them.
void exchange(const Ranks& ranks, const FilePlan& files, const HostArray& whole, Dtype result, i64 workspace,
              Output& output) {
  const Dtype dtype = whole.view.dtype;
  std::optional<Exchange> ready;
  std::optional<Array> brought;
  ranks.together([&] {
    ready.emplace(concat(files.in.cut, " -> ", files.parts), mesh_of_ranks(ranks), files.in.cut_shape, dtype,
                  ranks.world(), ExchangeOptions{.workspace = workspace, .windows = false}, files.lengths);
    brought.emplace(dtype, ready->out_view().shape);
  });
  const Redistribution& plan = ready->redistribution();
  const bool cut = !files.in.cut.empty();
  const size_t from = cut ? bytes_before(ranks.rank(), dtype, [&](int rank) { return plan.in_shape(rank); }) : 0;
  ready->run(ready->in_view().count() > 0 ? whole.memory.get() + from : nullptr, brought->data());
  ranks.together([&] {
    const Part part = part_of(files, plan, ranks.rank(), result);
    if (part.view.count() == 0) return;
    const Array made = files.then ? run(*files.then, {*brought}) : std::move(*brought);
    output.write(part.begin, {static_cast<const std::byte*>(made.data()), size_t(part.view.count()) * size_of(result)});
  });
}

/// What all ranks have to have in common.
std::string asked(const SharedWork& work) {
  return concat("\"", to_string(work.op), " ", io::printable(work.input), " -o ", io::printable(work.output), "\"");
}

}  // namespace

std::string share(const Ranks& ranks, const SharedWork& work) {
  ranks.require_same("the command", asked(work),
                     concat("give all ranks the same; with ", mpi_variable, "=off each process works by itself"));
  HostArray whole;
  ranks.together([&] { whole = input_of(work); });
  ranks.require_same("the input", to_string(whole.view), "let all ranks see the same file");
  std::optional<FilePlan> files;
  View result;
  std::string head;
  ranks.together([&] {
    const Operation op = plain_operation(work, whole.view.shape, ranks.size());
    result = result_view(op, {whole.view});
    head = head_of(work, result);
    files = file_plan(work.entry, op, whole.view, result, ranks.size());
  });
  Output output(ranks, work, head, result);
  if (ranks.on_one_host())
    ranks.together([&] { take(ranks, *files, whole, result.dtype, output); });
  else
    exchange(ranks, *files, whole, result.dtype, work.workspace, output);
  output.commit();
  return fmt::format("{} ranks of {}: \"{} -> {}\"; {}", ranks.size(),
                     ranks.on_one_host() ? "one host" : "several hosts",
                     ranks.on_one_host() ? files->in.whole : files->in.cut, files->parts,
                     ranks.on_one_host() ? "each takes what its part of the output needs from all of the input"
                                         : "each reads its part of the input, and messages go between them");
}

}  // namespace axisloom::cli
