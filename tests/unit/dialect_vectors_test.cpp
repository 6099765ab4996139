// The dialect's vectors: every word with every type and number of lanes, on CPUs of OpenCL and on the host by every
// compiler and for every level of the instruction set that is here, against plain loops over the lanes, bit for bit.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <type_traits>

#include "counting_device.hpp"
#include "device/environment.hpp"
#include "device/host/device.hpp"
#include "dialect_support.hpp"

namespace axisloom::dialect_test {
namespace {

constexpr std::size_t line_bytes = 64;

using CpuTest = std::function<void(device::Device&)>;

/// Calls test(device) for every CPU of OpenCL. No kernel for GPUs has vectors.
void on_every_opencl_cpu(const CpuTest& test) {
  for (const auto& device : every_device()) {
    if (device->info().api != Api::opencl || device->info().kind != Kind::cpu) continue;
    SCOPED_TRACE(device->info().label());
    test(*device);
  }
}

/// Calls test(device) for the host with that compiler, where it is here.
void on_host(const std::string& compiler, device::host::Isa isa, const CpuTest& test) {
  if (!device::host::has(isa) || !std::filesystem::exists(compiler)) return;
  const test::Variable named("AXISLOOM_HOST_COMPILER", compiler);
  SCOPED_TRACE(compiler + " for " + std::string(device::host::name(isa)));
  test(*device::host::make_device(1, isa));
}

/// Those that AXISLOOM_HOST_COMPILER names, for whom compiles for another machine; else the system's.
std::vector<std::string> host_compilers() {
  const std::string named = device::environment("AXISLOOM_HOST_COMPILER");
  if (!named.empty()) return {named};
  return {"/usr/bin/g++", "/usr/bin/clang++"};
}

void on_every_host(const CpuTest& test) {
  using device::host::Isa;
  for (const std::string& compiler : host_compilers())
    for (const Isa isa : {Isa::baseline, Isa::v3, Isa::v4, Isa::v4_vnni, Isa::v4_bf16, Isa::neon})
      on_host(compiler, isa, test);
}

void on_every_cpu(const CpuTest& test) {
  on_every_opencl_cpu(test);
  on_every_host(test);
}

/// What a kernel's groups should write, and what words wrote it.
class Written {
 public:
  template <class T>
  void put(const std::string& what, const T& value) {
    if (words_.empty() || words_.rbegin()->second != what) words_.emplace(bytes_.size(), what);
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(&value);
    bytes_.insert(bytes_.end(), begin, begin + sizeof(T));
  }
  /// Zeros up to the next line: a group's output begins aligned.
  void fill_line() { bytes_.resize((bytes_.size() + line_bytes - 1) / line_bytes * line_bytes); }
  void expect(const std::vector<std::uint8_t>& found) const {
    ASSERT_EQ(found.size(), bytes_.size());
    std::map<std::string, std::size_t> wrong;
    for (std::size_t k = 0; k < found.size(); ++k)
      if (found[k] != bytes_[k]) wrong.emplace(std::prev(words_.upper_bound(k))->second, k);
    for (const auto& [what, byte] : wrong)
      ADD_FAILURE() << what << ": byte " << byte << " is " << int(found[byte]) << ", not " << int(bytes_[byte]);
  }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::vector<std::uint8_t> bytes_;
  std::map<std::size_t, std::string> words_;  // by where they begin
};

constexpr unsigned vector_groups = 24;
constexpr std::size_t set_bytes = 128, sets = 4, types = 10;

/// Calls use(T(), name) for every type, in the kernel's order.
void each_type(const auto& use) {
  use(std::int8_t(), "i8");
  use(std::uint8_t(), "u8");
  use(std::int16_t(), "i16");
  use(u16(), "u16");
  use(std::int32_t(), "i32");
  use(u32(), "u32");
  use(i64(), "i64");
  use(u64(), "u64");
  use(float(), "f32");
  use(double(), "f64");
}

/// The numbers of one type for one group: see the kernel.
template <class T>
struct Numbers {
  std::array<T, 16> x, y, r, s;

