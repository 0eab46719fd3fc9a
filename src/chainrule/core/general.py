"""The general caller: every operation, every dtype, every mode.

`apply` unwraps, promotes, runs the kernel, wraps and records; `apply_inplace` writes the result into an
existing tensor. The backward step that goes with it is in vjp.py.
"""

import numpy as np

from . import vocabulary
from .dtype import (
    FLOATING,
    INTEGER,
    argument_type_name,
    bool_,
    can_cast,
    default_for,
    float16,
    float32,
    get_default_dtype,
    result_dtype,
)
from .inplace import bump, check_inplace, check_overlap, check_writable, rebase_history
from .modes import state
from .node import Output
from .spec import spec_of
from .tensor import LEAF, Tensor, wrap
from .views import INFERENCE, MULTI_OUTPUT, NO_GRAD, ORDINARY, make_view, move_retained, retained, view_edge

NUMBERS = (int, float, complex, np.number, np.bool_)
_QUIET = dict(all="ignore")


def edge_of(tensor):
    """Where the gradient of a tensor goes; None where it requires none."""
    if tensor._view is not None:
        return view_edge(tensor)
    edge = tensor._edge
    return tensor if edge is LEAF else edge


# --- arguments ---


def unwrap(op, values, inplace: bool = False) -> list:
    """The operands of an operation: Tensors, numbers (only where it promotes), None or lists of Tensors."""
    found = list(values)
    if op.overloaded is True and not any(isinstance(v, Tensor) for v in values):
        raise combination_error(op.name, values)
    for i in op.tensor_positions:
        value, kind, name = values[i], op.kinds[i], op.params[i]
        if isinstance(value, Tensor) or value is None and kind == "optional":
            continue
        if kind == "many":
            found[i] = [_must_be_tensor(op, v, name, i) for v in value]
        elif name in op.numbers and isinstance(value, NUMBERS):
            found[i] = value.item() if isinstance(value, np.generic) else value
        elif op.overloaded:
            raise combination_error(op.name, values)
        else:
            _must_be_tensor(op, value, name, i, inplace)
    return found


def combination_error(name: str, values) -> TypeError:
    """PyTorch's complaint about a function of two operands, tensors or numbers, that has no signature for these."""
    got = ", ".join(argument_type_name(v) for v in values)
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({got}), but expected one of:\n"
        " * (Tensor input, Tensor other, *, Tensor out = None)\n * (Tensor input, Number other, *, Tensor out = None)\n"
    )


def _must_be_tensor(op, value, name, position, inplace: bool = False):
    if isinstance(value, Tensor):
        return value
    shown = op.shown.get(name, name)
    called = f"{op.name.removesuffix('_')}_" if inplace else op.name
    raise TypeError(
        f"{called}(): argument '{shown}' (position {position + (not inplace)}) must be Tensor, "
        f"not {argument_type_name(value)}"
    )


_plans: dict[tuple, tuple] = {}


def promotion(op, operands) -> tuple:
    """(dtype of the result, dtype to compute in) of the operands that share one."""
    key = (op, get_default_dtype(), *[o._spec if isinstance(o, Tensor) else type(o) for o in operands])
    try:
        return _plans[key]
    except KeyError:
        pass
    tensors = [o._spec for o in operands if isinstance(o, Tensor)]
    numbers = [type(o) for o in operands if not isinstance(o, Tensor)]
    found = result_dtype([s.dtype for s in tensors if s.ndim], [s.dtype for s in tensors if not s.ndim], numbers)
    if op.result_kind == "float" and found.category < FLOATING:
        found = get_default_dtype()
    # PyTorch computes in float32 where a number meets a half-precision tensor.
    compute = (
        float32 if found.itemsize == 2 and found.is_floating_point and (numbers or found is not float16) else found
    )
    if len(_plans) > 4096:
        _plans.clear()
    _plans[key] = found, compute
    return found, compute


