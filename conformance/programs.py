"""Random programs of operations, views, in-place changes and backward passes, run by two libraries step by step.

A program is a list of steps (number, name, mode, operands, parameters), plain data that does not depend on a library: a
step works on the results of earlier steps, and one whose operands are not there is passed over. So any part of a program
is a program, and one that shows a difference can be shrunk by leaving steps out.
"""

import random
import warnings

import numpy as np

__all__ = ["differences", "drawn", "shrunk", "source"]

SHAPES = ((2, 3), (3, 2), (2, 2), (3,), (6,), (), (2, 1, 3), (1, 3), (4, 3))
STEPS: dict = {}


def step(weight=1.0, operands=1, kind="any"):
    """Declare a step: a function (namespace, state, *operands, *parameters) with a generator of parameters beside it."""

    def declare(function):
        STEPS[function.__name__] = (weight, operands, kind, function)
        return function

    return declare


class State:
    """What a running program has beside its tensors."""

    def __init__(self):
        self.log = []  # what the hooks saw
        self.handles = []
        self.births = {}  # the versions of the tensors when they were made: how they came to be is not compared


# --- tensors from nothing ---


def values(shape, seed, complex_too=False):
    rng = np.random.default_rng(seed)
    out = rng.uniform(0.2, 1.5, shape) * rng.choice([-1, 1], shape)
    return out + 1j * rng.uniform(-1, 1, shape) if complex_too else out


def parameters(name, rng, tensors) -> tuple:
    """Parameters for a step with these operands (of the library that draws)."""
    t = tensors[0] if tensors else None
    ndim = t.dim() if t is not None else 0
    dim = rng.randrange(-ndim, ndim) if ndim else 0
    size = t.shape[dim] if ndim else 1
    if name == "leaf":
        return rng.choice(SHAPES), rng.randrange(1000), rng.random() < 0.7, rng.random() < 0.12
    if name in ("unary", "unary_"):
        return (rng.choice(UNARY if name == "unary" else UNARY_),)
    if name in ("binary", "binary_"):
        return (rng.choice(BINARY if name == "binary" else BINARY_),)
    if name in ("number", "number_"):
        return rng.choice(NUMBER if name == "number" else NUMBER_), rng.choice((2, -0.5, 3.0, 1))
    if name in ("reduce", "unbind"):
        return (rng.choice((dim, dim, None)) if name == "reduce" else dim,)
    if name in ("item", "set_number", "set_tensor", "iadd_item"):
        return (index(rng, t), rng.choice((0.5, 2.0)))
    if name == "mask_set":
        return (rng.randrange(1000), rng.choice((0.5, None)))
    if name in ("select", "unsqueeze", "unsqueeze_", "squeeze", "squeeze_"):
        return dim, rng.randrange(max(size, 1))
    if name == "narrow":
        start = rng.randrange(size + 1)
        return dim, start, rng.randrange(size - start + 1)
    if name in ("transpose", "transpose_", "diagonal"):
        return dim, rng.randrange(-ndim, ndim) if ndim else 0
    if name == "expand":
        return (tuple([rng.choice((1, 2))] + [n if n != 1 else rng.choice((1, 3)) for n in t.shape]),)
    if name in ("view", "reshape"):
        n = t.numel()
        return (
            rng.choice(
                [s for s in ((n,), (1, n), (-1, 2), (2, -1), (3, -1)) if all(abs(k) in (1, n) or n % k == 0 for k in s)]
            ),
        )
    if name == "as_strided":
        return (
            *rng.choice((((2,), (1,)), ((2,), (2,)), ((2, 2), (2, 1)), ((2, 2), (1, 3)), ((2, 2), (3, 1)), ((), ()))),
            rng.randrange(2),
        )
    if name in ("split", "chunk"):
        return rng.choice((1, 2)), dim
    if name == "unfold":
        return dim, min(2, max(size, 1)), 2
    if name in ("index_add_", "take_rows"):
        return (tuple(rng.randrange(max(t.shape[0], 1)) for _ in range(2)) if ndim else (0, 0),)
    if name == "backward":
        return rng.random() < 0.6, rng.random() < 0.2, rng.randrange(100)
    if name == "grad":
        return rng.random() < 0.6, rng.random() < 0.5, rng.randrange(100)
    if name == "hook":
        return (rng.choice(("look", "double", "none_then", "change")),)
    if name == "requires":
        return (rng.random() < 0.7,)
    return ()


