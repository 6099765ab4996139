// Whether a function that is declared here without its header is the one that the header declares.
#pragma once

#include <type_traits>

namespace axisloom {

template <typename A, typename B>
constexpr bool same_layout =
    sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>&& std::is_floating_point_v<A> ==
                                  std::is_floating_point_v<B>;

template <typename R, typename... A, typename S, typename... B>
constexpr bool compatible(R (*)(A...), S (*)(B...)) {
  if constexpr (sizeof...(A) != sizeof...(B))
    return false;
  else
    return (same_layout<R, S> && ... && same_layout<A, B>);
}

}  // namespace axisloom
