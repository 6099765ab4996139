// Layouts as people type them: in any case, and of one image, which has no N.
#pragma once

#include "io/io.hpp"
#include "planner/registry.hpp"

namespace axisloom::cli {

class ImageLayouts {
 public:
  /// Spells the layouts of an operation, if they are what it takes, as it knows them: "hwc" as NHWC.
  ImageLayouts(const ops::OpEntry& entry, Operation& op);

  /// Gives an input of one image an N of 1.
  void enter(io::HostArray& input) const;
  /// Takes the N away from a contiguous result that is to be one image; refuses more than one.
  View leave(const View& result) const;

 private:
  bool one_in_ = false, one_out_ = false;
};

}  // namespace axisloom::cli
