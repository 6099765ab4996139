// The commands of axisloom bench that read stored documents: table, compare, report.
#pragma once

#include "cli/app.hpp"

namespace axisloom::cli {

/// Adds them below `bench`. Their callbacks are run by the parser after that of `bench`.
void add_bench_documents(App& bench, Context& context);

}  // namespace axisloom::cli