def number_operand(number, dtype) -> np.ndarray:
    """A Python number as a 0-dim array; an integer out of range wraps around, as the 0-dim tensor that PyTorch makes of it."""
    if isinstance(number, int):
        if not -(1 << 63) <= number < 1 << 64:
            raise OverflowError("int too big to convert")
        if dtype.category == INTEGER:
            return np.array(number & (1 << 64) - 1, np.uint64).astype(dtype.numpy)
    with np.errstate(over="ignore"):
        return np.array(number, dtype.numpy)


def promoted(op, operands: list, positions) -> tuple:
    """The arrays of the operands that share a dtype, and that dtype."""
    chosen = [operands[i] for i in positions if operands[i] is not None]
    if not any(isinstance(o, Tensor) for o in chosen):
        chosen = [wrap(number_operand(o, default_for(type(o)))) for o in chosen]
    result, compute = promotion(op, chosen)
    arrays = {}
    target = compute.numpy
    for i in positions:
        o = operands[i]
        if isinstance(o, Tensor):
            a = o._array
            arrays[i] = a if a.dtype is target else vocabulary.astype(a, target)
        elif o is not None:
            arrays[i] = number_operand(o, compute)
    return arrays, result, compute


def run_kernel(op, arguments):
    """The kernel's result; floating-point warnings of NumPy are not PyTorch's and stay silent."""
    try:
        return op.kernel(*arguments) if not op.keyword_only else _with_keywords(op, arguments)
    except RuntimeWarning:
        with np.errstate(**_QUIET):
            return op.kernel(*arguments) if not op.keyword_only else _with_keywords(op, arguments)
    except Exception:
        if len(op.promote) > 1:  # shapes that do not go together are what PyTorch complains of first
            check_shapes(op, arguments)
        raise


def _with_keywords(op, arguments):
    n = len(op.params) - op.keyword_only
    return op.kernel(*arguments[:n], **dict(zip(op.params[n:], arguments[n:])))


def check_shapes(op, arguments) -> None:
    """RuntimeError where the promoted operands do not broadcast."""
    shapes = [arguments[i].shape for i, p in enumerate(op.params) if p in op.promote and arguments[i] is not None]
    first = shapes[0]
    for second in shapes[1:]:
        first = broadcast_shapes(first, second)


def broadcast_shapes(a: tuple, b: tuple) -> tuple:
    """The shape of two operands together; RuntimeError in PyTorch's words where they do not match."""
    ndim = max(len(a), len(b))
    out = []
    for i in range(-1, -ndim - 1, -1):  # PyTorch names the last dimension that does not match
        m = a[i] if -i <= len(a) else 1
        n = b[i] if -i <= len(b) else 1
        if m != n and m != 1 and n != 1:
            raise RuntimeError(
                f"The size of tensor a ({m}) must match the size of tensor b ({n}) at non-singleton dimension {i + ndim}"
            )
        out.append(n if m == 1 else m)
    return tuple(reversed(out))


def compute(op, operands: list) -> tuple:
    """Run an operation on its operands: (result array or list of them, the arguments the kernel was given)."""
    arguments = list(operands)
    result = None
    if op.check is not None:
        op.check(operands)
    if op.promote:
        positions = [i for i in op.tensor_positions if op.params[i] in op.promote and op.kinds[i] != "many"]
        arrays, result, used = promoted(op, operands, positions)
        for i, a in arrays.items():
            arguments[i] = a
    for i in op.tensor_positions:
        a = arguments[i]
        if isinstance(a, Tensor):
            arguments[i] = a._array
        elif type(a) is list:
            arguments[i] = [t._array for t in a]
            if op.params[i] in op.promote:
                arguments[i] = promoted_many(op, a)
    out = run_kernel(op, arguments)
    if result is not None and op.result_kind != "bool" and used is not result:
        with np.errstate(over="ignore"):
            out = out.astype(result.numpy)
    return out, arguments


