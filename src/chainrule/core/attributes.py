"""What scripts ask a tensor about itself: where it is, how it is laid out, what it is not."""

from .declare import method
from .dtype import argument_type_name
from .layout import contiguous_format, is_laid_out, memory_format, strided
from .tensor import Tensor, strides_of

__all__: list[str] = []


def _says(name: str, value, doc: str) -> None:
    """A read-only attribute that is the same for every tensor."""
    setattr(Tensor, name, property(lambda self: value, doc=doc))


_says("layout", strided, "How the elements are kept: always `torch.strided`.")
_says("is_cpu", True, "True: the memory is the CPU's.")
for _name in ("cuda", "xpu", "mps", "ipu", "xla", "mtia", "maia", "meta", "vulkan", "mkldnn"):
    _says(f"is_{_name}", False, f"False: the memory is the CPU's, not {_name}'s.")
for _name in ("sparse", "sparse_csr", "quantized", "nested"):
    _says(f"is_{_name}", False, f"False: tensors of chainrule are not {_name}.")
_says("name", None, "None: tensors have no names.")


def _hooks(self):
    """The hooks on the gradient of this leaf, by number; None where there are none."""
    leaf = getattr(self, "_leaf", None)
    return leaf.hooks if leaf is not None and leaf.hooks else None


def _gradient_type(self):
    """The dtype that a gradient must have."""
    return self._spec.dtype


for _name, _get in {
    "_backward_hooks": _hooks,
    "grad_dtype": _gradient_type,
    "_grad_fn": lambda self: self.grad_fn,
}.items():
    setattr(Tensor, _name, property(_get))


@method
def is_contiguous(self, *, memory_format=contiguous_format) -> bool:
    """Whether the elements lie in memory without gaps, in the order of the dimensions or of a memory format."""
    if memory_format is contiguous_format:
        return self._array.flags.c_contiguous
    check_memory_format(memory_format, "is_contiguous")
    return is_laid_out(self._spec.shape, strides_of(self._array), memory_format)


def check_memory_format(value, function: str) -> None:
    """TypeError unless `value` is a memory format."""
    if type(value) is not memory_format:
        raise TypeError(
            f"{function}(): argument 'memory_format' must be torch.memory_format, not {argument_type_name(value)}"
        )


@method
def dim_order(self) -> tuple[int, ...]:
    """The dimensions from the slowest to the fastest in memory."""
    strides = strides_of(self._array)
    return tuple(sorted(range(self._spec.ndim), key=lambda i: -strides[i]))


@method
def is_same_size(self, other) -> bool:
    """Whether both have the same shape."""
    return self._spec.shape == other._spec.shape


@method
def get_device(self) -> int:
    """-1: the CPU has no number."""
    return -1


def _never(name: str, doc: str) -> None:
    def answer(self) -> bool:
        return False

    answer.__name__, answer.__doc__ = name, doc
    method(answer)


_never("is_conj", "False: chainrule conjugates at once.")
_never("is_neg", "False: chainrule negates at once.")
_never("is_pinned", "False: the memory is ordinary memory.")
_never("is_shared", "False: the memory belongs to this process.")
_never("is_distributed", "False.")
_never("_is_zerotensor", "False.")


@method
def pin_memory(self, device=None):
    """RuntimeError: only with an accelerator can memory be pinned."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


@method
def share_memory_(self):
    """NotImplementedError: the memory of a tensor belongs to its process."""
    raise NotImplementedError("chainrule has no share_memory_: the memory of a tensor belongs to its process")


@method
def dense_dim(self) -> int:
    """The number of dimensions: all are dense."""
    return self._spec.ndim


@method
def sparse_dim(self) -> int:
    """0: no dimension is sparse."""
    return 0
