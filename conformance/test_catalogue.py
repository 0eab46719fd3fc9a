"""Every record of the catalogue held against PyTorch: values, gradients, and the name of the node."""

import warnings

import numpy as np
import pytest
import torch

import chainrule
from tests.ops.records import RECORDS
from tests.ops.records.refused import REFUSED

# Where PyTorch refuses, or is wrong, or draws its own: see docs/differences.md.
REFUSES = {"select_scatter", "slice_scatter", "as_strided_scatter"}
WRONG = {"as_strided_scatter", "index_last", "place_last", "clear", "scatter_add", "dist", "getitem"}
ROUGH = {"hardsigmoid": 1e-7, "celu": 1e-6, "celu_inplace": 1e-6}  # PyTorch's constants are those of single precision


def outcome(T, record, complex_too):
    inputs = [T.tensor(a, requires_grad=True) for a in record.arrays(complex_too)]
    found = record.run(T, *inputs)
    results = [r for r in (found if isinstance(found, (tuple, list)) else [found]) if isinstance(r, T.Tensor)]
    roots = [r for r in results if r.requires_grad]
    weights = [T.tensor(np.cos(np.arange(r.numel()) + 1.0).reshape(tuple(r.shape))).to(r.dtype) for r in roots]
    grads = T.autograd.grad(roots, inputs, weights, allow_unused=True)
    return [plain(r) for r in results], [None if g is None else plain(g) for g in grads], roots[0].grad_fn.name()


def plain(t):
    return np.array((t.detach() + 0).tolist()).reshape(tuple(t.shape))  # + 0: zeros that PyTorch has not written down


@pytest.mark.parametrize("record", RECORDS, ids=str)
def test_records(record):
    for complex_too in record.worlds:
        if record.op in WRONG or complex_too and record.op in REFUSES:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs, ours = outcome(torch, record, complex_too), outcome(chainrule, record, complex_too)
        tolerance = ROUGH.get(record.op, 1e-8)
        for a, b in zip(theirs[0], ours[0], strict=True):
            np.testing.assert_allclose(b, a, rtol=tolerance, atol=1e-11)
        for a, b in zip(theirs[1], ours[1], strict=True):
            if a is None or b is None:
                assert (a if b is None else b) is None or not (a if b is None else b).any()
            else:
                np.testing.assert_allclose(b, a, rtol=tolerance, atol=1e-10)
        if record.node is not None and complex_too is record.worlds[0]:
            assert theirs[2] == ours[2] == record.node


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    call, text = REFUSED[name]
    for T in (torch, chainrule):
        found = call(T, T.tensor([1.2, 0.7, 2.5], dtype=T.float64, requires_grad=True))
        with pytest.raises((RuntimeError, NotImplementedError)) as raised:
            found.sum().backward()
        assert str(raised.value) == text
