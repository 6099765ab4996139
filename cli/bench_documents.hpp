// The commands of axisloom bench that read stored documents: table, compare, report.
#pragma once

#include "app.hpp"

#include <string>

namespace axisloom::cli {

/// Adds them below `bench`. Their callbacks are run by the parser after that of `bench`.
void add_bench_documents(CLI::App& bench, Context& context);

/// Results go to a file or, when `path` is empty or "-", to standard output; a file appears when it is complete.
void deliver(const std::string& text, const std::string& path);

}  // namespace axisloom::cli
