// The files of the program cache: those of others stay as they are, and nothing is lost when writing fails.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "cache_support.hpp"
#include "child_process.hpp"
#include "sanitizers.hpp"

namespace axisloom::jit {
namespace {

using namespace cache_test;

/// Files that others put into the folder, some under names that are nearly or just the cache's, and long ago.
class ForeignFiles : public Cache {
 protected:
  ForeignFiles() {
    const std::string key(64, 'c');
    for (const std::string& name :
         {std::string("notes.tmp"), std::string("notes.txt"), std::string("map.axl"), std::string("0123-1-1.tmp"),
          key + ".axl", key + ".0123456789abcdef.tmp", std::string(63, 'c') + ".axl", std::string(64, 'C') + ".axl",
          "x" + key + ".axl", key + ".axl.tmp", key + ".0123456789ABCDEF.tmp"}) {
      write_own(folder_ / name, "kept for years, " + std::string(5000, '.') + name);
      fs::last_write_time(folder_ / name, fs::file_time_type::clock::now() - std::chrono::hours(2));
    }
    fs::create_directory(folder_ / (std::string(64, 'd') + ".axl"));
    before_ = contents();
  }
  std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> all;
    for (const fs::path& file : files()) all[file.filename()] = fs::is_directory(file) ? "" : test::read_file(file);
    return all;
  }
  /// What has become of them, without the cache's own entries.
  void expect_untouched() const {
    auto now = contents();
    for (const auto& [name, text] : before_) EXPECT_EQ(now[name], text) << name;
  }

  std::map<std::string, std::string> before_;
};

TEST_F(ForeignFiles, SurviveStoringClearingAndMakingRoom) {
  CountingDevice device(Api::cuda);
  limit_bytes("3K");
  for (int i = 0; i < 12; ++i) obtain(device, request_for(source_number(i)), group);
  expect_untouched();
  EXPECT_EQ(cache_folder().entries, 7u) << "as many of 400 bytes as 3 KiB hold: others do not count";
  EXPECT_EQ(clear_cache_folder(), 7u);
  expect_untouched();
  EXPECT_EQ(contents().size(), before_.size());
}

TEST_F(ForeignFiles, AreNotReplacedByAnEntryOfTheSameName) {
  CountingDevice device(Api::cuda);
  obtain(device, request_for("kernel"), group);
  fs::path entry;
  for (const fs::path& file : files())
    if (!before_.contains(file.filename())) entry = file;
  write_own(entry, "someone's own file");
  LoggedLines log;
  for (int i = 0; i < 2; ++i) {
    forget_programs();
    obtain(device, request_for("kernel"), group);
    EXPECT_EQ(test::read_file(entry), "someone's own file");
    const auto lines = log.take();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_NE(lines[0].find(entry.filename().string() + " is not Axisloom's"), std::string::npos) << lines[0];
  }
  EXPECT_EQ(device.builds(), 3);
  EXPECT_EQ(since_start().damaged, 0u);
  EXPECT_EQ(clear_cache_folder(), 0u);
  EXPECT_EQ(test::read_file(entry), "someone's own file");
}

TEST_F(Cache, WhatOthersCanWriteIsNeitherRunNorRemoved) {
  CountingDevice device(Api::cuda);
  obtain(device, request_for("kernel"), group);
  const fs::path entry = files().front();
  const std::string planted = test::read_file(entry);
  const auto expect_left_alone = [&](const std::string& why) {
    const int builds = device.builds();
    forget_programs();
    obtain(device, request_for("kernel"), group);
    EXPECT_EQ(device.builds(), builds + 1) << why;
    EXPECT_EQ(cache_folder().entries, 0u) << why;
    EXPECT_EQ(clear_cache_folder(), 0u) << why;
    EXPECT_EQ(test::read_file(entry), planted) << why;
  };
  for (const fs::perms extra : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(entry, fs::perms::owner_read | fs::perms::owner_write | extra);
    expect_left_alone("writable by others");
  }
  fs::permissions(entry, fs::perms::owner_read | fs::perms::owner_write);
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(::chown(entry.c_str(), 12345, 12345), 0);
  expect_left_alone("of another user");
}

/// What a child process does with a folder of its own whose writes fail: exit code 0 when nothing went wrong.
class FailingWrites : public Cache {
 protected:
  enum : int { good, threw, left_something, said_nothing_or_twice, compiled_again };
  int use_cache() {
    LoggedLines log;
    CountingDevice device(Api::cuda);
    try {
      for (int i = 0; i < 3; ++i) obtain(device, request_for(source_number(i)), group);
      for (int i = 0; i < 3; ++i) obtain(device, request_for(source_number(i)), group);
    } catch (...) {
      return threw;
    }
    if (!files().empty()) return left_something;
    if (log.take().size() != 1 || cache_folder().why.find("could not be") == std::string::npos)
      return said_nothing_or_twice;
    return device.builds() == 3 ? good : compiled_again;
  }
};

TEST_F(FailingWrites, GoOnInMemorySayingSoOnce) {
  struct Fault {
    int call;
    int code;
  };
  for (const Fault fault : {Fault{__NR_write, ENOSPC}, Fault{__NR_write, EIO}, Fault{__NR_write, EDQUOT},
                            Fault{__NR_renameat, EIO}, Fault{__NR_renameat, ENOSPC}}) {
    if (test::address_sanitizer && fault.call == __NR_write) continue;  // it writes for purposes of its own
    EXPECT_EQ(test::exit_code_of([&] { return test::fail_calls(fault.call, fault.code) ? use_cache() : 100; }), good)
        << fault.call << ": " << std::strerror(fault.code);
  }
}

TEST_F(FailingWrites, FilesThatMayNotGrowAreNotBegun) {
  for (const bool prepared : {false, true}) {
    const rlimit limit{100, 100};
    EXPECT_EQ(test::exit_code_of([&] {
                if (prepared) std::signal(SIGXFSZ, SIG_IGN);
                return ::setrlimit(RLIMIT_FSIZE, &limit) == 0 ? use_cache() : 100;
              }),
              good)
        << prepared;
  }
}

TEST_F(FailingWrites, AFolderThatCannotBeWrittenTo) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  fs::permissions(folder_.path(), fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  EXPECT_EQ(test::exit_code_of([&]() -> int {
              if (::setresuid(65534, 65534, 65534) != 0) return 100;
              LoggedLines log;
              CountingDevice device(Api::cuda);
              forget_programs();
              for (int i = 0; i < 3; ++i) obtain(device, request_for(source_number(i)), group);
              return device.builds() == 3 && log.take().size() == 1 ? good : said_nothing_or_twice;
            }),
            good);
  EXPECT_TRUE(files().empty());
}

}  // namespace
}  // namespace axisloom::jit
