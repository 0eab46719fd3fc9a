"""Pooling over so many windows that share an image as equally as possible: averages and largest elements."""

import functools

from ..core import vocabulary
from ..core.axes import adaptive
from ..core.declare import Array, op
from ..core.registry import publish
from ..core.tensor import Tensor
from .maxima import adapted, maxima
from .planes import expect_tensor, laid_out, sizes_of
from .pooling import check_line, one_each, product_of, publish_functional, refuse, with_height

__all__ = ["adaptive_avg_pool2d", "adaptive_avg_pool3d"]

# --- averages over windows that adapt ---


@functools.lru_cache(4096)
def _adapting(sizes, out) -> tuple:
    """(maps, divisor) of an adaptive average pool."""
    found = [adaptive(n, m) for n, m in zip(sizes, out)]
    return tuple(m for m, _ in found), product_of([c for _, c in found])


def _adaptive_sizes(name: str, input, output_size, dims: int) -> tuple:
    """The size of the result, None standing for that of the input."""
    if not isinstance(input, Tensor):
        raise AttributeError(f"'{type(input).__name__}' object has no attribute 'size'")
    if hasattr(output_size, "__index__"):
        return (int(output_size),) * dims
    if not isinstance(output_size, (tuple, list)):
        raise TypeError(f"object of type '{type(output_size).__name__}' has no len()")
    shape = input._spec.shape
    if len(shape) <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    return tuple(
        n if v is None else sizes_of(v, name, "output_size", 2)[0]
        for v, n in zip(output_size, shape[len(shape) - len(output_size) :])
    )


def _check_adaptive_image(name: str, spec, dims: int, colon: str) -> None:
    if spec.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got{colon} {list(spec.shape)}")
    from_dim = 1 if colon or dims == 3 else spec.ndim - dims
    for at in range(from_dim, spec.ndim):
        if not spec.shape[at]:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes "
                f"{list(spec.shape)} with dimension {at} being empty"
            )


def _declare_adaptive_average(dims: int):
    name = f"adaptive_avg_pool{dims}d"

    @op(name=name, node=f"AdaptiveAvgPool{dims}DBackward0", method=False, namespace=None)
    def pool(self: Array, maps, divisor):
        out = vocabulary.map_axes(self, maps, divisor)
        return laid_out(out, self) if dims == 2 else laid_out(out)

    @pool.derivative(of="self")
    def _(xp, grad, maps, divisor):
        return xp.map_axes_vjp(grad, maps, divisor)

    del pool.node_type._saved_maps, pool.node_type._saved_divisor

    @functools.lru_cache(4096)
    def prepare(spec, out: tuple):
        if len(out) != dims:
            raise RuntimeError(f"{name}: output_size must be {dims}")
        if any(n < 0 for n in out):
            listed = f"{out[0]}, {out[1]}" + "".join(f",{n}" for n in out[2:])
            raise RuntimeError(
                f"{name}: elements of output_size must be greater than or equal to 0 but received {{{listed}}}"
            )
        if out == (1,) * dims and spec.ndim >= dims:
            return None
        _check_adaptive_image(name, spec, dims, "")
        allowed = spec.dtype.is_floating_point or dims == 2 and not spec.numel
        refuse(name if dims == 2 else f"{name}_cpu", spec, allowed)
        return _adapting(spec.shape[spec.ndim - dims :], out)

    def run(input, out: tuple):
        found = prepare(input._spec, out)
        if found is None:
            return input.mean(tuple(range(-dims, 0)), True)
        return pool.single(input, *found)

    def function(input, output_size):
        return run(input, _adaptive_sizes(name, input, output_size, dims))

    publish_functional(function, name, "The averages over so many windows that share the last dimensions equally.")
    pool.function = function
    return function, run


adaptive_avg_pool2d, _adaptive_avg_pool2d = _declare_adaptive_average(2)
adaptive_avg_pool3d, _ = _declare_adaptive_average(3)


def adaptive_avg_pool1d(input, output_size):
    name = "adaptive_avg_pool1d"
    expect_tensor(input, name)
    out = one_each(name, "output_size", 2, output_size)
    check_line(name, input)
    return with_height(_adaptive_avg_pool2d, input, (1, out))


publish_functional(adaptive_avg_pool1d, "adaptive_avg_pool1d", "The averages over so many windows that share the last dimension.",
         torch_too=True)  # fmt: skip


# --- the largest element of windows that adapt ---


def _declare_adaptive_max(dims: int):
    name = f"adaptive_max_pool{dims}d"

    @op(name=f"{name}_with_indices", node=f"AdaptiveMaxPool{dims}DBackward0", nondifferentiable_outputs=(1,),
        method=False, namespace=None)  # fmt: skip
    def pool(self: Array, output_size):
        values, places = maxima(self, adapted(self.shape[self.ndim - dims :], output_size), True)
        return laid_out(values, self), laid_out(places, self)

    @pool.derivative(of="self")
    def _(xp, grad, self_shape, result1):
        return xp.scatter_planes(grad, result1, tuple(self_shape[len(self_shape) - dims :]), False)

    def run(input, out: tuple):
        spec = input._spec
        _check_adaptive_image(name, spec, dims, ":")
        if len(out) != dims:
            raise RuntimeError(f"{name}(): internal error: output_size.size() must be {dims}")
        for n in out:
            if n < 0:
                shape = [*spec.shape[: spec.ndim - dims], *out]
                raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {shape}")
        refuse(name if dims == 2 else f"{name}_cpu", spec, spec.dtype.is_floating_point)
        return pool.general(input, out)

    def with_indices(input, output_size, return_indices=False):
        return run(input, _adaptive_sizes(name, input, output_size, dims))

    pool.function = with_indices
    _publish_max(name, with_indices)
    return run


def _publish_max(name: str, with_indices) -> None:
    def function(input, output_size, return_indices=False):
        found = with_indices(input, output_size)
        return found if return_indices else found[0]

    doc = "The largest element of so many windows that share the last dimensions equally"
    publish_functional(function, name, f"{doc}; with return_indices also its place in its plane.")
    publish_functional(with_indices, f"{name}_with_indices", f"{doc}, and its place in its plane.")


_adaptive_max_pool2d = _declare_adaptive_max(2)
adaptive_max_pool3d = _declare_adaptive_max(3)
adaptive_max_pool2d = _adaptive_max_pool2d


def adaptive_max_pool1d_with_indices(input, output_size, return_indices=False):
    name = "adaptive_max_pool1d"
    expect_tensor(input, name)
    out = one_each(name, "output_size", 2, output_size)
    check_line(name, input)
    spec = input._spec
    for at in range(1 if spec.ndim == 3 else 0, spec.ndim):
        if not spec.shape[at]:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes "
                f"{list(spec.shape)} with dimension {at} being empty"
            )
    return with_height(_adaptive_max_pool2d, input, (1, out))


_publish_max("adaptive_max_pool1d", adaptive_max_pool1d_with_indices)
publish("torch", "adaptive_max_pool1d", adaptive_max_pool1d_with_indices)
