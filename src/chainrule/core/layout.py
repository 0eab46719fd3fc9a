"""`layout` and `memory_format`: how elements lie in memory, as PyTorch names it.

Tensors of chainrule are strided; the other layouts can only be named.
https://docs.pytorch.org/docs/stable/tensor_attributes.html
"""

__all__ = ["layout", "memory_format", "LAYOUTS", "MEMORY_FORMATS", "is_laid_out"]


class _Named:
    """The base of types whose only instances are the named ones."""

    __slots__ = ("_name",)

    def __new__(cls, *args, **kwargs):
        raise TypeError(f"cannot create 'torch.{cls.__name__}' instances")

    def __init_subclass__(cls):
        if cls.__module__ != "torch":
            raise TypeError(f"type 'torch.{cls.__base__.__name__}' is not an acceptable base type")

    def __repr__(self):
        return f"torch.{self._name}"

    def __reduce__(self):
        return _by_name, (self._name,)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class layout(_Named):
    """How the elements of a tensor are kept: `torch.strided` or one of the sparse layouts."""

    __slots__ = ()
    __module__ = "torch"


class memory_format(_Named):
    """The order of the dimensions in memory: `torch.contiguous_format`, `torch.channels_last`, …"""

    __slots__ = ()
    __module__ = "torch"


def _make(cls, name):
    made = object.__new__(cls)
    object.__setattr__(made, "_name", name)
    return made


LAYOUTS: dict[str, layout] = {
    name: _make(layout, name)
    for name in ("strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged")
}
MEMORY_FORMATS: dict[str, memory_format] = {
    name: _make(memory_format, name)
    for name in ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
}
strided = LAYOUTS["strided"]
contiguous_format, preserve_format, channels_last, channels_last_3d = MEMORY_FORMATS.values()


def _by_name(name: str):
    return LAYOUTS.get(name) or MEMORY_FORMATS[name]


_CHANNELS_LAST = {channels_last: (0, 2, 3, 1), channels_last_3d: (0, 2, 3, 4, 1)}


def channels_last_order(form: memory_format) -> tuple[int, ...] | None:
    """The dimensions from the slowest to the fastest in memory; None for the formats that follow their order."""
    return _CHANNELS_LAST.get(form)


def is_laid_out(shape, strides, form: memory_format = contiguous_format) -> bool:
    """Whether elements with these strides (in elements) lie without gaps in the order of the format."""
    order = _CHANNELS_LAST.get(form, range(len(shape)))
    if len(order) != len(shape):
        return False
    if form in _CHANNELS_LAST:
        if 0 in shape:
            return False
    elif 0 in shape:
        return True
    step = 1
    for i in reversed(order):
        if shape[i] != 1:
            if strides[i] != step:
                return False
            step *= shape[i]
    return True
