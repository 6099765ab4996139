// Moves of files that ranks share, the ranks being threads: the file is that of one process, and errors are those of
// all.
#include "cli/sharing.hpp"

#include <axisloom/call.hpp>
#include <axisloom/plan.hpp>

#include "io_support.hpp"
#include "planner/registry.hpp"
#include "thread_communicator.hpp"

namespace axisloom::cli {
namespace {

using io_support::array_of, io_support::bytes_of, io_support::TemporaryFolder;
using test::ThreadCommunicator;

struct Example {
  Operation op;
  Dtype dtype;
  Dims shape;
  bool fortran = false;
  bool finite = false;
};

io::HostArray numbered(const Example& example) {
  std::string bytes(size_t(element_count(example.shape)) * size_of(example.dtype), '\0');
  for (size_t i = 0; i < bytes.size(); ++i)  // of bools the elements are 0 or 1
    bytes[i] = example.dtype == Dtype::boolean ? char(i % 3 == 0) : char(i * 7 + i / 256);
  if (example.finite)  // floats of like size and both signs: their exponents lie in the last byte
    for (size_t i = size_of(example.dtype) - 1; i < bytes.size(); i += size_of(example.dtype))
      bytes[i] = char((i * 5 & 0x80) | 0x3c);
  io::HostArray array = array_of(example.dtype, example.shape, bytes);
  if (example.fortran) array.view.strides = fortran_strides(example.shape);
  return array;
}

/// What share() throws on each rank; empty where it throws nothing.
Texts shared(int ranks, bool one_host, const std::function<SharedWork(int rank)>& move) {
  Texts errors;
  for (const std::exception_ptr& thrown :
       test::run_ranks(ranks, one_host, [&](const std::shared_ptr<ThreadCommunicator>& rank) {
         static_cast<void>(share(Ranks(rank), move(rank->rank())));
       })) {
    errors.emplace_back();
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const RanksError& error) {
      errors.back() = error.what();
    }
  }
  return errors;
}

class Sharing : public testing::Test {
 protected:
  SharedWork move(const Operation& op, const std::string& output = "out.npy") {
    return {.entry = ops::entry(op.name),
            .op = op,
            .mesh = {},
            .input = folder / "in.npy",
            .output = folder / output,
            .output_format = {},
            .workspace = 1 << 12};
  }

  /// Runs a move in all ways; the operation as one process has it is `plain`.
  void expect_same_file(const Example& example, const Operation& plain, const std::string& mesh = "",
                        std::vector<int> counts = {1, 2, 3, 4, 7}) {
    const io::HostArray in = numbered(example);
    io::write(folder / "in.npy", in);
    const io::HostArray expected = io::HostArray::allocate(result_view(plain, {in.view}));
    run_into(OutputArray(expected.view, expected.memory.get()), plain, {InputArray(in.view, in.memory.get())});
    io::write(folder / "expected.npy", expected);
    for (const int ranks : counts)
      for (const bool one_host : {true, false}) {
        std::filesystem::remove(folder / "out.npy");
        SharedWork wanted = move(example.op);
        wanted.mesh = mesh;
        const Texts errors = shared(ranks, one_host, [&](int) { return wanted; });
        EXPECT_EQ(errors, Texts(size_t(ranks), "")) << to_string(example.op);
        EXPECT_TRUE(bytes_of(folder / "out.npy") == bytes_of(folder / "expected.npy"))
            << to_string(example.op) << " of " << name(example.dtype) << to_string(example.shape) << " by " << ranks
            << (one_host ? " ranks of one host" : " ranks of several hosts");
        EXPECT_EQ(folder.names(), (Texts{"expected.npy", "in.npy", "out.npy"}));
      }
  }
  void expect_same_file(const Example& example) { expect_same_file(example, example.op); }

  /// Runs a move of 4 ranks that fails; all of them say `words`, and nothing is left.
  void expect_failure(const std::string& words, const std::function<SharedWork(int rank)>& wanted) {
    const Texts before = folder.names();
    for (const bool one_host : {true, false}) {
      const Texts errors = shared(4, one_host, wanted);
      for (const std::string& error : errors) {
        EXPECT_NE(error.find(words), std::string::npos) << error;
        EXPECT_EQ(error, errors[0]);
      }
      EXPECT_EQ(folder.names(), before);
    }
  }

