// NumPy and PyTorch, in the Python worker. Each twice: making a new array, as most code does, and into one that exists.
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
  const std::byte* result() override {
    request("fetch");
    return worker_.memory().data();
  }

 private:
  nlohmann::json request(const char* what, int value = 0) {
    return worker_.ask({{"do", what}, {"peer", name()}, {"value", value}});
  }

  Worker& worker_;
};

bool contiguous(const core::Move& move, std::int64_t core::MoveAxis::*stride) {
  std::int64_t expected = 1;
  for (auto axis = move.axes.rbegin(); axis != move.axes.rend(); ++axis) {
    if ((*axis).*stride != expected) return false;
    expected *= axis->extent;
  }
  return true;
}

/// Why a library cannot do the move in one call; empty when it can.
std::string obstacle(const core::Move& move, bool into_existing, bool torch) {
  const auto negative = [](const core::MoveAxis& axis) { return axis.in_stride < 0; };
  if (move.guard) return "has no single call that fills a tail with zeros";
  if (torch && std::any_of(move.axes.begin(), move.axes.end(), negative)) return "has no negative strides";
  if (into_existing) return {};
  if (!contiguous(move, &core::MoveAxis::out_stride)) return "makes contiguous arrays only";
  if (contiguous(move, &core::MoveAxis::in_stride)) return "would not copy: the array is contiguous already";
  return {};
}

std::string version(Worker& worker, const char* library) {
  const auto& found = worker.facts().at(library);
  return found.is_null() ? std::string() : found.get<std::string>();
}

Offer offer_python(Workload& workload, Session& session, const char* library, const char* name, const char* call) {
  const bool torch = std::string_view(library) == "torch";
  const bool into_existing = std::string_view(name).ends_with("-out");
  const bool on_card = workload.device().info().kind == Kind::gpu;
  if (!torch && on_card) return Offer::absent("works on host memory only");
  try {
    Worker& worker = session.worker();
    const std::string found = version(worker, library);
    if (found.empty()) return Offer::absent(fmt::format("python3 has no {}", library));
    if (std::string why = obstacle(workload.merged(), into_existing, torch); !why.empty()) return Offer::absent(why);
    if (on_card && version(worker, "cuda").empty()) return Offer::absent("finds no CUDA device");
    worker.load(workload);
    return {std::make_unique<PythonPeer>(workload, worker, name, fmt::format("{}, {} {}", call, library, found)), {}};
  } catch (const Error& error) {
    return Offer::absent(error.parts().message);
  }
}

}  // namespace

Offer offer_numpy(Workload& workload, Session& session) {
  return offer_python(workload, session, "numpy", "numpy", "ascontiguousarray(x.transpose())");
}
Offer offer_numpy_out(Workload& workload, Session& session) {
  return offer_python(workload, session, "numpy", "numpy-out", "copyto(out, x.transpose())");
}
Offer offer_torch(Workload& workload, Session& session) {
  return offer_python(workload, session, "torch", "torch", "x.permute().contiguous()");
}
Offer offer_torch_out(Workload& workload, Session& session) {
  return offer_python(workload, session, "torch", "torch-out", "out.copy_(x.permute())");
}

}  // namespace axisloom::bench
