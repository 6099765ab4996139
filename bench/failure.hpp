// What goes wrong with one contestant, or with one case, is told in its row: the other results are still good.
#pragma once

#include <axisloom/error.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <optional>

namespace axisloom::bench {

/// Calls a function and says how it failed, if it did. Errors of the codes `ending` are passed on: they end more than a
/// row.
template <class Function>
std::optional<std::string> failure_of(const Function& function,
                                      std::initializer_list<Errc> ending = {Errc::device_lost}) {
  try {
    function();
    return std::nullopt;
  } catch (const Error& error) {
    if (std::ranges::count(ending, error.code()) > 0) throw;
    return error.what();
  } catch (const std::bad_alloc&) {
    return "out of host memory";
  } catch (const std::exception& error) {  // of the JSON library, say, where a worker gives a strange answer
    return error.what();
  }
}

}  // namespace axisloom::bench
