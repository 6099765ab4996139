// Inputs of every kind: files that shrink, pipes, descriptors, and files that claim more than anybody should read.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "image_bytes.hpp"
#include "io/file.hpp"
#include "io_support.hpp"

namespace axisloom {
namespace {

using io_support::bytes_of;
using io_support::expect_error;
using io_support::expect_unreadable;
using io_support::memory_of;
using io_support::TemporaryFolder;

io::ReadOptions as_bytes(std::int64_t count) {
  io::ReadOptions options;
  options.format = "raw";
  options.dtype = Dtype::u8;
  options.shape = {count};
  return options;
}

/// For its lifetime TMPDIR is another folder.
class TemporaryFolderIs {
 public:
  explicit TemporaryFolderIs(const std::string& folder) {
    if (const char* const before = std::getenv("TMPDIR")) before_ = before;
    ::setenv("TMPDIR", folder.c_str(), 1);
  }
  ~TemporaryFolderIs() { before_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before_.c_str(), 1); }
  TemporaryFolderIs(const TemporaryFolderIs&) = delete;
  TemporaryFolderIs& operator=(const TemporaryFolderIs&) = delete;

 private:
  std::string before_;
};

TEST(InputFile, AFileThatShrinksIsNamed) {
  const TemporaryFolder folder;
  const std::string path = folder.put("a.raw", std::string(1 << 20, 'x'));
  const io::InputFile file(path);
  ASSERT_EQ(::truncate(path.c_str(), 1000), 0);
  expect_error(Errc::file, {path, "became shorter"}, [&] { io::read(file, as_bytes(1 << 20)); });
}

TEST(InputFile, NothingIsMappedUnlessAskedFor) {
  const TemporaryFolder folder;
  const std::string path = folder.put("a.raw", "abcd");
  EXPECT_FALSE(io::read(path, as_bytes(4)).mapped);
  io::ReadOptions options = as_bytes(4);
  options.map_from = 1;
  EXPECT_TRUE(io::read(path, options).mapped);
}

TEST(InputFile, PipesLeaveNothingBehindAndNeedNoFolder) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe", sent(3 << 20, 'p');
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_directory(folder / "kept");
  for (const std::string where : {"kept", "none"}) {
    const TemporaryFolderIs there(folder / where);
    std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << sent; });
    const io::InputFile file(pipe);
    writer.join();
    EXPECT_TRUE(where == "none" || std::filesystem::is_empty(folder / where));
    EXPECT_TRUE(memory_of(io::read(file, as_bytes(3 << 20))) == sent) << where;
  }
}

TEST(InputFile, ADescriptorIsReadFromWhereItStands) {
  const TemporaryFolder folder;
  const std::string path = folder.put("a.raw", "skipped:abcd");
  const io::Descriptor open_file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::lseek(open_file.get(), 8, SEEK_SET), 8);
  const io::InputFile file(open_file.get(), "standard input");
  EXPECT_EQ(file.size(), 4U);
  EXPECT_EQ(memory_of(io::read(file, as_bytes(4))), "abcd");
  io::ReadOptions mapping = as_bytes(4);
  mapping.map_from = 1;
  EXPECT_EQ(memory_of(io::read(file, mapping)), "abcd");
  expect_error(Errc::file, {"standard input", "open"}, [] { io::InputFile(-1, "standard input"); });
}

TEST(InputFile, DocumentsHaveALimit) {
  const TemporaryFolder folder;
  const std::string path = folder.put("a.json", "{}");
  EXPECT_EQ(io::InputFile(path).text(2), "{}");
  expect_error(Errc::file, {path, "2 bytes"}, [&] { io::InputFile(path).text(1); });
}

TEST(InputFile, NamesCannotSteerTheTerminal) {
  const TemporaryFolder folder;
  try {
    io::read(folder / "\x1b[31mred\nremedy: none.npy");
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find_first_of("\x1b\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\\x1b[31mred\\x0aremedy"), std::string::npos) << text;
  }
}