  Numbers(std::mt19937_64& engine, unsigned group) {
    for (unsigned k = 0; k < 16; ++k) {
      if constexpr (std::is_floating_point_v<T>) {
        x[k] = static_cast<T>(engine() >> 40) / T(168000);  // 0 to 100, with all bits of an f32
        y[k] = T(1) + static_cast<T>(engine() >> 11) / T(1ull << 53);
        r[k] = special(group < 12 ? k : engine(), x[k]);
        s[k] = special(group < 12 ? k + group : engine(), y[k]);
      } else {
        const i64 most = std::is_signed_v<T> ? (i64(1) << (4 * sizeof(T) - 1)) - 1 : 0;  // whose square has no overflow
        x[k] = static_cast<T>(most ? static_cast<i64>(engine() % u64(2 * most + 1)) - most : engine());
        y[k] = static_cast<T>(most ? 1 + engine() % u64(most) : engine());
        if (y[k] == 0) y[k] = 1;
        r[k] = static_cast<T>(k == group % 16 ? 0 : engine() >> (group % 8 == 0 ? 57 : 0));
        s[k] = k % 4 == 0 ? r[k] : static_cast<T>(engine());
        if (group == 1) r[k] = std::numeric_limits<T>::max(), s[k] = std::numeric_limits<T>::min();
      }
    }
  }
  static T special(u64 k, T otherwise) {
    using Limits = std::numeric_limits<T>;
    const T values[] = {0,
                        -T(0),
                        Limits::infinity(),
                        -Limits::infinity(),
                        Limits::quiet_NaN(),
                        Limits::min(),
                        Limits::denorm_min(),
                        -Limits::denorm_min(),
                        -Limits::quiet_NaN(),
                        Limits::max(),
                        otherwise,
                        -otherwise};
    return values[k % std::size(values)];
  }
};

template <class T>
constexpr bool is_float = std::is_floating_point_v<T>;
/// Wide enough for sums of integers; what T itself is for floats.
template <class T>
using Sum = std::conditional_t<is_float<T>, T, std::conditional_t<std::is_signed_v<T>, i64, u64>>;
template <class T>
using Bits = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                std::conditional_t<sizeof(T) == 2, u16, std::conditional_t<sizeof(T) == 4, u32, u64>>>;

/// What vectors.kernel writes of the first n numbers.
template <class T>
class Words {
 public:
  Words(Written& written, const Numbers<T>& numbers, const std::string& type, unsigned n)
      : written_(written), m_(numbers), n_(n), where_(" of " + type + " by " + std::to_string(n)) {}

