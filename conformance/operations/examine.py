"""One entry of PyTorch's table of operations, sample by sample, on both libraries."""

import contextlib
import itertools
import re
import signal
import warnings

import numpy as np
import torch

import chainrule

from .translate import NotTranslatable, counterpart, translated
from .variants import variants_of, with_out

__all__ = ["examine", "DTYPES", "KINDS"]

DTYPES = (torch.float32, torch.float64, torch.complex128, torch.int64, torch.bool)
KINDS = ("forward", "layout", "nodes", "vjp", "second", "errors", "variants")
MOST_SAMPLES = 60
NUMBERS = re.compile(r"[-+.e\d\[\] ]+")
OUTS = ("plain", "empty", "transposed", "other dtype")
SECONDS = 10
VARIANT_DTYPES = (torch.float32, torch.complex128, torch.int64, torch.bool)
RTOL = {torch.float32: 1e-4, torch.complex64: 1e-4, torch.float16: 1e-2}
ATOL = {torch.float32: 1e-4, torch.complex64: 1e-4, torch.float16: 1e-2}


class TimedOut(Exception):
    pass


@contextlib.contextmanager
def time_limit(seconds: int):
    def stop(*_):
        raise TimedOut(f"no answer in {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


class Tally:
    """What agreed of what was tried, and the first differences with their inputs."""

    def __init__(self):
        self.counts = {k: [0, 0] for k in KINDS}
        self.differences: dict[str, list[str]] = {}
        self.causes: dict[tuple, int] = {}

    def add(self, kind: str, difference: str | None, where: str) -> None:
        count = self.counts[kind]
        count[1] += 1
        if difference is None:
            count[0] += 1
        else:
            found = self.differences.setdefault(kind, [])
            cause = (kind, where.split(":")[0] if kind == "variants" else "", NUMBERS.sub("#", difference)[:60])
            self.causes[cause] = self.causes.get(cause, 0) + 1
            if self.causes[cause] <= 2 and len(found) < 12:  # two examples of each cause
                found.append(f"{where}: {difference}")


def tensors_in(value) -> list:
    if isinstance(value, (torch.Tensor, chainrule.Tensor)):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in tensors_in(v)]
    return []


def arrays_of(t):
    t = t.detach()
    if isinstance(t, torch.Tensor):
        t = t.resolve_conj().resolve_neg()
        if t._is_zerotensor():
            t = t.clone()
    return np.asarray(t.numpy())


def difference(theirs, ours) -> str | None:
    """What differs in values, dtypes or shapes of two results; None where nothing does."""
    a, b = tensors_in(theirs), tensors_in(ours)
    if not a and not b:
        same = theirs == ours or theirs != theirs and ours != ours
        return None if same or str(theirs) == str(ours).replace("chainrule", "torch") else f"{theirs!r} != {ours!r}"
    if len(a) != len(b):
        return f"{len(a)} tensors, not {len(b)}"
    for x, y in zip(a, b):
        if str(x.dtype) != str(y.dtype):
            return f"dtype {x.dtype}, not {y.dtype}"
        if tuple(x.shape) != tuple(y.shape):
            return f"shape {tuple(x.shape)}, not {tuple(y.shape)}"
        if x.dtype is torch.bfloat16:
            continue
        p, q = arrays_of(x), arrays_of(y)
        rtol, atol = RTOL.get(x.dtype, 1e-7), ATOL.get(x.dtype, 1e-7)
        with np.errstate(all="ignore"):
            scale = max(1.0, float(np.abs(p[np.isfinite(p)]).max(initial=0))) if p.dtype.kind in "fc" else 1.0
            if not np.allclose(p, q, rtol, atol * scale if p.dtype.kind in "fc" else 0, equal_nan=True):
                return f"values {shortened(p)}, not {shortened(q)}"
    return None


def shortened(array) -> str:
    text = np.array2string(array, threshold=12, precision=5).replace("\n", "")
    return text if len(text) < 160 else text[:160] + "…"


