// .npy files: every version, order and dtype that is read, what is written, and headers that lie.
#include <algorithm>
#include <cstdint>

#include "io_support.hpp"

namespace axisloom {
namespace {

using io_support::array_of;
using io_support::bytes_of;
using io_support::expect_error;
using io_support::expect_unreadable;
using io_support::memory_of;
using io_support::raw_bytes;
using io_support::TemporaryFolder;

/// A .npy file with this header text, just as given, and these data.
std::string npy(const std::string& header, const std::string& data, int version = 1) {
  std::string file("\x93NUMPY");
  file += {static_cast<char>(version), '\0'};
  const int length_bytes = version == 1 ? 2 : 4;
  for (int i = 0; i < length_bytes; ++i) file += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return file + header + data;
}

std::string header_of(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

class Npy : public testing::Test {
 protected:
  io::HostArray read(const std::string& bytes, const io::ReadOptions& options = {}) {
    return io::read(folder_.put("a.npy", bytes), options);
  }
  void refuses(const std::string& bytes, const std::vector<std::string>& words) {
    SCOPED_TRACE(bytes.substr(0, 100));
    expect_unreadable(folder_.put("a.npy", bytes), words);
  }
  TemporaryFolder folder_;
};

TEST_F(Npy, WritesExactlyWhatNumPyWrites) {
  io::write(folder_ / "a.npy", array_of(Dtype::f32, {2, 3}, raw_bytes<float>({1, 2, 3, 4, 5, 6})));
  std::string header = header_of("<f4", "(2, 3)");
  header.pop_back();
  header.append(128 - 10 - 1 - header.size(), ' ') += '\n';
  EXPECT_EQ(bytes_of(folder_ / "a.npy"), npy(header, raw_bytes<float>({1, 2, 3, 4, 5, 6})));
}

TEST_F(Npy, EveryDtypeComesBack) {
  for (const Dtype dtype : all_dtypes()) {
    if (dtype == Dtype::bf16) continue;
    SCOPED_TRACE(name(dtype));
    std::string bytes(6 * size_of(dtype), '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(37 * i + 1);
    if (dtype == Dtype::boolean) bytes = std::string("\0\1\1\0\1\0", 6);
    io::write(folder_ / "a.npy", array_of(dtype, {3, 2}, bytes));
    const io::HostArray back = io::read(folder_ / "a.npy");
    EXPECT_EQ(back.view.dtype, dtype);
    EXPECT_EQ(back.view.shape, (Dims{3, 2}));
    EXPECT_EQ(back.view.strides, (Dims{2, 1}));
    EXPECT_EQ(back.view.offset, 0);
    EXPECT_EQ(memory_of(back), bytes);
    EXPECT_EQ(bytes_of(folder_ / "a.npy").size() - bytes.size(), 128U) << "the data start at a multiple of 64";
  }
}

TEST_F(Npy, ReadsVersionsOneToThree) {
  for (const int version : {1, 2, 3}) {
    const io::HostArray array = read(npy(header_of("<i2", "(2,)"), raw_bytes<std::int16_t>({-5, 700}), version));
    EXPECT_EQ(array.view.shape, Dims{2});
    EXPECT_EQ(memory_of(array), raw_bytes<std::int16_t>({-5, 700}));
  }
  refuses(npy(header_of("<i2", "(2,)"), "abcd", 4), {"version", "4.0"});
  refuses(npy(header_of("<i2", "(2,)"), "abcd", 0), {"version", "0.0"});
}

TEST_F(Npy, SwapsBigEndianElements) {
  EXPECT_EQ(memory_of(read(npy(header_of(">i2", "(2,)"), std::string("\x01\x02\xff\xfe", 4)))),
            raw_bytes<std::int16_t>({0x0102, -2}));
  EXPECT_EQ(memory_of(read(npy(header_of(">f8", "()"), std::string("\x3f\xf8\0\0\0\0\0\0", 8)))),
            raw_bytes<double>({1.5}));
  // The halves of a complex number are swapped each on its own.
  EXPECT_EQ(memory_of(read(npy(header_of(">c8", "(1,)"), std::string("\x3f\x80\0\0\xc0\0\0\0", 8)))),
            raw_bytes<float>({1.0F, -2.0F}));
  // Even where the data are large enough to be mapped: the file must stay as it is.
  io::ReadOptions options;
  options.map_from = 0;
  const std::string file = npy(header_of(">u4", "(1,)"), std::string("\1\2\3\4", 4));
  EXPECT_EQ(memory_of(read(file, options)), raw_bytes<std::uint32_t>({0x01020304}));
  EXPECT_EQ(bytes_of(folder_ / "a.npy"), file);
}

TEST_F(Npy, FortranOrderKeepsItsStrides) {
  const io::HostArray array = read(npy(header_of("|u1", "(2, 3)", "True"), "adbecf"));
  EXPECT_EQ(array.view.shape, (Dims{2, 3}));
  EXPECT_EQ(array.view.strides, (Dims{1, 2}));
  EXPECT_EQ(memory_of(array), "adbecf");
  io::write(folder_ / "b.npy", array);
  const std::string written = bytes_of(folder_ / "b.npy");
  EXPECT_NE(written.find("'fortran_order': True"), std::string::npos);
  EXPECT_TRUE(written.ends_with("adbecf"));
  EXPECT_EQ(io::read(folder_ / "b.npy").view.strides, (Dims{1, 2}));
}

TEST_F(Npy, ScalarsAndEmptyArrays) {
  const io::HostArray scalar = read(npy(header_of("<f4", "()"), raw_bytes<float>({2.5F})));
  EXPECT_EQ(scalar.view.rank(), 0);
  EXPECT_EQ(memory_of(scalar), raw_bytes<float>({2.5F}));
  io::write(folder_ / "b.npy", scalar);
  EXPECT_NE(bytes_of(folder_ / "b.npy").find("'shape': ()"), std::string::npos);
  EXPECT_EQ(io::read(folder_ / "b.npy").view.rank(), 0);

  const io::HostArray empty = read(npy(header_of("<f4", "(0, 3)"), ""));
  EXPECT_EQ(empty.view.shape, (Dims{0, 3}));
  EXPECT_EQ(empty.bytes, 0U);
  ASSERT_NE(empty.memory, nullptr);
  io::write(folder_ / "b.npy", empty);
  EXPECT_EQ(io::read(folder_ / "b.npy").view.shape, (Dims{0, 3}));
}

TEST_F(Npy, WritesStridedViewsInCOrder) {
  const io::HostArray whole = array_of(Dtype::u8, {3, 4}, "abcdefghijkl");
  const auto written = [&](const View& view) {
    io::HostArray part = whole;
    part.view = view;
    io::write(folder_ / "b.npy", part);
    return memory_of(io::read(folder_ / "b.npy"));
  };
  EXPECT_EQ(written({Dtype::u8, {3, 2}, {4, 2}, 1}), "bdfhjl");
  EXPECT_EQ(written({Dtype::u8, {2, 4}, {-4, -1}, 11}), "lkjihgfe");
  EXPECT_EQ(written({Dtype::u8, {2, 3, 2}, {0, 4, 1}, 2}), "cdghklcdghkl");
  EXPECT_EQ(written({Dtype::u8, {2, 2, 2}, {1, 4, 2}, 0}), "acegbdfh");
  EXPECT_EQ(written({Dtype::u8, {}, {}, 7}), "h");
  EXPECT_EQ(written({Dtype::u8, {4}, {3}, 0}), "adgj");
}

TEST_F(Npy, WritesStridedViewsLargerThanOnePiece) {
  constexpr std::int64_t kRows = 301;
  constexpr std::int64_t kColumns = 257;
  std::vector<std::uint64_t> values(kRows * kColumns);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i * 2654435761U;
  io::HostArray array = array_of(Dtype::u64, {kRows, kColumns}, raw_bytes(values));
  array.view = {Dtype::u64, {kColumns - 1, kRows - 1}, {1, kColumns}, kColumns};
  io::write(folder_ / "b.npy", array);
  const io::HostArray back = io::read(folder_ / "b.npy");
  ASSERT_EQ(back.view.shape, (Dims{kColumns - 1, kRows - 1}));
  ASSERT_EQ(back.view.strides, (Dims{kRows - 1, 1}));
  const auto* got = reinterpret_cast<const std::uint64_t*>(back.memory.get());
  for (std::int64_t x = 0; x < kColumns - 1; ++x) {
    for (std::int64_t y = 1; y < kRows; ++y) {
      ASSERT_EQ(got[x * (kRows - 1) + y - 1], values[static_cast<std::size_t>(y * kColumns + x)]) << x << ' ' << y;
    }
  }
}

TEST_F(Npy, MappedDataMayBeWrittenAndTheFileStays) {
  io::write(folder_ / "a.npy", array_of(Dtype::u32, {4}, raw_bytes<std::uint32_t>({1, 2, 3, 4})));
  const std::string before = bytes_of(folder_ / "a.npy");
  io::ReadOptions options;
  options.map_from = 16;
  const io::HostArray mapped = io::read(folder_ / "a.npy", options);
  EXPECT_EQ(memory_of(mapped), raw_bytes<std::uint32_t>({1, 2, 3, 4}));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mapped.memory.get()) % 4096, 128U) << "not mapped";
  EXPECT_EQ(mapped.view.align, 128);
  mapped.memory.get()[0] = std::byte{99};
  EXPECT_EQ(bytes_of(folder_ / "a.npy"), before);
  // Replacing the file while it is mapped leaves the mapping as it was.
  io::write(folder_ / "a.npy", array_of(Dtype::u8, {1}, "x"));
  EXPECT_EQ(memory_of(mapped).substr(4), raw_bytes<std::uint32_t>({2, 3, 4}));
}

TEST_F(Npy, DataBetweenElementBoundariesAreNotMapped) {
  std::string header = header_of("<f8", "(2,)");
  while ((10 + header.size()) % 8 != 3) header.insert(header.size() - 1, " ");
  io::ReadOptions options;
  options.map_from = 0;
  const io::HostArray array = read(npy(header, raw_bytes<double>({1.25, -8.0})), options);
  EXPECT_EQ(memory_of(array), raw_bytes<double>({1.25, -8.0}));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.memory.get()) % 64, 0U);
}

