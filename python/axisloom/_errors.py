"""What goes wrong, as Python's own kinds of exceptions. All of them are axisloom.Error too, and have the library's text."""


class Error(Exception):
    """Anything that Axisloom refuses or that fails in it."""


class UsageError(Error, ValueError):
    """An argument that is not valid: an option, a layout, a device's name."""


class ShapeError(Error, ValueError):
    """Shapes that no array has, or that do not go together."""


class DtypeError(Error, TypeError):
    """A dtype that does not exist, or not here."""


class AxisError(Error, ValueError, IndexError):
    """A number of an axis that the array does not have, or a list of axes that is none."""


class EinopsError(Error, ValueError, RuntimeError):
    """A pattern that cannot be read, or whose names and lengths do not go together. einops' own is a RuntimeError."""


class OverlapError(Error, ValueError):
    """The output shares memory with an input."""


class UnsupportedError(Error, NotImplementedError):
    """What this device or build cannot do."""


class DeviceError(Error, RuntimeError):
    """No such device, or one that failed."""


class FileError(Error, OSError):
    """A file that cannot be read or written."""


class OutOfMemoryError(Error, MemoryError):
    """More memory than the device or the host grants."""


# By the library's names of its error codes.
CLASSES = {
    "usage": UsageError,
    "shape": ShapeError,
    "dtype": DtypeError,
    "axis": AxisError,
    "pattern": EinopsError,
    "overlap": OverlapError,
    "unsupported": UnsupportedError,
    "no_device": DeviceError,
    "file": FileError,
    "out_of_memory": OutOfMemoryError,
    "device": DeviceError,
    "device_lost": DeviceError,
    "after_fork": DeviceError,
}
