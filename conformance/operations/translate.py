"""PyTorch's sample inputs as chainrule's: tensors with the same memory layout, dtypes and what else stands in arguments."""

import types

import numpy as np
import torch

import chainrule

__all__ = ["translated", "counterpart", "counterpart_named"]

SKIPPED_DTYPES = {torch.bfloat16, torch.complex32}


class NotTranslatable(Exception):
    """An argument that chainrule has no counterpart for."""


def tensor_of(t):
    """The same tensor in chainrule: values, strides, offset, whether it requires grad."""
    if t.layout is not torch.strided or t.dtype in SKIPPED_DTYPES or t.is_quantized or t.device.type != "cpu":
        raise NotTranslatable(f"{t.layout} {t.dtype}")
    plain = t.detach().resolve_conj().resolve_neg()
    flat = torch.empty(0, dtype=plain.dtype).set_(plain.untyped_storage())
    ours = chainrule.from_numpy(np.array(flat.numpy()))
    ours = ours.as_strided(tuple(plain.shape), plain.stride(), plain.storage_offset()).detach()
    return ours.requires_grad_() if t.requires_grad else ours


def translated(value):
    """An argument, with everything in it, as chainrule takes it."""
    if isinstance(value, torch.Tensor):
        return tensor_of(value)
    if isinstance(value, torch.dtype):
        return getattr(chainrule, str(value).removeprefix("torch."))
    if isinstance(value, torch.device):
        return chainrule.device(str(value))
    if isinstance(value, torch.Size):
        return chainrule.Size(value)
    if isinstance(value, torch.memory_format):
        return getattr(chainrule, str(value).removeprefix("torch."))
    if isinstance(value, torch.layout):
        return getattr(chainrule, str(value).removeprefix("torch."))
    if isinstance(value, slice):
        return slice(*[translated(v) for v in (value.start, value.stop, value.step)])
    if isinstance(value, (list, tuple)):
        made = [translated(v) for v in value]
        return made if isinstance(value, list) else tuple(made)
    if isinstance(value, dict):
        return {k: translated(v) for k, v in value.items()}
    if isinstance(value, types.FunctionType) and value.__module__.startswith("torch.testing"):
        return rebound(value)
    if callable(value) and getattr(torch, getattr(value, "__name__", ""), None) is value:
        return getattr(chainrule, value.__name__)
    if type(value).__module__.startswith("torch"):
        raise NotTranslatable(f"{type(value)}")
    return value


def seeded(function, *args, **kwargs):
    """What PyTorch's test code does around functions that draw random numbers."""
    chainrule.manual_seed(42)
    return function(*args, **kwargs)


def rebound(function):
    """A function of PyTorch's test code with `torch` meaning chainrule in it."""
    names = dict(function.__globals__)
    names["torch"] = chainrule
    names["F"] = chainrule.nn.functional
    if "wrapper_set_seed" in names:
        names["wrapper_set_seed"] = seeded
    closure = function.__closure__
    if closure:
        closure = tuple(types.CellType(_cell(c.cell_contents)) for c in closure)
    made = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _cell(value):
    if isinstance(value, types.FunctionType) and value.__module__.startswith("torch.testing"):
        return rebound(value)
    if callable(value):
        return by_name(getattr(value, "__module__", "") or "", getattr(value, "__name__", "")) or value
    return value


def by_name(module: str, name: str):
    """What chainrule has under the name that something of PyTorch has."""
    for path in (module.removeprefix("torch").strip("."), ""):
        found = chainrule
        for part in [p for p in (*path.split("."), name) if p and not p.startswith("_C")]:
            found = getattr(found, part, None)
            if found is None:
                break
        if found is not None and found is not chainrule:
            return found
    return None


def counterpart(info):
    """chainrule's function for an entry of PyTorch's table of operations; None where there is none."""
    function = info.op
    if isinstance(function, types.FunctionType) and function.__module__.startswith("torch.testing"):
        return rebound(function)
    name = info.name
    if name.startswith("_refs"):
        return None
    found = counterpart_named(name)
    if found is None:
        found = by_name(getattr(function, "__module__", "") or "", getattr(function, "__name__", ""))
    return found


def counterpart_named(name: str):
    """What chainrule has under a full name like "linalg.det": a function or, failing that, a method."""
    found = chainrule
    for part in name.split("."):
        found = getattr(found, part, None)
        if found is None:
            break
    if isinstance(found, chainrule.dtype):
        found = None
    return getattr(chainrule.Tensor, name, None) if found is None else found