def index(rng, t):
    out = []
    for n in t.shape:
        kind = rng.random()
        if kind < 0.35:
            out.append(rng.randrange(n) if n else slice(None))
        elif kind < 0.6:
            out.append(slice(rng.choice((None, 1)), None, rng.choice((None, 2))))
        elif kind < 0.7:
            out.append(slice(None))
        elif kind < 0.8:
            return (*out, Ellipsis)
        else:
            break
    return tuple(out)


@step(1.0, 0)
def leaf(T, s, shape, seed, grad, complex_too):
    return made(T, values(shape, seed, complex_too), T.complex128 if complex_too else T.float64).requires_grad_(grad)


def made(T, array, dtype):
    """A tensor that is no view."""
    return T.tensor(array.tolist(), dtype=dtype).reshape(array.shape).clone()


# --- operations ---

UNARY = "sin tanh neg clone sigmoid square abs exp contiguous".split()
UNARY_ = "sin_ tanh_ neg_ sigmoid_ zero_ square_ abs_ cos_".split()
BINARY = "add sub mul mul maximum atan2 div".split()
BINARY_ = "add_ sub_ mul_ mul_ copy_ div_".split()
NUMBER = "add sub mul div pow".split()
NUMBER_ = "add_ sub_ mul_ div_ fill_ pow_".split()


@step(2.0)
def unary(T, s, x, name):
    return getattr(x, name)()


@step(2.0, 2)
def binary(T, s, x, y, name):
    return getattr(x, name)(y)


@step(1.0)
def number(T, s, x, name, n):
    return getattr(x, name)(n)


@step(0.5)
def reduce(T, s, x, dim):
    return x.sum() if dim is None else x.sum(dim)


@step(0.3, 2)
def mm(T, s, x, y):
    return T.mm(x, y)


@step(0.3, 2)
def cat(T, s, x, y):
    return T.cat([x, y])


@step(0.3, 2)
def stack(T, s, x, y):
    return None if x.is_inference() or y.is_inference() else T.stack([x, y])  # PyTorch gives a view of what nobody sees


@step(0.3, 3)
def where(T, s, c, x, y):
    return T.where(c.detach().real > 0, x, y)


@step(0.4)
def take_rows(T, s, x, rows):
    return x[list(rows)]


# --- views ---


@step(2.0)
def item(T, s, x, at, _):
    return x[at]


@step(0.6)
def select(T, s, x, dim, at):
    return x.select(dim, at)


@step(0.6)
def narrow(T, s, x, dim, start, length):
    return x.narrow(dim, start, length)


@step(0.6)
def transpose(T, s, x, a, b):
    return x.transpose(a, b)


@step(0.4)
def t(T, s, x):
    return x.t()


@step(0.4)
def unsqueeze(T, s, x, dim, _):
    return x.unsqueeze(dim)


@step(0.4)
def squeeze(T, s, x, dim, _):
    return x.squeeze(dim)


@step(0.5)
def expand(T, s, x, shape):
    return x.expand(shape)


@step(0.8)
def view(T, s, x, shape):
    return x.view(shape)


@step(0.4)
def reshape(T, s, x, shape):
    return x.reshape(shape)


@step(0.4)
def diagonal(T, s, x, a, b):
    return x.diagonal(0, a, b)


@step(0.3)
def unfold(T, s, x, dim, size, by):
    return x.unfold(dim, size, by)


@step(0.3)
def as_strided(T, s, x, shape, stride, offset):
    if not x.numel():
        return None  # the offset of nothing
    return x.as_strided(shape, stride, x.storage_offset() + offset)


@step(0.4)
def unbind(T, s, x, dim):
    return x.unbind(dim)


@step(0.4)
def split(T, s, x, size, dim):
    return x.split(size, dim)


