// The program cache: one compilation for many threads and processes, and entries that survive nothing but the truth.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <latch>

#include "cache_support.hpp"
#include "jit/disk_cache.hpp"
#include "jit/jit.hpp"
#include "jit/program_cache.hpp"
#include "own_process.hpp"

namespace axisloom::jit {
namespace {

using namespace cache_test;

TEST_F(Cache, MemoryFirstThenDiskThenCompiler) {
  CountingDevice device(Api::cuda);
  const auto first = obtain(device, request_for("kernel"), group);
  EXPECT_EQ(obtain(device, request_for("kernel"), group), first);
  forget_programs();
  const auto again = obtain(device, request_for("kernel"), group);
  EXPECT_EQ(text_of(again), text_of(first));
  EXPECT_EQ(device.builds(), 1);
  EXPECT_EQ(device.loads, 1);
  const CacheStats stats = since_start();
  EXPECT_EQ(stats.compiles, 1u);
  EXPECT_EQ(stats.memory_hits, 1u);
  EXPECT_EQ(stats.disk_hits, 1u);
  EXPECT_EQ(stats.stored, 1u);
  EXPECT_EQ(stats.damaged, 0u);
}

TEST_F(Cache, EveryPartOfTheKeyMatters) {
  CountingDevice device(Api::cuda);
  CountingDevice newer_driver(Api::cuda, "one device, the next driver");
  obtain(device, request_for("kernel"), group);
  obtain(device, request_for("Kernel"), group);
  obtain(device, request_for("kernel", {"-Werror", "-DA"}), group);
  obtain(device, request_for("kernel", {"-Werror-DA"}), group);
  obtain(device, request_for("kernel"), "128");
  obtain(newer_driver, request_for("kernel"), group);
  EXPECT_EQ(device.builds(), 5);
  EXPECT_EQ(newer_driver.builds(), 1);
  EXPECT_EQ(files().size(), 6u);
}

TEST_F(Cache, SixteenThreadsCompileEachProgramOnce) {
  constexpr int threads = 16;
  constexpr int sources = 5;
  CountingDevice device(Api::cuda);
  device.build_time = std::chrono::milliseconds(20);
  std::latch start(threads);
  std::vector<std::vector<std::shared_ptr<device::Program>>> got(threads);
  std::vector<std::thread> crowd;
  for (int t = 0; t < threads; ++t) {
    crowd.emplace_back([&, t] {
      start.arrive_and_wait();
      for (int i = 0; i < sources; ++i) {
        got[t].push_back(obtain(device, request_for(source_number((i + t) % sources)), group));
      }
    });
  }
  for (auto& thread : crowd) thread.join();
  for (int i = 0; i < sources; ++i) EXPECT_EQ(device.builds_of(source_number(i)), 1) << i;
  for (int t = 0; t < threads; ++t) {
    for (int i = 0; i < sources; ++i) EXPECT_EQ(got[t][i], got[0][(i + t) % sources]);
  }
  EXPECT_EQ(since_start().memory_hits, static_cast<std::uint64_t>(threads * sources - sources));
}

TEST_F(Cache, AFailureIsSharedByThoseWhoWaitAndThenForgotten) {
  CountingDevice device(Api::cuda);
  device.build_time = std::chrono::milliseconds(100);
  std::latch start(4);
  std::atomic<int> failures{0};
  std::vector<std::thread> crowd;
  for (int t = 0; t < 4; ++t) {
    crowd.emplace_back([&] {
      start.arrive_and_wait();
      try {
        obtain(device, request_for(std::string(CountingDevice::faulty_source)), group);
      } catch (const Error& error) {
        if (error.code() == Errc::device) ++failures;
      }
    });
  }
  for (auto& thread : crowd) thread.join();
  EXPECT_EQ(failures, 4);
  const int builds = device.builds();
  EXPECT_THROW(obtain(device, request_for(std::string(CountingDevice::faulty_source)), group), Error);
  EXPECT_EQ(device.builds(), builds + 1);
  EXPECT_TRUE(files().empty());
}

TEST_F(Cache, ProgramsGoWithTheirDevice) {
  auto first = std::make_unique<CountingDevice>(Api::cuda);
  const std::weak_ptr<device::Program> program = obtain(*first, request_for("kernel"), group);
  EXPECT_FALSE(program.expired()) << "the cache keeps it for the next asker";
  first.reset();
  EXPECT_TRUE(program.expired());
  use_folder("off");
  CountingDevice second(Api::cuda);
  obtain(second, request_for("kernel"), group);
  EXPECT_EQ(second.builds(), 1);
}

/// What a child process of the next test runs.
TEST(ColdProcess, DISABLED_CompilesWhatOthersDoNow) {
  {
    CountingDevice device(Api::cuda);
    device.build_time = std::chrono::milliseconds(2);
    for (int i = 0; i < 40; ++i) {
      const auto program = obtain(device, request_for(source_number(i)), group);
      EXPECT_NE(text_of(program).find(source_number(i)), std::string::npos);
    }
    EXPECT_EQ(cache_stats().damaged, 0u);
  }
  test::end_alone();
}

TEST_F(Cache, EightProcessesShareAColdFolder) {
  std::vector<std::thread> crowd;
  for (int t = 0; t < 8; ++t)
    crowd.emplace_back([] { EXPECT_EQ(test::run_alone("ColdProcess.DISABLED_CompilesWhatOthersDoNow"), ""); });
  for (auto& thread : crowd) thread.join();

  EXPECT_EQ(files().size(), 40u);
  for (const fs::path& file : files()) EXPECT_EQ(file.extension(), ".axl") << "a temporary file is left: " << file;
  CountingDevice device(Api::cuda);
  for (int i = 0; i < 40; ++i) obtain(device, request_for(source_number(i)), group);
  EXPECT_EQ(device.builds(), 0);
  EXPECT_EQ(since_start().disk_hits, 40u);
}

/// Spoils the one entry of a folder in some way, and expects it to be noticed, replaced, and good again.
class DamagedEntry : public Cache {
 protected:
  void spoil_and_rebuild(const std::function<std::string(std::string)>& spoil) {
    CountingDevice device(Api::cuda);
    const std::string text = text_of(obtain(device, request_for("kernel"), group));
    ASSERT_EQ(files().size(), 1u);
    const fs::path entry = files().front();
    test::write_file(entry, spoil(test::read_file(entry)));

    const CacheStats before = cache_stats();
    forget_programs();
    EXPECT_EQ(text_of(obtain(device, request_for("kernel"), group)), text);
    CacheStats stats = cache_stats() - before;
    EXPECT_EQ(stats.damaged, 1u);
    EXPECT_EQ(stats.compiles, 1u);
    EXPECT_EQ(stats.disk_hits, 0u);

    forget_programs();
    obtain(device, request_for("kernel"), group);
    EXPECT_EQ((cache_stats() - before).disk_hits, 1u) << "the rebuilt entry is sound";
    clear_cache_folder();
    forget_programs();
  }
};

TEST_F(DamagedEntry, TruncatedAnywhere) {
  for (const std::size_t keep : {0, 1, 7, 8, 100, 151, 152, 153}) {
    spoil_and_rebuild([keep](const std::string& text) { return text.substr(0, keep); });
  }
  spoil_and_rebuild([](const std::string& text) { return text.substr(0, text.size() - 1); });
}

TEST_F(DamagedEntry, ABitFlippedAnywhere) {
  // Format version, length, key, digest, and the payload's first byte.
  for (const std::size_t at : {8, 16, 24, 88, 151, 152}) {
    spoil_and_rebuild([at](std::string text) {
      text[at] = static_cast<char>(text[at] ^ 1);
      return text;
    });
  }
  spoil_and_rebuild([](std::string text) {
    text.back() = static_cast<char>(text.back() ^ 0x80);
    return text;
  });
}

TEST_F(DamagedEntry, LongerThanItSays) {
  spoil_and_rebuild([](const std::string& text) { return text + "x"; });
}

TEST_F(DamagedEntry, AnotherProgramsEntryUnderThisName) {
  CountingDevice device(Api::cuda);
  obtain(device, request_for("kernel A"), group);
  const fs::path a = files().front();
  const std::string of_a = test::read_file(a);
  fs::remove(a);
  spoil_and_rebuild([&of_a](const std::string&) { return of_a; });
}

TEST_F(Cache, ARejectedBinaryIsRebuiltAndReplaced) {
  CountingDevice device(Api::cuda);
  obtain(device, request_for("kernel"), group);
  device.reject_binaries = true;
  forget_programs();
  obtain(device, request_for("kernel"), group);
  EXPECT_EQ(device.builds(), 2);
  EXPECT_EQ(since_start().damaged, 1u);
  EXPECT_EQ(since_start().stored, 2u);

  device.load_error = Errc::device;
  forget_programs();
  obtain(device, request_for("kernel"), group);
  EXPECT_EQ(device.builds(), 3) << "a runtime that reports failure instead of rejecting";

  device.load_error = Errc::device_lost;
  forget_programs();
  EXPECT_THROW(obtain(device, request_for("kernel"), group), Error);
  EXPECT_EQ(device.builds(), 3) << "a lost device is not asked to compile";
}

TEST_F(Cache, TheOldestUsedGoFirst) {
  limit_bytes("3K");
  CountingDevice device(Api::cuda);
  const std::string filler(700, '.');
  const auto use = [&](const std::string& name) { obtain(device, request_for(name + filler), group); };
  const auto age = [&](const fs::path& file, int seconds) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
  };
  std::map<std::string, fs::path> entry_of;
  for (const char* name : {"a", "b", "c"}) {
    const auto before = files();
    use(name);
    for (const fs::path& file : files()) {
      if (std::ranges::find(before, file) == before.end()) entry_of[name] = file;
    }
  }
  ASSERT_EQ(entry_of.size(), 3u);
  age(entry_of["a"], 300);
  age(entry_of["b"], 200);
  age(entry_of["c"], 100);
  forget_programs();
  use("a");  // a hit, so that b is now the one unused for longest
  use("d");
  EXPECT_TRUE(fs::exists(entry_of["a"]));
  EXPECT_FALSE(fs::exists(entry_of["b"]));
  EXPECT_TRUE(fs::exists(entry_of["c"]));
  EXPECT_EQ(cache_folder().entries, 3u);
  EXPECT_LE(cache_folder().bytes, 3u << 10);
}

TEST_F(Cache, AnEntryBeyondTheLimitIsNotStored) {
  limit_bytes("1K");
  CountingDevice device(Api::cuda);
  obtain(device, request_for(std::string(2000, '.')), group);
  EXPECT_TRUE(files().empty());
  EXPECT_EQ(since_start().stored, 0u);
}

TEST_F(Cache, FilesLeftByAProcessThatDiedAreRemovedInTime) {
  const std::string key(64, 'a');
  const fs::path half = folder_ / (key + ".0123456789abcdef.tmp"), empty = folder_ / (key + ".0000000000000000.tmp");
  const fs::path young = folder_ / (key + ".1111111111111111.tmp");
  const auto two_hours_ago = fs::file_time_type::clock::now() - std::chrono::hours(2);
  for (const fs::path& file : {half, empty, young}) write_own(file, file == empty ? "" : "AXLPROG\n half");
  for (const fs::path& file : {half, empty}) fs::last_write_time(file, two_hours_ago);
  CountingDevice device(Api::cuda);
  obtain(device, request_for("kernel"), group);
  EXPECT_FALSE(fs::exists(half));
  EXPECT_FALSE(fs::exists(empty));
  EXPECT_TRUE(fs::exists(young)) << "its writer may still be at work";
}

TEST_F(Cache, TheFolderIsDescribedAndCleared) {
  CountingDevice device(Api::cuda);
  for (int i = 0; i < 3; ++i) obtain(device, request_for(source_number(i)), group);
  test::write_file(folder_ / "notes.txt", "not the cache's");
  CacheFolder folder = cache_folder();
  EXPECT_EQ(folder.path, folder_.path().string());
  EXPECT_EQ(folder.entries, 3u);
  std::uint64_t bytes = 0;
  for (const fs::path& file : files()) bytes += file.extension() == ".axl" ? fs::file_size(file) : 0;
  EXPECT_EQ(folder.bytes, bytes);
  EXPECT_EQ(folder.why, "");
  EXPECT_EQ(clear_cache_folder(), 3u);
  EXPECT_EQ(cache_folder().entries, 0u);
  EXPECT_TRUE(fs::exists(folder_ / "notes.txt"));
}

TEST_F(Cache, EntriesAreForTheUserAlone) {
  CountingDevice device(Api::cuda);
  const fs::path made = folder_ / "parent/cache";
  use_folder(made.string());
  obtain(device, request_for("kernel"), group);
  EXPECT_EQ(fs::status(made).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(made.parent_path()).permissions(), fs::perms::owner_all);
  const fs::path entry = fs::directory_iterator(made)->path();
  EXPECT_EQ(fs::status(entry).permissions() & ~(fs::perms::owner_read | fs::perms::owner_write), fs::perms::none);
}

TEST_F(Cache, OffKeepsProgramsInMemoryOnly) {
  use_folder("off");
  LoggedLines log;
  CountingDevice device(Api::cuda);
  obtain(device, request_for("kernel"), group);
  obtain(device, request_for("kernel"), group);
  EXPECT_EQ(device.builds(), 1);
  EXPECT_EQ(cache_folder().path, "");
  EXPECT_EQ(cache_folder().why, "AXISLOOM_CACHE_DIR is off");
  EXPECT_EQ(clear_cache_folder(), 0u);
  EXPECT_EQ(since_start().stored, 0u);
  EXPECT_TRUE(log.take().empty()) << "it was asked for";
}

TEST_F(Cache, AFolderThatCannotBeMadeIsLoggedOnceAndDoneWithout) {
  test::write_file(folder_ / "file", "");
  LoggedLines log;
  use_folder((folder_ / "file/cache").string());
  CountingDevice device(Api::cuda);
  for (int i = 0; i < 3; ++i) obtain(device, request_for(source_number(i)), group);
  obtain(device, request_for(source_number(0)), group);
  EXPECT_EQ(device.builds(), 3);
  const CacheFolder folder = cache_folder();
  EXPECT_EQ(folder.path, "");
  EXPECT_NE(folder.why.find("file/cache cannot be used"), std::string::npos) << folder.why;
  EXPECT_EQ(log.take(), std::vector<std::string>{folder.why});
}

TEST_F(Cache, AFolderThatVanishesIsLoggedOnceAndDoneWithout) {
  const fs::path folder = folder_ / "cache";
  use_folder(folder.string());
  LoggedLines log;
  CountingDevice device(Api::cuda);
  obtain(device, request_for("kernel"), group);
  fs::remove_all(folder);
  obtain(device, request_for("kernel B"), group);
  obtain(device, request_for("kernel C"), group);
  const auto lines = log.take();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("could not be written"), std::string::npos) << lines[0];
  EXPECT_EQ(cache_folder().why, lines[0]);
}

