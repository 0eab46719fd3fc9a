import math

import numpy as np
import pytest
from scipy import special

import chainrule as torch
from chainrule.core import attending
from chainrule.nn import functional as F
from tests.ops.numeric import check

RNG = np.random.default_rng(0)


def draw(*shape):
    return RNG.standard_normal(shape)


def attention(q, k, v, bias=0, scale=None):
    scores = q @ k.swapaxes(-1, -2) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale) + bias
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(special.softmax(scores, -1)) @ v


SHAPES = [((2, 3, 4, 5), (2, 3, 6, 5)), ((3, 4, 5), (3, 6, 5)), ((4, 5), (6, 5)), ((2, 3, 4, 5), (2, 1, 6, 5))]


@pytest.mark.parametrize("shape, key_shape", SHAPES)
@pytest.mark.parametrize("masking", ["none", "bool", "numbers", "each head", "causal", "unseen"])
@pytest.mark.parametrize("scores", [7, 1 << 18])
def test_values_and_derivatives(shape, key_shape, masking, scores, monkeypatch):
    monkeypatch.setattr(attending, "SCORES", scores)  # many blocks, or one
    q, k, v = draw(*shape), draw(*key_shape), draw(*key_shape)
    options, bias = {}, 0
    if masking == "causal":
        options, bias = {"is_causal": True}, np.where(np.tri(4, 6), 0, -np.inf)
    elif masking != "none":
        size = (*shape[:-1], 6) if masking == "each head" else (4, 6)
        seen = RNG.random(size) < 0.7
        seen[..., 0] = True
        if masking == "unseen":
            seen[1] = False
        bias = draw(*size) if masking == "numbers" else np.where(seen, 0, -np.inf)
        options = {"attn_mask": torch.tensor(bias if masking == "numbers" else seen)}
    found = F.scaled_dot_product_attention(*(torch.tensor(t) for t in (q, k, v)), **options)
    np.testing.assert_allclose(found.numpy(), attention(q, k, v, bias))
    if scores == 7 or masking == "unseen":
        check(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, **options), q, k, v)


def test_options():
    q, k, v = draw(2, 4, 3, 5), draw(2, 2, 6, 5), draw(2, 2, 6, 5)
    tensors = [torch.tensor(t) for t in (q, k, v)]
    expected = attention(q, k.repeat(2, 1), v.repeat(2, 1), scale=0.3)
    np.testing.assert_allclose(F.scaled_dot_product_attention(*tensors, scale=0.3, enable_gqa=True).numpy(), expected)
    wide = draw(2, 4, 6, 7)
    found = F.scaled_dot_product_attention(tensors[0], torch.tensor(k.repeat(2, 1)), torch.tensor(wide))
    np.testing.assert_allclose(found.numpy(), attention(q, k.repeat(2, 1), wide))
    half = [torch.tensor(t).half() for t in (q, q, q)]
    found = F.scaled_dot_product_attention(*half)
    assert found.dtype is torch.float16
    np.testing.assert_allclose(found.float().numpy(), attention(*(h.double().numpy() for h in half)), atol=5e-3)
    assert not F.scaled_dot_product_attention(*half, dropout_p=1.0).any()


def test_dropped_weights_average_to_the_undropped():
    torch.manual_seed(0)
    q, k, v = (torch.tensor(draw(400, 3, 4)[:1].repeat(400, 0)) for _ in range(3))
    found = F.scaled_dot_product_attention(q, k, v, dropout_p=0.5)
    np.testing.assert_allclose(found.mean(0).numpy(), attention(*(t[0].numpy() for t in (q, k, v))), atol=0.25)


def test_gradient_of_the_mask():
    mask = draw(3, 4)
    q, k, v = (torch.tensor(draw(1, 2, n, 5)) for n in (3, 4, 4))
    check(lambda m: F.scaled_dot_product_attention(q, k, v, m), mask)


def test_nodes_and_layout():
    leaf = torch.tensor(draw(2, 4, 3, 5), requires_grad=True)
    made = F.scaled_dot_product_attention(leaf.transpose(1, 2), leaf.transpose(1, 2), leaf.transpose(1, 2))
    assert made.grad_fn.name() == "ScaledDotProductFlashAttentionForCpuBackward0"
    assert made.stride() == leaf.transpose(1, 2).stride()
    assert F.scaled_dot_product_attention(leaf[0], leaf[0], leaf[0]).grad_fn.name() == "UnsafeViewBackward0"
    assert F.scaled_dot_product_attention(leaf[0, 0], leaf[0, 0], leaf[0, 0]).grad_fn.name() == "MmBackward0"


def test_empty():
    q, k = torch.zeros(2, 2, 3, 4), torch.zeros(2, 2, 0, 4)
    assert F.scaled_dot_product_attention(q, k, k).tolist() == q.tolist()
    assert F.scaled_dot_product_attention(k, q, q).shape == (2, 2, 0, 4)


def test_refusals():
    q = torch.ones(2, 2, 3, 4)
    cases = [
        (TypeError, r"argument 'value' \(position 3\) must be Tensor, not int", (q, q, 3), {}),
        (TypeError, r"argument 'attn_mask' \(position 4\) must be Tensor, not bool", (q, q, q, True), {}),
        (RuntimeError, "to have the same dtype, but got query.dtype: double key.dtype: float", (q.double(), q, q), {}),
        (RuntimeError, "to all be  at least 2 dimensional, but got query.dim: 1", (q[0, 0, 0], q, q), {}),
        (RuntimeError, "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: long int",
         (q, q, q, torch.ones(3, 3, dtype=torch.int64)), {}),
        (RuntimeError, r"The size of tensor a \(3\) must match the size of tensor b \(2\) at non-singleton dimension 3",
         (q, q, q, torch.ones(3, 2)), {}),
        (RuntimeError, "Explicit attn_mask should not be set when is_causal=True",
         (q[0], q[0], q[0], torch.ones(3, 3)), {"is_causal": True}),
        (RuntimeError, "dropout probability has to be between 0 and 1, but got 2", (q, q, q), {"dropout_p": 2.0}),
        (RuntimeError, "Number of heads in key and value must divide", (q, torch.ones(2, 3, 3, 4), q), {"enable_gqa": True}),
    ]  # fmt: skip
    for error, text, arguments, options in cases:
        with pytest.raises(error, match=text):
            F.scaled_dot_product_attention(*arguments, **options)
