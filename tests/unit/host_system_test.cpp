// What limits the host's threads and memory, and which instructions its kernels may need.
#include "device/host/system.hpp"

#include "child_process.hpp"
#include "counting_device.hpp"
#include "device/environment.hpp"
#include "device/host/device.hpp"
#include "host_support.hpp"
#include "model/device_model.hpp"
#include "model/store.hpp"
#include "opencl_support.hpp"
#include "own_process.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>

namespace axisloom::device::host {
namespace {

using test::code_thrown;
using test::text_thrown;

class GroupFiles {
 public:
  GroupLimits limits() const { return group_limits(folder_.path()); }
  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = folder_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }

 private:
  test::TemporaryFolder folder_;
};

TEST(HostSystem, TheTightestGroupOfVersion2Counts) {
  const GroupFiles files;
  EXPECT_FALSE(files.limits().processors || files.limits().memory) << "no files";
  files.write("proc/self/cgroup", "0::/outer/inner");
  EXPECT_FALSE(files.limits().processors || files.limits().memory) << "no limits";
  files.write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000");
  files.write("sys/fs/cgroup/outer/inner/memory.max", "max");
  EXPECT_FALSE(files.limits().processors || files.limits().memory);
  files.write("sys/fs/cgroup/outer/cpu.max", "250000 100000");
  files.write("sys/fs/cgroup/cpu.max", "800000 100000");
  files.write("sys/fs/cgroup/outer/memory.max", "1073741824");
  files.write("sys/fs/cgroup/outer/inner/memory.max", "2147483648");
  EXPECT_EQ(files.limits().processors, 2.5);
  EXPECT_EQ(files.limits().memory, u64{1} << 30);
}

cpu_set_t processors_of(pthread_t thread) {
  cpu_set_t set;
  EXPECT_EQ(pthread_getaffinity_np(thread, sizeof set, &set), 0);
  return set;
}

/// What another thread may use after this one had it keep off; both begin with `allowed`.
cpu_set_t kept_off(const cpu_set_t& allowed) {
  cpu_set_t before = processors_of(pthread_self()), after;
  EXPECT_EQ(pthread_setaffinity_np(pthread_self(), sizeof allowed, &allowed), 0);
  std::atomic<bool> seen{false};
  std::thread other([&] { EXPECT_TRUE(test::Meeting::until([&] { return seen.load(); })); });
  keep_off_this_processor(other.native_handle());
  after = processors_of(other.native_handle());
  seen = true;
  other.join();
  EXPECT_EQ(pthread_setaffinity_np(pthread_self(), sizeof before, &before), 0);
  return after;
}

TEST(HostSystem, AThreadKeepsOffTheProcessorOfAnother) {
  const cpu_set_t allowed = processors_of(pthread_self());
  const int count = CPU_COUNT(&allowed);
  if (count < 2) GTEST_SKIP() << "one processor only";
  const cpu_set_t after = kept_off(allowed);
  EXPECT_EQ(CPU_COUNT(&after), count - 1);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) EXPECT_LE(CPU_ISSET(cpu, &after), CPU_ISSET(cpu, &allowed)) << cpu;

  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  const cpu_set_t still = kept_off(one);
  EXPECT_TRUE(CPU_EQUAL(&still, &one)) << "there is no other";
}

TEST(HostSystem, Version1HasATreeForEachController) {
  const GroupFiles files;
  files.write("proc/self/cgroup", "11:memory:/docker/1f2e\n4:cpu,cpuacct:/docker/1f2e\n1:name=systemd:/x");
  files.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
  files.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  files.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912");  // seen from inside the container
  EXPECT_EQ(files.limits().processors, std::nullopt);
  EXPECT_EQ(files.limits().memory, u64{512} << 20);
  files.write("sys/fs/cgroup/cpu/docker/1f2e/cpu.cfs_quota_us", "150000");
  files.write("sys/fs/cgroup/cpu/docker/1f2e/cpu.cfs_period_us", "100000");
  EXPECT_EQ(files.limits().processors, 1.5);
}

TEST(HostSystem, CountsThreadsByProcessorsQuotaAndVariable) {
  EXPECT_EQ(count_threads("", "", 8, std::nullopt).threads, 8u);
  EXPECT_EQ(count_threads("", "", 8, 16.0).threads, 8u);
  EXPECT_EQ(count_threads("", "", 8, 2.5).threads, 3u);
  EXPECT_EQ(count_threads("", "", 8, 0.1).threads, 1u);
  EXPECT_EQ(count_threads("5", "", 8, 2.5).threads, 5u);
  EXPECT_EQ(count_threads("32", "", 8, 2.5).threads, 32u);
  EXPECT_EQ(count_threads("", "3", 8, std::nullopt).threads, 3u);
  EXPECT_EQ(count_threads("", "3,2", 8, std::nullopt).threads, 3u);
  EXPECT_EQ(count_threads("", "30", 8, 2.5).threads, 3u) << "OpenMP may ask for more than there are";
  EXPECT_EQ(count_threads("", "some", 8, std::nullopt).threads, 8u);
  EXPECT_EQ(count_threads("5", "3", 8, std::nullopt).threads, 5u);
  EXPECT_NE(count_threads("5", "", 8, 2.5).why, count_threads("", "", 8, 2.5).why);
  EXPECT_NE(count_threads("", "", 8, 2.5).why, count_threads("", "", 8, std::nullopt).why);
  for (const char* const nonsense : {"0", "-1", "two", "4 ", "1e3", "99999999999", "4097"}) {
    EXPECT_EQ(code_thrown([&] { count_threads(nonsense, "", 8, {}); }), Errc::usage) << nonsense;
    EXPECT_NE(text_thrown([&] { count_threads(nonsense, "", 8, {}); }).find("AXISLOOM_THREADS"), std::string::npos);
  }
}

