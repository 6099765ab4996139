// Outputs appear complete or not at all, whatever fails on the way.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "io/file.hpp"
#include "io_support.hpp"

namespace axisloom {
namespace {

using io_support::array_of;
using io_support::bytes_of;
using io_support::expect_error;
using io_support::memory_of;
using io_support::TemporaryFolder;
using Names = std::vector<std::string>;

io::HostArray large_array() {
  return array_of(Dtype::u8, {1 << 20}, std::string(1 << 20, 'x'));
}

/// For its lifetime no file of this process grows beyond some bytes, as if the disk were full.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(AtomicFile, ReplacesTheOldFileAndKeepsItsPermissions) {
  const TemporaryFolder folder;
  const std::string path = folder.put("a.raw", "old");
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  io::write(path, array_of(Dtype::u8, {3}, "new"));
  EXPECT_EQ(bytes_of(path), "new");
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640U);
  EXPECT_EQ(folder.names(), Names{"a.raw"});
}

TEST(AtomicFile, AFullDiskLeavesTheOldFile) {
  const TemporaryFolder folder;
  std::string noise(1 << 20, '\0');  // which deflate cannot make small
  std::uint32_t state = 1;
  for (char& c : noise) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  for (const std::string name : {"a.npy", "a.raw", "a.png", "a.pgm"}) {
    SCOPED_TRACE(name);
    const std::string path = folder.put(name, "old");
    const io::HostArray array = array_of(Dtype::u8, {1 << 10, 1 << 10}, noise);
    {
      const FileSizeLimit limit(100 << 10);
      expect_error(Errc::file, {path, "write", "File too large"}, [&] { io::write(path, array); });
    }
    EXPECT_EQ(bytes_of(path), "old");
    std::filesystem::remove(path);
  }
  EXPECT_TRUE(folder.names().empty()) << folder.names().front();
}

TEST(AtomicFile, ADeviceIsWrittenDirectly) {
  if (!std::filesystem::is_character_file("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  for (const char* format : {"npy", "raw", "png", "pnm"}) {
    SCOPED_TRACE(format);
    const io::HostArray array = array_of(Dtype::u8, {2, 2}, "abcd");
    expect_error(Errc::file, {"/dev/full", "write", "No space left"}, [&] { io::write("/dev/full", array, format); });
  }
  expect_error(Errc::file, {"No space left"}, [&] { io::write("/dev/full", large_array(), "raw"); });
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
  io::write("/dev/null", large_array(), "npy");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(AtomicFile, APipeIsWrittenDirectly) {
  const TemporaryFolder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = bytes_of(path); });
  io::write(path, large_array(), "raw");
  reader.join();
  EXPECT_TRUE(got == std::string(1 << 20, 'x'));
}

TEST(AtomicFile, TargetsThatCannotBeWritten) {
  const TemporaryFolder folder;
  const io::HostArray array = array_of(Dtype::u8, {1}, "a");
  std::filesystem::create_directory(folder / "sub.npy");
  expect_error(Errc::file, {folder / "sub.npy", "is a folder"}, [&] { io::write(folder / "sub.npy", array); });
  expect_error(Errc::file, {"none/a.npy", "No such file", "choose a folder"},
               [&] { io::write(folder / "none/a.npy", array); });
  expect_error(Errc::file, {"/proc/a.npy", "folder"}, [&] { io::write("/proc/a.npy", array); });
  expect_error(Errc::file, {"names no file"}, [&] { io::write(folder / "new/", array, "npy"); });
  if (::geteuid() == 0) return;  // root may write anything
  ASSERT_EQ(::chmod((folder / "sub.npy").c_str(), 0500), 0);
  expect_error(Errc::file, {"Permission denied"}, [&] { io::write(folder / "sub.npy/a.npy", array); });
  const std::string kept = folder.put("kept.npy", "old");
  ASSERT_EQ(::chmod(kept.c_str(), 0400), 0);
  expect_error(Errc::file, {"kept.npy", "Permission denied"}, [&] { io::write(kept, array); });
}

TEST(AtomicFile, SymbolicLinksAreFollowed) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "sub");
  folder.put("sub/real.raw", "old");
  std::filesystem::create_symlink("sub/real.raw", folder / "link.raw");
  io::write(folder / "link.raw", array_of(Dtype::u8, {3}, "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.raw"));
  EXPECT_EQ(bytes_of(folder / "sub/real.raw"), "new");
}

TEST(AtomicFile, AnAbandonedFileVanishes) {
  const TemporaryFolder folder;
  {
    io::OutputFile file(folder / "a.raw");
    file.write("half of it");
    ASSERT_EQ(folder.names().size(), 1U);
    EXPECT_NE(folder.names().front(), "a.raw") << "not under its name before it is complete";
  }
  EXPECT_TRUE(folder.names().empty());
}

TEST(AtomicFile, AFailedRenameLeavesNothingBehind) {
  const TemporaryFolder folder;
  io::OutputFile file(folder / "a.raw");
  file.write("x");
  std::filesystem::create_directories(folder / "a.raw/sub");
  expect_error(Errc::file, {"a.raw", "write"}, [&] { file.commit(); });
}

TEST(AtomicFile, TheLongestNameCanBeWritten) {
  const TemporaryFolder folder;
  const std::string name = std::string(251, 'n') + ".raw";
  io::write(folder / name, array_of(Dtype::u8, {1}, "a"));
  EXPECT_EQ(folder.names(), Names{name});
}

TEST(AtomicFile, FormatsAreChosenByNameOrExtension) {
  const TemporaryFolder folder;
  const io::HostArray array = array_of(Dtype::u8, {1, 1}, "a");
  io::write(folder / "a", array, "npy");
  EXPECT_EQ(memory_of(io::read(folder / "a")), "a") << "no extension, so the content tells";
  io::write(folder / "b.PNG", array);
  EXPECT_EQ(memory_of(io::read(folder / "b.PNG")), "a");
  expect_error(Errc::file, {"c.tiff", "'.tiff'", ".npy"}, [&] { io::write(folder / "c.tiff", array); });
  expect_error(Errc::file, {"c.jpg", "only read"}, [&] { io::write(folder / "c.jpg", array); });
  expect_error(Errc::usage, {"'tiff'", "npy, raw, png"}, [&] { io::write(folder / "c", array, "tiff"); });
  expect_error(Errc::file, {"d.dat", "neither"}, [&] { io::read(folder.put("d.dat", "????????")); });
  for (const io::Format& format : io::formats()) {
    for (const std::string_view extension : format.extensions) {
      if (!format.writes || extension == ".pbm" || extension == ".ppm") continue;
      EXPECT_NO_THROW(io::write(folder / ("all" + std::string(extension)), array)) << extension;
    }
  }
}

TEST(AtomicFile, ContentOfAnotherFormatIsNamed) {
  const TemporaryFolder folder;
  const io::HostArray array = array_of(Dtype::u8, {1, 1}, "a");
  io::write(folder / "a.png", array, "npy");
  io_support::expect_unreadable(folder / "a.png", {"png by its extension", "content is npy"});
  io::ReadOptions options;
  options.format = "npy";
  EXPECT_EQ(memory_of(io::read(folder / "a.png", options)), "a");
  options.format = "jpeg";
  io_support::expect_unreadable(folder / "a.png", {"jpeg by request", "content is npy"}, options);
  io_support::expect_unreadable(folder.put("b.npy", ""), {"the file is empty"});
  io_support::expect_unreadable(folder.put("b.npy", "PK\x03\x04"), {"starts with 'PK\\x03\\x04'"});
}

}  // namespace
}  // namespace axisloom