  void sums() {
    lanes("(V)", [&](unsigned) { return m_.x[0]; });
    sum("+", [](auto x, auto y) { return x + y; });
    sum("-", [](auto x, auto y) { return x - y; });
    sum("*", [](auto x, auto y) { return x * y; });

    sum("unary -", [](auto x, auto) { return -x; });
    sum("+=, -= and *=", [](auto x, auto y) { return (x + y - x) * y; });
  }
  void quotients_and_fused_sums() {
    sum("/", [](auto x, auto y) { return x / y; });
    sum("ADD_FUSED", [](auto x, auto y) { return x + y; });
    sum("SUBTRACT_FUSED", [](auto x, auto y) { return x - y; });
  }
  void comparisons() {
    truth("<", [](T r, T s) { return r < s; });
    truth(">", [](T r, T s) { return r > s; });
    truth("<=", [](T r, T s) { return r <= s; });
    truth(">=", [](T r, T s) { return r >= s; });
    truth("==", [](T r, T s) { return r == s; });
    truth("!=", [](T r, T s) { return r != s; });
    truth("!", [](T r, T) { return r == T(0); });
    lanes("SELECT", [&](unsigned k) { return m_.r[k] < m_.s[k] ? m_.r[k] : m_.s[k]; });
    lanes("SELECT by |", [&](unsigned k) { return m_.r[k] < m_.s[k] || m_.x[k] == m_.y[k] ? m_.s[k] : m_.r[k]; });
  }
  void moves() {
    lanes("LANE_NUMBERS", [](unsigned k) { return static_cast<T>(k); });
    lanes("LANE", [&](unsigned k) { return m_.r[k]; });
    for (unsigned d = 1; d < n_; d *= 2)
      lanes("EXCHANGE_LANES by " + std::to_string(d), [&](unsigned k) { return m_.r[k ^ d]; });
    if (n_ == 4) return;
    for (const unsigned odd : {0, 1})
      for (unsigned k = 0; k < n_ / 2; ++k)
        written_.put((odd ? "ODD_LANES_OF" : "EVEN_LANES_OF") + where_, m_.r[2 * k + odd]);
    for (unsigned d = 1; d < n_; d *= 2) {
      lanes("LOWER_LANES_OF by " + std::to_string(d), [&](unsigned k) { return k & d ? m_.s[k ^ d] : m_.r[k]; });
      lanes("UPPER_LANES_OF by " + std::to_string(d), [&](unsigned k) { return k & d ? m_.s[k] : m_.r[k ^ d]; });
    }
  }
  void reversals(bool turn, bool top) {
    constexpr Bits<T> sign = Bits<T>(Bits<T>(1) << (8 * sizeof(T) - 1)), all = static_cast<Bits<T>>(~Bits<T>(0));
    const Bits<T> turned = turn ? is_float<T> ? sign : all : Bits<T>(0);
    const Bits<T> mask = static_cast<Bits<T>>(turned ^ (top && !is_float<T> ? sign : Bits<T>(0)));
    const auto reversed = [&](unsigned k) { return static_cast<Bits<T>>(std::bit_cast<Bits<T>>(m_.r[k]) ^ mask); };
    lanes("REVERSED", reversed);
    written_.put("REVERSED scalar" + where_, reversed(1));
  }
  void chosen() {
    const auto greater = [&](unsigned k) { return m_.r[k] > m_.s[k] ? m_.r[k] : m_.s[k]; };
    lanes("GREATER", greater);
    lanes("LESSER", [&](unsigned k) { return m_.r[k] < m_.s[k] ? m_.r[k] : m_.s[k]; });
    written_.put("GREATER scalar" + where_, greater(1));
  }
  void bitwise() {
    lanes("&", [&](unsigned k) { return static_cast<T>(m_.r[k] & m_.s[k]); });
    lanes("|", [&](unsigned k) { return static_cast<T>(m_.r[k] | m_.s[k]); });
    lanes("^", [&](unsigned k) { return static_cast<T>(m_.r[k] ^ m_.s[k]); });
    lanes("<<", [&](unsigned k) { return static_cast<T>(Sum<T>(m_.x[k]) << 3); });
    lanes(">>", [&](unsigned k) { return static_cast<T>(m_.r[k] >> 3); });
  }
  void conversions() {
    const auto to = [&](auto wanted, const std::string& name) {
      using To = decltype(wanted);
      lanes("CONVERT_LANES to " + name, [&](unsigned k) {
        if constexpr (is_float<T>)
          return static_cast<To>(std::is_signed_v<To> ? -m_.x[k] : m_.x[k]);
        else
          return static_cast<To>(m_.r[k]);
      });
    };
    each_type([&](auto wanted, const char* name) {
      if (std::is_signed_v<decltype(wanted)>) to(wanted, name);
    });
    each_type([&](auto wanted, const char* name) {
      if (!std::is_signed_v<decltype(wanted)>) to(wanted, name);
    });
  }

