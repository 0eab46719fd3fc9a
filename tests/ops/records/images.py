"""Records of normalization, attention, windows, resampling, unpooling, bags of embeddings and sequence losses."""

from ..catalogue import Const, U, X, real, vjp

F = "nn.functional."

# --- normalization ---

real("layer_norm", F + "layer_norm", X(2, 3), (3,), X(3), X(3), node="NativeLayerNormBackward0")
real("layer_norm", F + "layer_norm", X(2, 2, 3), (2, 3), node="NativeLayerNormBackward0")
real("layer_norm", F + "layer_norm", X(2, 3), (3,), X(3), node="NativeLayerNormBackward0")
real("group_norm", F + "group_norm", X(2, 4, 3), 2, X(4), X(4), node="NativeGroupNormBackward0")
real("group_norm", F + "group_norm", X(1, 4), 2, node="NativeGroupNormBackward0")
MOMENTS = Const([0.1, -0.2, 0.3], "float64"), Const([1.1, 0.7, 1.9], "float64")
real("batch_norm", F + "batch_norm", X(3, 3), *MOMENTS, X(3), X(3), True, node="NativeBatchNormBackward0")
real("batch_norm", F + "batch_norm", X(2, 3, 2), *MOMENTS, X(3), X(3), False, node="NativeBatchNormBackward0")
real("batch_norm", F + "batch_norm", X(2, 3, 2), None, None, training=True, node="NativeBatchNormBackward0")
real("batch_norm", F + "instance_norm", X(2, 3, 4), node=None)
real("rms_norm", F + "rms_norm", X(2, 3), (3,), X(3), node="MulBackward0")
real("rms_norm", F + "rms_norm", X(2, 3), (3,), node=None)
for causal in (False, True):
    real(
        "scaled_dot_product_attention",
        F + "scaled_dot_product_attention",
        *(X(1, 2, 2, 2), X(1, 2, 3, 2), X(1, 2, 3, 2)),
        is_causal=causal,
        node="ScaledDotProductFlashAttentionForCpuBackward0",
    )

# --- windows ---

real("im2col", F + "unfold", X(1, 2, 3, 3), 2, padding=1, stride=2, node="Im2ColBackward0")
real("im2col", F + "unfold", X(2, 3, 3), 2, node="Im2ColBackward0")
real("col2im", F + "fold", X(1, 4, 4), (3, 3), 2, node="Col2ImBackward0")
real("fold_windows", vjp(F + "unfold"), X(1, 8, 4), X(1, 2, 3, 3), 2, node=None)
real("unfold_windows", vjp(F + "fold"), X(1, 1, 3, 3), X(1, 4, 4), (3, 3), 2, node=None)
real("conv_tbc", "conv_tbc", X(4, 1, 2), X(2, 2, 3), X(3), 1)
real("pixel_shuffle", "pixel_shuffle", X(1, 4, 1, 2), 2)
real("pixel_unshuffle", "pixel_unshuffle", X(1, 2, 4), 2)
real("channel_shuffle", "channel_shuffle", X(1, 4, 2), 2)

# --- unpooling, random windows ---

PLACES = Const([[[0, 3], [13, 10]]])
real("max_unpool2d", F + "max_unpool2d", X(1, 2, 2), PLACES, 2)
real(
    "max_unpool3d",
    F + "max_unpool3d",
    X(1, 1, 2, 2),
    Const([[[[0, 3], [13, 10]]]]),
    (1, 2, 2),
    node="MaxUnpool3DBackward0",
)
SAMPLES2, SAMPLES3 = Const([[[0.3, 0.7]]], "float64"), Const([[[0.3, 0.7, 0.1]]], "float64")
real("fractional_max_pool2d_with_indices", F + "fractional_max_pool2d", X(1, 4, 5), 2, (2, 3), _random_samples=SAMPLES2,
     node="FractionalMaxPool2DBackward0")  # fmt: skip
real("fractional_max_pool3d_with_indices", F + "fractional_max_pool3d", X(1, 4, 3, 4), 2, (2, 1, 2), _random_samples=SAMPLES3,
     node="FractionalMaxPool3DBackward0")  # fmt: skip