TEST(HostSystem, RespectsTheAffinity) {
  EXPECT_EQ(test::exit_code_of([] {
              cpu_set_t one;
              CPU_ZERO(&one);
              CPU_SET(sched_getcpu(), &one);
              if (sched_setaffinity(0, sizeof one, &one) != 0) return 1;
              return processors() == 1 ? 0 : 2;
            }),
            0);
  EXPECT_GE(processors(), 1u);
  EXPECT_GT(usable_memory(), size_t{1} << 20);
}

TEST(HostSystem, DISABLED_OfTheEnvironment) {
  const auto is = [](const char* name, const char* value) { return environment(name) == value; };
  if (is("AXISLOOM_THREADS", "3")) {
    EXPECT_EQ(axisloom::Device::open("host").info().compute_units, 3u);
    EXPECT_EQ(axisloom::Device::open("host").info().api_version, level(Isa::baseline));
    EXPECT_FALSE(axisloom::Device::open("host").info().f16);
    EXPECT_TRUE(host_runtime().status().at(0).found);
  } else {
    const char* const name = is("AXISLOOM_THREADS", "many") ? "AXISLOOM_THREADS" : "AXISLOOM_ISA";
    EXPECT_EQ(code_thrown([] { axisloom::Device::open("host"); }), Errc::usage);
    EXPECT_NE(text_thrown([] { axisloom::Device::open("host"); }).find(name), std::string::npos);
    EXPECT_TRUE(host_runtime().devices().empty());
    const RuntimeStatus status = host_runtime().status().at(0);
    EXPECT_FALSE(status.found);
    EXPECT_NE(status.facts.at(0).second.find(name), std::string::npos);
    EXPECT_FALSE(status.remedy.empty());
  }
  test::end_alone();
}

TEST(HostSystem, BelievesSoundVariablesAlone) {
  const auto with = [](const std::vector<std::string>& variables) {
    return test::run_alone("HostSystem.DISABLED_OfTheEnvironment", variables);
  };
  const std::string lacking = has(Isa::neon) ? "v4" : "neon";
  EXPECT_EQ(with({"AXISLOOM_THREADS=3", "AXISLOOM_ISA=baseline"}), "");
  EXPECT_EQ(with({"AXISLOOM_THREADS=many"}), "");
  EXPECT_EQ(with({"AXISLOOM_ISA=v5"}), "");
  EXPECT_EQ(with({"AXISLOOM_ISA=" + lacking}), "");
}

template <int>
void kernel(const KernelCall&, u64, u64) {}

TEST(HostSystem, TakesTheBestVersionOfAKernel) {
  const BuiltIn table[] = {{"a", Isa::baseline, kernel<0>}, {"a", Isa::v3, kernel<1>},      {"a", Isa::v4, kernel<2>},
                           {"a", Isa::v4_vnni, kernel<3>},  {"a", Isa::v4_bf16, kernel<4>}, {"a", Isa::neon, kernel<5>},
                           {"ab", Isa::v4, kernel<6>},      {"b", Isa::baseline, kernel<7>}};
  const Entry versions[] = {kernel<0>, kernel<1>, kernel<2>, kernel<3>, kernel<4>, kernel<5>};
  EXPECT_EQ(find_kernel(table, "a", Isa::baseline), kernel<0>);
  EXPECT_EQ(find_kernel(table, "a", best_isa()), versions[int(best_isa())]);
  EXPECT_EQ(find_kernel(table, "b", best_isa()), kernel<7>);
  EXPECT_EQ(find_kernel(table, "ab", Isa::baseline), nullptr);
  EXPECT_EQ(find_kernel(table, "c", best_isa()), nullptr);
  EXPECT_EQ(find_kernel(table, "a", Isa::v3), versions[int(has(Isa::v3))]) << "no more than is allowed";
}

TEST(HostSystem, IsKnownByTheProfilesOfCpus) {
  const auto source_of = [](Isa isa, const char* vendor) {
    DeviceInfo info = describe(2, isa);
    info.name = "a processor";
    info.vendor = vendor;
    return model::model_of(info, model::Store{}).source;
  };
  EXPECT_EQ(source_of(Isa::v4, "AuthenticAMD"), "family of epyc");
  EXPECT_EQ(source_of(Isa::v4_bf16, "AuthenticAMD"), "family of epyc");
  EXPECT_EQ(source_of(Isa::v3, "AuthenticAMD"), "family of epyc-7003");
  EXPECT_EQ(source_of(Isa::v4, "GenuineIntel"), "family of xeon");
  EXPECT_EQ(source_of(Isa::baseline, "GenuineIntel"), "generic-cpu");
}

TEST(HostSystem, TheTableOfKernelsIsSorted) {
  EXPECT_TRUE(std::ranges::is_sorted(built_in_kernels(), {},
                                     [](const BuiltIn& kernel) { return std::pair(kernel.name, kernel.isa); }));
}

}  // namespace
}  // namespace axisloom::device::host
