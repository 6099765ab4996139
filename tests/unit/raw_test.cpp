// Raw files, and input that is not a regular file.
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <thread>

#include "io_support.hpp"
#include "sanitizers.hpp"

namespace axisloom {
namespace {

using io_support::array_of;
using io_support::bytes_of;
using io_support::expect_error;
using io_support::expect_unreadable;
using io_support::memory_of;
using io_support::raw_bytes;
using io_support::TemporaryFolder;

io::ReadOptions as(Dtype dtype, const Dims& shape) {
  io::ReadOptions options;
  options.dtype = dtype;
  options.shape = shape;
  return options;
}

TEST(Raw, ComesBackWithShapeAndDtype) {
  const TemporaryFolder folder;
  const std::string bytes = raw_bytes<std::int32_t>({1, -2, 3, -4, 5, -6});
  io::write(folder / "a.raw", array_of(Dtype::i32, {2, 3}, bytes));
  EXPECT_EQ(bytes_of(folder / "a.raw"), bytes);
  const io::HostArray back = io::read(folder / "a.raw", as(Dtype::i32, {3, 2}));
  EXPECT_EQ(back.view.dtype, Dtype::i32);
  EXPECT_EQ(back.view.shape, (Dims{3, 2}));
  EXPECT_TRUE(back.view.is_contiguous());
  EXPECT_EQ(memory_of(back), bytes);
}

TEST(Raw, WithoutAShapeIsOneAxis) {
  const TemporaryFolder folder;
  const std::string path = folder.put("a.bin", "abcdef");
  EXPECT_EQ(io::read(path, as(Dtype::u16, {})).view.shape, Dims{3});
  expect_unreadable(path, {"length", "6 bytes"}, as(Dtype::f32, {}));
}

TEST(Raw, Bfloat16AndStridedViewsAreWritten) {
  const TemporaryFolder folder;
  io::HostArray array = array_of(Dtype::bf16, {2, 2}, "aabbccdd");
  array.view.strides = {1, 2};
  io::write(folder / "a.raw", array);
  EXPECT_EQ(bytes_of(folder / "a.raw"), "aaccbbdd");
}

TEST(Raw, LengthMustFitExactly) {
  const TemporaryFolder folder;
  const std::string path = folder.put("a.raw", "abcdefgh");
  expect_unreadable(path, {"length", "12 bytes", "has 8"}, as(Dtype::f32, {3}));
  expect_unreadable(path, {"length", "4 bytes", "has 8"}, as(Dtype::f32, {1}));
  expect_unreadable(path, {"length"}, as(Dtype::u8, {std::int64_t{1} << 40}));
  expect_error(Errc::usage, {path, "shape"}, [&] { io::read(path, as(Dtype::u8, {-8})); });
  expect_error(Errc::usage, {path, "shape"}, [&] {
    io::read(path, as(Dtype::u64, {std::int64_t{1} << 40, std::int64_t{1} << 40}));
  });
  expect_error(Errc::usage, {path, "dtype"}, [&] { io::read(path); });
}

TEST(Raw, IsMappedWhenLarge) {
  const TemporaryFolder folder;
  const std::string path = folder.put("a.raw", "abcdefgh");
  io::ReadOptions options = as(Dtype::u8, {8});
  options.map_from = 8;
  const io::HostArray array = io::read(path, options);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.memory.get()) % 4096, 0U);
  EXPECT_EQ(memory_of(array), "abcdefgh");
}

TEST(Raw, EmptyFile) {
  const TemporaryFolder folder;
  const io::HostArray array = io::read(folder.put("a.raw", ""), as(Dtype::f32, {0, 7}));
  EXPECT_EQ(array.bytes, 0U);
  EXPECT_EQ(array.view.shape, (Dims{0, 7}));
}

TEST(Raw, PipesAreReadToTheirEnd) {
  const TemporaryFolder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string sent(3 << 20, '\0');
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 7 + (i >> 8));
  std::thread writer([&] { std::ofstream(path, std::ios::binary).write(sent.data(), 3 << 20); });
  io::ReadOptions options = as(Dtype::u8, {3 << 20});
  options.format = "raw";
  options.map_from = 0;
  const io::HostArray array = io::read(path, options);
  writer.join();
  EXPECT_TRUE(memory_of(array) == sent);
}

TEST(Raw, FoldersDevicesAndMissingFilesAreNamed) {
  const TemporaryFolder folder;
  expect_unreadable(folder / "none.raw", {"open", "No such file"}, as(Dtype::u8, {1}));
  std::filesystem::create_directory(folder / "sub.raw");
  expect_unreadable(folder / "sub.raw", {"folder"}, as(Dtype::u8, {1}));
  io::ReadOptions options = as(Dtype::u8, {1});
  options.format = "raw";
  expect_unreadable("/dev/zero", {"device"}, options);
}

TEST(HostMemory, CoversTheBoundsOfAView) {
  const io::HostArray array = io::HostArray::allocate({Dtype::f32, {3, 4}, {-8, 1}, 20});
  EXPECT_EQ(array.bytes, 4U * 24U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.memory.get()) % 256, 0U);
  EXPECT_EQ(array.view.align, 256);
  EXPECT_EQ(array.view.strides, (Dims{-8, 1}));
  expect_error(Errc::usage, {"before its memory"}, [] { io::HostArray::allocate({Dtype::f32, {3}, {-1}, 1}); });
  expect_error(Errc::out_of_memory, {"memory"},
               [] { io::HostArray::allocate(View::contiguous(Dtype::c128, {std::int64_t{1} << 60})); });
}

TEST(HostMemory, RefusesMoreThanTheMachineGrants) {
  if (test::address_sanitizer) GTEST_SKIP() << "AddressSanitizer ends the program on such an allocation";
  expect_error(Errc::out_of_memory, {"memory"},
               [] { io::HostArray::allocate(View::contiguous(Dtype::u8, {std::int64_t{1} << 60})); });
}

}  // namespace
}  // namespace axisloom
