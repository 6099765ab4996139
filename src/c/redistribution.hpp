// What the handle of a plan of distributed arrays holds.
#pragma once

#include <axisloom/axisloom.h>
#include <axisloom/distributed.hpp>

struct axl_redistribution {
  axisloom::Redistribution plan;
};
