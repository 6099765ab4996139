// NumPy and PyTorch, in the Python worker. Each twice: making a new array, as most code does, and into one that exists;
// of reductions, whose results are small, only the former.
#include "bench/peers/peers.hpp"

#include <axisloom/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace axisloom::bench {
namespace {

class PythonPeer final : public Contestant {
 public:
  PythonPeer(Workload& workload, Worker& worker, std::string name, std::string how)
      : Contestant(workload, std::move(name), std::move(how), Role::peer), worker_(worker) {}

  bool elsewhere() const override { return true; }
  Timing run() override {
    const nlohmann::json times = request("run");
    Timing timing{times.at("call").get<double>(), std::nullopt};
    if (times.contains("device")) timing.device = times["device"].get<double>();
    return timing;
  }
  void spoil(std::byte value) override { request("spoil", std::to_integer<int>(value)); }
  double flush_cache(CacheFlusher& shared) override {
    if (workload().device().info().kind == Kind::cpu) return shared.flush();
    const double start = now();  // by its own process: after another's the next launch would be late
    request("flush", i64(shared.written_bytes()));
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
};

bool contiguous(const core::Move& move, i64 core::Loop::*stride) {
  i64 expected = 1;
  for (auto axis = move.axes.rbegin(); axis != move.axes.rend(); ++axis) {
    if ((*axis).*stride != expected) return false;
    expected *= axis->extent;
  }
  return true;
}

/// Why a library cannot do arithmetic of this kind in one call; empty when it can.
std::string arithmetic_obstacle(const Workload& workload, bool into_existing, bool torch) {
  const Dtype dtype = workload.in().dtype;
  if (!workload.reduction() && !workload.product()) return "is not called for this operation";
  if (workload.reduction() && into_existing) return "differs from a new result by nothing where results are small";
  if (dtype == Dtype::bf16) return "is not called for bf16";
  if (!torch) return {};
  if (dtype == Dtype::u16 || dtype == Dtype::u32 || dtype == Dtype::u64) return "computes with no such integers";
  if (workload.product() && workload.in().dtype != workload.out().dtype) return "has no product of these dtypes";
  if (workload.reduction() && workload.reduction()->kind.starts_with("arg") && workload.reduction()->axes.size() > 1 &&
      workload.reduction()->results() > 1)
    return "finds positions along one axis only";
  return {};
}

/// Why a library cannot do the move in one call; empty when it can.
std::string move_obstacle(const core::Move& move, bool into_existing, bool torch) {
  const auto negative = [](const core::Loop& axis) { return axis.in < 0; };
  if (move.tail) return "has no single call that fills a tail with zeros";
  if (torch && std::ranges::any_of(move.axes, negative)) return "has no negative strides";
  if (into_existing) return {};
  if (!contiguous(move, &core::Loop::out)) return "makes contiguous arrays only";
  if (contiguous(move, &core::Loop::in)) return "would not copy: the array is contiguous already";
  return {};
}

std::string version(Worker& worker, const char* library) {
  const auto& found = worker.facts().at(library);
  return found.is_null() ? std::string() : found.get<std::string>();
}

/// What is called, as its user would write it.
std::string call_text(const Workload& workload, bool into_existing, bool torch) {
  if (workload.product()) return into_existing ? "matmul(a, b, out=c)" : "matmul(a, b)";
  if (workload.reduction()) return workload.reduction()->kind + "(x)";
  if (torch) return into_existing ? "out.copy_(x.permute())" : "x.permute().contiguous()";
  return into_existing ? "copyto(out, x.transpose())" : "ascontiguousarray(x.transpose())";
}

Offer offer_python(Workload& workload, Session& session, const char* library, const char* name) {
  const bool torch = std::string_view(library) == "torch";
  const bool into_existing = std::string_view(name).ends_with("-out");
  const bool on_card = workload.device().info().kind == Kind::gpu;
  if (!torch && on_card) return Offer::absent("works on host memory only");
  try {
    Worker& worker = session.worker();
    const std::string found = version(worker, library);
    if (found.empty()) return Offer::absent(fmt::format("python3 has no {}", library));
    const std::string why = workload.merged() ? move_obstacle(*workload.merged(), into_existing, torch)
                                              : arithmetic_obstacle(workload, into_existing, torch);
    if (!why.empty()) return Offer::absent(why);
    if (on_card && version(worker, "cuda").empty()) return Offer::absent("finds no CUDA device");
    worker.load(workload);
    const std::string how = fmt::format("{}, {} {}", call_text(workload, into_existing, torch), library, found);
    return {std::make_unique<PythonPeer>(workload, worker, name, how), {}};
  } catch (const Error& error) {
    return Offer::absent(error.parts().message);
  }
}

}  // namespace

Offer offer_numpy(Workload& workload, Session& session) {
  return offer_python(workload, session, "numpy", "numpy");
}
Offer offer_numpy_out(Workload& workload, Session& session) {
  return offer_python(workload, session, "numpy", "numpy-out");
}
Offer offer_torch(Workload& workload, Session& session) {
  return offer_python(workload, session, "torch", "torch");
}
Offer offer_torch_out(Workload& workload, Session& session) {
  return offer_python(workload, session, "torch", "torch-out");
}

}  // namespace axisloom::bench
