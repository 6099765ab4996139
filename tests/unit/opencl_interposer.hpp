// Puts itself between the library and OpenCL: counts calls, references and queued commands, and makes chosen calls
// fail.
//
//   Interposer interposer;                                             // while it lives
//   interposer.fail("clEnqueueNDRangeKernel", 2, CL_OUT_OF_RESOURCES);  // the second launch from now on fails
//   interposer.fail("clFinish", 1, CL_OUT_OF_RESOURCES, Lasting::yes);  // and so does every wait; the last fail counts
//   ...
//   interposer.struck()      how many calls failed
//   interposer.live()        references that are left: {} when nothing leaked
//   interposer.in_flight()   commands that may still run: 0 when memory may go
//
// Every entry of AXISLOOM_OPENCL_FUNCTIONS can fail. A call that fails does not reach the runtime; but what releases a
// reference does release it and then says that it failed, so that the books of references stay true.
#pragma once

#include "device/opencl/functions.hpp"
#include "failing_allocations.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace axisloom::test {

/// Whether calls fail from the chosen one on, or that one alone.
enum class Lasting { no, yes };

/// Names of all entries, in the order of the table.
inline constexpr const char* opencl_entries[] = {
#define AXISLOOM_NAME(name) #name,
    AXISLOOM_OPENCL_FUNCTIONS(AXISLOOM_NAME)
#undef AXISLOOM_NAME
};

class Interposer {
 public:
  Interposer() {
    reset();
    swap_table(true);
  }
  ~Interposer() { swap_table(false); }
  Interposer(const Interposer&) = delete;
  Interposer& operator=(const Interposer&) = delete;

  /// The nth call from now on (counted from 1) to `call` returns `code`; with Lasting::yes those behind it too.
  void fail(const std::string& call, int nth, cl_int code, Lasting lasting = Lasting::no) {
    const std::lock_guard lock(state().mutex);
    state().fault = {call, nth, code, lasting};
    state().struck = 0;
  }
  /// No call fails any more.
  void heal() { fail("", 0, CL_SUCCESS); }
  /// How many calls failed since the last fail().
  int struck() const {
    const std::lock_guard lock(state().mutex);
    return state().struck;
  }
  std::map<std::string, int> calls() const {
    const std::lock_guard lock(state().mutex);
    return state().calls;
  }
  int total_calls() const {
    int total = 0;
    for (const auto& [call, count] : calls()) total += count;
    return total;
  }
  /// References made and not yet released, by kind of object: "Kernel", "MemObject", ...; kinds with none are absent.
  std::map<std::string, int> live() const {
    const std::lock_guard lock(state().mutex);
    std::map<std::string, int> result;
    for (const auto& [kind, count] : state().live) {
      if (count) result[kind] = count;
    }
    return result;
  }
  /// Commands that were queued and that nobody has waited for since, by clFinish or for the last event of their queue.
  int in_flight() const {
    const std::lock_guard lock(state().mutex);
    int count = 0;
    for (const auto& [queue, commands] : state().queues) count += commands.count;
    return count;
  }
  /// Forgets what was counted, and what was to fail.
  void reset() {
    const std::lock_guard lock(state().mutex);
    state().calls.clear();
    state().live.clear();
    state().queues.clear();
    state().fault = {};
    state().struck = 0;
  }

 private:
  struct Fault {
    std::string call;
    int left = 0;  // calls until the one that fails
    cl_int code = CL_SUCCESS;
    Lasting lasting = Lasting::no;
  };
  struct Commands {
    int count = 0;
    cl_event last = nullptr;
  };
  struct State {
    std::mutex mutex;
    std::map<std::string, int> calls;
    std::map<std::string, int> live;
    std::map<cl_command_queue, Commands> queues;
    Fault fault;
    int struck = 0;
  };
  static State& state() {
    static State instance;
    return instance;
  }

  static cl_int before(const char* name) {
    const std::lock_guard lock(state().mutex);
    ++state().calls[name];
    Fault& fault = state().fault;
    if (fault.call != name || (--fault.left != 0 && (fault.left > 0 || fault.lasting == Lasting::no)))
      return CL_SUCCESS;
    ++state().struck;
    return fault.code;
  }

