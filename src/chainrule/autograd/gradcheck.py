"""Derivatives held against finite differences: ``gradcheck`` and ``gradgradcheck``.

What is compared is the transposed Jacobian: one row for each element of an input, one column for each element of
an output. Outputs are compared as real numbers: a function with complex outputs is checked twice, once for the
imaginary and once for the real part. For a real output L and a complex input z = x + iy both sides follow the
convention of the backward pass, dL/dx + i dL/dy.
"""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from chainrule.core.tensor import Tensor

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """A derivative that gradcheck or gradgradcheck found to be wrong."""


class _Options(NamedTuple):
    """The step and the tolerances of one check."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_grad_dtypes: bool


def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Check the gradients of ``func`` at ``inputs`` against central differences of step ``eps``.

    Looks at every floating or complex tensor in ``inputs`` that requires grad; these should be of double precision.
    True when all analytical and numerical Jacobians agree within ``atol + rtol * |numerical|``; otherwise
    GradcheckError is raised, or False returned with ``raise_exception=False``. ``fast_mode`` compares one random
    projection of each Jacobian in place of all its elements. ``masked`` concerns sparse tensors only.

    PyTorch: torch.autograd.gradcheck.gradcheck
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    if check_forward_ad:
        raise NotImplementedError("chainrule has no forward mode in gradcheck: leave check_forward_ad=False")
    if check_batched_grad:
        raise NotImplementedError("chainrule has no vmap in gradcheck: leave check_batched_grad=False")
    options = _Options(eps, atol, rtol, nondet_tol, check_grad_dtypes)
    try:
        _run(func, _as_tuple(inputs), options, fast_mode, check_undefined_grad)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Any] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Check second derivatives: gradcheck of the gradients of ``func`` at ``inputs`` and ``grad_outputs``.

    Without ``grad_outputs`` they are drawn uniformly from [-1, 1) with the global generator.

    PyTorch: torch.autograd.gradcheck.gradgradcheck
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be True")
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_batched_grad=True requires check_rev_over_rev to be True")
    if check_fwd_over_rev:
        raise NotImplementedError("chainrule has no forward mode in gradgradcheck: leave check_fwd_over_rev=False")

    inputs = _as_tuple(inputs)
    if grad_outputs is None:
        outputs = _differentiable(_as_tuple(func(*inputs)))
        grad_outputs = tuple(_random_cotangent(output, gen_non_contig_grad_outputs) for output in outputs)
    return gradcheck(
        _gradient_of(func, len(inputs)),
        inputs + _as_tuple(grad_outputs),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        fast_mode=fast_mode,
        masked=masked,
    )


def _gradient_of(func: Callable[..., Any], num_inputs: int) -> Callable[..., tuple[Tensor, ...]]:
    """The function (inputs, cotangents of the outputs) -> gradients of the inputs that require grad."""

    def gradient(*args: Any) -> tuple[Tensor, ...]:
        inputs, cotangents = args[:num_inputs], args[num_inputs:]
        outputs = _differentiable(_as_tuple(func(*inputs)))
        wrt = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]
        grads = _grad(outputs, wrt, cotangents, create_graph=True)
        return tuple(g for g in grads if g is not None)

    return gradient


def _random_cotangent(output: Tensor, noncontiguous: bool) -> Tensor:
    import chainrule as torch

    shape = list(output.shape)
    noncontiguous = noncontiguous and output.numel() > 1 and output.dim() > 0
    if noncontiguous:
        shape[-1] *= 2
    if output.is_complex():
        double = output.dtype == torch.complex128
        values = torch.rand(*shape, 2, dtype=torch.float64 if double else torch.float32)
        values = torch.view_as_complex(values * 2 - 1)
    else:
        values = torch.rand(shape, dtype=output.dtype) * 2 - 1
    if noncontiguous:
        values = values[..., 1::2]
    return values.requires_grad_()


# The course of one check


def _run(func: Callable[..., Any], inputs: tuple, options: _Options, fast: bool, check_undefined: bool) -> None:
    _check_inputs(inputs)
    all_outputs = _as_tuple(func(*inputs))
    outputs = _differentiable(all_outputs)
    if not outputs:
        _check_constant(func, inputs, len(all_outputs), options, fast)
        return

    positions = [i for i, output in enumerate(all_outputs) if output.requires_grad]
    compare = _compare_fast if fast else _compare_slow
    is_complex = [output.is_complex() for output in outputs]
    for part in ("imag", "real") if any(is_complex) else (None,):
        parts = [_part(output, part) for output in outputs]
        names = [_PART_PREFIX[part] if flag else "" for flag in is_complex]
        compare(_Evaluation(func, inputs, positions, part), parts, names, options)

    _check_multiplies_by_cotangent(outputs, inputs)
    if check_undefined:
        _check_undefined_cotangents(func, inputs)


def _check_inputs(inputs: tuple) -> None:
    import chainrule as torch

    found = False
    for i, x in enumerate(inputs):
        if isinstance(x, (tuple, list)) and any(isinstance(y, Tensor) and y.requires_grad for y in x):
            raise NotImplementedError(
                f"chainrule has no gradcheck of tensors inside a sequence: give the tensors in input {i} one by one"
            )
        if not (isinstance(x, Tensor) and x.requires_grad):
            continue
        if x.dtype not in (torch.float64, torch.complex128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. "
                "This check will likely fail if all the inputs are not of double precision floating point or complex. ",
                stacklevel=4,
            )
        if any(stride == 0 and size > 1 for stride, size in zip(x.stride(), x.shape, strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. "
                "You should call .contiguous on the input before passing it to gradcheck."
            )
        found = True
    if not found:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )


def _check_constant(func: Callable[..., Any], inputs: tuple, count: int, options: _Options, fast: bool) -> None:
    """Outputs cut off from the graph promise a derivative of zero."""
    import chainrule as torch

    evaluation = _Evaluation(func, inputs, list(range(count)))
    wrt = _wrt(inputs)
    if fast:
        directions = _input_directions(wrt, torch.Generator())
        slopes = [_directional_derivatives(evaluation, x, u, options.eps) for x, u in zip(wrt, directions, strict=True)]
    else:
        slopes = [_numerical_jacobians(evaluation, x, options.eps) for x in wrt]
    tolerance = options.nondet_tol if fast else 0.0
    if any(s.numel() and not bool(s.abs().max() <= tolerance) for s in itertools.chain(*slopes)):
        raise GradcheckError("Numerical gradient for function expected to be zero")


def _check_multiplies_by_cotangent(outputs: Sequence[Tensor], inputs: tuple) -> None:
    grads = _grad(outputs, _wrt(inputs), [output.new_zeros(output.shape) for output in outputs])
    if any(g is not None and bool((g != 0).any()) for g in grads):
        raise GradcheckError("backward not multiplied by grad_output")


def _check_undefined_cotangents(func: Callable[..., Any], inputs: tuple) -> None:
    """Zero cotangents give zero gradients, also when all of them, or one at a time, are undefined (None)."""
    count = len(_differentiable(_as_tuple(func(*inputs))))
    cases = [set(range(count))]
    if count > 1:
        cases += [{i} for i in range(count)]
    for undefined in cases:
        outputs = _differentiable(_as_tuple(func(*inputs)))
        outputs = [_undefined()(output) if i in undefined else output for i, output in enumerate(outputs)]
        try:
            grads = _grad(outputs, _wrt(inputs), [output.new_zeros(output.shape) for output in outputs])
        except RuntimeError as error:
            _warn_undefined()
            raise GradcheckError(
                "Expected backward function to handle undefined output grads. " + _SEE_NOTES
            ) from error
        if any(g is not None and bool((g != 0).any()) for g in grads):
            _warn_undefined()
            raise GradcheckError(
                "Expected all input grads to be undefined or zero when all output grads are undefined or zero. "
                + _SEE_NOTES
            )


@functools.cache
def _undefined() -> Callable[[Tensor], Tensor]:
    """The identity, with an undefined gradient."""
    from chainrule.autograd import Function

    class UndefinedGrad(Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            return x.view_as(x)

        @staticmethod
        def backward(ctx: Any, grad: Tensor) -> None:
            return None

    return UndefinedGrad.apply


# Slow mode: every element of every Jacobian


def _compare_slow(evaluation: _Evaluation, outputs: list[Tensor], names: list[str], options: _Options) -> None:
    wrt = _wrt(evaluation.inputs)
    numerical = [_numerical_jacobians(evaluation, x, options.eps) for x in wrt]
    analytical = [_analytical_jacobians(output, wrt, options) for output in outputs]
    for i in range(len(wrt)):
        for j, name in enumerate(names):
            a, n = analytical[j][i], numerical[i][j]
            if not _allclose(a, n, options.rtol, options.atol):
                raise GradcheckError(_mismatch(name, j, i, n, a))


def _numerical_jacobians(evaluation: _Evaluation, x: Tensor, eps: float) -> list[Tensor]:
    """For each output, its transposed Jacobian with respect to x by central differences."""
    rows = []
    for index in itertools.product(*(range(size) for size in x.shape)):
        slopes = _slopes(evaluation, x, index, eps, eps)
        if x.is_complex():
            imaginary = _slopes(evaluation, x, index, eps * 1j, eps)
            slopes = [dx + 1j * dy for dx, dy in zip(slopes, imaginary, strict=True)]
        rows.append([slope.reshape(-1) for slope in slopes])
    if not rows:
        return [output.new_zeros((0, output.numel())) for output in evaluation()]
    return [_stack(row, 0) for row in zip(*rows, strict=True)]


def _analytical_jacobians(output: Tensor, wrt: list[Tensor], options: _Options) -> list[Tensor]:
    """For each input, the transposed Jacobian of one real output by backward passes, run twice and compared."""

    def backward_passes() -> list[Tensor]:
        columns: list[list[Tensor]] = [[] for _ in wrt]
        for j in range(output.numel()):
            cotangent = output.new_zeros(output.numel())
            cotangent[j] = 1
            for column, g in zip(columns, _vjp(output, wrt, cotangent, options), strict=True):
                column.append(g.reshape(-1))
        return [_stack(c, 1) if c else x.new_zeros((x.numel(), 0)) for c, x in zip(columns, wrt, strict=True)]

    first, second = backward_passes(), backward_passes()
    _check_reentrant(first, second, options.nondet_tol)
    return first


# Fast mode: v^T J u for random unit vectors with positive elements


def _compare_fast(evaluation: _Evaluation, outputs: list[Tensor], names: list[str], options: _Options) -> None:
    import chainrule as torch

    wrt = _wrt(evaluation.inputs)
    generator = torch.Generator()
    us = _input_directions(wrt, generator)
    vs = [_unit_vector(output.numel(), output.dtype, generator) for output in outputs]

    numerical = []
    for x, u in zip(wrt, us, strict=True):
        slopes = _directional_derivatives(evaluation, x, u, options.eps)
        numerical.append([_dot(v, slope) for v, slope in zip(vs, slopes, strict=True)])
    analytical = [_analytical_projections(output, wrt, us, v, options) for output, v in zip(outputs, vs, strict=True)]

    for i, u in enumerate(us):
        for j, name in enumerate(names):
            a, n = analytical[j][i], numerical[i][j]
            # One element may be off by atol, so the projection of the Jacobian may be off by atol times u^T 1 v.
            atol = options.atol * sum((float(part.sum()) for part in u), 0.0) * float(vs[j].sum())
            if not _allclose(a, n, options.rtol, atol):
                slow = _slow_report(evaluation, outputs[j], i, j, options)
                raise GradcheckError(_mismatch(name, j, i, n, a) + slow)


def _directional_derivatives(evaluation: _Evaluation, x: Tensor, u: tuple[Tensor, ...], eps: float) -> list[Tensor]:
    """J^T u for each output, flat; for a complex x the sum of d/dx along u[0] and i d/dy along u[1]."""
    slopes = [s.reshape(-1) for s in _slopes(evaluation, x, (), u[0].reshape(x.shape) * eps, eps)]
    if x.is_complex():
        imaginary = _slopes(evaluation, x, (), u[1].reshape(x.shape) * (eps * 1j), eps)
        slopes = [dx + 1j * dy.reshape(-1) for dx, dy in zip(slopes, imaginary, strict=True)]
    return slopes


def _analytical_projections(
    output: Tensor, wrt: list[Tensor], us: list[tuple[Tensor, ...]], v: Tensor, options: _Options
) -> list[Tensor]:
    first, second = _vjp(output, wrt, v, options), _vjp(output, wrt, v, options)
    _check_reentrant(first, second, options.nondet_tol)
    projections = []
    for g, u in zip(first, us, strict=True):
        if g.is_complex():
            projections.append(_dot(g.real.reshape(-1), u[0]) + 1j * _dot(g.imag.reshape(-1), u[1]))
        else:
            projections.append(_dot(g.reshape(-1), u[0]))
    return projections


def _slow_report(evaluation: _Evaluation, output: Tensor, input_index: int, index: int, options: _Options) -> str:
    x = _wrt(evaluation.inputs)[input_index]
    numerical = _numerical_jacobians(evaluation, x, options.eps)[index]
    analytical = _analytical_jacobians(output, [x], options)[0]
    analytical, numerical = _promote(analytical, numerical)
    report = (
        "\nThe two values above are random projections of the Jacobians (fast mode). The Jacobians themselves:\n\n"
        f"Numerical:\n {numerical}\nAnalytical:\n{analytical}\n\n"
        f"The max per-element difference (slow mode) is: {(analytical - numerical).abs().max()}.\n"
    )
    if _allclose(analytical, numerical, options.rtol, options.atol):
        report += "Fast gradcheck failed but element-wise differences are small: try `fast_mode=False`.\n"
    return report


def _input_directions(wrt: list[Tensor], generator: Any) -> list[tuple[Tensor, ...]]:
    """One vector for a real input; for a complex one a vector for the real and one for the imaginary part."""
    directions = []
    for x in wrt:
        dtype = x.real.dtype if x.is_complex() else x.dtype
        directions.append(tuple(_unit_vector(x.numel(), dtype, generator) for _ in range(1 + x.is_complex())))
    return directions


def _unit_vector(size: int, dtype: Any, generator: Any) -> Tensor:
    import chainrule as torch

    vector = torch.rand(size, generator=generator).to(dtype)
    return vector / vector.norm()


# Finite differences and backward passes


class _Evaluation:
    """The outputs of func at its inputs as they now stand: those at ``positions``, and of these one ``part``."""

    def __init__(self, func: Callable[..., Any], inputs: tuple, positions: list[int], part: str | None = None):
        self.func, self.inputs, self.positions, self.part = func, inputs, positions, part

    def __call__(self) -> list[Tensor]:
        outputs = _as_tuple(self.func(*self.inputs))
        needed = max(self.positions, default=-1) + 1
        if len(outputs) < needed:
            raise AssertionError(
                f"Expected `func` to return at least {needed} outputs when inputs are perturbed, but got {len(outputs)}"
            )
        # Cloned because an output may be the input itself, which is about to change.
        return [_part(outputs[i].detach(), self.part).clone() for i in self.positions]


def _slopes(evaluation: _Evaluation, x: Tensor, index: tuple[int, ...], step: Any, eps: float) -> list[Tensor]:
    """(f(x + step) - f(x - step)) / (2 eps) for every output, where step is added to x[index]."""
    # .data has a version counter of its own: graphs that saved x stay valid, since x is put back.
    data = x.data
    original = data[index].clone()
    try:
        data[index] = original - step
        below = evaluation()
        data[index] = original + step
        above = evaluation()
    finally:
        data[index] = original
    for b, a in zip(below, above, strict=True):
        for kind, old, new in (("shape", b.shape, a.shape), ("dtype", b.dtype, a.dtype)):
            if old != new:
                where = f" on index {index}" if index else ""
                raise AssertionError(
                    f"Expected `func` to return outputs with the same {kind} when inputs are perturbed{where} "
                    f"by {eps}, but got: {kind}s {old} and {new}."
                )
    return [(a - b) / (2 * eps) for b, a in zip(below, above, strict=True)]


def _vjp(output: Tensor, wrt: list[Tensor], cotangent: Tensor, options: _Options) -> list[Tensor]:
    """Gradients of one output, with zeros where there is none."""
    grads = _grad([output], wrt, [cotangent.reshape(output.shape)], retain_graph=True)
    for g, x in zip(grads, wrt, strict=True):
        if g is not None and options.check_grad_dtypes and g.dtype != x.dtype:
            raise GradcheckError("Gradient has dtype mismatch")
        if g is not None and g.shape != x.shape:
            raise GradcheckError("Analytical gradient has incorrect size")
    return [x.new_zeros(x.shape) if g is None else g.detach() for g, x in zip(grads, wrt, strict=True)]


def _grad(outputs: Sequence[Tensor], wrt: Sequence[Tensor], cotangents: Sequence[Any], **options: bool) -> tuple:
    from chainrule.autograd import grad

    return grad(outputs, wrt, cotangents, allow_unused=True, **options)


def _check_reentrant(first: list[Tensor], second: list[Tensor], nondet_tol: float) -> None:
    if any(a.numel() and bool((a - b).abs().max() > nondet_tol) for a, b in zip(first, second, strict=True)):
        raise GradcheckError(
            "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
            "different values, although analytical gradient matches numerical gradient."
            f"The tolerance for nondeterminism was {nondet_tol}.\n\n"
            "Where the operation is meant to be nondeterministic, pass `nondet_tol=<tol>` to gradcheck or "
            "gradgradcheck."
        )


# Small things


def _as_tuple(x: Any) -> tuple:
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def _wrt(inputs: tuple) -> list[Tensor]:
    return [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]


def _differentiable(outputs: tuple) -> list[Tensor]:
    return [output for output in outputs if output.requires_grad]


def _part(x: Tensor, part: str | None) -> Tensor:
    return getattr(x, part) if part and x.is_complex() else x


def _stack(tensors: Sequence[Tensor], dim: int) -> Tensor:
    import chainrule as torch

    return torch.stack(list(tensors), dim)


def _promote(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    import chainrule as torch

    dtype = torch.promote_types(a.dtype, b.dtype)
    return a.to(dtype), b.to(dtype)


def _dot(a: Tensor, b: Tensor) -> Tensor:
    a, b = _promote(a, b)
    return (a * b).sum()


def _allclose(analytical: Tensor, numerical: Tensor, rtol: float, atol: float) -> bool:
    analytical, numerical = _promote(analytical, numerical)
    return analytical.allclose(numerical, rtol, atol)


def _mismatch(name: str, output_index: int, input_index: int, numerical: Tensor, analytical: Tensor) -> str:
    return (
        f"{name}Jacobian mismatch for output {output_index:d} with respect to input {input_index:d},\n"
        f"numerical:{numerical}\nanalytical:{analytical}\n"
    )


def _warn_undefined() -> None:
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may "
        "break existing callers of this function. If this is true for you, you can call this function with "
        '"check_undefined_grad=False" to disable the feature',
        stacklevel=5,
    )


_PART_PREFIX = {
    None: "",
    "imag": "While considering the imaginary part of complex outputs only, ",
    "real": "While considering the real part of complex outputs only, ",
}
_SEE_NOTES = 'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
