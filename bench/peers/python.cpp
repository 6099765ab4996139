// NumPy and PyTorch, in the Python worker. Each twice: making a new array, as most code does, and into one that exists;
// of reductions, whose results are small, only the former. PyTorch on CUDA also moves by kernels of torch.compile.
#include "bench/peers/peers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace axisloom::bench {
namespace {

class PythonPeer final : public Contestant {
 public:
  PythonPeer(Workload& workload, Worker& worker, std::string name, std::string how)
      : Contestant(workload, std::move(name), std::move(how), Role::peer), worker_(worker) {}

  bool elsewhere() const override { return true; }
  Timing run() override {
    const nlohmann::json times = request("run", std::exchange(flushed_, false) ? 0 : 1);  // 1: with threads awake
    Timing timing{times.at("call").get<double>(), std::nullopt};
    if (times.contains("device")) timing.device = times["device"].get<double>();
    return timing;
  }
  void spoil(std::byte value) override { request("spoil", std::to_integer<int>(value)); }
  double flush_cache(CacheFlusher& shared) override {
    flushed_ = true;
    if (workload().device().info().kind == Kind::cpu) return shared.flush();
    const double start = now();  // by its own process: after another's the next launch would be late
    request("flush", shared.written_bytes());
    return now() - start;
  }
  const std::byte* result() override {
    request("fetch");
    return worker_.memory().data();
  }

 private:
  nlohmann::json request(const char* what, i64 value = 0) {
    nlohmann::json json{{"do", what}, {"peer", name()}, {"value", value}, {"kind", "move"}};
    if (workload().product()) json["kind"] = "matmul";
    if (const auto& reduction = workload().reduction()) {
      json["kind"] = reduction->kind;
      json["axes"] = reduction->axes;
    }
    return worker_.ask(json);
  }

  Worker& worker_;
  bool flushed_ = false;  // since the last run
};

bool contiguous(const core::Move& move, core::Operand stride) {
  i64 expected = 1;
  for (auto axis = move.axes.rbegin(); axis != move.axes.rend(); ++axis) {
    if ((*axis).*stride != expected) return false;
    expected *= axis->extent;
  }
  return true;
}

/// Refuses norms that would be found wrong for a lack of precision that the library does not promise.
void require_norm(const Reduction& norm, PythonWay way) {
  // Plain sums of this data's squares are exact in f32 as far; see fraction_bits.
  constexpr i64 most_elements = i64{1} << 18;
  if (!way.torch) refuse("adds up squares in the elements' own precision");
  if (norm.count() > most_elements) refuse("is called for norms of 2^18 elements at most");
}

/// Refuses arithmetic that a library does not do in one call.
void require_arithmetic(const Workload& workload, PythonWay way) {
  const Dtype dtype = workload.in().dtype;
  const auto& reduction = workload.reduction();
  if (!reduction && !workload.product()) refuse("is not called for this operation");
  if (way.compiled) refuse("is called for moves");
  if (reduction && way.into_existing) refuse("differs from a new result by nothing where results are small");
  if (dtype == Dtype::bf16) refuse("is not called for bf16");
  if (reduction && reduction->kind == "norm") require_norm(*reduction, way);
  if (reduction && reduction->kind.starts_with("arg") && reduction->axes.size() > 1 && reduction->results() > 1)
    refuse("finds positions along one axis only");
  if (!way.torch) return;
  if (dtype == Dtype::u16 || dtype == Dtype::u32 || dtype == Dtype::u64) refuse("computes with no such integers");
  if (workload.product() && dtype != workload.out().dtype) refuse("has no product of these dtypes");
}

/// Refuses a move that a library does not do in one call.
void require_move(const core::Move& move, PythonWay way) {
  const auto negative = [](const core::Loop& axis) { return axis.in < 0; };
  if (move.tail) refuse("has no single call that fills a tail with zeros");
  if (way.compiled && move.element == 16) refuse("compiles no complex numbers");
  if (way.torch && std::ranges::any_of(move.axes, negative)) refuse("has no negative strides");
  if (way.into_existing) return;
  if (!contiguous(move, &core::Loop::out)) refuse("makes contiguous arrays only");
  if (contiguous(move, &core::Loop::in)) refuse("would not copy: the array is contiguous already");
}

std::string version(Worker& worker, const char* library) {
  const auto& found = worker.facts().at(library);
  return found.is_null() ? std::string() : found.get<std::string>();
}

/// What is called, as its user would write it.
std::string call_text(const Workload& workload, PythonWay way) {
  if (workload.product()) return way.into_existing ? "matmul(a, b, out=c)" : "matmul(a, b)";
  if (workload.reduction())
    return workload.reduction()->kind == "norm" ? "linalg.vector_norm(x)" : workload.reduction()->kind + "(x)";
  if (way.compiled) return "compile(lambda x: x.permute().contiguous())";
  if (way.torch) return way.into_existing ? "out.copy_(x.permute())" : "x.permute().contiguous()";
  return way.into_existing ? "copyto(out, x.transpose())" : "ascontiguousarray(x.transpose())";
}

}  // namespace

UniqueContestant make_python(Workload& workload, Session& session, PythonWay way) {
  const std::string library = way.torch ? "torch" : "numpy";
  const bool on_card = workload.device().info().kind == Kind::gpu;
  if (!way.torch && on_card) refuse("works on host memory only");
  if (way.compiled && !on_card) refuse("is called on CUDA devices only");
  Worker& worker = session.worker();
  const std::string found = version(worker, library.c_str());
  if (found.empty()) refuse(fmt::format("python3 has no {}", library));
  if (workload.merged())
    require_move(*workload.merged(), way);
  else
    require_arithmetic(workload, way);
  if (on_card && version(worker, "cuda").empty()) refuse("finds no CUDA device");
  worker.load(workload);
  const std::string name = library + (way.into_existing ? "-out" : way.compiled ? "-compiled" : "");
  if (way.compiled) worker.ask({{"do", "compile"}, {"peer", name}, {"kind", "move"}});
  return std::make_unique<PythonPeer>(workload, worker, name,
                                      fmt::format("{}, {} {}", call_text(workload, way), library, found));
}

}  // namespace axisloom::bench
