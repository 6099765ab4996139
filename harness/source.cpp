// Gathering cases, and taking every K-th.
#include "harness/source.hpp"

#include "harness/expand.hpp"
#include "harness/random_case.hpp"

namespace axisloom::harness {

Part parse_part(std::string_view text) {
  if (text.empty()) return {};
  const auto parts = split(text, "/");
  const auto number = parse_integer(parts.front()), of = parse_integer(parts.back());
  if (parts.size() != 2 || !number || !of || *number < 1 || *number > *of)
    refuse("write 2/4 for the second of four", "\"{}\" is not a part", text);
  return {*number, *of};
}

CaseSource::CaseSource(const CaseWishes& wishes, u64 seed) : part_(wishes.part), seed_(seed), random_(wishes.random) {
  for (const auto& file : wishes.files)
    for (const auto& line : read_case_lines(file)) add_line(line);
  for (const auto& line : wishes.lines) add_line(line);
}

void CaseSource::add_line(const std::string& line) {
  for (const auto& expanded : expand(line)) {
    const auto random = parse_random(expanded);
    if (!random) {
      cases_.push_back(parse_case(expanded));
      continue;
    }
    if (random->count > i64(most_cases_of_line))
      refuse("ask for more with --random", "\"{}\" stands for more than {} cases", expanded, most_cases_of_line);
    for (i64 i = 0; i < random->count; ++i)
      cases_.push_back(parse_case((random->slow ? "slow " : "") + random_case(random->seed.value_or(seed_), i)));
  }
}

// Random cases are dealt out by their own numbers, whatever stands before them.
i64 CaseSource::share(i64 all) const noexcept {
  return (all - part_.number + part_.of) / part_.of;
}

i64 CaseSource::count() const noexcept {
  return share(cases_.size()) + share(random_);
}

Case CaseSource::at(i64 i) const {
  const i64 index = i * part_.of + part_.number - 1;
  const i64 given = cases_.size();
  if (index < given) return cases_[index];
  return parse_case(random_case(seed_, (i - share(given)) * part_.of + part_.number - 1));
}

}  // namespace axisloom::harness