def layout_difference(theirs, ours, their_inputs, our_inputs) -> str | None:
    for x, y in zip(tensors_in(theirs), tensors_in(ours)):
        if x.numel() and [s for n, s in zip(x.shape, x.stride()) if n > 1] != [
            s for n, s in zip(y.shape, y.stride()) if n > 1
        ]:
            return f"strides {x.stride()}, not {y.stride()}"
        shared = [shares(x, t) for t in tensors_in(their_inputs)]
        if x.numel() and shared != [shares(y, t) for t in tensors_in(our_inputs)]:
            return f"shares memory with its inputs: {shared}"
    return None


def shares(a, b) -> bool:
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


def describe(value) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, (list, tuple)):
        return "(" + ", ".join(describe(v) for v in value) + ")"
    if isinstance(value, dict):
        return ", ".join(f"{k}={describe(v)}" for k, v in value.items())
    return repr(value)[:60]


def call(function, sample):
    torch.manual_seed(0)
    chainrule.manual_seed(0)
    with warnings.catch_warnings(), time_limit(SECONDS):
        warnings.simplefilter("ignore")
        return function(sample[0], *sample[1], **sample[2])


def outcome(function, sample) -> tuple:
    try:
        return call(function, sample), None
    except Exception as error:
        return None, error


def first_line(error) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


