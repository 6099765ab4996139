// The README's example of a plan, compiled and run as it stands there.
#include <axisloom/axisloom.hpp>

#include "plan.hpp"

void run_a_plan() {
  axisloom::Device device = axisloom::Device::open();  // or borrow a cl_context, a CUcontext
  axisloom::View in = axisloom::View::contiguous(axisloom::Dtype::f32, {4096, 4096});
  axisloom::Plan plan = axisloom::plan(axisloom::transpose(), {in}, device);  // checks, chooses, compiles

  axisloom::Queue queue = device.queue();
  axisloom::Buffer buffers[] = {device.allocate(64 << 20), device.allocate(64 << 20)};  // input, output
  plan.run(queue, buffers).wait();  // compiles nothing; any number of times, from any thread
}