 private:
  void lanes(const std::string& what, const auto& value) {
    for (unsigned k = 0; k < n_; ++k) written_.put(what + where_, value(k));
  }
  void sum(const std::string& what, const auto& of) {
    lanes(what, [&](unsigned k) { return static_cast<T>(of(Sum<T>(m_.x[k]), Sum<T>(m_.y[k]))); });
  }
  void truth(const std::string& what, const auto& of) {
    lanes(what, [&](unsigned k) { return static_cast<Bits<T>>(of(m_.r[k], m_.s[k]) ? ~Bits<T>(0) : Bits<T>(0)); });
  }

  Written& written_;
  const Numbers<T>& m_;
  unsigned n_;
  std::string where_;
};

TEST(DialectVectors, WordsLaneByLane) {
  std::vector<std::uint8_t> a(vector_groups * types * sets * set_bytes);
  const auto written = [&](bool with_the_hosts_own) {
    std::mt19937_64 engine(1);
    Written all;
    std::uint8_t* at = a.data();
    for (unsigned group = 0; group < vector_groups; ++group) {
      each_type([&](auto zero, const char* type) {
        using T = decltype(zero);
        const Numbers<T> numbers(engine, group);
        for (const auto* const set : {&numbers.x, &numbers.y, &numbers.r, &numbers.s}) {
          std::memcpy(at, set, sizeof *set);
          at += set_bytes;
        }
        for (const unsigned n : {4, 8, 16}) {
          Words<T> words(all, numbers, type, n);
          words.sums();
          words.comparisons();
          words.moves();
          if (with_the_hosts_own) {
            words.reversals(group % 2 == 1, group % 4 > 1);
            words.chosen();
          }
          if constexpr (is_float<T>)
            words.quotients_and_fused_sums();
          else
            words.bitwise();
          words.conversions();
        }
      });
    }
    return all;
  };
  const Written by_opencl = written(false), by_host = written(true);
  on_every_cpu([&](device::Device& device) {
    const Written& expected = device.info().api == Api::host ? by_host : by_opencl;
    std::vector<std::uint8_t> b(expected.size());
    KernelRun(device, "vectors", "vectors", Prelude::plain)
        .items_of_a_group(1)
        .buffer(a)
        .buffer(b)
        .launch(static_cast<i64>(b.size() / vector_groups), vector_groups);
    expected.expect(b);
  });
}

using Bytes = std::vector<std::uint8_t>;

/// Elements of `size` bytes of some vectors side by side: number `which(k)` for each k.
Bytes picked(const Bytes& from, std::size_t size, std::size_t count, const auto& which) {
  Bytes to;
  for (std::size_t k = 0; k < count; ++k) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(which(k) * size);
    to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
  }
  return to;
}
Bytes part(const Bytes& from, std::size_t begin, std::size_t size) {
  return picked(from, 1, size, [&](std::size_t k) { return begin + k; });
}
Bytes joined(Bytes x, const Bytes& y) {
  x.insert(x.end(), y.begin(), y.end());
  return x;
}

void put_bytes(Written& written, const std::string& what, const Bytes& bytes) {
  for (const std::uint8_t byte : bytes) written.put(what, byte);
}

/// Of two vectors side by side: elements of 16 bytes in turns, those of the lower 8 bytes or of the upper ones.
Bytes interleaved_by(const Bytes& x, const Bytes& y, std::size_t size, bool upper) {
  const std::size_t count = x.size() / size, each = 16 / size;
  return picked(joined(x, y), size, count,
                [&](std::size_t k) { return k / each * each + k % each / 2 + (upper ? each / 2 : 0) + k % 2 * count; });
}

void put_thirds(Written& written, const std::string& of, std::size_t size, const Bytes& three) {
  for (const std::size_t first : {0, 1, 2})
    put_bytes(written, "EVERY_THIRD" + of,
              picked(three, size, three.size() / 3 / size, [&](std::size_t k) { return 3 * k + first; }));
}

/// What lines.kernel writes of a group's lines.
void put_lines(Written& written, const Bytes& a) {
  const Bytes x = part(a, 0, 64), y = part(a, 64, 64), z = part(a, 129, 64), two = joined(x, y);
  put_bytes(written, "load_packet, store_packet", x);
  put_bytes(written, "stream_load, stream_store", y);
  put_bytes(written, "load_loose, store_loose, local_store_packet, local_load_packet", z);
  put_bytes(written, "AS_LANES", x);
  for (const std::size_t size : {1, 2, 4, 8}) {
    const std::string of = " of " + std::to_string(size) + " bytes";
    put_bytes(written, "INTERLEAVE_LOW" + of, interleaved_by(x, y, size, false));
    put_bytes(written, "INTERLEAVE_HIGH" + of, interleaved_by(x, y, size, true));
    const std::size_t count = 64 / size;
    put_bytes(written, "EVENS" + of, picked(two, size, count, [](std::size_t k) { return 2 * k; }));
    put_bytes(written, "ODDS" + of, picked(two, size, count, [](std::size_t k) { return 2 * k + 1; }));
    for (const std::size_t half : {0, 1})
      put_bytes(written, (half ? "MERGE_UPPER" : "MERGE_LOWER") + of,
                picked(two, size, count, [&](std::size_t k) { return half * count / 2 + k / 2 + k % 2 * count; }));
  }
  for (const std::size_t size : {2, 4, 8})
    put_thirds(written, " of " + std::to_string(size) + " bytes", size, joined(two, z));
  constexpr std::size_t pieces[][4] = {{0, 1, 4, 5}, {2, 3, 6, 7}, {0, 2, 4, 6},
                                       {1, 3, 5, 7}, {7, 4, 3, 0}, {5, 5, 2, 6}};
  for (const auto& four : pieces)
    put_bytes(written, "PIECES", picked(two, 16, 4, [&](std::size_t k) { return four[k]; }));
}

/// What it writes of quarters.
void put_quarters(Written& written, const Bytes& a) {
  const Bytes x = part(a, 0, 16), y = part(a, 16, 16), z = part(a, 32, 16);
  for (const std::size_t size : {4, 8}) {
    put_bytes(written, "QUARTER_LOW", interleaved_by(x, y, size, false));
    put_bytes(written, "QUARTER_HIGH", interleaved_by(x, y, size, true));
  }
  put_thirds(written, " of quarters", 1, joined(joined(x, y), z));
  const Bytes ended = joined(x, {0});
  for (const std::size_t first : {0, 1, 4})
    put_bytes(written, "SPREAD_THREES",
              picked(ended, 1, 16, [&](std::size_t k) { return k % 4 == 3 ? 16 : first + k / 4 * 3 + k % 4; }));
  put_bytes(written, "PACK_THREES",
            picked(ended, 1, 16, [](std::size_t k) { return k < 12 ? k / 3 * 4 + k % 3 : 16; }));
}

/// What it reads from an array of its own, and what it leaves there.
void put_own_array(Written& written, const Bytes& a) {
  Bytes own = part(a, 0, 256);
  const auto set = [&](std::size_t to, const Bytes& value) {
    std::ranges::copy(value, own.begin() + std::ptrdiff_t(to));
  };
  set(3, part(a, 7, 64));
  set(70, part(a, 16, 16));
  set(101, part(a, 64, 16));
  set(121, part(a, 8, 8));
  put_bytes(written, "own_load of a line", part(own, 65, 64));
  put_bytes(written, "own_load of a quarter", part(own, 1, 16));
  put_bytes(written, "own_load of a packet", part(own, 69, 16));
  put_bytes(written, "own_load of a scalar", part(own, 99, 4));
  put_bytes(written, "own_store", own);
}

struct LineParams {
  i64 bytes, floats;
};

constexpr unsigned line_groups = 4;
constexpr u32 all_halves = 65536;

/// Of f16 by 4 lanes, of bf16 by 4, of f16 by 8 and so on.
void expect_widened(const std::vector<u32>& floats) {
  for (u32 k = 0; k < floats.size(); ++k) {
    const bool is_f16 = k / all_halves % 2 == 0;
    const u32 expected = (is_f16 ? f16 : bf16).widened(k % all_halves);
    const auto is_nan = [](u32 bits) { return std::isnan(std::bit_cast<float>(bits)); };
    const bool same_nan = is_nan(expected) && is_nan(floats[k]) && (expected ^ floats[k]) >> 31 == 0;
    ASSERT_TRUE(floats[k] == expected || same_nan)
        << (is_f16 ? "f16 " : "bf16 ") << k % all_halves << " by " << (4 << k / all_halves / 2) << " lanes became "
        << floats[k] << ", not " << expected;
  }
}

/// Runs lines.kernel; what it writes is right.
void check_lines(device::Device& device, Prelude prelude, const std::string& first_lines = {}) {
  auto a = noise<std::uint8_t>(line_groups * 4 * line_bytes);
  Written expected;
  for (unsigned group = 0; group < line_groups; ++group) {
    const Bytes of_group = part(a, group * 4 * line_bytes, 4 * line_bytes);
    put_lines(expected, of_group);
    put_quarters(expected, of_group);
    put_own_array(expected, of_group);
    expected.fill_line();
  }
  Bytes b(expected.size());
  std::vector<u16> halves(all_halves);
  std::iota(halves.begin(), halves.end(), u16(0));
  std::vector<u32> floats(6 * halves.size());
  const LineParams params = {static_cast<i64>(b.size() / line_groups), all_halves / line_groups};
  KernelRun(device, "lines", "lines", prelude)
      .items_of_a_group(1)
      .behind(first_lines)
      .buffer(a)
      .buffer(b)
      .buffer(halves)
      .buffer(floats)
      .launch(params, line_groups, line_bytes);
  expected.expect(b);
  expect_widened(floats);
}

TEST(DialectVectors, LinesQuartersAndSixteenBitFloats) {
  on_every_cpu([](device::Device& device) { check_lines(device, Prelude::plain); });
}

// Compilers that go by way of SPIR-V get lines put together of quarters.
TEST(DialectVectors, LinesOfACompilerWithoutWideVectors) {
  on_every_opencl_cpu(
      [](device::Device& device) { check_lines(device, Prelude::plain, "#define __SPIR__ 1  // as it says\n"); });
}

// The hooks are the same for every compiler and level.
TEST(DialectVectors, AccessesAreWatched) {
  const CpuTest test = [](device::Device& device) { check_lines(device, Prelude::checked); };
  on_every_opencl_cpu(test);
  on_host(host_compilers().front(), device::host::best_isa(), test);
}

constexpr unsigned dot_groups = 64, dot_sets = 6, dot_words = 16;

/// Words for one group: see the kernel. Those of bf16 are two normal numbers, whose sums stay normal.
std::vector<u32> words_of_dots() {
  std::mt19937_64 engine(1);
  std::vector<u32> words(dot_groups * dot_sets * dot_words);
  for (std::size_t k = 0; k < words.size(); ++k) {
    const auto any = static_cast<u32>(engine());
    const auto half = [&] { return static_cast<u32>((engine() & 0x807f) | (100 + engine() % 50) << 7); };
    words[k] = k / dot_words % dot_sets < 3 ? any : half() << 16 | half();
  }
  return words;
}

u32 dot_of_bytes(u32 x, u32 y, u32 sum) {
  for (unsigned shift = 0; shift < 32; shift += 8)
    sum += (x >> shift & 255) * static_cast<u32>(std::bit_cast<std::int8_t>(static_cast<std::uint8_t>(y >> shift)));
  return sum;
}

u32 dot_of_bf16(u32 x, u32 y, u32 sum) {
  const auto number = [](u32 bits) { return std::bit_cast<float>(bits); };
  const float upper = std::fma(number(x & 0xffff0000u), number(y & 0xffff0000u), number(sum));
  return std::bit_cast<u32>(std::fma(number(x << 16), number(y << 16), upper));
}

// By the processor's instructions where it has them, else in several steps: the same bits.
TEST(DialectVectors, DotsOfBytesAndOfBf16) {
  std::vector<u32> a = words_of_dots();
  Written expected;
  for (unsigned group = 0; group < dot_groups; ++group) {
    const u32* const set = a.data() + group * dot_sets * dot_words;
    const auto at = [&](unsigned number, unsigned k) { return set[number * dot_words + k]; };
    for (const unsigned n : {4, 8, 16}) {
      const std::string by = " by " + std::to_string(n);
      for (unsigned k = 0; k < n; ++k) expected.put("DOT_BYTES" + by, dot_of_bytes(at(0, k), at(1, k), at(2, k)));
      for (unsigned k = 0; k < n; ++k) expected.put("DOT_BF16" + by, dot_of_bf16(at(3, k), at(4, k), at(5, k)));
    }
  }
  on_every_host([&](device::Device& device) {
    std::vector<std::uint8_t> b(expected.size());
    KernelRun(device, "dots", "dots", Prelude::plain).items_of_a_group(1).buffer(a).buffer(b).launch(i64{}, dot_groups);
    expected.expect(b);
  });
}

/// What first.kernel makes of `a`, where nothing was before.
template <class T>
std::vector<T> first_lanes(const std::vector<T>& a, std::size_t groups, std::size_t lanes) {
  std::vector<T> expected(groups * 2 * lanes);
  for (std::size_t group = 0; group < groups; ++group)
    for (std::size_t k = 0; k < group % (lanes + 1); ++k)
      expected[(2 * group + 1) * lanes + k] = expected[2 * group * lanes + k] = a[2 * group * lanes + 3 + k];
  return expected;
}

TEST(DialectVectors, FirstLanesByMasks) {
  constexpr unsigned groups = 40, words = 16, pairs = 8;
  auto a = noise<u32>(groups * 2 * words + 3);
  auto c = noise<u64>(groups * 2 * pairs + 3);
  for (const Prelude prelude : {Prelude::plain, Prelude::checked}) {
    on_every_host([&](device::Device& device) {
      std::vector<u32> b(groups * 2 * words);
      std::vector<u64> d(groups * 2 * pairs);
      KernelRun(device, "first", "first", prelude)
          .items_of_a_group(1)
          .buffer(a)
          .buffer(c)
          .buffer(b)
          .buffer(d)
          .launch(i64{}, groups);
      EXPECT_EQ(b, first_lanes(a, groups, words));
      EXPECT_EQ(d, first_lanes(c, groups, pairs));
    });
  }
}

TEST(DialectVectors, ElementsOfThreeInTurns) {
  constexpr unsigned groups = 8;
  constexpr std::size_t quarter = 16, three = 3 * quarter;
  auto a = noise<std::uint8_t>(groups * three);
  Written expected;
  for (unsigned group = 0; group < groups; ++group) {
    const Bytes of_group = part(a, group * three, three);
    for (const std::size_t size : {1, 2, 4, 8})
      put_bytes(expected, "THREE_IN_TURNS of " + std::to_string(size) + " bytes",
                picked(of_group, size, three / size, [&](std::size_t k) { return k % 3 * (quarter / size) + k / 3; }));
  }
  on_every_host([&](device::Device& device) {
    Bytes b(expected.size());
    KernelRun(device, "turns", "turns", Prelude::plain).items_of_a_group(1).buffer(a).buffer(b).launch(i64{}, groups);
    expected.expect(b);
  });
}

}  // namespace
}  // namespace axisloom::dialect_test
