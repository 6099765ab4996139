// Variables of the environment, as far as they may be believed.
#pragma once

#include <string>

namespace axisloom::device {

/// The value of a variable. Empty when it is not set, and in a program that runs with rights that its user lacks
/// (setuid, setgid, file capabilities): which libraries such a program loads is not for that user to say.
std::string environment(const char* name);

/// The same for a path; empty unless it is an absolute one, since any other begins wherever the program happens to run.
std::string environment_path(const char* name);

/// Whether the process runs with such rights.
bool with_rights_of_another();

}  // namespace axisloom::device
