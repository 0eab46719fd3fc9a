"""Products with Jacobians and Hessians, and these matrices whole: ``torch.autograd.functional``.

Everything here is composed of backward passes. A product Jv comes from two of them: u -> J^T u is linear, so the
gradient of v . J^T u with respect to u is Jv (https://j-towns.github.io/2017/06/12/A-new-trick.html).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chainrule.core.tensor import Tensor

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Outputs of ``func`` at ``inputs``, and v^T J: the product of ``v``, shaped as the outputs, with the Jacobian.

    ``v`` may be None for a single output of one element. ``strict`` raises RuntimeError where an output does not
    depend on an input; otherwise such derivatives are zeros.

    PyTorch: torch.autograd.functional.vjp
    """
    import chainrule as torch

    with torch.enable_grad():
        inputs, inputs_are_tuple = _tensors(inputs, "inputs", "vjp")
        inputs = _differentiable_copies(inputs, create_graph)
        outputs, outputs_are_tuple = _outputs_of(func, inputs, "vjp", strict)
        if v is not None:
            v = _cotangent(v, outputs, outputs_are_tuple, "vjp", create_graph)
        elif len(outputs) != 1 or outputs[0].numel() != 1:
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single Tensor with a single "
                "element."
            )
        grads = _grad(outputs, inputs, v, create_graph=create_graph)
        grads = _zeros_for_none(grads, inputs, strict, create_graph, _OUTPUT_INDEPENDENT, _JACOBIAN_CONSTANT)
    return _result(outputs, outputs_are_tuple, create_graph), _result(grads, inputs_are_tuple, create_graph)


def jvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Outputs of ``func`` at ``inputs``, and J v: the product of the Jacobian with ``v``, shaped as the inputs.

    ``v`` may be None for a single input of one element. ``strict`` as in vjp.

    PyTorch: torch.autograd.functional.jvp
    """
    import chainrule as torch

    with torch.enable_grad():
        inputs, v, _ = _inputs_and_vector(inputs, v, "jvp", create_graph)
        outputs, outputs_are_tuple = _outputs_of(func, inputs, "jvp", strict)
        u = tuple(torch.zeros_like(output, requires_grad=True) for output in outputs)
        transposed = _grad(outputs, inputs, u, create_graph=True)
        if strict:
            _check_depends(transposed, _COTANGENT_UNUSED)
        products = _grad(transposed, u, v, create_graph=create_graph)
        products = _zeros_for_none(products, outputs, strict, create_graph, _JACOBIAN_TRICK, _JACOBIAN_CONSTANT)
    return _result(outputs, outputs_are_tuple, create_graph), _result(products, outputs_are_tuple, create_graph)


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Jacobian of ``func`` at ``inputs``: for each output and each input a tensor of shape output.shape + input.shape.

    A tuple over outputs when ``func`` returns one, and within it over inputs when these are a tuple. ``strict`` as
    in vjp. ``vectorize`` gives the same result; one backward pass is run for every element of an output either way.

    PyTorch: torch.autograd.functional.jacobian
    """
    import chainrule as torch

    _check_strategy(strategy, create_graph, strict)
    with torch.enable_grad():
        inputs, inputs_are_tuple = _tensors(inputs, "inputs", "jacobian")
        if strategy == "forward-mode":
            if not vectorize:
                raise NotImplementedError(
                    "Computing Jacobian using forward-AD or forward-over-reverse Hessian is"
                    "only implemented for `vectorize=True`."
                )
            raise NotImplementedError('chainrule has no forward mode in jacobian: use strategy="reverse-mode"')
        inputs = _differentiable_copies(inputs, create_graph)
        outputs, outputs_are_tuple = _outputs_of(func, inputs, "jacobian", strict)
        if strict and vectorize:
            raise RuntimeError(
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
                "Please either set `strict=False` or `vectorize=False`."
            )
        jacobians = [_rows(output, i, inputs, create_graph, strict, vectorize) for i, output in enumerate(outputs)]
    jacobians = [_result(row, inputs_are_tuple, create_graph) for row in jacobians]
    return tuple(jacobians) if outputs_are_tuple else jacobians[0]