  TemporaryFolder folder;
};

TEST_F(Sharing, EveryMoveMakesTheFileOfOneProcess) {
  expect_same_file({rearrange("h w -> w h"), Dtype::f32, {37, 53}});
  expect_same_file({rearrange("(h y) (w x) c -> h w y x c", {{"y", 4}, {"x", 3}}), Dtype::u8, {20, 21, 3}});
  expect_same_file({rearrange("... a b -> b ... a"), Dtype::f64, {3, 5, 7, 2}});
  expect_same_file({rearrange("a 1 b -> b a"), Dtype::c128, {9, 1, 4}});
  expect_same_file({rearrange("a b -> (a b)"), Dtype::i16, {5, 3}});
  expect_same_file({repeat("a b -> b k a", {{"k", 3}}), Dtype::u16, {11, 6}});
  expect_same_file({repeat("a -> k a", {{"k", 6}}), Dtype::boolean, {5}});
  expect_same_file({repeat(" -> k", {{"k", 9}}), Dtype::i64, {}});
  expect_same_file({Operation{"transpose"}, Dtype::f16, {4, 33, 17}});
  expect_same_file({Operation{"permute", {"2,0,1"}}, Dtype::c64, {6, 5, 7}});
  expect_same_file({Operation{"relayout", {"NCHW", "NHWC"}}, Dtype::i8, {2, 5, 3, 4}});
  expect_same_file({Operation{"copy"}, Dtype::u32, {13, 8}});
}

Operation reduction(const char* name, const char* pattern, const Lengths& lengths = {}) {
  return {"reduce", {name, pattern}, lengths, {{"order", "portable"}}};
}

TEST_F(Sharing, ReductionsInAFixedOrderHaveTheSameBits) {
  expect_same_file({reduction("sum", "a b c -> b"), Dtype::f32, {37, 11, 29}, false, true});
  expect_same_file(
      {reduction("mean", "b c (h y) (w x) -> b h w", {{"y", 2}, {"x", 3}}), Dtype::f16, {3, 5, 8, 9}, false, true});
  expect_same_file({reduction("max", "a b -> a"), Dtype::i16, {41, 7}});
  expect_same_file({reduction("argmin", "a b c -> c 1"), Dtype::u8, {6, 7, 12}});
  expect_same_file({reduction("sum", "a b -> b"), Dtype::f64, {23, 19}, true, true});
  expect_same_file({reduction("sum", "a b -> b a"), Dtype::u8, {5, 4}});
  expect_same_file({reduction("prod", "a b c -> a"), Dtype::f32, {2, 3, 1}, false, true});
}

TEST_F(Sharing, ReductionsThatRanksCannotShare) {
  io::write(folder / "in.npy", numbered({rearrange(""), Dtype::f32, {6, 4}}));
  expect_failure("add --order portable", [&](int) { return move({"reduce", {"sum", "a b -> a"}}); });
  expect_failure("the result has one element", [&](int) { return move(reduction("sum", "a b ->")); });
}

TEST_F(Sharing, ShapesOfAllKinds) {
  expect_same_file({rearrange("h w -> w h"), Dtype::f32, {0, 4}});
  expect_same_file({rearrange("h w -> w h"), Dtype::u8, {1, 1}});
  expect_same_file({rearrange("h w -> w h"), Dtype::f32, {2, 3}});
  expect_same_file({rearrange(" -> 1"), Dtype::f64, {}});
  expect_same_file({rearrange("h w -> w h"), Dtype::f32, {19, 23}, true});
  expect_same_file({rearrange("a b c -> c a b"), Dtype::f32, {3, 41, 29}});
}

TEST_F(Sharing, LargerThanTheWorkspaceOfMessages) {
  expect_same_file({rearrange("a b c -> c b a"), Dtype::f32, {40, 30, 50}}, rearrange("a b c -> c b a"), "", {4});
}

TEST_F(Sharing, CutsAreCheckedAndChangeNothing) {
  const Operation plain = rearrange("a b -> b a");
  for (const char* pattern : {"a b@x -> b a@x", "a@x b -> b@x:balanced a", "a@x:2 b -> b a", "a b -> b@(x) a"})
    expect_same_file({rearrange(pattern), Dtype::f32, {12, 8}}, plain, "", {4});
  expect_same_file({rearrange("a@x b@y -> b@(y x) a"), Dtype::f32, {12, 8}}, plain, "x=2 y=2", {4});
  expect_same_file({rearrange("(a b)@x c -> c@y b a", {{"b", 4}}), Dtype::i32, {12, 8}},
                   rearrange("(a b) c -> c b a", {{"b", 4}}), "x=2 y=2", {4});
  const auto refused = [&](const char* pattern, const std::string& mesh) {
    SharedWork wanted = move(rearrange(pattern));
    wanted.mesh = mesh;
    return [wanted](int) { return wanted; };
  };
  expect_failure("names 2 axes of a mesh", refused("a@x b@y -> b a", ""));
  expect_failure("has 6 ranks, and 4 were started", refused("a b -> b a", "x=2 y=3"));
  expect_failure("has no axis 'y'", refused("a@y b -> b a", "x=4"));
  expect_failure("stands behind no axis", refused("a @x b -> b a", ""));
  expect_failure("a file holds no addends", refused("a b +x -> b a", "x=4"));
}

TEST_F(Sharing, AnErrorIsThatOfAllRanks) {
  io::write(folder / "in.npy", numbered({rearrange(""), Dtype::f32, {6, 4}}));
  const Operation turn = rearrange("h w -> w h");
  const auto with = [&](auto&& change) {
    SharedWork wanted = move(turn);
    change(wanted);
    return [wanted](int) { return wanted; };
  };
  expect_failure("missing.npy: open: ", with([&](SharedWork& m) { m.input = folder / "missing.npy"; }));
  expect_failure("rank 2: ", [&](int rank) {
    SharedWork wanted = move(turn);
    if (rank == 2) wanted.reading.format = "png";
    return wanted;
  });
  expect_failure("no/out.npy: write: ", with([&](SharedWork& m) { m.output = folder / "no/out.npy"; }));
  expect_failure("ranks write .npy and raw files", with([&](SharedWork& m) { m.output = folder / "out.png"; }));
  expect_failure("ranks do not read standard input", with([&](SharedWork& m) { m.input = "-"; }));
  expect_failure("ranks write a file", with([&](SharedWork& m) { m.output = ""; }));
  expect_failure("the pattern", [&](int) { return move(rearrange("a b c -> c b a")); });
  expect_failure("the command of rank 0 is \"rearrange \"h w -> w h\"",
                 [&](int rank) { return move(rank == 3 ? rearrange("h w -> h w") : turn); });
  expect_failure("blocks of channels", [&](int) {
    io::write(folder / "in.npy", numbered({turn, Dtype::f32, {1, 3, 2, 2}}));
    return move(Operation{"relayout", {"NCHW", "NC/4HW4"}});
  });
}

TEST_F(Sharing, AFileThatIsCutShortIsRefusedOnAllRanks) {
  io::write(folder / "in.npy", numbered({rearrange(""), Dtype::f32, {60, 40}}));
  std::filesystem::resize_file(folder / "in.npy", 1000);
  expect_failure("in.npy: shape: f32[60,40] needs 9600 bytes", [&](int) { return move(rearrange("h w -> w h")); });
}

/// One rank's folder is another one, as on hosts with disks of their own.
TEST_F(Sharing, RanksThatReadOtherFilesAreNamed) {
  io::write(folder / "in.npy", numbered({rearrange(""), Dtype::f32, {6, 4}}));
  expect_failure("the input of rank 0 is f32[6,4], and that of rank 1 is f32[7,8]", [&](int rank) {
    SharedWork wanted = move(rearrange("h w -> w h"));
    if (rank == 1) wanted.reading = {.format = "raw", .shape = {7, 8}, .dtype = Dtype::f32, .array = ""};
    return wanted;
  });
}

TEST_F(Sharing, AnOlderFileIsKeptOnRequest) {
  io::write(folder / "in.npy", numbered({rearrange(""), Dtype::f32, {6, 4}}));
  folder.put("out.npy", "old");
  expect_failure("out.npy: write: ", [&](int) {
    SharedWork wanted = move(rearrange("h w -> w h"));
    wanted.older = io::OutputFile::Older::kept;
    return wanted;
  });
  EXPECT_EQ(bytes_of(folder / "out.npy"), "old");
}

TEST_F(Sharing, RawFilesToo) {
  const io::HostArray in = numbered({rearrange(""), Dtype::u16, {30, 20}});
  io::write(folder / "in.raw", in);
  for (const bool one_host : {true, false}) {
    SharedWork wanted = move(Operation{"transpose"}, "out.raw");
    wanted.input = folder / "in.raw";
    wanted.reading = {.format = "", .shape = {30, 20}, .dtype = Dtype::u16, .array = ""};
    EXPECT_EQ(shared(4, one_host, [&](int) { return wanted; }), Texts(4, ""));
    const Array turned = transpose(InputArray(in.view, in.memory.get()));
    EXPECT_EQ(bytes_of(folder / "out.raw"), std::string(static_cast<const char*>(turned.data()), in.bytes));
  }
}

}  // namespace
}  // namespace axisloom::cli
