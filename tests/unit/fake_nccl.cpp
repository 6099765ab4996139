// A libnccl.so.2 for tests, with what Axisloom calls. AXISLOOM_FAKE_NCCL: its version, as ncclGetVersion tells it; one
// before 2.7 sends no messages.
#include "fake_nccl.hpp"

#define AXISLOOM_FAKE extern "C" __attribute__((visibility("default")))

namespace {

constexpr int success = 0, internal_error = 3, in_progress = 7;

struct Message {
  ncclComm* comm;
  bool sends;
  std::byte* address;
  std::size_t bytes;
  int peer;
};

/// What a thread has called since ncclGroupStart.
struct Group {
  int depth = 0;
  ncclComm* comm = nullptr;
  int failed = success;
  std::vector<Message> messages;
};
thread_local Group group;

/// All that is sent first, so that two ranks that send to each other do not wait for each other.
int carry_out(const std::vector<Message>& messages) {
  bool right = true;
  for (const Message& one : messages)
    if (one.sends) one.comm->job->send(one.comm->rank, one.peer, {one.address, one.bytes});
  for (const Message& one : messages)
    if (!one.sends) right = one.comm->job->receive(one.peer, one.comm->rank, {one.address, one.bytes}) && right;
  return right ? success : internal_error;
}

}  // namespace

AXISLOOM_FAKE int ncclGetVersion(int* version) {
  *version = AXISLOOM_FAKE_NCCL;
  return success;
}

AXISLOOM_FAKE const char* ncclGetErrorString(int result) {
  return result == 2   ? "unhandled system error"
         : result == 6 ? "remote process exited or there was a network error"
                       : "another error";
}

AXISLOOM_FAKE const char* ncclGetLastError(ncclComm* comm) {
  return comm->words.c_str();
}

AXISLOOM_FAKE int ncclCommCount(ncclComm* comm, int* count) {
  *count = comm->job->size();
  return comm->failing == "ncclCommCount" ? comm->code : success;
}

AXISLOOM_FAKE int ncclCommUserRank(ncclComm* comm, int* rank) {
  *rank = comm->rank;
  return comm->failing == "ncclCommUserRank" ? comm->code : success;
}

AXISLOOM_FAKE int ncclCommCuDevice(ncclComm* comm, int* device) {
  *device = 0;
  return comm->failing == "ncclCommCuDevice" ? comm->code : success;
}

AXISLOOM_FAKE int ncclCommGetAsyncError(ncclComm* comm, int* state) {
  *state = comm->busy > 0 ? in_progress : comm->state;
  if (comm->busy > 0) --comm->busy;
  return comm->failing == "ncclCommGetAsyncError" ? comm->code : success;
}

AXISLOOM_FAKE int ncclCommAbort(ncclComm* comm) {
  return comm->note("ncclCommAbort", "abort");
}

AXISLOOM_FAKE int ncclGroupStart() {
  ++group.depth;
  return success;
}

AXISLOOM_FAKE int ncclGroupEnd() {
  if (--group.depth > 0) return success;
  const Group ended = std::exchange(group, {});
  if (!ended.comm) return success;
  const int result = ended.comm->note("ncclGroupEnd", "end");
  if (ended.failed != success) return ended.failed;
  if (result != success && result != in_progress) return result;
  const int carried = carry_out(ended.messages);
  return carried == success ? result : carried;
}

AXISLOOM_FAKE int ncclAllGather(const void* from, void* to, std::size_t bytes, int type, ncclComm* comm, void* stream) {
  const int result = comm->note("ncclAllGather", "gather " + std::to_string(bytes));
  auto* const all = static_cast<std::byte*>(to);
  if (comm->on_messages) comm->on_messages(stream);
  if (type != 0 || from != all + static_cast<std::size_t>(comm->rank) * bytes) return internal_error;
  std::vector<Message> messages;
  for (int peer = 0; peer < comm->job->size(); ++peer) {
    if (peer == comm->rank) continue;
    messages.push_back({comm, true, all + static_cast<std::size_t>(comm->rank) * bytes, bytes, peer});
    messages.push_back({comm, false, all + static_cast<std::size_t>(peer) * bytes, bytes, peer});
  }
  return result == success ? carry_out(messages) : result;
}

#if AXISLOOM_FAKE_NCCL >= 2700
static int add(const char* entry, const Message& message, int type, void* stream) {
  ncclComm& comm = *message.comm;
  if (comm.on_messages) comm.on_messages(stream);
  const int result = comm.note(entry, (message.sends ? "send " : "receive ") + std::to_string(message.peer) + " " +
                                          std::to_string(message.bytes) + (group.depth > 0 ? "" : " alone"));
  group.comm = &comm;
  group.messages.push_back(message);
  if (result != success) group.failed = result;
  return type != 0 || message.peer == comm.rank ? internal_error : result;
}

AXISLOOM_FAKE int ncclSend(const void* from, std::size_t bytes, int type, int peer, ncclComm* comm, void* stream) {
  auto* const address = static_cast<std::byte*>(const_cast<void*>(from));
  return add("ncclSend", {comm, true, address, bytes, peer}, type, stream);
}

AXISLOOM_FAKE int ncclRecv(void* to, std::size_t bytes, int type, int peer, ncclComm* comm, void* stream) {
  return add("ncclRecv", {comm, false, static_cast<std::byte*>(to), bytes, peer}, type, stream);
}
#endif
