// Communicators as C's table of functions, and such tables as communicators.
#include <axisloom/communicator.hpp>
#include <axisloom/error.hpp>

#include "c/failure.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace axisloom {
namespace {

using c::guarded, c::required;

// --- C's table as a communicator -------------------------------------------------------------------------------------

/// A table, which is given back with its last user where it was made for it.
class Table {
 public:
  Table(const axl_communicator& given, bool owned) : functions_(given), owned_(owned) {}
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table() {
    if (owned_ && functions_.release) functions_.release(functions_.context);
  }

  const axl_communicator& functions() const { return functions_; }

  /// Throws what a function's status says.
  void check(axl_status status, const char* call) const {
    if (status == AXL_OK) return;
    const char* const text = functions_.error ? functions_.error(functions_.context) : nullptr;
    const bool known = status > 0 && status <= AXL_AFTER_FORK;
    throw Error(known ? Errc(status - 1) : Errc::device,
                {.message = text && *text ? text : "the engine of the ranks reports a failure",
                 .call = concat("axl_communicator::", call),
                 .native = status,
                 .remedy = "end the job: its ranks may be out of step"});
  }

 private:
  axl_communicator functions_;
  bool owned_;
};
using SharedTable = std::shared_ptr<const Table>;

class TableMessages : public MessagesInFlight {
 public:
  TableMessages(SharedTable table, void* messages) : table_(std::move(table)), messages_(messages) {}
  TableMessages(const TableMessages&) = delete;
  TableMessages& operator=(const TableMessages&) = delete;
  ~TableMessages() override { table_->functions().drop(table_->functions().context, messages_); }
  void wait() override { table_->check(table_->functions().wait(table_->functions().context, messages_), "wait"); }

 private:
  SharedTable table_;
  void* messages_;
};

class TableWindows : public SharedWindows {
 public:
  TableWindows(SharedTable table, void* windows) : table_(std::move(table)), windows_(windows) {}
  TableWindows(const TableWindows&) = delete;
  TableWindows& operator=(const TableWindows&) = delete;
  ~TableWindows() override { table_->functions().unshare(table_->functions().context, windows_); }

  /// Asks where they are, once they can be let go of.
  void find() {
    const axl_communicator& functions = table_->functions();
    for (std::int32_t rank = 0; rank < functions.ranks; ++rank) {
      void* begin = nullptr;
      size_t bytes = 0;
      table_->check(functions.window(functions.context, windows_, rank, &begin, &bytes), "window");
      places_.emplace_back(static_cast<std::byte*>(begin), bytes);
    }
  }

  std::span<std::byte> of(int rank) const override { return places_[size_t(rank)]; }
  void barrier() override {
    table_->check(table_->functions().barrier(table_->functions().context, windows_), "barrier");
  }

 private:
  SharedTable table_;
  void* windows_;
  std::vector<std::span<std::byte>> places_;
};

SharedTable checked_table(const axl_communicator& table, bool owned) {
  if (table.size < sizeof table)
    throw Error(Errc::usage, concat("the communicator has size ", table.size), "set it to sizeof(axl_communicator)");
  required(table.allgather, "allgather of the communicator");
  required(table.start, "start of the communicator");
  required(table.wait, "wait of the communicator");
  required(table.drop, "drop of the communicator");
  required(table.split, "split of the communicator");
  if (table.share) {
    required(table.window, "window of the communicator");
    required(table.barrier, "barrier of the communicator");
    required(table.unshare, "unshare of the communicator");
  }
  if (table.ranks < 1 || table.rank < 0 || table.rank >= table.ranks)
    throw Error(Errc::usage, concat("the communicator says that it is rank ", table.rank, " of ", table.ranks),
                "count ranks from 0");
  return std::make_shared<Table>(table, owned);
}

class TableCommunicator : public Communicator {
 public:
  explicit TableCommunicator(SharedTable table) : table_(std::move(table)) {}

  int rank() const override { return functions().rank; }
  int size() const override { return functions().ranks; }
  bool takes_device_memory() const override { return functions().takes_device_memory != 0; }

  std::vector<std::byte> allgather(std::span<const std::byte> mine) override {
    std::vector<std::byte> all(mine.size() * size_t(size()));
    table_->check(functions().allgather(functions().context, mine.data(), mine.size(), all.data()), "allgather");
    return all;
  }

