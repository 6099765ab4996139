// What the program may do and a library may not: arrange its own environment for drivers, and say what has happened
// when one of them ends the process.
#pragma once

namespace axisloom::cli {

/// Before a driver is looked for. PoCL gets a folder of the program's own, and from now on an exit that the program did
/// not choose ends in exit code 5, with a line that says so.
void arrange_drivers();
/// What they have kept for the next process is not to be used.
void distrust_drivers();
/// The last call of main.
void leave_drivers() noexcept;

}  // namespace axisloom::cli