@step(0.2)
def chunk(T, s, x, n, dim):
    return x.chunk(n, dim)


@step(0.5)
def detach(T, s, x):
    return None if x.is_inference() else x.detach()


@step(0.3)
def data(T, s, x):
    return None if x.is_inference() else x.data


@step(0.3)
def real(T, s, x):
    return x.real


@step(0.3)
def imag(T, s, x):
    return x.imag


@step(0.3)
def view_as_real(T, s, x):
    return T.view_as_real(x)


@step(0.2)
def view_as_complex(T, s, x):
    return T.view_as_complex(x)


# --- in-place changes ---


@step(1.5)
def unary_(T, s, x, name):
    return getattr(x, name)()


@step(2.0, 2)
def binary_(T, s, x, y, name):
    return getattr(x, name)(y)


@step(1.5)
def number_(T, s, x, name, n):
    return getattr(x, name)(n)


@step(1.0)
def set_number(T, s, x, at, n):
    x[at] = n


@step(1.5, 2)
def set_tensor(T, s, x, y, at, _):
    x[at] = y


@step(0.6, 2)
def iadd_item(T, s, x, y, at, _):
    x[at] += y


@step(0.5)
def mask_set(T, s, x, seed, n):
    mask = made(T, values(tuple(x.shape), seed) > 0, T.bool)
    x[mask] = x[mask] * 2 if n is None else n


@step(0.4, 2)
def masked_fill_(T, s, x, y):
    return x.masked_fill_(x.detach().real > 0.3, y)


@step(0.3, 2)
def index_add_(T, s, x, y, rows):
    return x.index_add_(0, T.tensor(rows), x.detach()[[0] * len(rows)] * y.sum())


@step(0.2, 3)
def addcmul_(T, s, x, y, z):
    return x.addcmul_(y, z)


@step(0.2, 2)
def lerp_(T, s, x, y):
    return x.lerp_(y, 0.3)


@step(0.2)
def transpose_(T, s, x, a, b):
    return x.transpose_(a, b)


@step(0.2)
def t_(T, s, x):
    return x.t_()


@step(0.2)
def unsqueeze_(T, s, x, dim, _):
    return x.unsqueeze_(dim)


@step(0.2)
def squeeze_(T, s, x, dim, _):
    return x.squeeze_(dim)


@step(0.2)
def detach_(T, s, x):
    return x.detach_()


@step(0.2)
def requires(T, s, x, value):
    return x.requires_grad_(value)


# --- autograd ---


def cotangent(T, x, seed):
    return made(T, values(tuple(x.shape), seed, x.is_complex()), x.dtype)


@step(1.5)
def backward(T, s, x, retain, create, seed):
    x.backward(cotangent(T, x, seed), retain_graph=retain or create, create_graph=create)


@step(1.2, 2)
def grad(T, s, x, y, create, retain, seed):
    found = T.autograd.grad(
        x, y, cotangent(T, x, seed), retain_graph=retain or create, create_graph=create, allow_unused=True
    )[0]
    return None if found is None else found.clone()  # whether it is a view is nobody's business


@step(0.6)
def retain_grad(T, s, x):
    x.retain_grad()


@step(0.6)
def grad_of(T, s, x):
    return x.grad


@step(0.2)
def clear_grad(T, s, x):
    x.grad = None


@step(0.6)
def hook(T, s, x, what):
    if x._is_view() and x.requires_grad and x.grad_fn is None:
        return  # made without recording: PyTorch crashes
    number = len(s.handles)

    def run(g):
        if g is None:  # PyTorch asks also where no gradient arrives, if another output of the node got one
            return None
        s.log.append((number, g.detach().clone()))
        if what == "double":
            return g * 2
        if what == "change":
            return g.clone().mul_(3)
        return None

    s.handles.append(x.register_hook(run))


@step(0.15)
def remove_hook(T, s, x):
    if s.handles:
        s.handles[0].remove()


MODES = (None,) * 14 + ("no_grad", "no_grad", "enable_grad", "inference_mode")