  static void count_references(std::string_view name, bool made_event) {
    const auto rest_of = [&](std::string_view prefix) { return std::string(name.substr(prefix.size())); };
    const std::lock_guard lock(state().mutex);
    if (made_event) ++state().live["Event"];
    if (name.starts_with("clCreateProgram")) {
      ++state().live["Program"];
    } else if (name == "clCreateBuffer") {
      ++state().live["MemObject"];
    } else if (name.starts_with("clCreate")) {
      ++state().live[rest_of("clCreate")];
    } else if (name.starts_with("clRetain")) {
      ++state().live[rest_of("clRetain")];
    } else if (name.starts_with("clRelease")) {
      --state().live[rest_of("clRelease")];
    }
  }

  // What a call that succeeded says of the commands of a queue.
  template <typename... Rest>
  static void count_commands(std::string_view name, cl_command_queue queue, Rest... rest) {
    const std::lock_guard lock(state().mutex);
    Commands& commands = state().queues[queue];
    if (name == "clFinish") commands = {};
    if (!name.starts_with("clEnqueue")) return;
    ++commands.count;
    commands.last = nullptr;
    if constexpr (sizeof...(rest) > 0) {
      if (cl_event* const event = as_event(last(rest...))) commands.last = *event;
    }
  }
  static void count_commands(std::string_view name, cl_uint count, const cl_event* list) {
    if (name != "clWaitForEvents") return;
    const std::span<const cl_event> events(list, count);
    const std::lock_guard lock(state().mutex);
    for (auto& [queue, commands] : state().queues) {
      if (commands.last && std::ranges::find(events, commands.last) != events.end()) commands = {};
    }
  }
  template <typename... Args>
  static void count_commands(std::string_view, Args...) {}

  template <typename First, typename... Rest>
  static auto last(First first, Rest... rest) {
    if constexpr (sizeof...(rest) == 0) {
      return first;
    } else {
      return last(rest...);
    }
  }
  static cl_event* as_event(cl_event* event) { return event; }
  template <typename Other>
  static cl_event* as_event(Other) {
    return nullptr;
  }

  template <auto Member, typename Pointer>
  struct Hook;
  template <auto Member, typename Result, typename... Args>
  struct Hook<Member, Result(CL_API_CALL*)(Args...)> {
    static inline Result(CL_API_CALL* original)(Args...) = nullptr;
    static Result CL_API_CALL run(Args... args) {
      const SoundAllocations runtime_is_at_work;
      const std::string_view name = (device::opencl::cl().*Member).name;
      const cl_int failure = before(name.data());
      if constexpr (std::is_same_v<Result, cl_int>) {
        if (failure != CL_SUCCESS && !name.starts_with("clRelease")) return failure;
        const cl_int code = original(args...);
        if (code == CL_SUCCESS) {
          count_references(name, as_event(last(args...)) != nullptr);
          count_commands(name, args...);
        }
        return failure != CL_SUCCESS ? failure : code;
      } else {
        cl_int* const code = last(args...);
        if (failure != CL_SUCCESS) return *code = failure, nullptr;
        Result object = original(args...);
        if (*code == CL_SUCCESS) count_references(name, false);
        return object;
      }
    }
  };

  template <auto Member, typename Signature>
  static void swap_entry(device::EntryPoint<Signature>& entry, bool in) {
    using ThisHook = Hook<Member, Signature*>;
    if (in) ThisHook::original = entry.function;
    entry.function = in ? &ThisHook::run : ThisHook::original;
  }

  static void swap_table(bool in) {
    device::opencl::Functions& table = device::opencl::cl();
#define AXISLOOM_SWAP(name) swap_entry<&device::opencl::Functions::name>(table.name, in);
    AXISLOOM_OPENCL_FUNCTIONS(AXISLOOM_SWAP)
#undef AXISLOOM_SWAP
  }
};

}  // namespace axisloom::test
