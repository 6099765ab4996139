// In what dtype a result is delivered.
#pragma once

#include "cli/app.hpp"

#include "io/io.hpp"

namespace axisloom::cli {

struct CastOptions {
  std::string dtype;
  bool normalize = false;
  double scale = 1;
};

void add_cast_options(App& command, CastOptions& options);

/// What is done to a result before it is written or printed.
class Cast {
 public:
  /// As asked for; a mean of pictures, or another result in floats, becomes a picture of their dtype where one is
  /// written. `picture`: whether the output is one.
  Cast(const CastOptions& options, const io::HostArray& input, Dtype result, bool picture);

  Dtype dtype() const { return dtype_; }
  /// Whether numbers keep their meaning: none are stretched, scaled, or written as more or fewer bits.
  bool keeps_brightness(Dtype input) const { return !normalize_ && !asked_ && scale_ == 1 && dtype_ == input; }
  io::HostArray of(const io::HostArray& result) const;

 private:
  Dtype dtype_;
  bool normalize_, asked_;
  double scale_;
};

}  // namespace axisloom::cli
