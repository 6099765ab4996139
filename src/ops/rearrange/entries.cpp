// rearrange, repeat, copy, transpose, permute and relayout: what each says of itself.
#include "core/text.hpp"
#include "ops/rearrange/lowering.hpp"
#include "ops/rearrange/rearrange.hpp"

#include <axisloom/call.hpp>
#include <axisloom/error.hpp>

#include <vector>

namespace axisloom::ops {
namespace {

constexpr Argument pattern_arguments[] = {{"pattern", "einops pattern, such as \"n (c x) h w -> n c h w x\""}};
constexpr Argument axes_arguments[] = {{"axes", "input axis of each output axis, such as 2,0,1"}};
constexpr Argument layout_arguments[] = {
    {"from", "layout of the input: NCHW, NHWC, CHWN, NC/xHWx with x in 4, 8, 16, 32"},
    {"to", "layout of the output; the last block of channels is filled up with zeros"}};
constexpr Option channels_option[] = {
    {"channels", "C", "True number of channels, when converting from a blocked layout", true}};

}  // namespace

std::span<const OpEntry> rearrange_entries() {
  static const std::vector<OpEntry> entries =
      move_entries({{.name = "rearrange",
                     .summary = "Reorder, split and merge axes by an einops pattern.",
                     .examples = "axisloom rearrange \"h w -> w h\" in.png -o out.png\n"
                                 "axisloom rearrange \"n (c x) h w -> n c h w x\" x=32 in.npy -o out.npy --verify",
                     .arguments = pattern_arguments,
                     .lengths = true,
                     .draw = Draw::pattern,
                     .result = rearrange_result,
                     .move = lower_rearrange},
                    {.name = "repeat",
                     .summary = "As rearrange, with new axes on the right.",
                     .examples = "axisloom repeat \"h w -> h w c\" c=3 grey.png -o colour.png",
                     .arguments = pattern_arguments,
                     .lengths = true,
                     .draw = Draw::new_axes,
                     .result = rearrange_result,
                     .move = lower_rearrange},
                    {.name = "copy",
                     .summary = "The same shape, with other strides.",
                     .examples = "axisloom copy fortran_order.npy -o c_order.npy\naxisloom copy photo.jpg -o photo.npy",
                     .result = reordered_result,
                     .move = lower_reordered},
                    {.name = "transpose",
                     .summary = "Exchange the last two axes.",
                     .examples = "axisloom transpose in.png -o out.png\n"
                                 "axisloom transpose --shape 256x256 --dtype u16 scan.raw -o turned.raw",
                     .image = {"h w c -> w h c", "Of a colour image it exchanges h and w; the colour axis stays last."},
                     .draw = Draw::matrices,
                     .result = reordered_result,
                     .move = lower_reordered},
                    {.name = "permute",
                     .summary = "Reorder axes by number.",
                     .examples = "axisloom permute 2,0,1 photo.jpg -o planes.npy\n"
                                 "axisloom permute -1,0,1 in.npy -o out.npy",
                     .arguments = axes_arguments,
                     .draw = Draw::permutation,
                     .result = reordered_result,
                     .move = lower_reordered},
                    {.name = "relayout",
                     .summary = "Change between image layouts, with channels in blocks or not.",
                     .examples = "axisloom relayout NCHW NC/32HW32 in.npy -o out.npy\n"
                                 "axisloom relayout NC/32HW32 NCHW --channels 50 out.npy -o back.npy",
                     .arguments = layout_arguments,
                     .options = channels_option,
                     .lengths = true,
                     .draw = Draw::layouts,
                     .known_as = "layouts",
                     .result = relayout_result,
                     .move = lower_relayout}});
  return entries;
}

}  // namespace axisloom::ops

namespace axisloom {

Operation rearrange(std::string_view pattern, const Lengths& lengths) {
  return {"rearrange", {std::string(pattern)}, lengths};
}

Operation repeat(std::string_view pattern, const Lengths& lengths) {
  return {"repeat", {std::string(pattern)}, lengths};
}

Operation copy() {
  return {"copy"};
}

Operation transpose() {
  return {"transpose"};
}

Operation permute(std::span<const int> axes) {
  return {"permute", {joined(axes, ",")}};
}

Operation permute(std::initializer_list<int> axes) {
  return permute(std::span(axes.begin(), axes.size()));
}

Operation relayout(std::string_view from, std::string_view to, i64 channels) {
  if (channels < 0)
    throw Error(Errc::usage, {.message = concat("the number of channels is given as ", channels),
                              .op = "relayout",
                              .remedy = "give the true number of channels, or 0 for all"});
  Operation op{"relayout", {std::string(from), std::string(to)}};
  if (channels != 0) op.lengths.emplace_back("channels", channels);
  return op;
}

Array rearrange(const InputArray& in, std::string_view pattern, const Lengths& lengths, const Device& device) {
  return run(rearrange(pattern, lengths), {in}, device);
}

Array repeat(const InputArray& in, std::string_view pattern, const Lengths& lengths, const Device& device) {
  return run(repeat(pattern, lengths), {in}, device);
}

Array copy(const InputArray& in, const Device& device) {
  return run(copy(), {in}, device);
}

Array transpose(const InputArray& in, const Device& device) {
  return run(transpose(), {in}, device);
}

Array permute(const InputArray& in, std::initializer_list<int> axes, const Device& device) {
  return run(permute(axes), {in}, device);
}

Array relayout(const InputArray& in, std::string_view from, std::string_view to, i64 channels, const Device& device) {
  return run(relayout(from, to, channels), {in}, device);
}

}  // namespace axisloom
