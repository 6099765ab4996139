// Outputs appear complete or not at all, whatever fails on the way.
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

TEST(AtomicFile, AnOlderFileIsKeptOnRequest) {
  using io::OutputFile;
  for (const auto naming : {OutputFile::Naming::none, OutputFile::Naming::hidden}) {
    const TemporaryFolder folder;
    OutputFile first(folder / "a.raw", naming, OutputFile::Older::kept),
        second(folder / "a.raw", naming, OutputFile::Older::kept);
    first.write("first");
    second.write("second");
    first.commit();
    expect_error(Errc::file, {"a.raw", "File exists"}, [&] { second.commit(); });
    expect_error(Errc::file, {"a.raw", "File exists"},
                 [&] { OutputFile(folder / "a.raw", naming, OutputFile::Older::kept); });
    EXPECT_EQ(bytes_of(folder / "a.raw"), "first");
  }
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
    expect_error(Errc::file, {"/dev/full", "write", "No space left"}, [&] { io::write("/dev/full", array, {format}); });
  }
  expect_error(Errc::file, {"No space left"}, [&] { io::write("/dev/full", large_array(), {"raw"}); });
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
  io::write("/dev/null", large_array(), {"npy"});
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(AtomicFile, APipeIsWrittenDirectly) {
  const TemporaryFolder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = bytes_of(path); });
  io::write(path, large_array(), {"raw"});
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
  expect_error(Errc::file, {"names no file"}, [&] { io::write(folder / "new/", array, {"npy"}); });
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

TEST(AtomicFile, ALinkThatLeadsNowhereLeadsToTheNewFile) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "sub");
  std::filesystem::create_symlink("sub/second.raw", folder / "first.raw");
  std::filesystem::create_symlink("third.raw", folder / "sub/second.raw");
  io::write(folder / "first.raw", array_of(Dtype::u8, {3}, "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "first.raw"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "sub/second.raw"));
  EXPECT_EQ(bytes_of(folder / "sub/third.raw"), "new");

  std::filesystem::create_symlink("none/a.raw", folder / "lost.raw");
  expect_error(Errc::file, {"lost.raw", "No such file"},
               [&] { io::write(folder / "lost.raw", array_of(Dtype::u8, {1}, "a")); });
  std::filesystem::create_symlink("circle.raw", folder / "circle.raw");
  expect_error(Errc::file, {"circle.raw", "Too many levels"},
               [&] { io::write(folder / "circle.raw", array_of(Dtype::u8, {1}, "a")); });
}

TEST(AtomicFile, OtherHardLinksKeepTheOldContents) {
  const TemporaryFolder folder;
  const std::string path = folder.put("a.raw", "old");
  std::filesystem::create_hard_link(path, folder / "backup.raw");
  io::write(path, array_of(Dtype::u8, {3}, "new"));
  EXPECT_EQ(bytes_of(path), "new");
  EXPECT_EQ(bytes_of(folder / "backup.raw"), "old");
}

struct stat stat_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status;
}

TEST(AtomicFile, OwnerAndGroupStay) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  constexpr uid_t kOwner = 4321, kGroup = 1234;
  const TemporaryFolder folder;
  const std::string path = folder.put("a.raw", "old");
  ASSERT_EQ(::chown(path.c_str(), kOwner, kGroup), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  io::write(path, array_of(Dtype::u8, {3}, "new"));
  const struct stat now = stat_of(path);
  EXPECT_EQ(bytes_of(path), "new");
  EXPECT_EQ(now.st_uid, kOwner);
  EXPECT_EQ(now.st_gid, kGroup);
  EXPECT_EQ(now.st_mode & 0777, 0640U);
}

