"""What kernels raise for dtypes they do not take, in PyTorch's words."""

from ..core.dtype import of

__all__ = ["not_implemented", "only_real", "refuse", "refuse_half"]


def not_implemented(kernel: str, array) -> NotImplementedError:
    """The error of a kernel that lacks a dtype: `"abs_cpu" not implemented for 'Bool'`."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{of(array.dtype).scalar_name}'")


def refuse(kernel: str, kinds: str, array) -> None:
    """Raise for an array whose NumPy kind (b, i, u, f, c) is among `kinds`."""
    if array.dtype.kind in kinds:
        raise not_implemented(kernel, array)


def refuse_half(kernel: str, x) -> None:
    """Raise for a tensor of half precision."""
    if x._spec.dtype.itemsize == 2:
        raise not_implemented(kernel, x._array)


def only_real(kernel: str, ufunc):
    """A ufunc that takes no complex numbers, though NumPy's does."""

    def call(*arrays, out=...):
        if arrays[0].dtype.kind == "c":
            raise not_implemented(kernel, arrays[0])
        return ufunc(*arrays, out=out)

    return call
