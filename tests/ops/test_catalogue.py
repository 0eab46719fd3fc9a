"""Every differentiable operation, by the records of the catalogue: its derivatives, node, in-place twin and both paths."""

import numpy as np
import pytest

import chainrule as torch
from chainrule.core.modes import lower_flag, raise_flag
from chainrule.core.registry import OPS
from tests.ops.numeric import check
from tests.ops.records import RECORDS
from tests.ops.records.refused import REFUSED

STRIDED = {
    "view",
    "view_as_complex",
    "as_strided",
    "as_strided_vjp",
    "as_strided_vjp_vjp",
}  # strides are their argument
NAMES = {op: name for name, op in OPS.items()}
FIRST = list({r.op: r for r in reversed(RECORDS)}.values())


def tensors(record, complex_too=False):
    return [torch.tensor(a, requires_grad=True) for a in record.arrays(complex_too)]


def results(found) -> list:
    return [r for r in (found if isinstance(found, (tuple, list)) else [found]) if isinstance(r, torch.Tensor)]


def live(found) -> list:
    return [r for r in results(found) if r.requires_grad]


def gradients(found, inputs) -> list:
    roots = live(found)
    weights = [torch.tensor(np.cos(np.arange(r.numel()) + 1).reshape(r.shape)).to(r.dtype) for r in roots]
    return list(torch.autograd.grad(roots, inputs, weights, allow_unused=True)) if roots else []


def operations(found) -> set:
    """The names of all operations in the graph of some tensors."""
    stack, seen = [t.grad_fn for t in live(found)], set()
    while stack:
        node = stack.pop()
        if node is not None and node not in seen:
            seen.add(node)
            stack += [n for n, _ in node.next_functions]
            inner = getattr(node, "inner", None)  # what a change of a view runs
            stack += [] if inner is None else [inner]
    return {NAMES[node.op] for node in seen if node.op is not None}


@pytest.mark.parametrize("record", RECORDS, ids=str)
def test_derivatives(record):
    for complex_too in record.worlds:
        inputs = tensors(record, complex_too)
        found = record.run(torch, *inputs)
        assert record.op in operations(found)
        assert all(type(r._array) is np.ndarray for r in results(found))
        if record.node is not None and complex_too is record.worlds[0]:
            assert live(found)[0].grad_fn.name() == record.node

        def run(*inputs):
            return live(record.run(torch, *inputs))

        if not getattr(record.call, "differentiable", True):
            assert not any(g.numpy().any() for g in gradients(found, inputs))
            continue
        fast = sum(i.numel() for i in inputs) > 8
        assert torch.autograd.gradcheck(run, inputs, fast_mode=fast, check_grad_dtypes=True)
        assert torch.autograd.gradgradcheck(run, inputs, fast_mode=fast, check_grad_dtypes=True)


@pytest.mark.parametrize("record", [r for r in FIRST if getattr(r.call, "differentiable", True)], ids=str)
def test_third_derivatives_and_both_array_worlds(record):
    check(lambda *inputs: live(record.run(torch, *inputs)), *record.arrays(record.worlds[-1]), order=3, tolerance=1e-4)


@pytest.mark.parametrize("record", [r for r in RECORDS if r.inplace(torch)], ids=str)
def test_the_inplace_twin_has_the_same_derivatives(record):
    name = record.inplace(torch)
    inputs, others = tensors(record, record.worlds[0]), tensors(record, record.worlds[0])
    expected = record.run(torch, *inputs)
    args, kwargs = record.filled(torch, [others[0] * 1, *others[1:]])
    if expected.shape != args[0].shape or expected.dtype is not args[0].dtype:
        return
    found = getattr(args[0], name)(*args[1:], **kwargs)
    assert found is args[0]
    assert same(found, expected)
    for a, b in zip(gradients(found, others), gradients(expected, inputs)):
        np.testing.assert_allclose(filled(a, others).numpy(), filled(b, others).numpy(), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("record", [r for r in FIRST if not hasattr(r.call, "drawn") and r.op not in STRIDED], ids=str)
def test_inputs_of_any_layout(record):
    arrays = record.arrays(record.worlds[-1])
    wide = [np.repeat(a, 2, -1)[..., ::2] if a.ndim else a for a in arrays]
    back = [np.array(a.T, order="C").T for a in arrays]
    plain = [torch.tensor(a, requires_grad=True) for a in arrays]
    expected = record.run(torch, *plain)
    wanted = gradients(expected, plain)
    for changed in (wide, back):
        inputs = [torch.from_numpy(np.asarray(a)).requires_grad_() for a in changed]
        found = record.run(torch, *inputs)
        for a, b in zip(results(found), results(expected)):
            np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-12, atol=1e-14)
        for a, b in zip(gradients(found, inputs), wanted):
            assert (a is None) == (b is None)
            if a is not None:
                np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("record", RECORDS, ids=str)
def test_the_fast_path_and_the_general_path_are_the_same(record):
    def seen():
        inputs = tensors(record, record.worlds[-1])
        found = record.run(torch, *inputs)
        names = [r.grad_fn and r.grad_fn.name() for r in results(found)]
        return [*results(found), *gradients(found, inputs)], names, operations(found)

    values, names, ops = seen()
    raise_flag(detour=True)
    try:
        again, names_again, ops_again = seen()
    finally:
        lower_flag(detour=True)
    assert names == names_again and ops == ops_again and len(values) == len(again)
    for a, b in zip(values, again):
        assert (a is None) == (b is None)
        if a is not None:
            assert same(a, b) and a.stride() == b.stride()


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_derivative_says_so(name):
    call, text = REFUSED[name]
    found = call(torch, torch.tensor([1.2, 0.7, 2.5], dtype=torch.float64, requires_grad=True))
    assert NAMES[found.grad_fn.op] == name
    with pytest.raises((RuntimeError, NotImplementedError)) as raised:
        found.sum().backward()
    assert str(raised.value) == text


HALF_ALONE = {"rms_norm_half"}  # for dtypes too coarse for differences; its formulas are those of rms_norm


def test_every_operation_with_a_derivative_is_in_the_catalogue():
    recorded = {r.op for r in RECORDS} | set(REFUSED) | HALF_ALONE
    assert recorded == {name for name, op in OPS.items() if op.formulas}


def same(a, b) -> bool:
    return a.dtype is b.dtype and a.shape == b.shape and a.detach().numpy().tobytes() == b.detach().numpy().tobytes()


def filled(grad, inputs):
    return torch.zeros(()) if grad is None else grad