def drawn(T, seed, length=None) -> list:
    """A program, drawn while the library `T` runs it so that most of its steps make sense."""
    rng = random.Random(seed)
    inference = rng.random() < 0.15
    names = list(STEPS)
    weights = [STEPS[n][0] for n in names]
    program = [(i, "leaf", None, (), (SHAPES[i], rng.randrange(1000), True, False)) for i in range(2)]
    tensors, state = {}, State()
    for s in program:
        run_step(T, state, tensors, s)
    for number in range(len(program), length or rng.randrange(8, 32)):
        name = rng.choices(names, weights)[0]
        keys = [k for k in sorted(tensors) if tensors[k].numel() < 60][-8:]
        chosen = tuple(keys[-1 - min(int(rng.expovariate(0.35)), len(keys) - 1)] for _ in range(STEPS[name][1]))
        mode = rng.choice(MODES)
        if mode == "inference_mode" and not inference:
            mode = "no_grad"
        if name in ("backward", "grad") and mode == "inference_mode":
            mode = None  # gradients that are inference tensors cannot be added to
        if name in ("leaf", "detach_", "requires") and mode == "inference_mode":
            mode = None
        if name in ("t_", "transpose_", "squeeze_", "unsqueeze_"):  # a leaf whose shape changes is nobody's business
            mode = None
        try:
            given = parameters(name, rng, [tensors[k] for k in chosen])
        except Exception:  # an operand for which the step makes no sense
            continue
        new = (number, name, mode, chosen, given)
        program.append(new)
        run_step(T, state, tensors, new)
    return program


