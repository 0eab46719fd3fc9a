"""`device`: where a tensor lives. Tensors of chainrule live on the CPU; other devices can only be named."""

import re

from .dtype import argument_type_name

_TYPES = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, mtia, "
    "privateuseone"
).split(", ")
_PATTERN = re.compile(r"([a-zA-Z_]+)(?::(0|[1-9][0-9]*))?")
_NOT_COMPILED = {"cuda": "CUDA", "xpu": "XPU"}


class device:
    """The name of a device, as in `device("cpu")`, `device("cuda:1")` or `device("cuda", 1)`.

    RuntimeError for a name that PyTorch does not know. As a context manager it sets the device of the tensors made
    inside, which can only be the CPU.
    """

    type: str
    index: int | None

    __slots__ = ("type", "index")
    __module__ = "torch"

    def __new__(cls, *args, **kwargs):
        kind, index = _arguments(*args, **kwargs)
        if isinstance(kind, device):
            return kind
        if index is not None and index < 0:
            raise RuntimeError("Device index must not be negative")
        if kind is None:
            raise RuntimeError("Cannot access accelerator device when none is available.")
        name, parsed = _parse(kind)
        if index is not None and parsed is not None:
            raise RuntimeError(f"type (string) must not include an index because index was passed explicitly: {kind}")
        made = object.__new__(cls)
        object.__setattr__(made, "type", name)
        object.__setattr__(made, "index", parsed if index is None else index)
        return made

    def __init_subclass__(cls):
        raise TypeError("type 'torch.device' is not an acceptable base type")

    def __setattr__(self, name, value):
        if name in ("type", "index"):
            raise AttributeError(f"attribute '{name}' of 'torch.device' objects is not writable")
        raise AttributeError(f"'torch.device' object has no attribute '{name}'")

    def __repr__(self):
        return f"device(type='{self.type}'" + (")" if self.index is None else f", index={self.index})")

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other):
        if type(other) is not device:
            return NotImplemented
        return self.type == other.type and self.index == other.index

    def __hash__(self):
        return hash((self.type, self.index))

    def __reduce__(self):
        return _restore, (str(self),)

    def __enter__(self):
        check_cpu(self)
        return self

    def __exit__(self, *exception):
        return False


def _restore(name: str) -> device:
    return device(name)


def _arguments(*args, **kwargs):
    """The type (or device) and the index among the arguments of `device`; the type is None for a bare index."""
    if len(args) + len(kwargs) == 1:
        value = args[0] if args else kwargs.get("device", kwargs.get("type"))
        if isinstance(value, (str, device)):
            return value, None
        if type(value) is int and args:
            return None, value
    elif len(args) + len(kwargs) == 2 and kwargs.keys() <= {"type", "index"}:
        kind = args[0] if args else kwargs["type"]
        index = args[1] if len(args) == 2 else kwargs["index"]
        if not isinstance(kind, str):
            raise TypeError(f"device(): argument 'type' (position 1) must be str, not {argument_type_name(kind)}")
        if index is not None and type(index) is not int:
            raise TypeError(f"device(): argument 'index' (position 2) must be int, not {argument_type_name(index)}")
        return kind, index
    got = ", ".join(
        [argument_type_name(a) for a in args] + [f"{k}={argument_type_name(v)}, " for k, v in kwargs.items()]
    )
    raise TypeError(
        f"device() received an invalid combination of arguments - got ({got}), but expected one of:\n"
        " * (torch.device device)\n * (str type, int index = -1)\n"
    )


def _parse(text: str) -> tuple[str, int | None]:
    if not text:
        raise RuntimeError("Device string must not be empty")
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise RuntimeError(f"Invalid device string: '{text}'")
    name, digits = match.groups()
    if name not in _TYPES:
        raise RuntimeError(f"Expected one of {', '.join(_TYPES)} device type at start of device string: {name}")
    if digits is None:
        return name, None
    if int(digits) >= 2**31:
        raise RuntimeError(f"Could not parse device index '{digits}' in device string '{text}'")
    return name, int(digits)


cpu = device("cpu")


def check_cpu(value, function: str = "tensor") -> device:
    """The CPU, where `value` (None, a device, a string or an index) names it.

    Raises what PyTorch built for the CPU raises for CUDA and XPU, and NotImplementedError for every other device.
    `function` is the caller's name for the TypeError about values that name no device.
    """
    if value is None or value is cpu or value.__class__ is str and value == "cpu":
        return cpu
    if not isinstance(value, (str, device)) and type(value) is not int:
        raise TypeError(f"{function}(): argument 'device' must be torch.device, not {argument_type_name(value)}")
    kind = device(value).type
    if kind == "cpu":
        return cpu
    if kind in _NOT_COMPILED:
        raise AssertionError(f"Torch not compiled with {_NOT_COMPILED[kind]} enabled")
    raise NotImplementedError(f"chainrule has no {kind} device: its tensors live on the CPU")


def get_default_device() -> device:
    """The device of tensors that are made without a `device` argument: the CPU."""
    return cpu


def set_default_device(device) -> None:
    """Accepts the CPU (or None, which means the same); raises what `check_cpu` raises for other devices."""
    check_cpu(device, "device")
