// PNG, PNM and JPEG: every kind of pixel, what is written, and files that are damaged or lie.
#include <algorithm>
#include <cstdint>

#include "image_bytes.hpp"
#include "io_support.hpp"

namespace axisloom {
namespace {

using image_bytes::chunk;
using image_bytes::jpeg;
using image_bytes::png;
using io_support::array_of;
using io_support::bytes_of;
using io_support::expect_error;
using io_support::expect_unreadable;
using io_support::memory_of;
using io_support::raw_bytes;
using io_support::TemporaryFolder;
using Words = std::vector<std::string>;
using U16 = std::vector<std::uint16_t>;

class ImageFile : public testing::Test {
 protected:
  void reads(const std::string& name, const std::string& bytes, Dtype dtype, const Dims& shape,
             const std::string& pixels) {
    SCOPED_TRACE(name);
    const io::HostArray image = io::read(folder_.put(name, bytes));
    EXPECT_EQ(image.view.dtype, dtype);
    EXPECT_EQ(to_string(image.view.shape), to_string(shape));
    EXPECT_TRUE(image.view.is_contiguous());
    EXPECT_EQ(memory_of(image), pixels);
  }
  void refuses(const std::string& name, const std::string& bytes, const Words& words) {
    SCOPED_TRACE(bytes.substr(0, 30));
    expect_unreadable(folder_.put(name, bytes), words);
  }
  /// Every file that lacks bytes at its end is refused.
  void refuses_truncations(const std::string& name, const std::string& whole) {
    EXPECT_NO_THROW(io::read(folder_.put(name, whole)));
    for (std::size_t length = 0; length < whole.size(); ++length) {
      SCOPED_TRACE(length);
      expect_unreadable(folder_.put(name, whole.substr(0, length)), {name});
    }
  }
  void comes_back(const std::string& name, Dtype dtype, const Dims& shape, const Dims& read_shape) {
    SCOPED_TRACE(name + to_string(shape));
    std::string pixels(static_cast<std::size_t>(element_count(shape)) * size_of(dtype), '\0');
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<char>(i * 151 + 7);
    io::write(folder_ / name, array_of(dtype, shape, pixels));
    const io::HostArray back = io::read(folder_ / name);
    EXPECT_EQ(back.view.dtype, dtype);
    EXPECT_EQ(to_string(back.view.shape), to_string(read_shape));
    EXPECT_EQ(memory_of(back), pixels);
  }
  TemporaryFolder folder_;
};

using PngFile = ImageFile;
using PnmFile = ImageFile;
using JpegFile = ImageFile;

TEST_F(PngFile, ReadsEveryKindOfPixel) {
  const auto row = [](const std::string& bytes) { return std::string(1, '\0') + bytes; };
  reads("grey8.png", png({2, 2}, row("ab") + row("cd")), Dtype::u8, {2, 2}, "abcd");
  reads("grey16.png", png({2, 1, 16}, row(std::string("\1\2\xff\0", 4))), Dtype::u16, {1, 2},
        raw_bytes(U16{0x0102, 0xff00}));
  reads("rgb8.png", png({1, 2, 8, 2}, row("abc") + row("def")), Dtype::u8, {2, 1, 3}, "abcdef");
  reads("rgb16.png", png({1, 1, 16, 2}, row(std::string("\0\1\0\2\0\3", 6))), Dtype::u16, {1, 1, 3},
        raw_bytes(U16{1, 2, 3}));
  reads("grey_alpha.png", png({2, 1, 8, 4}, row("aAbB")), Dtype::u8, {1, 2, 2}, "aAbB");
  reads("rgba.png", png({1, 1, 8, 6}, row("rgba")), Dtype::u8, {1, 1, 4}, "rgba");
  reads("rgba16.png", png({1, 1, 16, 6}, row(std::string("\0\1\0\2\0\3\0\4", 8))), Dtype::u16, {1, 1, 4},
        raw_bytes(U16{1, 2, 3, 4}));
}

TEST_F(PngFile, ExpandsLowDepthsPalettesAndTransparency) {
  reads("bits.png", png({10, 1, 1}, std::string("\0\xa0\x40", 3)), Dtype::u8, {1, 10},
        std::string("\xff\0\xff\0\0\0\0\0\0\xff", 10));
  reads("two_bits.png", png({4, 1, 2}, std::string("\0\x1b", 2)), Dtype::u8, {1, 4}, std::string("\0\x55\xaa\xff", 4));
  const std::string palette = chunk("PLTE", "abcdefghi");
  reads("palette.png", png({3, 1, 8, 3, palette}, std::string("\0\2\0\1", 4)), Dtype::u8, {1, 3, 3}, "ghiabcdef");
  reads("palette2.png", png({3, 1, 2, 3, palette}, std::string("\0\x84", 2)), Dtype::u8, {1, 3, 3}, "ghiabcdef");
  reads("palette_alpha.png", png({2, 1, 8, 3, palette + chunk("tRNS", "X")}, std::string("\0\0\1", 3)), Dtype::u8,
        {1, 2, 4}, "abcXdef\xff");
  reads("grey_key.png", png({2, 1, 8, 0, chunk("tRNS", std::string("\0\x61", 2))}, std::string("\0ab", 3)), Dtype::u8,
        {1, 2, 2}, std::string("a\0b\xff", 4));
}

TEST_F(PngFile, ReadsInterlacedRows) {
  // Of 2 x 2 pixels, Adam7's first pass has (0,0), its sixth (0,1), its seventh the second row.
  reads("adam7.png", png({2, 2, 8, 0, "", true}, std::string("\0a\0b\0cd", 7)), Dtype::u8, {2, 2}, "abcd");
}

TEST_F(PnmFile, PamComesBackAsWritten) {
  for (const Dtype dtype : {Dtype::u8, Dtype::u16})
    for (const std::int64_t channels : {2, 3, 4}) comes_back("a.pam", dtype, {5, 7, channels}, {5, 7, channels});
  comes_back("a.pam", Dtype::u16, {5, 7}, {5, 7});
}

TEST_F(PnmFile, ReadsPam) {
  const std::string sizes = "P7\n# a comment\nDEPTH 2\nHEIGHT 1\nWIDTH 2\n";
  reads("a.pam", sizes + "MAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\naAbB", Dtype::u8, {1, 2, 2}, "aAbB");
  reads("a.pam", sizes + "MAXVAL 1\nENDHDR\n" + std::string("\0\1\1\0", 4), Dtype::u8, {1, 2, 2},
        std::string("\0\xff\xff\0", 4));
  refuses_truncations("a.pam", sizes + "MAXVAL 255\nENDHDR\naAbB");
  refuses("a.pam", sizes + "ENDHDR\naAbB", {"maxval"});
  refuses("a.pam", "P7\nWIDTH 1\nHEIGHT 1\nMAXVAL 9\nENDHDR\na", {"DEPTH"});
  refuses("a.pam", sizes + "DEPTH 5\n", {"DEPTH", "4"});
  refuses("a.pam", sizes + "COLOUR 5\n", {"header"});
  refuses("a.pam", sizes + "MAXVAL 255\nENDHDR\naAbBc", {"length"});
}

TEST_F(PngFile, ComesBackAsWritten) {
  for (const Dtype dtype : {Dtype::u8, Dtype::u16}) {
    comes_back("a.png", dtype, {5, 7}, {5, 7});
    comes_back("a.png", dtype, {5, 7, 1}, {5, 7});
    comes_back("a.png", dtype, {5, 7, 2}, {5, 7, 2});
    comes_back("a.png", dtype, {5, 7, 3}, {5, 7, 3});
    comes_back("a.png", dtype, {5, 7, 4}, {5, 7, 4});
  }
}

TEST_F(PngFile, RefusesDamageAndLies) {
  const std::string good = png({2, 2, 8, 2}, std::string("\0abcdef\0ghijkl", 14));
  refuses_truncations("a.png", good);
  std::string damaged = good;
  damaged[good.find("cdef")] ^= 1;
  refuses("a.png", damaged, {"image data", "IDAT"});
  damaged = good;
  damaged[good.find("IEND") - 5] ^= 1;
  refuses("a.png", damaged, {"image data", "CRC"});
  refuses("a.png", png({2, 2, 8, 2}, std::string("\0abcdef", 7)), {"image data"});
  refuses("a.png", png({50000, 50000, 16, 6}, ""), {"size", "50000 x 50000"});
  refuses("a.png", png({0, 5}, ""), {"header"});
  refuses("a.png", png({0x7fffffff, 1}, ""), {"header"});
  refuses("a.png", png({1, 1, 3}, "xx"), {"header"});
  refuses("a.png", png({1, 1, 8, 3}, std::string("\0\0", 2)), {"a.png"});
}

TEST_F(PnmFile, ReadsEveryKind) {
  reads("p1.pbm", "P1 3 2 0101 1\n1", Dtype::u8, {2, 3}, std::string("\xff\0\xff\0\0\0", 6));
  reads("p2.pgm", "P2\n# a comment\n2 #another\n2\n255\n0 255 # in the raster\n7\t9\n", Dtype::u8, {2, 2},
        std::string("\0\xff\7\x9", 4));
  reads("p3.ppm", "P3 1 2 255 1 2 3 4 5 6", Dtype::u8, {2, 1, 3}, "\1\2\3\4\5\6");
  reads("p4.pbm", std::string("P4\n10 2\n\xff\xff\x55\x00", 12), Dtype::u8, {2, 10},
        std::string("\0\0\0\0\0\0\0\0\0\0\xff\0\xff\0\xff\0\xff\0\xff\xff", 20));
  reads("p5.pgm", "P5 2 2 255\nabcd", Dtype::u8, {2, 2}, "abcd");
  reads("p5w.pgm", "P5 2 1 65535\nabcd", Dtype::u16, {1, 2}, raw_bytes(U16{0x6162, 0x6364}));
  reads("p6.pnm", "P6 1 2 255\nabcdef", Dtype::u8, {2, 1, 3}, "abcdef");
  reads("space.pgm", "P5 1 1 255\n\n", Dtype::u8, {1, 1}, "\n");  // one byte of white space ends the header
}

TEST_F(PnmFile, ScalesToTheWholeRange) {
  reads("a.pgm", "P2 3 1 15 0 7 15", Dtype::u8, {1, 3}, std::string("\0\x77\xff", 3));
  reads("a.pgm", std::string("P5 2 1 3\n\1\3", 11), Dtype::u8, {1, 2}, "\x55\xff");
  reads("a.pgm", std::string("P5 2 1 4095\n\x0f\xff\x00\x01", 16), Dtype::u16, {1, 2}, raw_bytes(U16{65535, 16}));
}

TEST_F(PnmFile, ComesBackAsWritten) {
  for (const Dtype dtype : {Dtype::u8, Dtype::u16}) {
    comes_back("a.pgm", dtype, {5, 7}, {5, 7});
    comes_back("a.pnm", dtype, {5, 7, 1}, {5, 7});
    comes_back("a.ppm", dtype, {5, 7, 3}, {5, 7, 3});
  }
  io::write(folder_ / "b.pgm", array_of(Dtype::u16, {1, 2}, raw_bytes(U16{0x6162, 0x6364})));
  EXPECT_EQ(bytes_of(folder_ / "b.pgm"), "P5\n2 1\n65535\nabcd");
}

TEST_F(PnmFile, RefusesDamageAndLies) {
  refuses_truncations("a.pgm", "P5 2 2 255\nabcd");
  refuses_truncations("a.ppm", "P6 2 1 65535\nabcdefghijkl");
  refuses_truncations("a.pbm", "P4 9 2\nabcd");
  refuses_truncations("a.pbm", "P1 2 2\n1010");
  refuses("a.pgm", "P2 2 2 255 1 2 3", {"size", "at least 7"});
  refuses("a.pgm", "P2 2 2 255 100 200 3", {"sample", "ends before"});
  refuses("a.pgm", "P5 2147483647 2147483647 65535\nabcd", {"size", "2147483647"});
  refuses("a.ppm", "P6 2147483647 2147483647 65535\nabcd", {"size", "too many"});
  refuses("a.pgm", "P5 99999999999 1 255\na", {"width", "more than"});
  refuses("a.pgm", "P5 -1 1 255\na", {"width", "no number"});
  refuses("a.pgm", "P5 0 1 255\n", {"without pixels"});
  refuses("a.pgm", "P5 1 1 0\na", {"maxval"});
  refuses("a.pgm", "P5 1 1 65536\naa", {"maxval", "65535"});
  refuses("a.pgm", "P5 1 1 255a", {"header", "white space"});
  refuses("a.pgm", "P2 1 1 9 10", {"sample", "10 is above maxval 9"});
  refuses("a.pgm", "P5 1 1 9\na", {"sample", "97 is above maxval 9"});
  refuses("a.pbm", "P1 2 1 02", {"sample", "neither 0 nor 1"});
  refuses("a.pgm", "P5 1 1 255\na P5 1 1 255\nb", {"length", "several images"});
  refuses("a.pnm", "P7\nWIDTH 1\n", {"the content is pam"});
}

TEST_F(JpegFile, ReadsGreyAndColour) {
  const io::HostArray grey = io::read(folder_.put("a.jpg", jpeg({16, 8}, {10, -15})));
  EXPECT_EQ(to_string(grey.view.shape), "[8,16]");
  std::string expected;
  for (int y = 0; y < 8; ++y) expected += std::string(8, static_cast<char>(138)) + std::string(8, '\x7b');
  EXPECT_EQ(memory_of(grey), expected);
  // Adobe's transform 0 says that the components are red, green and blue themselves.
  const io::HostArray colour = io::read(folder_.put("a.jpeg", jpeg({3, 2, 3, std::string(1, '\0')}, {1, -2, 0})));
  EXPECT_EQ(to_string(colour.view.shape), "[2,3,3]");
  std::string pixels;
  for (int i = 0; i < 6; ++i) pixels += "\x81\x7e\x80";
  EXPECT_EQ(memory_of(colour), pixels);
  // Without it they are luma and two chroma differences: 128 + 15 above neutral red is (128 + 1.402 * 15, ...).
  const io::HostArray luma = io::read(folder_.put("a.jpg", jpeg({1, 1, 3}, {0, 0, 15})));
  EXPECT_EQ(memory_of(luma), "\x95\x75\x80");
}

TEST_F(JpegFile, ComesBackAlmostAsWritten) {
  for (const Dims& shape : {Dims{20, 33}, Dims{20, 33, 1}, Dims{20, 33, 3}}) {
    std::string pixels;
    for (std::int64_t i = 0; i < element_count(shape); ++i) pixels += static_cast<char>(i / 99 * 9 + i % 3 * 20);
    const auto written = [&](int quality) {
      io::write(folder_ / "a.jpg", array_of(Dtype::u8, shape, pixels), {.format = {}, .quality = quality});
      return std::filesystem::file_size(folder_ / "a.jpg");
    };
    const auto small = written(10);
    EXPECT_LT(small, written(100));
    const io::HostArray back = io::read(folder_ / "a.jpg");
    EXPECT_EQ(to_string(back.view.shape), shape.back() == 1 ? "[20,33]" : to_string(shape));
    const std::string got = memory_of(back);
    ASSERT_EQ(got.size(), pixels.size());
    int worst = 0;
    for (std::size_t i = 0; i < pixels.size(); ++i)
      worst = std::max(worst, std::abs(static_cast<unsigned char>(got[i]) - static_cast<unsigned char>(pixels[i])));
    EXPECT_LE(worst, 6);
  }
}

TEST_F(JpegFile, HoldsNeitherAlphaNorWords) {
  const auto refused = [&](Dtype dtype, const Dims& shape, const Words& words) {
    expect_error(Errc::file, words, [&] { io::check_writable("a.jpg", View::contiguous(dtype, shape)); });
  };
  refused(Dtype::u16, {2, 2}, {"JPEG holds u8"});
  refused(Dtype::u8, {2, 2, 4}, {"no alpha"});
  refused(Dtype::u8, {2, 70000}, {"65500"});
}

TEST_F(JpegFile, SkipsWhatBelongsToNoImage) {
  const std::string plain = jpeg({16, 8}, {10, -15});
  const std::string expected = memory_of(io::read(folder_.put("plain.jpg", plain)));
  for (const std::size_t length : {0, 100, 65533}) {  // within a block of what is read at a time, and across some
    std::string noted = plain;
    const std::string segment =
        "\xff\xe4" + image_bytes::big_endian(static_cast<std::uint32_t>(length + 2), 2);  // an application's
    for (int times = 0; times < 3; ++times) noted.insert(2, segment + std::string(length, '\xff'));
    EXPECT_EQ(memory_of(io::read(folder_.put("noted.jpg", noted))), expected) << length;
  }
}

TEST_F(JpegFile, RefusesTruncationAtEveryByte) {
  refuses_truncations("a.jpg", jpeg({24, 16}, {1, 2, 3, -4, 5, 6}));
  refuses_truncations("b.jpg", jpeg({8, 8, 3}, {1, 2, 3}));
}

TEST_F(JpegFile, RefusesMissingBlocksAndBadCodes) {
  refuses("a.jpg", jpeg({24, 16}, {1, 2, 3}), {"image data"});
  std::string bad = jpeg({64, 64}, std::vector<int>(64, 15));
  bad[bad.size() - 20] = '\xe0';  // 111 is no code
  bad[bad.size() - 19] = '\xe7';
  bad[bad.size() - 18] = '\x7e';
  refuses("a.jpg", bad, {"image data"});
}

TEST_F(JpegFile, RefusesWhatIsNotGreyOrColour) {
  refuses("a.jpg", jpeg({8, 8, 4, std::string(1, '\0')}, {0, 0, 0, 0}), {"colours", "CMYK", "RGB"});
  refuses("a.jpg", jpeg({8, 8, 4, std::string(1, '\2')}, {0, 0, 0, 0}), {"colours", "CMYK"});
  refuses("a.jpg", jpeg({8, 8, 2}, {0, 0}), {"colours", "2 components"});
}

TEST_F(JpegFile, RefusesSizesThatLie) {
  refuses("a.jpg", jpeg({65000, 65000}, {0}), {"size", "65000 x 65000"});
  refuses("a.jpg", jpeg({0, 8}, {0}), {"header"});
  std::string arithmetic = jpeg({8, 8}, {0});
  arithmetic[arithmetic.find("\xff\xc0") + 1] = '\xc9';
  refuses("a.jpg", arithmetic, {"coding", "arithmetic"});
}

/// EXIF data of one entry, the orientation.
std::string exif(int orientation, bool big) {
  const auto number = [big](std::uint32_t value, int bytes) {
    std::string text = image_bytes::big_endian(value, bytes);
    if (!big) std::ranges::reverse(text);
    return text;
  };
  const std::string entry = number(0x0112, 2) + number(3, 2) + number(1, 4) + number(orientation, 2) + number(0, 2);
  return (big ? "MM" : "II") + number(42, 2) + number(8, 4) + number(1, 2) + entry + number(0, 4);
}

std::string with_exif(std::string jpeg_file, const std::string& data) {
  const std::string body = std::string("Exif\0\0", 6) + data;
  const auto length = static_cast<std::uint32_t>(body.size() + 2);
  return jpeg_file.insert(2, "\xff\xe1" + image_bytes::big_endian(length, 2) + body);
}

TEST_F(PngFile, IsTurnedTheRightWayUp) {
  const std::string rows("\0abc\0def", 8);
  const Words expected{"abcdef", "cbafed", "fedcba", "defabc", "adbecf", "daebfc", "fcebda", "cfbead", "abcdef"};
  for (int orientation = 1; orientation <= 9; ++orientation) {
    SCOPED_TRACE(orientation);
    const bool sideways = orientation >= 5 && orientation <= 8;
    for (const bool big : {false, true})
      reads("a.png", png({3, 2, 8, 0, chunk("eXIf", exif(orientation, big))}, rows), Dtype::u8,
            sideways ? Dims{3, 2} : Dims{2, 3}, expected[orientation - 1]);
  }
}

TEST_F(JpegFile, IsTurnedTheRightWayUp) {
  const std::string stored = jpeg({16, 8}, {10, -15});
  const std::string pixels = std::string(64, static_cast<char>(138)) + std::string(64, '\x7b');
  reads("a.jpg", with_exif(stored, exif(6, true)), Dtype::u8, {16, 8}, pixels);
  const std::string other = "http://ns.adobe.com/xap/1.0/";  // which uses the same marker, and may stand first
  const auto length = static_cast<std::uint32_t>(other.size() + 2);
  reads(
      "a.jpg",
      std::string(with_exif(stored, exif(6, false))).insert(2, "\xff\xe1" + image_bytes::big_endian(length, 2) + other),
      Dtype::u8, {16, 8}, pixels);
}

TEST_F(JpegFile, IsReadAsStoredWhereExifIsDamaged) {
  const std::string stored = jpeg({16, 8}, {10, -15}), whole = exif(6, false);
  for (size_t length = 0; length <= 18; ++length) {  // where the value begins
    SCOPED_TRACE(length);
    const io::HostArray image = io::read(folder_.put("a.jpg", with_exif(stored, whole.substr(0, length))));
    EXPECT_EQ(to_string(image.view.shape), "[8,16]");
  }
}

TEST_F(ImageFile, WritesStridedViews) {
  // Planes r, g and b of 2 x 2 pixels, seen as h w c.
  io::HostArray planes = array_of(Dtype::u8, {3, 2, 2}, "rstuRSTU0123");
  planes.view = {Dtype::u8, {2, 2, 3}, {2, 1, 4}};
  for (const char* name : {"a.png", "a.ppm"}) {
    io::write(folder_ / name, planes);
    EXPECT_EQ(memory_of(io::read(folder_ / name)), "rR0sS1tT2uU3");
  }
  // Upside down, from an offset, every second column.
  io::HostArray grey = array_of(Dtype::u8, {2, 4}, "abcdefgh");
  grey.view = {Dtype::u8, {2, 2}, {-4, 2}, 5};
  for (const char* name : {"a.png", "a.pgm"}) {
    io::write(folder_ / name, grey);
    EXPECT_EQ(memory_of(io::read(folder_ / name)), "fhbd");
  }
}

TEST_F(ImageFile, RefusesArraysThatAreNoImages) {
  const auto refused = [&](const std::string& name, Dtype dtype, const Dims& shape, const Words& words) {
    const io::HostArray array = io::HostArray::allocate(View::contiguous(dtype, shape));
    std::fill_n(array.memory.get(), array.bytes, std::byte{0});
    expect_error(Errc::file, words, [&] { io::write(folder_ / name, array); });
  };
  refused("a.png", Dtype::f32, {2, 2}, {"a.png", "dtype", "f32", ".npy"});
  refused("a.pgm", Dtype::boolean, {2, 2}, {"dtype", "bool"});
  refused("a.png", Dtype::u8, {2}, {"shape", "[2]"});
  refused("a.png", Dtype::u8, {2, 2, 5}, {"shape", "[2,2,5]"});
  refused("a.png", Dtype::u8, {2, 0}, {"shape", "[2,0]"});
  refused("a.png", Dtype::u8, {1, (1 << 20) + 1}, {"shape", "1048576"});
  refused("a.ppm", Dtype::u8, {2, 2, 4}, {"alpha", ".png"});
  refused("a.ppm", Dtype::u8, {2, 2}, {".ppm", "grey", ".pgm"});
  refused("a.pgm", Dtype::u8, {2, 2, 3}, {".pgm", "colours", ".ppm"});
  refused("a.pbm", Dtype::u8, {2, 2}, {".pbm"});
  EXPECT_TRUE(folder_.names().empty());
}

}  // namespace
}  // namespace axisloom