def promoted_many(op, tensors: list) -> list:
    if all(t._spec.dtype is tensors[0]._spec.dtype for t in tensors):
        return [t._array for t in tensors]
    result, _ = promotion(op, tensors)
    return [vocabulary.astype(t._array, result.numpy) for t in tensors]


# --- running and recording ---


def apply(op, values):
    """Run an operation and record it."""
    operands = unwrap(op, values)
    edges = None
    if op.formulas and state.grad_enabled and not state.inference:
        edges = edges_of(op, operands)
    out, arguments = compute(op, operands)
    return finish(op, operands, arguments, edges, out)


def finish(op, operands, arguments, edges, out):
    """Make tensors of what the kernel returned, and record the operation where there are edges."""
    several = type(out) in (tuple, list)
    outs = [as_result(o, op, arguments) for o in (out if several else (out,))]
    results = [new_result(o) for o in outs]
    if op.views:
        source = operands[op.tensor_positions[0]]
        tie_views(op, results, source, operands)
    if edges is not None:
        record(op, operands, arguments, edges, results)
    if not several:
        return results[0]
    return tuple(results) if type(out) is tuple else results


def as_result(out, op, arguments):
    if type(out) is not np.ndarray:
        out = np.asarray(out)
    if not op.views and (out.base is not None or any(out is a for a in arguments)):
        # A kernel may hand back its operand or a part of it; only declared views share memory.
        if any(type(a) is np.ndarray and np.may_share_memory(out, a) for a in flat(arguments)):
            out = out.copy()
    return out


def flat(arguments):
    for a in arguments:
        if type(a) is list:
            yield from a
        else:
            yield a


def new_result(array) -> Tensor:
    t = wrap(array)
    if state.inference:
        t._counter = None
    return t


def tie_views(op, results, source, operands) -> None:
    meta = ORDINARY
    if op.multi:
        meta = MULTI_OUTPUT
    if state.inference:
        meta = INFERENCE
    elif not state.grad_enabled:
        meta = NO_GRAD
    changes_type = results and results[0]._spec.dtype is not source._spec.dtype
    for t in results:
        replay = None
        if changes_type:
            replay = _replay(op, operands)
        make_view(t, source, meta, replay)


def _replay(op, operands):
    at = op.tensor_positions[0]
    before, after = operands[:at], operands[at + 1 :]
    return lambda base: apply(op, [*before, base, *after])


def edges_of(op, operands):
    """The edges of the inputs with formulas, in order; None where no gradient is wanted at all."""
    edges = []
    wanted = False
    for i in op.tensor_positions:
        if op.params[i] not in op.formulas:
            continue
        value = operands[i]
        for t in value if type(value) is list else (value,):
            edge = edge_of(t) if isinstance(t, Tensor) else None
            wanted = wanted or edge is not None
            if edge is not None and not t._spec.inexact:
                edge = None
            edges.append(edge)
    return tuple(edges) if wanted else None


def record(op, operands, arguments, edges, results) -> None:
    """Make the node and give the results their edges."""
    node = make_node(op, operands, arguments, edges, results)
    if node is None:
        return
    if len(results) == 1 and node.outputs == 1:
        results[0]._edge = node
        return
    for number, t in enumerate(results):
        if number not in op.nondifferentiable_outputs and t._spec.inexact:
            t._edge = node if node.outputs == 1 else Output(node, number)


def make_node(op, operands, arguments, edges, results):
    """A node with all that its formulas will ask for."""
    if not any(t._spec.inexact for t in results):
        return None
    specs = tuple(
        t._spec if isinstance(t, Tensor) else None
        for i in op.tensor_positions
        if op.params[i] in op.formulas
        for t in (operands[i] if type(operands[i]) is list else (operands[i],))
    )
    saved = save(op, operands, arguments, needed_names(op, operands, edges), results)
    spec = results[0]._spec if len(results) == 1 else tuple(t._spec for t in results)
    node = op.node_type.make(edges, saved, spec, specs)
    if len(results) > 1:
        differentiable = [n for n, t in enumerate(results) if n not in op.nondifferentiable_outputs and t._spec.inexact]
        if differentiable != [0]:
            return _several(node, len(results))
        node.spec = results[0]._spec
    return node


