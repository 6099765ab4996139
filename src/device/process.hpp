// Which process opened the devices: a runtime's threads do not survive a fork, so its objects are useless in a child.
#pragma once

namespace axisloom::device {

/// From now on a fork makes this library unusable in the child; called when a runtime first shows a device.
void remember_process();
/// True in a child of a process that had called remember_process. Destructors ask it, to leave the runtime alone.
bool forked() noexcept;

}  // namespace axisloom::device
