// Two documents of one device, case by case: is Axisloom faster or slower than it was?
#pragma once

#include "bench/document.hpp"
#include "harness/table.hpp"

namespace axisloom::bench {

/// faster, slower: the medians differ by more than the threshold, and the 95% interval of their ratio leaves no doubt
/// which way. same: that interval lies within the threshold. unclear: neither. missing, added: the case is in the old
/// or the new document only. broken: it has no right result any more.
enum class Verdict { faster, slower, same, unclear, missing, added, broken };
const char* name(Verdict verdict) noexcept;

/// A median with its 95% interval, of any unit.
struct Estimate {
  double median = 0, low = 0, high = 0;
};
/// The quotient of two independent medians. Its interval comes from adding up the squares of the distances of each
/// median to the ends of its own interval, in logarithms (the method of variance estimates recovery, Donner and Zou,
/// Statistical Methods in Medical Research 21, 2012).
Estimate quotient(const Estimate& above, const Estimate& below);
/// `ratio`: new time by old time. `threshold`: 0.02 for 2%.
Verdict judged(const Estimate& ratio, double threshold);

/// Axisloom in one case of both documents.
struct Change {
  std::string label, text;
  Verdict verdict = Verdict::unclear;
  bool of_share = false;                          // compared by the share of the reference, else by seconds
  std::optional<double> before = {}, after = {};  // share, or seconds
  std::optional<Estimate> ratio = {};             // new time by old time, or old share by new share
};

struct Comparison {
  std::string before, after;  // names of the documents' devices
  double threshold = 0.02;
  std::vector<Change> changes;  // in the order of the new document, then what is missing

  bool same_device() const noexcept { return before == after; }
  /// Whether a case is slower or broken.
  bool regression() const noexcept;
};
/// Cases are the same when text and state of the cache are. On CPU devices shares of the reference are compared,
/// because absolute figures drift with the machine, and seconds where there is no reference; on GPUs seconds by the
/// device's clock.
Comparison compared(const Document& before, const Document& after, double threshold);

/// As text in any format, with a row per case.
std::string text_of(const Comparison& comparison, Format format);

}  // namespace axisloom::bench
