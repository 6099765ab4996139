// Communicators between C++ and C: one side's as the other calls it.
#pragma once

#include <axisloom/axisloom.h>
#include <axisloom/exchange.hpp>

#include <functional>
#include <memory>

namespace axisloom {

/// A communicator that calls the functions of a table, whose context must outlive it and its parts. What fails there
/// throws Error with the status and the text of the table. Throws Error(usage) for a table that lacks a function.
std::shared_ptr<Communicator> communicator_of(const axl_communicator& table);

/// The table by which C calls a communicator, which it keeps until its `release` is called.
axl_communicator table_of(std::shared_ptr<Communicator> ranks);

/// Does it. What it throws becomes a status, and its text that of axl_last_error.
axl_status status_of(const std::function<void()>& work) noexcept;

}  // namespace axisloom
