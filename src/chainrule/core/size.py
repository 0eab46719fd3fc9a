"""`Size`, the shape of a tensor: a tuple of integers that stays a Size under slicing, adding and repeating."""

import math
import operator

from .dtype import argument_type_name


class Size(tuple):
    """The shape of a tensor; TypeError for items that are not integers.

    Where the items are known to be Python integers, `tuple.__new__(Size, shape)` makes one without looking at them.
    """

    __slots__ = ()
    __module__ = "torch"

    def __new__(cls, sizes=(), /):
        return tuple.__new__(cls, _integers(sizes))

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        return math.prod(self)

    def __getitem__(self, index):
        item = tuple.__getitem__(self, index)
        return tuple.__new__(Size, item) if item.__class__ is tuple else item

    def __add__(self, other):
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {argument_type_name(other)}) to torch.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other):
        return Size(tuple(other) + tuple(self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times):
        try:
            times = operator.index(times)
        except TypeError:
            return NotImplemented
        return tuple.__new__(Size, tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __repr__(self):
        return f"torch.Size({list(self)})"

    def __reduce__(self):
        return Size._restore, (tuple(self),)

    @staticmethod
    def _restore(sizes):
        return tuple.__new__(Size, sizes)


def _integers(sizes):
    for position, item in enumerate(sizes):
        if item.__class__ is not int:
            try:
                item = int(operator.index(item))
            except (TypeError, ValueError):
                raise TypeError(
                    f"torch.Size() takes an iterable of 'int' (item {position} is '{argument_type_name(item)}')"
                ) from None
        if not -(2**63) <= item < 2**63:
            raise ValueError("Overflow when unpacking long long")
        yield item