TEST_F(Npy, UnusualButValidHeaders) {
  const std::vector<std::string> headers = {
      "{\"descr\":\"<u2\",\"fortran_order\":False,\"shape\":(2,1)}",
      "  {'shape': (2L, 1L), 'fortran_order': False, 'descr': '<u2'}   \n",
      "{'descr': 'u2', 'fortran_order': False, 'shape': ( 2 ,\t1 , ) , }",
      "{'descr': '=u2', 'fortran_order': False, 'shape': (2, 1), }\n",
  };
  for (const std::string& header : headers) {
    SCOPED_TRACE(header);
    const io::HostArray array = read(npy(header, "abcd"));
    EXPECT_EQ(array.view.dtype, Dtype::u16);
    EXPECT_EQ(array.view.shape, (Dims{2, 1}));
    EXPECT_EQ(memory_of(array), "abcd");
  }
  EXPECT_EQ(memory_of(read(npy(header_of("|u1", "(2,)"), "abgarbage"))), "ab") << "NumPy ignores what follows the data";
}

TEST_F(Npy, RefusesOtherDtypesByName) {
  refuses(npy(header_of("|O", "(1,)"), "pickle"), {"descr", "'|O'", "pickled Python objects"});
  refuses(npy("{'descr': [('a', '<f4'), ('b', '|O')], 'fortran_order': False, 'shape': (1,), }", "x"),
          {"descr", "structured", "[("});
  refuses(npy(header_of("|V2", "(1,)"), "ab"), {"descr", "'|V2'", "u16"});
  refuses(npy(header_of("|S5", "(1,)"), "abcde"), {"descr", "'|S5'", "byte strings"});
  refuses(npy(header_of("<U5", "(1,)"), "abcde"), {"descr", "'<U5'", "character strings"});
  refuses(npy(header_of("<M8[ns]", "(1,)"), "12345678"), {"descr", "datetime64"});
  refuses(npy(header_of("<m8[s]", "(1,)"), "12345678"), {"descr", "timedelta64"});
  refuses(npy(header_of("<f16", "(1,)"), std::string(16, 'x')), {"descr", "'<f16'", "not supported"});
  refuses(npy(header_of("<c32", "(1,)"), std::string(32, 'x')), {"descr", "'<c32'", "not supported"});
  refuses(npy(header_of("|f4", "(1,)"), "abcd"), {"descr", "'|f4'", "byte order"});
  refuses(npy(header_of("", "(1,)"), "abcd"), {"descr", "not supported"});
  refuses(npy(header_of("<f4\x01", "(1,)"), "abcd"), {"descr", "'<f4\\x01'"});
}