TEST_F(Cache, AnUnreadableLimitIsLoggedAndIgnored) {
  LoggedLines log;
  CountingDevice device(Api::cuda);
  for (const char* limit : {"lots", "-1", "1X", "99999999999G", "1.5M"}) {
    limit_bytes(limit);
    obtain(device, request_for(std::string("kernel ") + limit), group);
    const auto lines = log.take();
    ASSERT_EQ(lines.size(), 1u) << limit;
    EXPECT_NE(lines[0].find("AXISLOOM_CACHE_BYTES"), std::string::npos);
  }
  EXPECT_EQ(cache_folder().entries, 5u);
}

/// The user's own cache folder, which is not taken on trust.
class UsersCache : public Cache {
 protected:
  UsersCache() { forget_programs(); }
  fs::path folder() const { return folder_ / "axisloom"; }
  std::string why() {
    forget_programs();
    return cache_folder().why;
  }

 private:
  Variable none_{"AXISLOOM_CACHE_DIR", std::nullopt};

 protected:
  Variable cache_home_{"XDG_CACHE_HOME", folder_.path().string()};
  Variable home_{"HOME", (folder_ / "home").string()};
};

TEST_F(UsersCache, IsWhereTheBaseDirectorySpecificationPutsIt) {
  EXPECT_EQ(cache_folder().path, folder().string());
  EXPECT_EQ(fs::status(folder()).permissions(), fs::perms::owner_all);
  cache_home_.set("relative/paths/count/as/unset");
  forget_programs();
  EXPECT_EQ(cache_folder().path, (folder_ / "home/.cache/axisloom").string());
  cache_home_.set(std::nullopt);
  home_.set(std::nullopt);
  EXPECT_NE(why().find("HOME"), std::string::npos);
}

