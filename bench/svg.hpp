// Drawings as SVG inside a page: bar charts and rooflines. Colours come from the page's style, by class.
#pragma once

#include "bench/contestant.hpp"

namespace axisloom::bench {

/// Text as it may stand in HTML and SVG, between tags and in quoted attributes; what XML does not allow becomes \xHH.
std::string escaped_html(std::string_view text);
/// Three digits or so: "4.26", "42.6", "4261".
std::string short_number(double value);

/// A rate with its 95% interval.
struct Bar {
  std::string name;
  Role role = Role::peer;
  double value = 0, low = 0, high = 0;
};
struct BarChart {
  std::string id;     // of the drawing within its page
  std::string title;  // "transpose f32 8192"
  std::string unit;   // "GB/s"
  std::vector<Bar> bars;
  std::optional<double> ceiling;  // the reference's rate: a line across all bars
};
std::string svg_of(const BarChart& chart);

/// Operations per byte against GFLOP/s, both by the power of ten (Williams, Waterman, Patterson: Roofline, CACM 52,
/// 2009). A slope limits bytes per second, a roof operations per second; here both were measured.
struct Roofline {
  struct Ceiling {
    std::string name;  // "copy", "f32 multiply and add"
    double value = 0;  // GB/s of a slope, GFLOP/s of a roof
    bool of_memory = false;
  };
  struct Point {
    std::string series;  // the contestant
    std::string label;   // the case
    double intensity = 0, gflops = 0;
  };
  std::string id, title;
  std::vector<std::string> series;  // each has a mark of its own, by its place; those of the points are among them
  std::vector<Ceiling> ceilings;
  std::vector<Point> points;  // at least one
};
std::string svg_of(const Roofline& roofline);

}  // namespace axisloom::bench
