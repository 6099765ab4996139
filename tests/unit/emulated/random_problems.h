// How many random problems a test runs on the host, and by which seed: AXISLOOM_SEED, or a new one every time.
// AXISLOOM_EMULATED: how many times as many as by default.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

namespace axisloom::emulated {

class RandomProblems {
 public:
  /// `test` tells apart what several tests draw by one seed.
  RandomProblems(const std::string& test, int by_default) : count_(by_default * number("AXISLOOM_EMULATED", 1)) {
    const auto seed = static_cast<unsigned>(number("AXISLOOM_SEED", static_cast<int>(std::random_device()() >> 1)));
    std::seed_seq both(test.begin(), test.end());
    unsigned mixed[1];
    both.generate(mixed, mixed + 1);
    engine_.seed(seed ^ mixed[0]);
    text_ = test + ": AXISLOOM_SEED=" + std::to_string(seed);
    std::cout << text_ << ", " << count_ << " random problems\n";
  }
  int count() const { return count_; }
  const std::string& text() const { return text_; }
  /// low <= result <= high.
  int between(int low, int high) { return low + static_cast<int>(engine_() % static_cast<unsigned>(high - low + 1)); }
  bool percent(int chance) { return between(0, 99) < chance; }
  template <class Value>
  Value one_of(std::initializer_list<Value> values) {
    return values.begin()[between(0, static_cast<int>(values.size()) - 1)];
  }

 private:
  static int number(const char* variable, int otherwise) {
    const char* text = std::getenv(variable);
    return text && *text ? std::atoi(text) : otherwise;
  }

  int count_;
  std::string text_;
  std::mt19937 engine_;
};

}  // namespace axisloom::emulated