/// Runs a function in a child and returns how that ended, as waitpid says.
template <class Function>
int ended(const Function& function) {
  const pid_t child = ::fork();
  if (child == 0) {
    function();
    ::_exit(0);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(AtomicFile, AGroupThatCannotBeKeptGivesNobodyMoreRights) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  constexpr uid_t kSomebody = 65534;
  const TemporaryFolder folder;
  ASSERT_EQ(::chown((folder / "").c_str(), kSomebody, kSomebody), 0);
  const std::string path = folder.put("a.raw", "old");
  ASSERT_EQ(::chmod(path.c_str(), 0672), 0);  // of root's group, whose members might read it
  const int status = ended([&] {
    if (::setgroups(0, nullptr) != 0 || ::setgid(kSomebody) != 0 || ::setuid(kSomebody) != 0) ::_exit(1);
    io::write(path, array_of(Dtype::u8, {3}, "new"));
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(bytes_of(path), "new");
  EXPECT_EQ(stat_of(path).st_uid, kSomebody);
  EXPECT_EQ(stat_of(path).st_mode & 0777, 0622U);
}

TEST(AtomicFile, HasNoNameBeforeItIsComplete) {
  const TemporaryFolder folder;
  {
    io::OutputFile file(folder / "a.raw");
    file.write("half of it");
    EXPECT_TRUE(folder.names().empty());
  }
  EXPECT_TRUE(folder.names().empty());
}

TEST(AtomicFile, AHiddenNameGoesWithTheFileOrWhenAsked) {
  const TemporaryFolder folder;
  {
    io::OutputFile file(folder / "a.raw", io::OutputFile::Naming::hidden);
    ASSERT_EQ(folder.names().size(), 1U);
    EXPECT_TRUE(folder.names().front().starts_with(".a.raw."));
  }
  EXPECT_TRUE(folder.names().empty());
  {
    io::OutputFile file(folder / "a.raw", io::OutputFile::Naming::hidden);
    io::remove_unfinished();
    EXPECT_TRUE(folder.names().empty());
  }
  folder.put("a.raw", "old");
  io::OutputFile file(folder / "a.raw", io::OutputFile::Naming::hidden);
  file.write("new");
  file.commit();
  EXPECT_EQ(bytes_of(folder / "a.raw"), "new");
  io::remove_unfinished();
  EXPECT_EQ(folder.names(), Names{"a.raw"});
}

TEST(AtomicFile, AKilledWriterLeavesTheOldFileAlone) {
  const TemporaryFolder folder;
  const std::string path = folder.put("a.raw", "old");
  const std::string piece(1 << 20, 'x');
  for (const int pieces : {0, 1, 5}) {
    const int status = ended([&] {
      io::OutputFile file(path);
      for (int i = 0; i < pieces; ++i) file.write(piece);
      ::raise(SIGKILL);
    });
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(folder.names(), Names{"a.raw"});
    EXPECT_EQ(bytes_of(path), "old");
  }
}

TEST(AtomicFile, AFileThatHasLostItsNameIsWrittenWhereItIs) {
  const TemporaryFolder folder;
  const std::string path = folder.put("a.raw", "old and longer");
  const io::Descriptor open_file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  std::filesystem::remove(path);
  const std::string door = "/proc/self/fd/" + std::to_string(open_file.get());
  io::write(door, array_of(Dtype::u8, {3}, "new"), {"raw"});
  EXPECT_EQ(bytes_of(door), "new");
  EXPECT_TRUE(folder.names().empty());
}

TEST(AtomicFile, AnOpenDescriptorIsWrittenAndStaysOpen) {
  const TemporaryFolder folder;
  const io::Descriptor open_file(::open((folder / "a").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  io::OutputFile file(open_file.get(), "standard output");
  io::write(file, array_of(Dtype::u8, {3}, "new"), {"raw"});
  file.commit();
  EXPECT_EQ(bytes_of(folder / "a"), "new");
  EXPECT_EQ(::write(open_file.get(), "er", 2), 2);
  EXPECT_EQ(bytes_of(folder / "a"), "newer");
  expect_error(Errc::file, {"standard output", "write"}, [] { io::OutputFile(-1, "standard output"); });
}

TEST(AtomicFile, APipeIsNotWaitedForBeforeThereAreBytes) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const io::OutputFile file(folder / "pipe");  // would hang: nobody reads
  EXPECT_TRUE(file.direct());
}

TEST(AtomicFile, WhatAFormatDoesNotHoldIsSaidBeforehand) {
  expect_error(Errc::file, {"a.png", "f32"}, [] { io::check_writable("a.png", View::contiguous(Dtype::f32, {2, 2})); });
  expect_error(Errc::file, {"a.pgm", "alpha"}, [] {
    io::check_writable("a.pgm", View::contiguous(Dtype::u8, {2, 2, 4}));
  });
  expect_error(Errc::file, {"a.npy", "bf16"}, [] { io::check_writable("a.npy", View::contiguous(Dtype::bf16, {2})); });
  expect_error(Errc::file, {"a.xyz", "'.xyz'"}, [] { io::format_to_write("a.xyz"); });
  EXPECT_NO_THROW(io::check_writable("a.raw", View::contiguous(Dtype::bf16, {2})));
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
  io::write(folder / "a", array, {"npy"});
  EXPECT_EQ(memory_of(io::read(folder / "a")), "a") << "no extension, so the content tells";
  io::write(folder / "b.PNG", array);
  EXPECT_EQ(memory_of(io::read(folder / "b.PNG")), "a");
  expect_error(Errc::file, {"c.tiff", "'.tiff'", ".npy"}, [&] { io::write(folder / "c.tiff", array); });
  expect_error(Errc::usage, {"'tiff'", "npy, raw, npz"}, [&] { io::write(folder / "c", array, {"tiff"}); });
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
  io::write(folder / "a.png", array, {"npy"});
  io_support::expect_unreadable(folder / "a.png", {"png by its extension", "content is npy"});
  io::ReadOptions options;
  options.format = "npy";
  EXPECT_EQ(memory_of(io::read(folder / "a.png", options)), "a");
  options.format = "jpeg";
  io_support::expect_unreadable(folder / "a.png", {"jpeg by request", "content is npy"}, options);
  io_support::expect_unreadable(folder.put("b.npy", ""), {"the file is empty"});
  io_support::expect_unreadable(folder.put("b.npy", "QK\x03\x04"), {"starts with 'QK\\x03\\x04'"});
}

}  // namespace
}  // namespace axisloom
