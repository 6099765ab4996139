// Starting the Python process, talking to it, and the memory shared with it.
#include "bench/peers/worker.hpp"

#include "bench/peers/peers.hpp"

#include "jit/jit.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

extern char** environ;

namespace axisloom::bench {
namespace {

constexpr int patience_seconds = 300;  // for one reply
constexpr int its_memory_file = 3;     // the worker's own number for the shared memory

[[noreturn]] void fail(const std::string& what) {
  refuse(what, "leave its peers out with --peers");
}

[[noreturn]] void fail_system(const char* what) {
  fail(fmt::format("cannot run the Python worker: {}: {}", what, std::strerror(errno)));
}

std::string program() {
  const char* named = std::getenv("AXISLOOM_PYTHON");
  return named != nullptr && named[0] != '\0' ? named : "python3";
}

// Threads that spin while they wait for work would take the cores from whoever has his turn, and so would PyTorch's
// processes for what it compiles.
Texts environment() {
  Texts all{"OMP_WAIT_POLICY=PASSIVE",         "GOMP_SPINCOUNT=0",     "KMP_BLOCKTIME=0", "OPENBLAS_THREAD_TIMEOUT=20",
            "TORCHINDUCTOR_COMPILE_THREADS=1", "PYTHONWARNINGS=ignore"};
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  return all;
}

std::vector<char*> pointers(Texts& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

nlohmann::json array_json(std::string_view type, i64 offset, const std::vector<i64>& shape,
                          const std::vector<i64>& strides) {
  return {{"type", type}, {"offset", offset}, {"shape", shape}, {"strides", strides}};
}

/// The arrays as NumPy shall see them, the output last. Of a move: an input of the output's shape, its axes merged, and
/// types that only tell the size of an element.
std::vector<nlohmann::json> arrays_of(const Workload& workload) {
  std::vector<nlohmann::json> arrays;
  if (!workload.merged()) {
    const auto list = [](const Dims& dims) { return std::vector<i64>(dims.begin(), dims.end()); };
    for (const View& view : workload.views())
      arrays.push_back(array_json(name(view.dtype), view.offset, list(view.shape), list(view.strides)));
    return arrays;
  }
  const core::Move& move = *workload.merged();
  std::vector<i64> shape, in, out;
  for (const core::Loop& axis : move.axes) {
    shape.push_back(axis.extent);
    in.push_back(axis.in);
    out.push_back(axis.out);
  }
  const std::string type = concat("move", move.element);
  return {array_json(type, move.in_offset, shape, in), array_json(type, move.out_offset, shape, out)};
}

}  // namespace

SharedMemory::SharedMemory() : file_(memfd_create("axisloom-bench", MFD_CLOEXEC)) {
  if (file() < 0) fail_system("memfd_create");
}

SharedMemory::~SharedMemory() {
  unmap();
}

void SharedMemory::unmap() noexcept {
  if (!mapped_.empty()) munmap(mapped_.data(), mapped_.size());
  mapped_ = {};
}

void SharedMemory::reserve(size_t bytes) {
  if (mapped_.size() >= bytes) return;
  unmap();
  if (ftruncate(file(), off_t(bytes)) != 0) fail_system("ftruncate");
  void* const start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file(), 0);
  if (start == MAP_FAILED) fail_system("mmap");
  mapped_ = {static_cast<std::byte*>(start), bytes};
}

Worker::Worker() {
  std::array<int, 2> sockets{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) fail_system("socketpair");
  socket_ = io::Descriptor(sockets[0]);
  const io::Descriptor its_socket(sockets[1]);
  const timeval patience{patience_seconds, 0};
  setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  start(its_socket.get());
}

Worker::~Worker() {
  socket_ = {};  // at which it ends
  waitpid(process_, nullptr, 0);
}

void Worker::start(int its_socket) {
  Texts arguments{program(), "-u", "-c", std::string(jit::embedded("bench/peers/worker.py"))};
  Texts variables = environment();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, its_socket, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, its_socket, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, memory_.file(), its_memory_file);
  const int error = posix_spawnp(&process_, arguments[0].c_str(), &actions, nullptr, pointers(arguments).data(),
                                 pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail(fmt::format("cannot start {}: {}", arguments[0], std::strerror(error)));
}

std::string Worker::receive_line() {
  size_t end;
  while ((end = received_.find('\n')) == std::string::npos) {
    std::array<char, 4096> part;
    const ssize_t got = io::uninterrupted([&] { return recv(socket_.get(), part.data(), part.size(), 0); });
    if (got < 0 && errno == EAGAIN) fail(fmt::format("the Python worker has not answered for {} s", patience_seconds));
    if (got <= 0) fail("the Python worker has ended");
    received_.append(part.data(), got);
  }
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return line;
}

nlohmann::json Worker::ask(const nlohmann::json& request) {
  const std::string line = request.dump() + "\n";
  for (size_t sent = 0; sent < line.size();) {
    const ssize_t part =
        io::uninterrupted([&] { return send(socket_.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL); });
    if (part <= 0) fail("the Python worker has ended");
    sent += part;
  }
  nlohmann::json reply = nlohmann::json::parse(receive_line(), nullptr, false);
  if (!reply.is_object()) fail("the Python worker gave no sensible answer");
  if (reply.contains("error")) fail(reply["error"].get<std::string>());
  return reply;
}

const nlohmann::json& Worker::facts() {
  if (facts_.is_null()) facts_ = ask({{"do", "facts"}});
  return facts_;
}

void Worker::load(const Workload& workload) {
  const DeviceInfo& info = workload.device().info();
  const std::string identity = fmt::format("{} {} {}", workload.data(0).seed, info.spec(), workload.text());
  if (identity == loaded_) return;
  loaded_.clear();
  const int card = info.kind == Kind::gpu ? (info.api == Api::cuda ? info.index : 0) : -1;
  ask({{"do", "begin"}, {"cuda", card}});
  const auto arrays = arrays_of(workload);
  for (size_t i = 0; i + 1 < arrays.size(); ++i) {
    const size_t bytes = workload.buffer(i).bytes();
    memory_.reserve(bytes);
    fill_on_host(workload.team(), workload.data(i), memory().first(bytes));
    ask({{"do", "input"}, {"array", arrays[i]}, {"bytes", bytes}});
  }
  memory_.reserve(workload.output_bytes());
  ask({{"do", "output"}, {"array", arrays.back()}, {"bytes", workload.output_bytes()}});
  loaded_ = identity;
}

}  // namespace axisloom::bench
