"""Scaled dot-product attention. Vaswani et al., Attention is all you need, 2017."""

import math

import numpy as np

from ..core.attending import Attention, attend
from ..core.declare import Array, op
from ..core.dtype import argument_type_name
from ..core.registry import FUNCTIONS, OPS, publish
from ..core.tensor import Tensor, wrap
from .loss import expect_tensors

__all__ = ["scaled_dot_product_attention"]


@op(name="scaled_dot_product_attention", node="ScaledDotProductFlashAttentionForCpuBackward0", method=False,
    namespace=None, frees=("attention",))  # fmt: skip
def attention_op(query: Array, key: Array, value: Array, attention: Attention):
    return attend(query, key, value, attention)


@attention_op.derivative(of=("query", "key", "value"))
def _(xp, grad, query, key, value, attention):
    return xp.attend_vjp(grad, query, key, value, attention)


# --- arguments ---

_NAMES = {"float16": "c10::Half", "float32": "float", "float64": "double", "int64": "long int", "int32": "int",
          "int16": "short", "int8": "signed char", "uint8": "unsigned char", "bool": "bool"}  # fmt: skip


def _name(x) -> str:
    name = x._spec.dtype.name
    return _NAMES.get(name, name)


def _check(query, key, value, attn_mask, dropout_p) -> None:
    expect_tensors("scaled_dot_product_attention", query=query, key=key, value=value)
    if attn_mask is not None and not isinstance(attn_mask, Tensor):
        raise TypeError(
            "scaled_dot_product_attention(): argument 'attn_mask' (position 4) must be Tensor, not "
            f"{argument_type_name(attn_mask)}"
        )
    if not query._spec.dtype is key._spec.dtype is value._spec.dtype:
        raise RuntimeError(
            f"Expected query, key, and value to have the same dtype, but got query.dtype: {_name(query)} key.dtype: "
            f"{_name(key)} and value.dtype: {_name(value)} instead."
        )
    dims = query.dim(), key.dim(), value.dim()
    if min(dims) < 2:
        raise RuntimeError(
            f"Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {dims[0]} key.dim: "
            f"{dims[1]} and value.dim: {dims[2]} instead."
        )
    if attn_mask is not None and _name(attn_mask) not in ("bool", "float", _name(query)):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{_name(attn_mask)} and  query.dtype: {_name(query)} instead."
        )
    if not query._spec.inexact:
        raise RuntimeError(f"expected scalar type Float but found {query._spec.dtype.scalar_name}")
    if dropout_p < 0:
        raise RuntimeError("scaled_dot_product_attention_flash_attention: Currently do not support dropout > 0")
    if dropout_p > 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {dropout_p:g}")


def _bias(query, key, attn_mask, is_causal: bool):
    """What is added to the scores, as an array; None where nothing is."""
    rows, keys = query._spec.shape[-2], key._spec.shape[-2]
    dtype = np.float32 if query._spec.dtype.itemsize == 2 else query._spec.array_dtype
    bias = None
    if attn_mask is not None:
        bias = attn_mask._array
        bias = np.where(bias, 0, -math.inf).astype(dtype) if bias.dtype == np.bool else bias.astype(dtype, copy=False)
        together = (*query._spec.shape[:-1], keys)
        for back in range(1, min(len(together), bias.ndim) + 1):
            if bias.shape[-back] != together[-back] and 1 not in (bias.shape[-back], together[-back]):
                raise RuntimeError(
                    f"The size of tensor a ({together[-back]}) must match the size of tensor b ({bias.shape[-back]}) at "
                    f"non-singleton dimension {len(together) - back}"
                )
        if bias.shape[-2:] != (rows, keys):
            bias = np.broadcast_to(bias, (*bias.shape[:-2], rows, keys))
    if is_causal:
        unseen = np.where(np.tri(rows, keys, dtype=bool), 0, -math.inf).astype(dtype)
        bias = unseen if bias is None else bias + unseen
    return bias


def _repeated(query, key, value) -> tuple:
    """Keys and values once for each of the queries' heads that share them."""
    heads = query._spec.shape[-3]
    for x in (key, value):
        if heads % x._spec.shape[-3]:
            raise RuntimeError("Number of heads in key and value must divide the number of heads in ")
    return tuple(
        x if x._spec.shape[-3] == heads else x.repeat_interleave(heads // x._spec.shape[-3], -3) for x in (key, value)
    )


def _is_plain(query, key, value, attn_mask, dropout_p) -> bool:
    """Whether PyTorch would run it as one operation."""
    q, k, v = query._spec.shape, key._spec.shape, value._spec.shape
    return (
        len(q) == len(k) == len(v) == 4
        and q[:2] == k[:2] == v[:2]
        and q[3] == k[3] == v[3]
        and k[2] == v[2]
        and 0 not in q + k
        and dropout_p == 0
        and query._spec.dtype.is_floating_point
        and (attn_mask is None or attn_mask._spec.ndim in (2, 4) and not attn_mask.requires_grad)
    )


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None,
                                 enable_gqa=False):  # fmt: skip
    """softmax(query · keyᵀ · scale + mask) · value: for each query a mean of the values whose keys resemble it.

    query: (…, L, D); key: (…, S, D); value: (…, S, E). attn_mask: bool (True: is seen) or numbers to add, which broadcast
    to (…, L, S); is_causal: only keys up to the query's own place are seen. scale: by default 1 / √D. dropout_p: of the
    weights. enable_gqa: several heads of the query may share one of key and value. A query that sees no key gets zeros.
    """
    _check(query, key, value, attn_mask, dropout_p)
    if enable_gqa:
        key, value = _repeated(query, key, value)
    if scale is None:
        scale = 1 / math.sqrt(query._spec.shape[-1] or 1)
    if _is_plain(query, key, value, attn_mask, dropout_p):
        return attention_op.single(query, key, value, Attention(float(scale), _bias(query, key, attn_mask, is_causal)))
    return _composed(query, key, value, attn_mask, dropout_p, is_causal, scale)


def _composed(query, key, value, attn_mask, dropout_p, is_causal, scale):
    """Attention of other operations: where shapes broadcast, weights are dropped, or the mask has a gradient."""
    if is_causal and attn_mask is not None:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    dtype = query._spec.dtype
    if dtype.itemsize == 2:
        query, key, value = query.float(), key.float(), value.float()
        found = _composed(query, key, value, attn_mask, dropout_p, is_causal, scale)
        return found.to(dtype)
    root = math.sqrt(scale)
    scores = (query * root) @ (key * root).transpose(-2, -1)
    bias = _bias(query, key, attn_mask, is_causal)
    if bias is not None:
        scores = scores + (attn_mask if attn_mask is not None and attn_mask.requires_grad else wrap(bias))
        alive = np.logical_not(np.isneginf(np.maximum.reduce(bias, axis=-1, keepdims=True, initial=-np.inf)))
        if not alive.all():
            scores = OPS["where"].function(wrap(alive), scores, 0)
    weights = scores.softmax(-1)
    if bias is not None and not alive.all():
        weights = OPS["where"].function(wrap(alive), weights, 0)
    if dropout_p > 0:
        weights = FUNCTIONS["nn.functional"]["dropout"](weights, dropout_p, True)
    return weights @ value


attention_op.function = scaled_dot_product_attention
publish("nn.functional", "scaled_dot_product_attention", scaled_dot_product_attention)