  std::unique_ptr<MessagesInFlight> start_alltoallv(std::span<const OutgoingMessage> out,
                                                    std::span<const IncomingMessage> in) override {
    std::vector<axl_message> outgoing, incoming;
    for (const OutgoingMessage& message : out)
      outgoing.push_back({message.to, const_cast<std::byte*>(message.bytes.data()), message.bytes.size()});
    for (const IncomingMessage& message : in)
      incoming.push_back({message.from, message.bytes.data(), message.bytes.size()});
    void* messages = nullptr;
    table_->check(functions().start(functions().context, outgoing.data(), outgoing.size(), incoming.data(),
                                    incoming.size(), &messages),
                  "start");
    return std::make_unique<TableMessages>(table_, messages);
  }

  std::shared_ptr<Communicator> split(int group) override {
    axl_communicator part{};
    table_->check(functions().split(functions().context, group, &part), "split");
    return std::make_shared<TableCommunicator>(checked_table(part, true));
  }

  std::unique_ptr<SharedWindows> share(size_t bytes) override {
    if (!functions().share) return nullptr;
    void* windows = nullptr;
    table_->check(functions().share(functions().context, bytes, &windows), "share");
    if (!windows) return nullptr;
    auto shared = std::make_unique<TableWindows>(table_, windows);
    shared->find();
    return shared;
  }

 private:
  const axl_communicator& functions() const { return table_->functions(); }

  SharedTable table_;
};

// --- a communicator as C's table -------------------------------------------------------------------------------------

/// What a table's context is.
struct Kept {
  std::shared_ptr<Communicator> ranks;
};

Communicator& ranks_of(void* context) {
  return *static_cast<Kept*>(context)->ranks;
}

axl_status allgather(void* context, const void* mine, size_t bytes, void* all) noexcept {
  return guarded([&] {
    const std::vector<std::byte> gathered =
        ranks_of(context).allgather(std::span(static_cast<const std::byte*>(mine), bytes));
    std::copy(gathered.begin(), gathered.end(), static_cast<std::byte*>(all));
  });
}

axl_status start(void* context, const axl_message* out, size_t out_count, const axl_message* in, size_t in_count,
                 void** messages) noexcept {
  return guarded([&] {
    std::vector<OutgoingMessage> outgoing;
    std::vector<IncomingMessage> incoming;
    for (const axl_message& message : std::span(out, out_count))
      outgoing.push_back({message.rank, std::span(static_cast<const std::byte*>(message.data), message.bytes)});
    for (const axl_message& message : std::span(in, in_count))
      incoming.push_back({message.rank, std::span(static_cast<std::byte*>(message.data), message.bytes)});
    *messages = ranks_of(context).start_alltoallv(outgoing, incoming).release();
  });
}

axl_status wait(void*, void* messages) noexcept {
  return guarded([&] { static_cast<MessagesInFlight*>(messages)->wait(); });
}

void drop(void*, void* messages) noexcept {
  delete static_cast<MessagesInFlight*>(messages);
}

axl_status split(void* context, std::int32_t group, axl_communicator* part) noexcept {
  return guarded([&] { *part = table_of(ranks_of(context).split(group)); });
}

axl_status share(void* context, size_t bytes, void** windows) noexcept {
  return guarded([&] { *windows = ranks_of(context).share(bytes).release(); });
}

axl_status window(void*, void* windows, std::int32_t rank, void** begin, size_t* bytes) noexcept {
  return guarded([&] {
    const std::span<std::byte> place = static_cast<SharedWindows*>(windows)->of(rank);
    *begin = place.data();
    *bytes = place.size();
  });
}

axl_status barrier(void*, void* windows) noexcept {
  return guarded([&] { static_cast<SharedWindows*>(windows)->barrier(); });
}

void unshare(void*, void* windows) noexcept {
  delete static_cast<SharedWindows*>(windows);
}

void release(void* context) noexcept {
  delete static_cast<Kept*>(context);
}

const char* error(void*) noexcept {
  return axl_last_error();
}

}  // namespace

std::shared_ptr<Communicator> communicator_of(const axl_communicator& table) {
  return std::make_shared<TableCommunicator>(checked_table(table, false));
}

axl_communicator table_of(std::shared_ptr<Communicator> ranks) {
  if (!ranks) throw Error(Errc::usage, "the communicator is empty", "give one");
  axl_communicator table{};
  table.size = sizeof table;
  table.rank = ranks->rank();
  table.ranks = ranks->size();
  table.takes_device_memory = ranks->takes_device_memory() ? 1 : 0;
  table.allgather = allgather;
  table.start = start;
  table.wait = wait;
  table.drop = drop;
  table.split = split;
  table.share = share;
  table.window = window;
  table.barrier = barrier;
  table.unshare = unshare;
  table.release = release;
  table.error = error;
  table.context = new Kept{std::move(ranks)};
  return table;
}

axl_status status_of(const std::function<void()>& work) noexcept {
  return guarded([&] { work(); });
}

}  // namespace axisloom