# --- resampling ---

for d, sizes in ((1, (3,)), (2, (2, 3)), (3, (2, 1, 3))):
    out = tuple(2 * n - 1 for n in sizes)
    for mode, name in (("nearest", "Nearest"), ("nearest-exact", "NearestExact")):
        op = f"upsample_{mode.replace('-', '_')}{d}"
        real(op, F + "interpolate", X(1, 1, *sizes), out, mode=mode, node=f"Upsample{name}{d}DBackward0")
for op, mode, sizes, name in (
    ("upsample_linear1", "linear", (3,), "UpsampleLinear1D"),
    ("upsample_bilinear2", "bilinear", (2, 3), "UpsampleBilinear2D"),
    ("upsample_bicubic2", "bicubic", (2, 3), "UpsampleBicubic2D"),
    ("upsample_trilinear3", "trilinear", (2, 1, 3), "UpsampleTrilinear3D"),
):
    for corners in (False, True):
        how = {"mode": mode, "align_corners": corners}
        real(op, F + "interpolate", X(1, 1, *sizes), tuple(2 * n - 1 for n in sizes), **how, node=name + "Backward0")
        real(op, F + "interpolate", X(1, 1, *sizes), scale_factor=1.7, **how, node=name + "Backward0")
for mode, name in (("bilinear", "Bilinear"), ("bicubic", "Bicubic"), ("lanczos", "Lanczos")):
    real(
        f"upsample_{mode}aa2",
        F + "interpolate",
        X(1, 1, 4, 5),
        (2, 3),
        mode=mode,
        antialias=True,
        node=f"Upsample{name}2DAaBackward0",
    )
real("affine_grid_generator", F + "affine_grid", X(1, 2, 3), (1, 1, 2, 2), align_corners=False)
for mode in ("bilinear", "nearest", "bicubic"):
    for padding in ("zeros", "border", "reflection"):
        how = {"mode": mode, "padding_mode": padding, "align_corners": False}
        real("grid_sampler_2d", F + "grid_sample", X(1, 1, 3, 4), U(1, 2, 1, 2), **how, node="GridSampler2DBackward0")
real(
    "grid_sampler_3d",
    F + "grid_sample",
    X(1, 1, 2, 3, 2),
    U(1, 1, 2, 1, 3),
    align_corners=False,
    node="GridSampler3DBackward0",
)
sample = lambda T, x, g: T.nn.functional.grid_sample(x, g, align_corners=True)
real("sample_at", vjp(vjp(sample)), X(1, 1, 3, 4), X(1, 1, 2, 1), X(1, 1, 3, 4), U(1, 2, 1, 2), node=None)
for op in ("sample_at_input_vjp", "sample_at_weight_vjp"):
    real(op, vjp(sample), X(1, 1, 2, 1), X(1, 1, 3, 4), U(1, 2, 1, 2), node=None)
cubic = lambda T, x, g: T.nn.functional.grid_sample(x, g, mode="bicubic", align_corners=True)
real("piecewise", vjp(cubic), X(1, 1, 2, 1), X(1, 1, 3, 4), U(1, 2, 1, 2), node=None)

# --- bags, sequences ---

BAGS = Const([0, 2, 2, 1, 3]), Const([0, 2])
for mode in ("sum", "mean", "max"):
    real("embedding_bag", lambda T, w, i, o, m=mode: T.nn.functional.embedding_bag(i, w, o, mode=m), X(4, 2), *BAGS)
real(
    "embedding_bag",
    lambda T, w, s, i, o: T.nn.functional.embedding_bag(i, w, o, mode="sum", per_sample_weights=s),
    X(4, 2),
    X(5),
    *BAGS,
)
for how in ("mean", "sum", "none"):
    real(
        "ctc_loss",
        lambda T, x, t, r=how: T.nn.functional.ctc_loss(x.log_softmax(-1), t, [4], [2], reduction=r),
        X(4, 1, 3),
        Const([[1, 2]]),
        node=None,
    )