def examine(info, *, samples: int = MOST_SAMPLES) -> dict:
    """The tally of one entry: counts per kind and the first differences."""
    tally = Tally()
    function = counterpart(info)
    if function is None:
        return {"missing": True, "counts": tally.counts, "differences": {}}
    supported = info.supported_dtypes("cpu")
    for dtype in DTYPES:
        if dtype in supported:
            for where, sample in samples_of(info, dtype, False, samples):
                examine_forward(tally, info, function, where, sample)
    examine_variants(tally, info, function)
    for dtype in (torch.float64, torch.complex128):
        if info.supports_autograd and dtype in supported and dtype in info.supported_backward_dtypes("cpu"):
            for where, sample in samples_of(info, dtype, True, samples // 2):
                examine_gradients(tally, info, function, where, sample)
    examine_errors(tally, info, function)
    return {"missing": False, "counts": tally.counts, "differences": tally.differences}


def samples_of(info, dtype, requires_grad: bool, most: int, reference: bool = True):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        found = [info.sample_inputs("cpu", dtype, requires_grad=requires_grad)]
        if info.reference_inputs_func is not None and not requires_grad and reference:
            found.append(info.reference_inputs("cpu", dtype, requires_grad=False))
        chosen = itertools.chain(
            itertools.islice(iter(found[0]), most), *[itertools.islice(iter(f), most // 3) for f in found[1:]]
        )
        for sample in chosen:
            arguments = (sample.input, sample.args, sample.kwargs)
            shown = ", ".join(
                x for x in (describe(sample.input), *map(describe, sample.args), describe(sample.kwargs)) if x
            )
            yield shown, arguments


def examine_forward(tally, info, function, where, sample) -> None:
    try:
        ours = translated(sample)
    except (NotTranslatable, ValueError):
        return
    theirs_result, their_error = outcome(info.op, sample)
    our_result, our_error = outcome(function, ours)
    if their_error is not None:
        return
    if our_error is not None:
        tally.add("forward", first_line(our_error), where)
        return
    try:
        found = difference(settled(info, theirs_result), settled(info, our_result))
    except Exception as error:
        found = first_line(error)
    tally.add("forward", found, where)
    if found is None:
        tally.add("layout", layout_difference(theirs_result, our_result, sample, ours), where)


def examine_variants(tally, info, function) -> None:
    """Method, in-place form, operator, second names and `out=`, each on a few samples."""
    supported = info.supported_dtypes("cpu")
    variants = list(variants_of(info))
    for dtype in [d for d in VARIANT_DTYPES if d in supported]:
        for where, sample in samples_of(info, dtype, False, 6, reference=False):
            for word, theirs, ours, in_place in variants:
                if not in_place or isinstance(sample[0], torch.Tensor):
                    examine_variant(tally, info, f"{word}: {where}", theirs, ours, sample)
            if info.supports_out:
                result, error = outcome(info.op, sample)
                if error is None and tensors_in(result):
                    for how in OUTS:
                        theirs = with_out(torch, info.op, result, how)
                        ours = with_out(chainrule, function, translated_dtypes(result), how)
                        examine_variant(tally, info, f"out {how}: {where}", theirs, ours, sample)
    if torch.float64 in supported and info.supports_autograd:
        for where, sample in samples_of(info, torch.float64, True, 4):
            for word, theirs, ours, in_place in variants:
                if in_place and isinstance(sample[0], torch.Tensor):
                    examine_in_place_gradient(tally, f"gradient of {word}: {where}", theirs, ours, sample)


def translated_dtypes(result):
    """Tensors of chainrule with the shapes and dtypes of results of PyTorch."""
    if isinstance(result, (tuple, list)):
        return tuple(translated_dtypes(r) for r in result)
    return chainrule.empty(tuple(result.shape), dtype=getattr(chainrule, str(result.dtype).removeprefix("torch.")))


def examine_variant(tally, info, where, theirs, ours, sample) -> None:
    try:
        our_sample = translated(sample)
        sample = copied(sample)
    except (NotTranslatable, ValueError):
        return
    their_result, their_error = outcome(theirs, sample)
    our_result, our_error = outcome(ours, our_sample)
    if their_error is not None:
        expected, got = first_line(their_error), "no error" if our_error is None else first_line(our_error)
        same = expected == got or "TypeError" in expected and "TypeError" in got
        tally.add("variants", None if same else f"expected {expected!r}, got {got!r}", where)
        return
    if our_error is not None:
        tally.add("variants", first_line(our_error), where)
        return
    try:
        found = difference(settled(info, their_result), settled(info, our_result))
        found = found or difference(sample[0], our_sample[0]) and "what is left of the input differs"
        found = found or (
            (their_result is sample[0]) != (our_result is our_sample[0]) and "whether it returns its input"
        )
    except Exception as error:
        found = first_line(error)
    tally.add("variants", found or None, where)


def copied(value):
    """Arguments whose tensors may be written to."""
    if isinstance(value, torch.Tensor):
        value = value.detach().resolve_conj().resolve_neg()
        flat = torch.empty(0, dtype=value.dtype).set_(value.untyped_storage()).clone()
        return flat.as_strided(value.shape, value.stride(), value.storage_offset())
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return type(value)(copied(v) for v in value)
    return value


def examine_in_place_gradient(tally, where, theirs, ours, sample) -> None:
    found = []
    for T, function, arguments in ((torch, theirs, sample), (chainrule, ours, sample)):
        try:
            first, args, kwargs = arguments if T is torch else translated(arguments)
        except (NotTranslatable, ValueError):
            return
        try:
            result = call(function, (first.clone(), args, kwargs))
            roots, leaves = graph(result, (first, args, kwargs))
            found.append((result.grad_fn and result.grad_fn.name(), first_order(T, roots, leaves, False)))
        except Exception as error:
            found.append(first_line(error))
    a, b = found
    if "inplace version of" in str(a):  # PyTorch has no rule; chainrule may have one
        return
    if isinstance(a, str) or isinstance(b, str):
        both_types = "TypeError" in str(a) and "TypeError" in str(b)
        tally.add("variants", None if a == b or both_types else f"{shown(a)}, not {shown(b)}", where)
        return
    wrong = f"{a[0]}, not {b[0]}" if a[0] != b[0] else difference(nonzero(a[1] or ()), nonzero(b[1] or ()))
    tally.add("variants", wrong, where)


def shown(found) -> str:
    return found if isinstance(found, str) else "no error"


def examine_gradients(tally, info, function, where, sample) -> None:
    try:
        ours = translated(sample)
    except (NotTranslatable, ValueError):
        return
    try:
        their_roots, their_leaves = graph(settled(info, call(info.op, sample)), sample)
        their_grads = first_order(torch, their_roots, their_leaves, True)
    except Exception:
        return
    if their_grads is None:
        return
    try:
        our_roots, our_leaves = graph(settled(info, call(function, ours)), ours)
        our_grads = first_order(chainrule, our_roots, our_leaves, True)
    except Exception as error:
        tally.add("vjp", first_line(error), where)
        return
    names = [[t.grad_fn.name() if t.grad_fn is not None else None for t in roots] for roots in (their_roots, our_roots)]
    tally.add("nodes", None if names[0] == names[1] else f"{names[0]}, not {names[1]}", where)
    found = difference(nonzero(their_grads), nonzero(our_grads or ()))
    tally.add("vjp", found, where)
    if found is not None or not info.supports_gradgrad:
        return
    try:
        theirs = second_order(torch, their_grads, their_leaves)
    except Exception:
        return
    if theirs is None:
        return
    try:
        ours_second = second_order(chainrule, our_grads, our_leaves)
        found = difference(nonzero(theirs), nonzero(ours_second or ()))
    except Exception as error:
        found = first_line(error)
    tally.add("second", found, where)


# Which of several vectors, orders or signs comes out is an accident of the library underneath: what does not depend on it
# is compared.
UNSETTLED = {
    "linalg.eig": lambda r: (r[0].abs().sort()[0], r[1].abs().sort(-1)[0]),
    "linalg.eigvals": lambda r: r.abs().sort()[0],
    "linalg.eigh": lambda r: (r[0], r[1].abs()),
    "linalg.svd": lambda r: (r[0].abs()[..., : r[1].shape[-1]], r[1], r[2].abs()[..., : r[1].shape[-1], :]),
    "svd": lambda r: (r[0].abs()[..., : r[1].shape[-1]], r[1], r[2].abs()[..., : r[1].shape[-1]]),
    "linalg.qr": lambda r: [t.abs() for t in r],
    "qr": lambda r: [t.abs() for t in r],
    "geqrf": lambda r: [t.abs() for t in r],
    "topk": lambda r: r[0],
    "kthvalue": lambda r: r[0],
    "mode": lambda r: r[0],
    "svd_lowrank": lambda r: r[0] @ r[1].diag_embed() @ r[2].mT,
    "pca_lowrank": lambda r: r[0] @ r[1].diag_embed() @ r[2].mT,
}


def settled(info, result):
    return UNSETTLED.get(info.name, lambda r: r)(result)


def nonzero(grads) -> list:
    """Gradients that say something: None and zeros mean the same."""
    return [g for g in grads if g is not None and bool((g != 0).any())]


def graph(result, sample) -> tuple:
    roots = [t for t in tensors_in(result) if t.requires_grad]
    leaves = [t for t in tensors_in(list(sample)) if t.requires_grad and t.is_leaf]
    return roots, leaves


def weights(T, t, seed: int):
    """A fixed cotangent for a tensor."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(tuple(t.shape))
    if t.is_complex():
        values = values + 1j * rng.standard_normal(tuple(t.shape))
    return T.tensor(values.tolist(), dtype=t.dtype).reshape(tuple(t.shape))


def first_order(T, roots, leaves, create_graph: bool):
    if not roots or not leaves:
        return None
    with warnings.catch_warnings(), time_limit(SECONDS):
        warnings.simplefilter("ignore")
        cotangents = [weights(T, r, i) for i, r in enumerate(roots)]
        return T.autograd.grad(roots, leaves, cotangents, create_graph=create_graph, allow_unused=True)


def second_order(T, grads, leaves):
    roots = [g for g in grads if g is not None and g.requires_grad]
    if not roots:
        return None
    with warnings.catch_warnings(), time_limit(SECONDS):
        warnings.simplefilter("ignore")
        return T.autograd.grad(roots, leaves, [weights(T, r, 100 + i) for i, r in enumerate(roots)], allow_unused=True)


def examine_errors(tally, info, function) -> None:
    if info.error_inputs_func is None:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = list(itertools.islice(info.error_inputs("cpu"), 60))
    except Exception:
        return
    for item in found:
        sample = (item.sample_input.input, item.sample_input.args, item.sample_input.kwargs)
        try:
            ours = translated(sample)
        except (NotTranslatable, ValueError):
            continue
        where = ", ".join(map(describe, sample))
        _, their_error = outcome(info.op, sample)
        if their_error is None:
            continue
        _, our_error = outcome(function, ours)
        expected = first_line(their_error)
        got = "no error" if our_error is None else first_line(our_error)
        tally.add("errors", None if expected == got else f"expected {expected!r}, got {got!r}", where)
