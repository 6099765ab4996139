// All of Axisloom's public interface in one header.
#pragma once

#include <axisloom/array.hpp>
#include <axisloom/call.hpp>
#include <axisloom/device.hpp>
#include <axisloom/error.hpp>
#include <axisloom/host_array.hpp>
#include <axisloom/ops.hpp>
#include <axisloom/plan.hpp>
#include <axisloom/version.hpp>