TEST_F(Npy, RefusesShapesThatLie) {
  refuses(npy(header_of("<f4", "(1073741824,)"), "abcd"), {"shape", "4294967296 bytes", "has 4"});
  refuses(npy(header_of("|u1", "(3, 2)"), "abcde"), {"shape", "6 bytes", "has 5"});
  refuses(npy(header_of("<f8", "(4611686018427387904, 4)"), "x"), {"shape", "[4611686018427387904,4]"});
  refuses(npy(header_of("<f8", "(0, 4611686018427387904, 4611686018427387904)"), ""), {"shape"});
  refuses(npy(header_of("|u1", "(99999999999999999999,)"), "x"), {"shape", "63 bits"});
  refuses(npy(header_of("|u1", "(-1,)"), "x"), {"shape", "negative"});
  refuses(npy(header_of("|u1", "(1)"), "x"), {"shape", "tuple"});
  refuses(npy(header_of("|u1", "1"), "x"), {"shape", "'(' expected"});
  refuses(npy(header_of("|u1", "(,)"), "x"), {"shape", "integer"});
  refuses(npy(header_of("|u1", "(1.0,)"), "x"), {"shape"});
  refuses(npy(header_of("|u1", "(1 1)"), "x"), {"shape"});
  refuses(npy(header_of("|u1", "(1,1 1)"), "x"), {"shape", "',' or ')'"});
  refuses(npy(header_of("|u1", "((1,),)"), "x"), {"shape", "integer"});
  refuses(npy(header_of("|u1", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"), "x"), {"shape", "16 axes"});
  refuses(npy(header_of("|u1", "(True,)"), "x"), {"shape", "integer"});
}

TEST_F(Npy, RefusesHeadersThatLie) {
  std::string long_header = npy(header_of("|u1", "(1,)"), "x");
  long_header[9] = '\x7f';
  refuses(long_header, {"header length", "bytes claimed"});
  std::string huge_header = npy(header_of("|u1", "(1,)"), "x", 2);
  huge_header[11] = '\xff';
  refuses(huge_header, {"header length", "bytes claimed"});
  refuses(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1,), 'x': 1}", "x"), {"unknown key 'x'"});
  refuses(npy("{'descr': '|u1', 'shape': (1,), 'shape': (1,)}", "x"), {"shape", "twice"});
  refuses(npy("{'descr': '|u1', 'shape': (1,)}", "x"), {"fortran_order", "missing"});
  refuses(npy(header_of("|u1", "(1,)", "0"), "x"), {"fortran_order", "True or False"});
  refuses(npy(header_of("|u1", "(1,)") + "{}", "x"), {"header", "after its end"});
  refuses(npy("{'descr': '|u1' 'fortran_order': False, 'shape': (1,)}", "x"), {"header", "',' or '}'"});
  refuses(npy("{'descr': '|u1, ", "x"), {"descr", "without an end"});
  refuses(npy("{'desc\\x72': '|u1'}", "x"), {"header", "escaped"});
  refuses(npy("{'descr': __import__('os').system('true')}", "x"), {"descr", "a string expected"});
  refuses(npy("", "x"), {"header", "'{' expected"});
  refuses(npy("{", "x"), {"header"});
  refuses(npy("{'shape': " + std::string(60000, '('), "x"), {"shape"});
  refuses(npy(std::string(60000, '{'), "x"), {"header"});
  refuses(npy(header_of("|u1", "(1,)") + std::string(std::size_t{1} << 20, ' '), "x", 2), {"header length"});
}

TEST_F(Npy, RefusesEveryTruncation) {
  const std::string whole = npy(header_of("<u2", "(2,)"), "abcd");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    SCOPED_TRACE(length);
    expect_unreadable(folder_.put("a.npy", whole.substr(0, length)), {"a.npy"});
  }
  EXPECT_NO_THROW(read(whole));
}

TEST_F(Npy, WritingBfloat16NamesTheRemedy) {
  expect_error(Errc::file, {"b.npy", "bf16", "u16"},
               [&] { io::write(folder_ / "b.npy", array_of(Dtype::bf16, {1}, "ab")); });
  EXPECT_TRUE(folder_.names().empty());
}

TEST_F(Npy, RefusesHeadersThatEndAnywhere) {
  const std::string whole = "{'descr': '|u1', 'fortran_order': False, 'shape': (2L, 3)}";
  for (std::size_t end = 0; end < whole.size(); ++end) refuses(npy(whole.substr(0, end), "LLLLLL"), {"a.npy"});
  EXPECT_EQ(memory_of(read(npy(whole, "LLLLLL"))), "LLLLLL");
}

TEST_F(Npy, RefusesToWriteWhatTheMemoryDoesNotHold) {
  io::HostArray array = array_of(Dtype::u8, {4}, "abcd");
  array.view.shape = {5};
  expect_error(Errc::usage, {"outside"}, [&] { io::write(folder_ / "b.npy", array); });
  array.view = {Dtype::u8, {4}, {-1}, 2};
  expect_error(Errc::shape, {"before the start"}, [&] { io::write(folder_ / "b.npy", array); });
  EXPECT_TRUE(folder_.names().empty());
}

}  // namespace
}  // namespace axisloom