TEST_F(UsersCache, IsRefusedWhileOthersCanWriteToIt) {
  fs::create_directory(folder());
  for (const fs::perms extra : {fs::perms::others_write, fs::perms::group_write}) {
    fs::permissions(folder(), fs::perms::owner_all | extra);
    EXPECT_NE(why().find("others can write"), std::string::npos);
    EXPECT_EQ(cache_folder().path, "");
    const Variable named("AXISLOOM_CACHE_DIR", folder().string());
    EXPECT_EQ(why(), "") << "a folder that the user names is the user's business";
  }
  fs::permissions(folder(), fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  EXPECT_EQ(why(), "");
}

TEST_F(UsersCache, IsRefusedWhenItBelongsToAnother) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  fs::create_directory(folder());
  ASSERT_EQ(::chown(folder().c_str(), 12345, 12345), 0);
  EXPECT_NE(why().find("belongs to another user"), std::string::npos);
}

TEST_F(UsersCache, IsRefusedWhileOthersCouldPutAnotherInItsPlace) {
  const fs::path parent = folder_ / "parent", home = parent / "cache";
  fs::create_directories(home);
  cache_home_.set(home.string());
  EXPECT_EQ(why(), "");
  for (const fs::path& above : {parent, home}) {
    fs::permissions(above, fs::perms::owner_all | fs::perms::others_all);
    EXPECT_NE(why().find("others can write to " + above.string()), std::string::npos) << why();
    EXPECT_EQ(cache_folder().path, "");
    fs::permissions(above, fs::perms::owner_all | fs::perms::others_all | fs::perms::sticky_bit);
    EXPECT_EQ(why(), "") << "where none but the owner can rename, as in /tmp";
    fs::permissions(above, fs::perms::owner_all);
  }
  // By a link that lies in a safe place to a folder that does not, and the other way round.
  const fs::path open = folder_ / "open";
  fs::create_directories(open / "axisloom");
  fs::permissions(open, fs::perms::all);
  fs::create_directory_symlink(open, parent / "link");
  cache_home_.set((parent / "link").string());
  EXPECT_NE(why().find("others can write to " + open.string()), std::string::npos) << why();
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  cache_home_.set(home.string());
  ASSERT_EQ(::chown(parent.c_str(), 12345, 12345), 0);
  EXPECT_NE(why().find(parent.string() + " belongs to another user"), std::string::npos) << why();
}

TEST_F(Cache, LinksAndPipesAreNoEntries) {
  CountingDevice device(Api::cuda);
  obtain(device, request_for("kernel"), group);
  const fs::path entry = files().front();
  const fs::path elsewhere = folder_ / "elsewhere";
  fs::rename(entry, elsewhere);
  fs::create_symlink(elsewhere, entry);
  forget_programs();
  obtain(device, request_for("kernel"), group);
  EXPECT_EQ(device.builds(), 2) << "a link is not followed";
  EXPECT_TRUE(fs::is_symlink(entry)) << "nor replaced";

  fs::remove(entry);
  ASSERT_EQ(::mkfifo(entry.c_str(), 0600), 0);
  forget_programs();
  obtain(device, request_for("kernel"), group);
  EXPECT_EQ(device.builds(), 3) << "a pipe is neither waited for nor read";
  EXPECT_TRUE(fs::is_fifo(entry));
}

}  // namespace
}  // namespace axisloom::jit