/// Bytes that this process has read so far, by any system call.
std::int64_t bytes_read() {
  std::ifstream file("/proc/self/io");
  std::string name;
  std::int64_t count = -1;
  file >> name >> count;
  return name == "rchar:" ? count : -1;
}

/// A file that begins so and goes on with zeros that take no place on the disk; empty when the system has no such file.
std::string sparse(const TemporaryFolder& folder, const std::string& name, const std::string& start, off_t size) {
  const std::string path = folder.put(name, start);
  return ::truncate(path.c_str(), size) == 0 ? path : std::string();
}

TEST(InputFile, ImagesAreNotReadBeyondWhatTheirHeaderIsWorth) {
  if (bytes_read() < 0) GTEST_SKIP() << "the system does not count what is read";
  const TemporaryFolder folder;
  const std::string png_start = "\x89PNG\r\n\x1a\n";
  const std::string header = std::string("\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10\x8\0\0\0\0\x3a\x98\xa0\xbd", 25);
  const std::string photo = image_bytes::jpeg({16, 8}, {10, -15});
  const std::vector<std::pair<std::string, std::string>> starts = {
      {"c.jpg", photo.substr(0, photo.size() - 2)},
      {"a.png", png_start},
      {"b.png", png_start + header},
      {"a.jpg", "\xff\xd8\xff\xe0"},
      {"b.jpg", "\xff\xd8\xff\xe0\xff\xff"},
      {"a.pgm", "P2 40000 40000 255 "},
      {"b.pgm", "P5 16 16 255\n"},
      {"a.pbm", "P1 40000 40000 "},
      {"c.pgm", "P5 99999999999 1 255\n"},
  };
  for (const auto& [name, start] : starts) {
    SCOPED_TRACE(name);
    const std::string path = sparse(folder, name, start, off_t{8} << 30);
    if (path.empty()) GTEST_SKIP() << "no sparse files here";
    const std::int64_t before = bytes_read();
    expect_unreadable(path, {});
    EXPECT_LT(bytes_read() - before, 64 << 20);
  }
}

TEST(InputFile, WhatNoMemoryHoldsIsRefused) {
  const TemporaryFolder folder;
  const std::string path = sparse(folder, "a.pgm", "P5 2000000 2000000 255\n", 23 + off_t{4'000'000'000'000});
  if (path.empty()) GTEST_SKIP() << "no sparse files here";
  expect_error(Errc::out_of_memory, {path, "of memory in all"}, [&] { io::read(path); });
  expect_error(Errc::out_of_memory, {path, "of memory in all"}, [&] { io::read(path, as_bytes(4'000'000'000'023)); });
}

TEST(Quoting, EscapesWhatSteersATerminalAndNothingElse) {
  EXPECT_EQ(io::printable("plain text, \"quotes\" and \\"), "plain text, \"quotes\" and \\");
  EXPECT_EQ(io::printable("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8d"), "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8d");
  EXPECT_EQ(io::printable("a\x1b[2J\r\n\t\x7f"), "a\\x1b[2J\\x0d\\x0a\\x09\\x7f");
  EXPECT_EQ(io::printable_lines("a\x1b\r\n\tb"), "a\\x1b\\x0d\n\tb");
  EXPECT_EQ(io::printable("\xc2\x9b"
                          "31m"),
            "\\xc2\\x9b31m")
      << "the control characters beyond ASCII";
  EXPECT_EQ(io::printable("\xe2\x80\xae"
                          "gnp.exe"),
            "\\xe2\\x80\\xaegnp.exe")
      << "text that runs backwards";
  EXPECT_EQ(io::printable(std::string_view("\0", 1)), "\\x00");
  for (const char* const broken :
       {"\xff", "\x80", "\xc0\x9b", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8"}) {
    const std::string text = io::printable(broken);
    EXPECT_TRUE(text.starts_with("\\x")) << text;
    EXPECT_EQ(text.size(), 4 * std::string(broken).size()) << text;
  }
}

}  // namespace
}  // namespace axisloom