def run_step(T, state, tensors: dict, step):
    """Run one step; returns the text of the error, None if it was passed over or went well."""
    number, name, mode, operands, given = step
    if any(k not in tensors for k in operands):
        return None
    if (name.endswith("_") or name.startswith(("set_", "iadd"))) and operands:
        if any(crossing(tensors[operands[0]], tensors[k]) for k in operands[1:]):
            return None
    try:
        with getattr(T, mode)() if mode else Nothing(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = STEPS[name][3](T, state, *[tensors[k] for k in operands], *given)
    except Exception as error:
        return type(error).__name__ + ": " + str(error).split("\n")[0]
    if isinstance(found, (tuple, list)):
        for i, f in enumerate(found):
            tensors[number, i] = f
    elif found is not None:
        tensors[number, 0] = found
    for key in [(number, i) for i in range(len(found))] if isinstance(found, (tuple, list)) else [(number, 0)]:
        if key in tensors and not tensors[key].is_inference():
            state.births[key] = tensors[key]._version
    return None


def crossing(target, other) -> bool:
    """Whether writing to a tensor may change what is read of another: PyTorch leaves open what comes of it."""
    if target is other or target.untyped_storage().data_ptr() != other.untyped_storage().data_ptr():
        return False
    return True


class Nothing:
    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return None


# --- looking ---


def strides(x) -> tuple:
    return tuple(s for s, n in zip(x.stride(), x.shape) if n > 1) if x.numel() else ()


def facts(x, born, depth) -> dict:
    """What can be seen of a tensor, but for its values."""

    def ask(question):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return question()
        except Exception as error:
            return type(error).__name__ + ": " + str(error)[:26]

    return {
        "shape": tuple(x.shape),
        "dtype": str(x.dtype),
        "requires_grad": x.requires_grad,
        "leaf": ask(lambda: x.is_leaf),
        "node": ask(lambda: graph(x, depth)),
        "version": ask(lambda: x._version - born),
        "view": x._is_view(),
        "retains": ask(lambda: not x.is_leaf and x.retains_grad),
        "output": ask(lambda: x.output_nr),
        "inference": x.is_inference(),
    }


def graph(x, depth):
    def of(node, number, depth):
        if node is None:
            return None
        if depth <= 0:
            return (node.name(), number) if depth == 0 else None
        return node.name(), number, [of(n, k, depth - 1) for n, k in node.next_functions]

    return None if x.grad_fn is None else of(x.grad_fn, x.output_nr, depth)


def array(x):
    x = x.detach()
    x = x.resolve_conj().resolve_neg()
    return np.array(x.tolist(), dtype=complex).reshape(tuple(x.shape))


def close(a, b) -> bool:
    if a.shape != b.shape:
        return False
    scale = np.abs(a[np.isfinite(a)]).max(initial=1.0)
    with np.errstate(all="ignore"):
        return all(
            np.allclose(p, q, rtol=1e-7, atol=1e-9 * scale, equal_nan=True)
            for p, q in ((a.real, b.real), (a.imag, b.imag))
        )


def compared(first, second, depth: int):
    """The differences between the states of two libraries; graphs are compared to this depth."""
    (tensors, state), (others, state_too) = first, second
    if tensors.keys() != others.keys():
        yield f"tensors {sorted(tensors.keys() ^ others.keys())}"
        return
    for key, x in tensors.items():
        y = others[key]
        if not close(array(x), array(y)):
            yield f"values of {key}: {array(x).tolist()} | {array(y).tolist()}"
        a, b = facts(x, state.births.get(key, 0), depth), facts(y, state_too.births.get(key, 0), depth)
        for name in a:
            if a[name] != b[name] and "INTERNAL ASSERT" not in str(a):  # by PyTorch's own account
                yield f"{name} of {key}: {a[name]} | {b[name]}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            g, h = x.grad, y.grad
        if (g is None) != (h is None):
            yield f"grad of {key}: {g} | {h}"
        elif g is not None and g.shape == x.shape and not close(array(g), array(h)):
            yield f"grad of {key}: {array(g).tolist()} | {array(h).tolist()}"
    if len(state.log) != len(state_too.log):
        yield f"hooks ran {[n for n, _ in state.log]} | {[n for n, _ in state_too.log]}"
    for (n, g), (m, h) in zip(state.log, state_too.log):
        if n != m or not close(array(g), array(h)):
            yield f"hook {n} saw {array(g).tolist()} | hook {m} saw {array(h).tolist()}"


# What PyTorch refuses depending on how results lie in memory, which is NumPy's business in chainrule.
UNSTEADY = (
    "INTERNAL ASSERT",
    "view size is not compatible",
    "last dimension with stride 1",
    "refer to a single memory location",
    "refers to a single memory location",
)


def differences(first, second, program, look_often=False, strict=False) -> list:
    """What two libraries do differently in a program; empty where they agree."""
    a, b = ({}, State()), ({}, State())
    # How the nodes of a recorded backward pass are called is each library's own business.
    depth = 0 if any(s[1] == "grad" and s[4][0] or s[1] == "backward" and s[4][1] for s in program) else 4
    for step in program:
        errors = [run_step(T, where[1], where[0], step) for T, where in ((first, a), (second, b))]
        if errors[0] and "Inplace update to inference tensor" in errors[0]:
            return []  # PyTorch has changed the tensor before it says so
        if None in errors and any(t in str(errors) for t in UNSTEADY):
            return []
        if errors[0] and not errors[1] and "a leaf Variable" in errors[0] and b[0][step[3][0]]._is_view():
            return []  # PyTorch refuses to change a view of what was changed before, unless its grad_fn was looked at
        if errors[0] != errors[1] and (strict or None in errors):
            return [f"step {step[0]} {step[1]}: {errors[0]} | {errors[1]}"]
        if step[1] == "backward" and errors[0]:
            return []  # PyTorch has filled the leaves that were reached before the error, chainrule fills all or none
        if any(strides(x) != strides(b[0][k]) for k, x in a[0].items() if k[0] == step[0] and k in b[0]):
            return []  # how results lie in memory follows the order of each library's kernels
        if look_often and (found := list(compared(a, b, depth))):
            return [f"after step {step[0]} {step[1]}: {f}" for f in found]
    return list(compared(a, b, depth))


def shrunk(program, fails) -> list:
    """The program without the steps that are not needed for `fails(program)` to hold."""
    size = max(len(program) // 2, 1)
    while True:
        at = 0
        while at < len(program):
            shorter = program[:at] + program[at + size :]
            if fails(shorter):
                program = shorter
            else:
                at += size
        if size == 1:
            return program
        size //= 2


def source(program) -> str:
    return "\n".join(f"    {s}," for s in program)
