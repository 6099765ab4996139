// The CUDA backend on the driver that cuda_support.hpp emulates: what its tests share.
#pragma once

#include "cuda_support.hpp"
#include "device/cuda/device.hpp"
#include "device/cuda/runtime.hpp"
#include "device/cuda/sharing.hpp"

#include <gtest/gtest.h>

#include <array>

namespace axisloom::device::cuda {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

const NvrtcSearch& no_compiler() {
  static const NvrtcSearch none;
  return none;
}

BuildRequest request(std::string name, std::string source = {}) {
  return {std::move(name), std::move(source), {}};
}

RuntimeStatus status(bool found, std::vector<std::string> tried = {}, std::string remedy = {}) {
  return {"CUDA driver", found, {}, std::move(tried), {}, std::move(remedy)};
}

template <typename Call>
void expect_error(Errc code, const std::string& words, Call&& call) {
  try {
    call();
    ADD_FAILURE() << "no error that says: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(name(error.code()), name(code)) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

class CudaFake : public testing::Test {
 protected:
  void SetUp() override { fake.reset(); }
  void TearDown() override {
    EXPECT_EQ(fake.live(), 0u) << "handles are left";
    EXPECT_TRUE(FakeDriver::stack.empty()) << "a context is still current";
  }

  std::shared_ptr<CudaRuntime> runtime(std::shared_ptr<const DriverApi> api = FakeDriver::get().table()) {
    return std::make_shared<CudaRuntime>(DriverLibrary{std::move(api), status(true)}, no_compiler);
  }
  std::shared_ptr<Device> open() { return runtime()->open(0); }
  std::shared_ptr<Program> load(Device& device) { return device.load(request("test"), bytes_of(kFakePtx)); }

  /// Arguments of the kernel `twice`.
  struct Twice {
    std::shared_ptr<Buffer> a, b;
    long n = 0;
    std::array<Arg, 3> args() { return {Arg::of(*a), Arg::of(*b), Arg::bytes(&n, sizeof n)}; }
  };
  /// Arguments of the kernel `mapped`: 5 x 3 matrices of doubles after the first 32 bytes, in boxes of 16 x 8.
  struct Mapped {
    std::shared_ptr<Buffer> a;
    TensorMap map{.begin = 32, .element = 8, .extent = {3, 5, 2}, .pitch = {48, 240}, .box = {16, 8, 1}};
    long n = 0;
    std::array<Arg, 2> args() { return {Arg::of(*a, map), Arg::bytes(&n, sizeof n)}; }
  };

  Twice twice(Device& device, long n = 4) {
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(int);
    return {device.allocate(bytes), device.allocate(bytes), n};
  }

  /// One of everything that the backend does; every call of the driver is in here.
  void everything() {
    const auto device = open();
    const auto queue = device->queue(true), other = device->queue(false);
    auto call = twice(*device);
    const auto staging = device->allocate_staging(64);
    const auto program = load(*device);
    if (!program) throw Error(Errc::device, ErrorParts{.message = "rejected", .call = "cuModuleLoadDataEx"});
    const std::array<int, 4> in = {1, 2, 3, 4};
    std::array<int, 4> out = {};
    queue->write(*call.a, 0, std::as_bytes(std::span(in)), {});
    queue->fill(*call.b, 0, sizeof in, std::byte{0}, {});
    queue->launch(*program, "twice", {.groups = 2, .items = 32, .local_bytes = 100 * 1024}, call.args(), {});
    Mapped mapped{staging};
    queue->launch(*program, "mapped", {.items = 32}, mapped.args(), {});
    const auto launched = queue->launch(*program, "twice", {.groups = 32, .items = 32, .cluster = 16}, call.args(), {});
    const std::array waits = {launched};
    other->copy(*call.b, 0, *staging, 0, sizeof in / 2, waits);
    begin_after(*queue, mark(*other));
    const auto behind = [&](const Buffer& buffer) { return reinterpret_cast<CUdeviceptr>(buffer.native()) + 8; };
    copy_rows(*other, {.from = {.begin = behind(*call.b), .pitch = 4, .height = 1},
                       .to = {.begin = behind(*staging), .pitch = 4, .height = 1},
                       .width = 4,
                       .count = 1,
                       .slices = 2});
    EXPECT_FALSE(is_captured(*other));
    MemoryKey key = key_of(*call.b);
    EXPECT_EQ(reach(*device, key, sizeof in, false)->native(), call.b->native());
    key.context = FakeDriver::foreign;
    EXPECT_EQ(reach(*device, key, sizeof in, true)->native(), call.b->native());
    const auto last = other->read(*staging, 0, std::as_writable_bytes(std::span(out)), {});
    last->wait();
    EXPECT_TRUE(last->done());
    EXPECT_GT(launched->seconds(), 0);
    EXPECT_EQ(device->attributes(*program, "twice").registers, 16);
    other->finish();
    CUstream foreign_stream = reinterpret_cast<CUstream>(other->native());
    device->borrow_queue(foreign_stream)->finish();
    EXPECT_EQ(out, (std::array<int, 4>{2, 4, 6, 8}));
  }

  void expect_clean_failure(const FakeDriver::Fault& fault) {
    SCOPED_TRACE(fault.entry + " call " + std::to_string(fault.at) +
                 (fault.lasting ? " and later ones fail" : " fails") + " with " + std::to_string(fault.code));
    fake.reset();
    fake.fault = fault;
    try {
      everything();
      // A destructor met the failure. Where the context could not be made current, its object stays with the driver.
      EXPECT_TRUE(fault.entry == "cuCtxPushCurrent_v2" || releases(fault.entry)) << "the failure went unnoticed";
    } catch (const Error& error) {
      const bool opening = error.code() == Errc::no_device;
      EXPECT_TRUE(opening || error.code() == classify(fault.code)) << error.what();
      EXPECT_EQ(error.parts().call, fault.entry) << error.what();
    }
    EXPECT_GT(fake.struck, 0);
    EXPECT_TRUE(FakeDriver::stack.empty());
    if (fault.entry != "cuCtxPushCurrent_v2") {
      EXPECT_EQ(fake.live(), 0u);
    } else if (!fault.lasting) {
      EXPECT_LE(fake.live(), 3u);
    }
    fake.drop_leftovers();
  }

  FakeDriver& fake = FakeDriver::get();
};

}  // namespace
}  // namespace axisloom::device::cuda
