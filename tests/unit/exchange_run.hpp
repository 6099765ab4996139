// An exchange that was drawn at random, run on this rank and compared with the oracle: by threads and by MPI alike.
#pragma once

#include <axisloom/exchange.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distributed_cases.hpp"

namespace axisloom::test {

/// How a drawn exchange is run.
struct DrawnRun {
  bool windows = true;
  bool direct = false;  // into shared outputs, where it can be
  std::int64_t workspace = std::int64_t{1} << 20;
};

/// Runs a drawn case on this rank, twice with different values. Returns what differs from the oracle.
class ExchangeRun {
 public:
  ExchangeRun(unsigned seed, int most_ranks)
      : drawer_(seed, most_ranks), drawn_(drawer_.draw()), job_(job_of(drawn_)) {}

  int ranks() const { return job_.mesh.ranks(); }
  std::string text() const { return to_string(job_); }
  const ExchangeReport& report() const { return report_; }

  /// Nothing where all is right.
  std::string run(const std::shared_ptr<Communicator>& ranks, const DrawnRun& how) {
    Dims in_shape, out_shape;
    const Indices before = values_before(drawn_, job_.mesh, ranks->rank(), in_shape);
    after_ = values_after(drawn_, job_.mesh, ranks->rank(), out_shape);
    const View in = strided(in_shape, drawer_), out = strided(out_shape, drawer_);
    Exchange exchange(job_.pattern, axisloom::to_string(job_.mesh), job_.shape, Dtype::i64, ranks,
                      {.in = in, .out = out, .workspace = how.workspace, .windows = how.windows}, job_.lengths);
    report_ = exchange.report();
    std::string fault;
    const bool direct = how.direct && report_.not_direct.empty();
    std::vector<SharedOutput> shared;
    if (direct) shared.push_back(exchange.share_output());
    for (std::int64_t more = 0; more < 2; ++more) {
      const std::vector<std::int64_t> memory = filled(in, before, more);
      if (direct) {
        exchange.run(memory.data(), shared[0]);
        fault += compare(shared[0].view(), static_cast<const std::int64_t*>(shared[0].data()), more);
      } else {
        std::vector<std::int64_t> result(room(out), untouched);
        exchange.run(memory.data(), result.data());
        fault += compare(out, result.data(), more) + compare_gaps(out, result);
      }
    }
    return fault;
  }

 private:
  static constexpr std::int64_t untouched = -7;

  static std::size_t room(const View& view) { return std::size_t(view.bounds().high) + 1; }

  static std::vector<std::int64_t> filled(const View& view, const Indices& values, std::int64_t more) {
    std::vector<std::int64_t> memory(room(view), -1);
    const std::vector<std::size_t> where = places(view);
    for (std::size_t i = 0; i < where.size(); ++i) memory[where[i]] = values[i] + more;
    return memory;
  }

  /// Where addends were raised, their sum is by as many.
  std::string compare(const View& view, const std::int64_t* memory, std::int64_t more) const {
    const std::vector<std::size_t> where = places(view);
    const std::int64_t raised = more * addends();
    if (where.size() != after_.size()) return concat(where.size(), " elements instead of ", after_.size());
    for (std::size_t i = 0; i < where.size(); ++i)
      if (memory[where[i]] != after_[i] + raised)
        return concat("element ", i, " is ", memory[where[i]], " instead of ", after_[i] + raised, "; ");
    return {};
  }

  static std::string compare_gaps(const View& view, const std::vector<std::int64_t>& memory) {
    std::vector<bool> written(memory.size(), false);
    for (const std::size_t at : places(view)) written[at] = true;
    for (std::size_t i = 0; i < memory.size(); ++i)
      if (!written[i] && memory[i] != untouched) return concat("offset ", i, " was written; ");
    return {};
  }

  std::int64_t addends() const { return std::int64_t(addends_for(drawn_, job_.mesh, 0).size()); }

  Drawer drawer_;
  DrawnCase drawn_;
  DrawnJob job_;
  Indices after_;
  ExchangeReport report_;
};

}  // namespace axisloom::test
