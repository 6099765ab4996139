// A child of a process that has used a device gets a typed error from every call, never a hang; but the host goes on.
#include "opencl_support.hpp"

#include <sys/wait.h>
#include <unistd.h>

namespace axisloom::device {
namespace {

using axisloom::test::code_thrown;
using axisloom::test::scale_request;
using axisloom::test::test_index;

constexpr int child_limit_seconds = 30;  // a hang ends by SIGALRM and so fails

template <typename Call>
int count_unless_after_fork(Call&& call) {
  return code_thrown(call) == Errc::after_fork ? 0 : 1;
}

// How many calls did something other than refuse.
int use_everything(std::shared_ptr<axisloom::device::Device> device, std::shared_ptr<axisloom::device::Queue> queue,
                   std::shared_ptr<axisloom::device::Buffer> buffer, std::shared_ptr<Program> program,
                   std::shared_ptr<axisloom::device::Event> event) {
  std::byte bytes[4] = {};
  int wrong = 0;
  wrong += count_unless_after_fork([&] { device->allocate(4); });
  wrong += count_unless_after_fork([&] { device->allocate_staging(4); });
  wrong += count_unless_after_fork([&] { device->wrap(bytes, 4); });
  wrong += count_unless_after_fork([&] { device->queue(true); });
  wrong += count_unless_after_fork([&] { device->build(scale_request); });
  wrong += count_unless_after_fork([&] { device->build_identity(); });
  wrong += count_unless_after_fork([&] { device->load(scale_request, bytes); });
  wrong += count_unless_after_fork([&] { device->attributes(*program, "scale"); });
  wrong += count_unless_after_fork([&] { program->binary(); });
  wrong += count_unless_after_fork([&] { queue->launch(*program, "scale", {}, {}, {}); });
  wrong += count_unless_after_fork([&] { queue->write(*buffer, 0, bytes, {}); });
  wrong += count_unless_after_fork([&] { queue->read(*buffer, 0, bytes, {}); });
  wrong += count_unless_after_fork([&] { queue->copy(*buffer, 0, *buffer, 4, 4, {}); });
  wrong += count_unless_after_fork([&] { queue->fill(*buffer, 0, 4, std::byte{1}, {}); });
  wrong += count_unless_after_fork([&] { queue->flush(); });
  wrong += count_unless_after_fork([&] { queue->finish(); });
  wrong += count_unless_after_fork([&] { event->wait(); });
  wrong += count_unless_after_fork([&] { event->done(); });
  wrong += count_unless_after_fork([&] { event->seconds(); });
  wrong += count_unless_after_fork([&] { opencl_runtime().devices(); });
  wrong += count_unless_after_fork([&] { opencl_runtime().open(test_index()); });
  wrong += count_unless_after_fork([&] { opencl_runtime().status(); });
  wrong += count_unless_after_fork([&] { open("auto"); });
  wrong += count_unless_after_fork([&] { axisloom::devices(); });
  wrong += count_unless_after_fork([&] { axisloom::Device::open("opencl"); });
  wrong += count_unless_after_fork([&] { axisloom::Device(device).allocate(4); });
  wrong += count_unless_after_fork([&] { axisloom::Queue(queue).finish(); });
  const std::optional<Errc> on_host = code_thrown([] {
    const axisloom::Device host = axisloom::Device::open("host");
    std::array<std::byte, 4> four{};
    host.queue().write(host.allocate(4), 0, four).wait();
  });
  wrong += on_host.has_value() ? 1 : 0;
  return wrong;
}

TEST(DeviceFork, ChildIsRefusedEverywhereAndParentGoesOn) {
  if (opencl_runtime().devices().empty()) GTEST_SKIP() << "no OpenCL device";
  auto device = opencl_runtime().open(test_index());
  auto queue = device->queue(true);
  auto buffer = device->allocate(64);
  auto program = device->build(scale_request);
  auto event = queue->fill(*buffer, 0, 64, std::byte{7}, {});
  event->wait();

  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(child_limit_seconds);
    // Moved in, so that the destructors of the last owners run in the child too.
    _exit(use_everything(std::move(device), std::move(queue), std::move(buffer), std::move(program), std::move(event)));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "the child ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "calls that did not refuse";

  std::vector<std::byte> back(64);
  queue->read(*buffer, 0, back, {})->wait();
  EXPECT_EQ(back, std::vector<std::byte>(64, std::byte{7}));
}

}  // namespace
}  // namespace axisloom::device
