"""backward and grad: check what was asked for, then hand it to the engine."""

import warnings

import numpy as np

from . import tensor
from .dtype import argument_type_name
from .engine import run_backward, store
from .node import AccumulateGrad, Output
from .tensor import LEAF, Tensor, wrap
from .views import NOWHERE, view_edge

__all__ = ["backward", "grad", "GradientEdge"]


class GradientEdge(tuple):
    """A place in the graph: a node and the number of one of its outputs; see `graph.get_gradient_edge`."""

    __slots__ = ()

    def __new__(cls, node, output_nr, ownership_token=None):
        return super().__new__(cls, (node, output_nr))

    node = property(lambda self: self[0])
    output_nr = property(lambda self: self[1])

    def __repr__(self):
        return f"GradientEdge(node={self[0]!r}, output_nr={self[1]})"


def root_edge(root, index: int):
    if isinstance(root, GradientEdge):
        node, number = root
        return Output(node, number) if node.outputs != 1 else node
    edge = view_edge(root, True) if root._view is not None else root._edge
    if edge is None or edge is NOWHERE:
        raise RuntimeError(f"element {index} of tensors does not require grad and does not have a grad_fn")
    return root if edge is LEAF else edge


def root_gradients(roots, grads, batched: bool = False) -> list:
    """The gradients to start with: those given, checked, or ones for scalars."""
    out: list = []
    for i, (root, grad) in enumerate(zip(roots, grads)):
        spec = root.node.spec if isinstance(root, GradientEdge) else root._spec
        if type(spec) is tuple:
            spec = spec[root.output_nr]
        if grad is None:
            if isinstance(root, Tensor) and not root.requires_grad:
                out.append(None)
                continue
            if spec.numel != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            if not spec.dtype.is_floating_point:
                raise RuntimeError(
                    f"grad can be implicitly created only for real scalar outputs but got torch.{spec.dtype.name}"
                )
            one = np.empty(spec.shape, spec.array_dtype)
            one.fill(1)
            out.append(wrap(one))
            continue
        if not isinstance(grad, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {argument_type_name(grad)}")
        if grad._spec.shape != spec.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{i}] has a shape of {grad.shape} and output[{i}] has a shape of {spec.size}."
            )
        if spec.dtype.is_complex != grad._spec.dtype.is_complex:
            raise RuntimeError(
                "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
                f"grad_output[{i}] has a dtype of {grad.dtype} and output[{i}] has a dtype of {spec.dtype}."
            )
        out.append(grad if grad._spec.dtype is spec.dtype else grad.to(spec.dtype))
    return out


def _as_tuple(value) -> tuple:
    if isinstance(value, (Tensor, GradientEdge)):
        return (value,)
    return tuple(value)


def backward(
    tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None
) -> None:
    """Add the gradients of `tensors` (times `grad_tensors`) to the leaves, or to `inputs` alone.

    https://pytorch.org/docs/stable/generated/torch.autograd.backward.html
    """
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use "
                "`grad_tensors`."
            )
        grad_tensors = grad_variables
    if grad_tensors is None and inputs is None and not create_graph and isinstance(tensors, Tensor):
        edge = root_edge(tensors, 0)
        run_backward((edge,), root_gradients((tensors,), (None,)), retain_graph=bool(retain_graph), create_graph=False)
        return
    targets = None
    if inputs is not None:
        targets = _as_tuple(inputs)
        if not targets:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    roots = _as_tuple(tensors)
    grads = (None,) * len(roots) if grad_tensors is None else _as_tuple(grad_tensors)
    starts = root_gradients(roots, grads)
    edges = [root_edge(r, i) for i, r in enumerate(roots)]
    if create_graph:
        warnings.warn(
            "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
            "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
            "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break "
            "the cycle and avoid the leak.",
            UserWarning,
            stacklevel=3,
        )
    retain = create_graph if retain_graph is None else retain_graph
    if targets is None:
        run_backward(edges, starts, retain_graph=retain, create_graph=create_graph)
        return
    keys = [target_key(t, "One of the differentiated Tensors does not require grad") for t in targets]
    grads_found = run_backward(
        edges, starts, retain_graph=retain, create_graph=create_graph, targets=keys, accumulate=True
    )
    for target, found in zip(targets, grads_found):
        if isinstance(target, Tensor) and not target.is_leaf and found is not None:
            store(target, found, create_graph, False)


def target_key(target, message: str):
    """How the engine knows a place whose gradient is asked for: a leaf, a node, or (node, output number)."""
    if isinstance(target, GradientEdge):
        node, number = target
        if type(node) is AccumulateGrad:
            return node.variable
        return node if node.outputs == 1 else (node, number)
    edge = view_edge(target, True) if target._view is not None else target._edge
    if edge is None:
        raise RuntimeError(message)
    if edge is LEAF or edge is NOWHERE:  # the latter is no place of its own: nothing arrives at a view made unrecorded
        return target
    return (edge.node, edge.number) if type(edge) is Output else edge


def grad(
    outputs,
    inputs,
    grad_outputs=None,
    retain_graph=None,
    create_graph=False,
    allow_unused=None,
    is_grads_batched=False,
    materialize_grads=False,
) -> tuple:
    """The gradients of `outputs` (times `grad_outputs`) with respect to `inputs`, as a tuple; no `.grad` changes.

    https://pytorch.org/docs/stable/generated/torch.autograd.grad.html
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if is_grads_batched:
        raise NotImplementedError("chainrule has no vmap: is_grads_batched=True needs it")
    if allow_unused is None:
        allow_unused = materialize_grads
    roots, wanted = _as_tuple(outputs), _as_tuple(inputs)
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    given = (None,) * len(roots) if grad_outputs is None else _as_tuple(grad_outputs)
    if len(given) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(given)} gradients")
    starts = root_gradients(roots, given)
    edges = [root_edge(r, i) for i, r in enumerate(roots)]
    keys = [target_key(t, "One of the differentiated Tensors does not require grad") for t in wanted]
    retain = create_graph if retain_graph is None else retain_graph
    unique = list(dict.fromkeys(keys))
    found = dict(
        zip(
            unique,
            run_backward(
                edges, starts, retain_graph=retain, create_graph=create_graph, targets=unique, accumulate=False
            ),
        )
    )
    results = []
    for i, (target, key) in enumerate(zip(wanted, keys)):
        g = found[key]
        if g is None:
            if materialize_grads:
                spec = target._spec if isinstance(target, Tensor) else target.node.spec
                g = wrap(np.zeros(spec.shape, spec.array_dtype))
            elif not allow_unused:
                raise RuntimeError(
                    f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set "
                    "allow_unused=True if this is the desired behavior."
                )
        results.append(g)
    return tuple(results)


tensor.backward = backward  # type: ignore[attr-defined]