def _several(node, count: int):
    """The node as one with several outputs, whose gradients the engine collects in a list."""
    node.__class__ = several_type(node.op, count)
    return node


def several_type(op, count: int) -> type:
    """The class of an operation's nodes with so many outputs."""
    kinds = op.__dict__.setdefault("several_types", {})
    kind = kinds.get(count)
    if kind is None:
        base = op.node_type
        members = {"__slots__": (), "outputs": count, "_kind": 1, "__module__": base.__module__}
        kind = kinds[count] = type(base.__name__, (base,), members)
    return kind


def needed_names(op, operands, edges) -> set:
    """The names that the formulas of the inputs with an edge ask for."""
    names: set[str] = set(op.saved_attributes)
    for name, needed in zip(op.tensor_names, needs_of(op, edges, operands)):
        if needed is True or type(needed) is tuple and any(needed):
            names.update(op.formulas[name].names)
    return names


def needs_of(op, edges, operands_or_counts) -> tuple:
    """Per input with a formula, whether its gradient is wanted: a bool, or a tuple of them for a list of tensors."""
    out: list = []
    at = 0
    for name in op.tensor_names:
        kind = op.kinds[op.params.index(name)]
        if kind == "many":
            count = len(edges) - len(op.tensor_names) + 1  # an operation has at most one list of tensors
            out.append(tuple(e is not None for e in edges[at : at + count]))
            at += count
        else:
            out.append(edges[at] is not None)
            at += 1
    return tuple(out)


def save(op, operands, arguments, needed: set, results, copy_self: bool = False) -> tuple:
    saved: list = []
    for name in op.saved_names:
        if name not in needed:
            saved += (None, None, 0)
        else:
            saved += save_one(op, name, operands, arguments, results, copy_self)
    return tuple(saved)


def save_one(op, name: str, operands, arguments, results, copy_self: bool) -> tuple:
    """(value, version counter, version) of what a formula calls `name`."""
    if name in op.params:
        i = op.params.index(name)
        value = operands[i]
        if isinstance(value, Tensor):
            if op.stand_in is not None:
                return op.stand_in(*arguments[1:]), None, 0
            if copy_self and i == 0:
                return arguments[i].copy(), None, 0
            counter = value._counter
            if counter is None and not state.inference:
                raise RuntimeError(
                    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
                    "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and "
                    "use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
                )
            return arguments[i], counter, counter[0] if counter is not None else 0
        argument = arguments[i]
        return tuple(argument) if type(argument) is list else argument, None, 0
    if name.startswith("result"):
        t = results[int(name[6:] or 0)]
        return t._array, t._counter, t._counter[0]
    for suffix, read in _FACTS.items():
        if name.endswith(suffix) and (base := name[: -len(suffix)]) in op.params:
            value = arguments[op.params.index(base)]
            return ([read(v) for v in value] if type(value) is list else read(value)), None, 0
    raise TypeError(f"a formula of {op.name} asks for {name}, which is no input, attribute or result")


_FACTS = {"_shape": lambda a: a.shape, "_dtype": lambda a: a.dtype, "_shapes": lambda a: a.shape}


# --- writing into an existing tensor ---


