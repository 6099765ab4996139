// The README's example of a plan, as a function.
#pragma once

void run_a_plan();
