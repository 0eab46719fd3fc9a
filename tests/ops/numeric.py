"""Derivatives against central differences along a random direction, to any order, in double precision."""

import numpy as np

import chainrule as torch

STEP = 1e-6


def check(function, *arrays, order=2, seed=0, tolerance=1e-5):
    """Hold the derivatives of `function` (of tensors, one or several outputs) at these arrays against differences.

    Of complex numbers L = Re(sum(conj(weight) * output)), whose gradient g in PyTorch's convention gives the derivative
    Re(sum(conj(g) * d)) along d.
    """
    rng = np.random.default_rng(seed)
    arrays = [np.array(a, np.result_type(np.asarray(a).dtype, np.float64)) for a in arrays]
    weights = [draw(rng, o.numpy()) for o in outputs(function, arrays)]
    directions = [draw(rng, a) for a in arrays]

    def value(shift):
        found = outputs(function, [a + shift * d for a, d in zip(arrays, directions)])
        return sum(np.sum(np.conj(w) * o.numpy()).real for w, o in zip(weights, found))

    slope = (value(STEP) - value(-STEP)) / (2 * STEP)
    leaves = [torch.tensor(a, requires_grad=True) for a in arrays]
    grads = gradients(function, leaves, weights)
    found = sum(np.sum(np.conj(g.detach().numpy()) * d).real for g, d in zip(grads, directions) if g is not None)
    scale = max(1.0, abs(slope))
    assert abs(found - slope) <= tolerance * scale, f"derivative {found}, difference {slope}"
    if order > 1 and any(g is not None and g.requires_grad for g in grads):
        check(
            lambda *x: [g for g in gradients(function, x, weights) if g is not None],
            *arrays,
            order=order - 1,
            seed=seed + 1,
        )


def outputs(function, arrays):
    found = function(*[torch.tensor(a, requires_grad=True) for a in arrays])
    return [o.detach() for o in (found if isinstance(found, (list, tuple)) else [found])]


def gradients(function, leaves, weights):
    """The gradients by create_graph, so that both array worlds are used: the raw one must agree."""
    found = function(*leaves)
    found = list(found) if isinstance(found, (list, tuple)) else [found]
    live = [(o, torch.tensor(w)) for o, w in zip(found, weights) if o.requires_grad]
    if not live:
        return [None] * len(leaves)
    roots, grads = [o for o, _ in live], [w for _, w in live]
    raw = torch.autograd.grad(roots, leaves, grads, retain_graph=True, allow_unused=True)
    recorded = torch.autograd.grad(roots, leaves, grads, create_graph=True, allow_unused=True)
    for a, b in zip(raw, recorded):
        if a is None or b is None:
            assert all(g is None or not g.detach().numpy().any() for g in (a, b))
        else:
            assert a.dtype is b.dtype and a.shape == b.shape
            np.testing.assert_allclose(a.numpy(), b.detach().numpy(), rtol=1e-9, atol=1e-12)
    return recorded


def draw(rng, like):
    made = rng.standard_normal(like.shape)
    if like.dtype.kind == "c":
        made = made + 1j * rng.standard_normal(like.shape)
    return np.asarray(made)