def apply_inplace(op, values):
    """Run an operation and write its result into its first operand."""
    operands = unwrap(op, values, inplace=True)
    target = operands[0]
    _must_be_tensor(op, target, "self", 0)
    if target._counter is None:
        check_writable(target)
    edges = edges_inplace(op, operands)
    if op.check is not None:
        op.check(operands)
    check_writable(target, expanded=op.views)
    if op.promote:
        check_overlap(target, operands)
    if op.views:
        return reshape_inplace(op, operands, edges)
    try:
        out, arguments = compute(op, operands)
    except Exception:
        if op.promote:
            check_promoted(op, operands, target)
        raise
    check_result(target, out.shape, spec_of(out).dtype)
    node = None
    if edges is not None and target._spec.inexact:
        node = make_inplace_node(op, operands, arguments, edges, target)
    np.copyto(target._array, out, casting="unsafe")
    bump(target)
    if node is not None:
        rebase_inplace(op, node, target)
    elif edges is None and op.formulas == {} and state.grad_enabled and edge_of(target) is not None:
        rebase_history(target, None)
    return target


def edges_inplace(op, operands):
    """The edges for an operation that changes its first operand; RuntimeError where autograd cannot follow the change."""
    if not state.grad_enabled or state.inference:
        return None
    for i in op.tensor_positions:
        value = operands[i]
        for t in value if type(value) is list else (value,):
            if isinstance(t, Tensor) and t.requires_grad:
                check_inplace(operands[0])
                return edges_of(op, operands)
    return None


def make_inplace_node(op, operands, arguments, edges, target):
    """The node of an in-place operation, before the target is written: what it saves of the operands has the version of now."""
    needed = needed_names(op, operands, edges)
    saved = save(op, operands, arguments, needed, [target], copy_self=True)
    specs = tuple(
        t._spec if isinstance(t, Tensor) else None
        for i in op.tensor_positions
        if op.params[i] in op.formulas
        for t in (operands[i] if type(operands[i]) is list else (operands[i],))
    )
    return op.node_type.make(edges, saved, target._spec, specs)


def rebase_inplace(op, node, target) -> None:
    """Make the node the history of the target, which was written since; if it saves the result, that is the new version."""
    if "result" in op.saved_names:
        at = 3 * op.saved_names.index("result") + 2
        if node.saved[at - 1] is not None:
            node.saved = (*node.saved[:at], target._counter[0], *node.saved[at + 1 :])
    rebase_history(target, node)


def check_result(target, shape: tuple, dtype) -> None:
    """RuntimeError where a result of this shape and dtype may not be written into the tensor."""
    if shape != target._spec.shape:
        together = broadcast_shapes(target._spec.shape, shape)
        if together != target._spec.shape:
            raise RuntimeError(
                f"output with shape {list(target._spec.shape)} doesn't match the broadcast shape {list(together)}"
            )
    check_castable(target, dtype)


def check_promoted(op, operands, target) -> None:
    """What `check_result` says of a result that the kernel refused to compute."""
    promoted = [o for i, o in enumerate(operands) if op.params[i] in op.promote and o is not None]
    shape = target._spec.shape
    for o in promoted:
        if isinstance(o, Tensor):
            shape = broadcast_shapes(shape, o._spec.shape)
    check_result(target, shape, bool_ if op.result_kind == "bool" else promotion(op, promoted)[0])


def reshape_inplace(op, operands, edges):
    """An in-place change of shape and strides (squeeze_, t_, unsqueeze_, transpose_): no memory is written."""
    target = operands[0]
    out, arguments = compute(op, operands)
    node = make_inplace_node(op, operands, arguments, edges, target) if edges is not None else None
    target._array = out
    target._spec = spec_of(out)
    bump(target)
    if node is not None:
        node.spec = target._spec
        old, target._edge = target._edge, node
        if target._view is not None:
            target._view.version = target._counter[0]
        if retained(target, old):
            move_retained(target, old, node)
    return target


def check_castable(out, dtype) -> None:
    if not can_cast(dtype, out._spec.dtype):
        raise RuntimeError(
            f"result type {dtype.scalar_name} can't be cast to the desired output type {out._spec.dtype.scalar_name}"
        )