def _rows(
    output: Tensor, index: int, inputs: tuple[Tensor, ...], create_graph: bool, strict: bool, vectorize: bool
) -> tuple[Tensor, ...]:
    """The Jacobian of one output with respect to each input, a backward pass for every element."""
    import chainrule as torch

    rows: list[list[Tensor]] = [[] for _ in inputs]
    flat = output.reshape(-1)
    # Vectorized, PyTorch seeds with ones of the output's dtype, so that complex outputs pass.
    seed = (torch.ones((), dtype=output.dtype),) if vectorize else None
    independent = f"Output {index} of the user-provided function is independent of input {{}}." + _NOT_STRICT
    # PyTorch puts the number of the output in this message, not that of the input.
    constant = _JACOBIAN_CONSTANT.format(index)
    for j in range(output.numel()):
        grads = _grad((flat[j],), inputs, seed, create_graph=create_graph, retain_graph=True)
        grads = _zeros_for_none(grads, inputs, strict, create_graph, independent, constant)
        for row, g in zip(rows, grads, strict=True):
            row.append(g)
    return tuple(
        torch.stack(row).view(output.shape + x.shape) if row else x.new_zeros(output.shape + x.shape)
        for row, x in zip(rows, inputs, strict=True)
    )


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Hessian at ``inputs`` of ``func``, which returns one element: for inputs i and j the shape is i.shape + j.shape.

    A tuple of tuples when ``inputs`` is a tuple. ``strict`` and ``vectorize`` as in jacobian.

    PyTorch: torch.autograd.functional.hessian
    """
    inputs_are_tuple = isinstance(inputs, tuple)
    _tensors(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def scalar(*xs: Tensor) -> Tensor:
        return _single_output_of(func, xs, "hessian", strict).squeeze()

    def gradient(*xs: Tensor) -> tuple[Tensor, ...]:
        grads = jacobian(scalar, xs, create_graph=True)
        if strict:
            _check_depends(grads, _GRADIENT_CONSTANT)
        return grads if inputs_are_tuple else grads[0]

    return jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Output of ``func``, one element, and v^T H: the product of ``v``, shaped as the inputs, with the Hessian.

    ``v`` may be None for a single input of one element. ``strict`` as in vjp.

    PyTorch: torch.autograd.functional.vhp
    """
    import chainrule as torch

    with torch.enable_grad():
        inputs, v, inputs_are_tuple = _inputs_and_vector(inputs, v, "vhp", create_graph)
        output = _single_output_of(func, inputs, "vhp", strict)
        gradient = _grad((output,), inputs, create_graph=True)
        if strict:
            _check_depends(gradient, _GRADIENT_CONSTANT)
        products = _grad(gradient, inputs, v, create_graph=create_graph)
        products = _zeros_for_none(products, inputs, strict, create_graph, _JACOBIAN_INDEPENDENT, _HESSIAN_CONSTANT)
    return _result((output,), False, create_graph), _result(products, inputs_are_tuple, create_graph)


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Output of ``func``, one element, and H v: the product of the Hessian with ``v``, shaped as the inputs.

    Takes three backward passes; vhp takes two. ``v`` may be None for a single input of one element. ``strict`` as
    in vjp.

    PyTorch: torch.autograd.functional.hvp
    """
    import chainrule as torch

    with torch.enable_grad():
        inputs, v, inputs_are_tuple = _inputs_and_vector(inputs, v, "hvp", create_graph)
        output = _single_output_of(func, inputs, "hvp", strict)
        gradient = _grad((output,), inputs, create_graph=True)
        if strict:
            _check_depends(gradient, _GRADIENT_CONSTANT)
        u = tuple(torch.zeros_like(x, requires_grad=True) for x in inputs)
        transposed = _grad(gradient, inputs, u, create_graph=True)
        products = _grad(transposed, u, v, create_graph=create_graph)
        products = _zeros_for_none(products, inputs, strict, create_graph, _HESSIAN_TRICK, _HESSIAN_CONSTANT)
    return _result((output,), False, create_graph), _result(products, inputs_are_tuple, create_graph)


# Tuples of tensors and back


def _tensors(values: Any, what: str, api: str) -> tuple[tuple[Tensor, ...], bool]:
    """A tensor or a tuple of tensors as a tuple, and whether it was one."""
    are_tuple = isinstance(values, tuple)
    values = values if are_tuple else (values,)
    for i, value in enumerate(values):
        if not isinstance(value, Tensor):
            found = f"the value at index {i}" if are_tuple else f"the given {what}"
            raise TypeError(
                f"The {what} given to {api} must be either a Tensor or a tuple of Tensors "
                f"but {found} has type {type(value)}."
            )
    return values, are_tuple


def _result(values: Sequence[Tensor], as_tuple: bool, create_graph: bool) -> Any:
    if not create_graph:
        values = tuple(value.detach() for value in values)
    return tuple(values) if as_tuple else values[0]


def _differentiable_copies(values: tuple[Tensor, ...], create_graph: bool) -> tuple[Tensor, ...]:
    """Inputs to differentiate by: cut from the graph they come from, unless the result is to be differentiated."""
    return tuple(
        value.view_as(value) if create_graph and value.requires_grad else value.detach().requires_grad_()
        for value in values
    )


def _inputs_and_vector(
    inputs: Any, v: Any, api: str, create_graph: bool
) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...] | None, bool]:
    inputs, are_tuple = _tensors(inputs, "inputs", api)
    inputs = _differentiable_copies(inputs, create_graph)
    if v is not None:
        v = _cotangent(v, inputs, are_tuple, api, create_graph)
    elif len(inputs) != 1 or inputs[0].numel() != 1:
        raise RuntimeError(
            "The vector v can only be None if the input to the user-provided function is a single Tensor with a "
            "single element."
        )
    return inputs, v, are_tuple


def _cotangent(
    v: Any, like: tuple[Tensor, ...], like_are_tuple: bool, api: str, create_graph: bool
) -> tuple[Tensor, ...]:
    """v, checked to have the shapes of the tensors it multiplies."""
    v, _ = _tensors(v, "v", api)
    several = like_are_tuple or len(like) > 1
    if several and len(v) != len(like):
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}.")
    if not several and len(v) != 1:
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (value, other) in enumerate(zip(v, like, strict=True)):
        if value.shape != other.shape:
            entry = f"Entry {i} in " if several else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {other.shape} but got {value.shape}.")
    return tuple(value.view_as(value) if create_graph and value.requires_grad else value.detach() for value in v)


def _outputs_of(
    func: Callable[..., Any], inputs: tuple[Tensor, ...], api: str, strict: bool
) -> tuple[tuple[Tensor, ...], bool]:
    outputs, are_tuple = _tensors(func(*inputs), "outputs of the user-provided function", api)
    for i, output in enumerate(outputs):
        if strict and not output.requires_grad:
            raise RuntimeError(
                f"Output {i} of the user-provided function does not require gradients. The outputs must be computed "
                "in a differentiable manner from the input when running in strict mode."
            )
    return outputs, are_tuple


def _single_output_of(func: Callable[..., Any], inputs: tuple[Tensor, ...], api: str, strict: bool) -> Tensor:
    outputs, are_tuple = _outputs_of(func, inputs, api, strict)
    if are_tuple:
        raise RuntimeError(f"The function given to {api} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {api} should contain a single element")
    return outputs[0]


# Gradients, and what strict mode says about them


def _grad(
    outputs: Sequence[Tensor | None],
    inputs: Sequence[Tensor],
    cotangents: Sequence[Tensor] | None = None,
    create_graph: bool = False,
    retain_graph: bool | None = None,
) -> tuple[Tensor | None, ...]:
    """autograd.grad over the outputs that require grad, with None for the inputs that none of them depends on."""
    from chainrule.autograd import grad

    kept = [i for i, output in enumerate(outputs) if output is not None and output.requires_grad]
    if not kept:
        return (None,) * len(inputs)
    outputs = tuple(outputs[i] for i in kept)
    cotangents = None if cotangents is None else tuple(cotangents[i] for i in kept)
    return grad(outputs, inputs, cotangents, retain_graph=retain_graph, create_graph=create_graph, allow_unused=True)


def _zeros_for_none(
    grads: Sequence[Tensor | None],
    like: Sequence[Tensor],
    strict: bool,
    create_graph: bool,
    independent: str,
    constant: str,
) -> tuple[Tensor, ...]:
    """Zeros where there is no gradient; in strict mode that is an error, and so is a constant under create_graph."""
    import chainrule as torch

    for i, g in enumerate(grads):
        if g is None:
            if strict:
                raise RuntimeError(independent.format(i))
        elif strict and create_graph and not g.requires_grad:
            error = RuntimeError(constant.format(i))
            error.add_note(f"The gradient of input {i} is the one that does not depend on the inputs.")
            raise error
    return tuple(torch.zeros_like(x) if g is None else g for g, x in zip(grads, like, strict=True))


def _check_depends(grads: Sequence[Tensor | None], constant: str) -> None:
    for i, g in enumerate(grads):
        if g is None:
            raise RuntimeError(_OUTPUT_INDEPENDENT.format(i))
        if not g.requires_grad:
            raise RuntimeError(constant.format(i))


def _check_strategy(strategy: str, create_graph: bool, strict: bool) -> None:
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
            'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    refused = ((create_graph, "create_graph", NotImplementedError), (strict, "strict", RuntimeError))
    for given, name, error in refused:
        if strategy == "forward-mode" and given:
            raise error(
                f'torch.autograd.functional.jacobian: `{name}=True` and `strategy="forward-mode"` are not supported '
                f'together (yet). Please either set `{name}=False` or `strategy="reverse-mode"`.'
            )


_NOT_STRICT = " This is not allowed in strict mode."
_NOT_STRICT_GRAPH = " This is not allowed in strict mode when create_graph=True."
_OUTPUT_INDEPENDENT = "The output of the user-provided function is independent of input {}." + _NOT_STRICT
_JACOBIAN_CONSTANT = "The jacobian of the user-provided function is independent of input {}." + _NOT_STRICT_GRAPH
_JACOBIAN_INDEPENDENT = "The jacobian of the user-provided function is independent of input {}." + _NOT_STRICT
_HESSIAN_CONSTANT = "The hessian of the user-provided function is independent of input {}." + _NOT_STRICT_GRAPH
_GRADIENT_CONSTANT = (
    "While computing the hessian, found that the jacobian of the user-provided function with respect to input {} is "
    "independent of the input." + _NOT_STRICT + " You should ensure that your function is twice differentiable and "
    "that the jacobian depends on the inputs (this would be violated by a linear function for example)."
)
_COTANGENT_UNUSED = (
    "The gradient with respect to input {} is independent of the inputs of the user-provided function." + _NOT_STRICT
)
_JACOBIAN_TRICK = (
    "The gradient with respect to the input is independent of entry {} in the grad_outputs when using the double "
    "backward trick to compute forward mode gradients." + _NOT_STRICT
)
_HESSIAN_TRICK = (
    "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. This is not allowed "
    "in strict mode as it prevents from using the double backward trick to replace forward mode AD."
)
