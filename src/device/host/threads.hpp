// How many of the host's threads a run may use.
#pragma once

namespace axisloom::device::host {

/// What set_host_threads granted last; more than any number of threads before it was called.
unsigned thread_limit() noexcept;

}  // namespace axisloom::device::host
