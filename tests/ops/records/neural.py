"""Records of reductions, products, sorting, activations, losses, normalization, convolution, pooling and random draws."""

from ..catalogue import Const, P, X, both, real, seeded, vjp

# --- reductions ---

both("sum_all", "sum", X(2, 3), node="SumBackward0")
both("sum_all", "sum", X(), node="SumBackward0")
both("sum_all", "sum", X(0, 2), node="SumBackward0")
both("mean_all", "mean", X(2, 3), node="MeanBackward0")
both("prod_all", "prod", X(2, 3), node="ProdBackward0")
both("prod_all", "prod", X(), node="ProdBackward0")
for dim in (0, -1, (0, 1), (2, 0)):
    for keepdim in (False, True):
        both("sum_dim", "sum", X(2, 1, 3), dim, keepdim, node="SumBackward1")
        both("mean_dim", "mean", X(2, 1, 3), dim, keepdim, node="MeanBackward1")
        real("nansum", "nansum", X(2, 1, 3), dim, keepdim)
        both("var", "var", X(2, 2, 3), dim, keepdim=keepdim)
        both("std", "std", X(2, 2, 3), dim, keepdim=keepdim)
        real("amax", "amax", X(2, 1, 3), dim, keepdim)
        real("amin", "amin", X(2, 1, 3), dim, keepdim)
        both("logsumexp", "logsumexp", X(2, 1, 3), dim, keepdim)
for dim in (0, -1):
    for keepdim in (False, True):
        both("prod_dim", "prod", X(2, 3), dim, keepdim, node="ProdBackward1")
        real("max_along", "max", X(2, 3), dim, keepdim, node="MaxBackward0")
        real("min_along", "min", X(2, 3), dim, keepdim, node="MinBackward0")
        real("aminmax", "aminmax", X(2, 3), dim=dim, keepdim=keepdim)
        real("Kthvalue0", "kthvalue", X(2, 3), 2, dim, keepdim, node="KthvalueBackward0")
        real("Median1", "median", X(3, 3), dim, keepdim, node="MedianBackward1")
        real("Nanmedian1", "nanmedian", X(3, 3), dim, keepdim, node="NanmedianBackward1")
        real("Mode0", "mode", X(2, 3), dim, keepdim, node="ModeBackward0")
real("nansum", "nansum", X(2, 3))
real("aminmax", "aminmax", X(2, 3))
real("amax", "amax", X(2, 3))
real("amin", "amin", X(2, 3))
real("median", "median", X(2, 3))
real("nanmedian", "nanmedian", X(2, 3))
real("max_all", "max", X(2, 3), node="MaxBackward1")
real("min_all", "min", X(2, 3), node="MinBackward1")
both("var", "var", X(2, 3))
both("var", "var", X(2, 3), correction=0)
both("std", "std", X(2, 3), correction=2)
both("var_mean", "var_mean", X(2, 3), 1)
both("std_mean", "std_mean", X(2, 3), 0, correction=0, keepdim=True)
for p in (0, 1, 2, 2.5, float("inf"), -float("inf")):
    both("linalg_vector_norm", "linalg.vector_norm", X(2, 3), p)
    both("linalg_vector_norm", "linalg.vector_norm", X(2, 3), p, 1, True)
    real("dist", "dist", X(2, 3), X(3), p)
    both("linalg_vector_norm", "norm", X(2, 3), p, 1)
    real("norm_along", "nn.functional.pairwise_distance", X(2, 3), X(2, 3), p, node="NormBackward1")
both("linalg_vector_norm", "norm", X(2, 3))
both("renorm", "renorm", X(2, 3), 2, 0, 0.7)
real("renorm", "renorm", X(2, 3), 1, 1, 0.7)
for dim in (0, 1):
    both("cumsum", "cumsum", X(2, 3), dim)
    both("cumprod", "cumprod", X(2, 3), dim)
    both("logcumsumexp", "logcumsumexp", X(2, 3), dim)
    real("cummax", "cummax", X(2, 3), dim)
    real("cummin", "cummin", X(2, 3), dim)
    real("softmax", "softmax", X(2, 3), dim)
    real("log_softmax", "log_softmax", X(2, 3), dim)
both("cumsum", "cumsum", X(), 0)
both("cumprod", "cumprod", X(), 0)
real("softmax", "softmax", X(), 0)
real("Sort0", "sort", X(2, 3), node="SortBackward0")
real("Sort0", "sort", X(2, 3), 0, True, node="SortBackward0")
real("Sort1", lambda T, x: T.sort(x, stable=True), X(2, 3), node="SortBackward1")
real("Topk0", "topk", X(2, 3), 2, node="TopkBackward0")
real("Topk0", "topk", X(2, 3), 1, 0, False, node="TopkBackward0")
real("pick_along", vjp(vjp("sort")), X(2, 3), X(2, 3), X(2, 3), node=None)
real("put_along", vjp("sort"), X(2, 3), X(2, 3), node=None)
real("add_along", vjp("cummax"), X(2, 3), X(2, 3), 1, node=None)

real("scale", "trapezoid", X(2, 4), dx=0.5, node="MulBackward1")
real("divide_by_number", "trapezoid", X(2, 4), X(4), node="DivBackward1")

# --- products ---

both("mm_op", "mm", X(2, 3), X(3, 2), node="MmBackward0")
both("mm_op", "matmul", X(2, 3), X(3, 2), node="MmBackward0")
both("mv_op", "mv", X(2, 3), X(3), node="MvBackward0")
both("mv_op", "matmul", X(2, 3), X(3), node="MvBackward0")
both("dot_op", "dot", X(3), X(3), node="DotBackward0")
both("vdot_op", "vdot", X(3), X(3), node="VdotBackward0")
both("bmm_op", "bmm", X(2, 2, 3), X(2, 3, 1), node="BmmBackward0")
both("matmul_row", "matmul", X(3), X(3, 2), node="SqueezeBackward4")
both("matmul_stack", "matmul", X(2, 2, 3), X(3, 2), node="UnsafeViewBackward0")
both("matmul_by_stack", "matmul", X(2, 3), X(2, 3, 2), node=None)
both("matmul_stack", "matmul", X(2, 1, 2, 3), X(2, 3, 1), node="UnsafeViewBackward0")
for beta, alpha in ((1, 1), (0.5, 2)):
    scale = {"beta": beta, "alpha": alpha}
    both("addmm_op", "addmm", X(2, 2), X(2, 3), X(3, 2), **scale, node="AddmmBackward0")
    both("addmm_op", "addmm", X(2), X(2, 3), X(3, 2), **scale, node="AddmmBackward0")
    both("addmv_op", "addmv", X(2), X(2, 3), X(3), **scale, node="AddmvBackward0")
    both("addr_op", "addr", X(2, 3), X(2), X(3), **scale, node="AddrBackward0")
    both("baddbmm_op", "baddbmm", X(2, 2, 2), X(2, 2, 3), X(2, 3, 2), **scale, node="BaddbmmBackward0")
    both("addbmm_op", "addbmm", X(2, 2), X(2, 2, 3), X(2, 3, 2), **scale, node="AddbmmBackward0")
linear = "nn.functional.linear"
both("linear_2d", linear, X(2, 3), X(2, 3), X(2), node="AddmmBackward0")
both("linear_nd", linear, X(2, 1, 3), X(2, 3), X(2), node="ViewBackward0")
both("linear_plain_2d", linear, X(2, 3), X(2, 3), node="MmBackward0")
both("linear_plain_nd", linear, X(2, 1, 3), X(2, 3), node="UnsafeViewBackward0")
both("linear_plain_1d", linear, X(3), X(2, 3), node="SqueezeBackward4")

# --- activations ---

ACTIVATIONS = """relu leaky_relu elu celu gelu silu mish softplus logsigmoid hardswish hardsigmoid hardshrink softshrink
hardtanh"""
for name in ACTIVATIONS.split():
    for shape in ((2, 3), ()):
        node = {"logsigmoid": "LogSigmoidBackward0"}.get(name, "")
        real(name, "nn.functional." + name, X(*shape), node=node)
real("gelu", "nn.functional.gelu", X(2, 3), approximate="tanh")
real("hardtanh", "nn.functional.hardtanh", X(2, 3), -0.5, 0.52)
real("leaky_relu", "nn.functional.leaky_relu", X(2, 3), 0.3)
real("elu", "nn.functional.elu", X(2, 3), 0.7)
real("elu", "nn.functional.selu", X(2, 3))
real("celu", "nn.functional.celu", X(2, 3), 0.7)
real("softplus", "nn.functional.softplus", X(2, 3), 2, 1)
real("hardshrink", "nn.functional.hardshrink", X(2, 3), 0.1)
real("softshrink", "nn.functional.softshrink", X(2, 3), 0.1)
real("leaky_relu_inplace", lambda T, x: T.nn.functional.leaky_relu_(x * 1, 0.3), X(2, 3), node="LeakyReluBackward1")
real("elu_inplace", lambda T, x: T.nn.functional.elu_(x * 1), X(2, 3), node="EluBackward1")
real("celu_inplace", lambda T, x: T.nn.functional.celu_(x * 1), X(2, 3), node="CeluBackward1")
real("threshold", "nn.functional.threshold", X(2, 3), 0.1, 0.5)
real("threshold_inplace", lambda T, x: T.nn.functional.threshold_(x * 1, 0.1, 0.5), X(2, 3), node="ThresholdBackward1")
real("rrelu", "nn.functional.rrelu", X(2, 3), node=None)
real("rrelu", seeded(lambda T, x: T.nn.functional.rrelu(x, training=True)), X(2, 3), node="RreluWithNoiseBackward0")
real("prelu", "nn.functional.prelu", X(2, 3), X(1), node="PreluKernelBackward0")
real("prelu", "nn.functional.prelu", X(2, 3, 2), X(3), node="PreluKernelBackward0")
real("glu", "nn.functional.glu", X(2, 4))
real("glu", "nn.functional.glu", X(2, 4), 0)

# --- losses ---

SIGNS = Const([[1.0, -1.0, 1.0], [-1.0, -1.0, 1.0]], "float64")

for reduction in ("mean", "sum", "none"):
    how = {"reduction": reduction}
    F = "nn.functional."
    real("mse_loss", F + "mse_loss", X(2, 3), X(2, 3), **how)
    real("huber_loss", F + "huber_loss", X(2, 3), X(2, 3), **how)
    real("smooth_l1_loss", F + "smooth_l1_loss", X(2, 3), X(2, 3), **how, beta=0.5)
    real("soft_margin_loss", F + "soft_margin_loss", X(2, 3), SIGNS, **how)
    real(
        "binary_cross_entropy",
        lambda T, x, y, r=reduction: T.nn.functional.binary_cross_entropy(x / 2, y / 2, reduction=r),
        P(2, 3),
        P(2, 3),
    )
    real("binary_cross_entropy_with_logits", F + "binary_cross_entropy_with_logits", X(2, 3), P(2, 3), **how)
    real("nll_loss", F + "nll_loss", X(3, 4), Const([1, 3, 0]), **how)
    real("nll_loss", F + "nll_loss", X(3, 4), Const([1, 3, 0]), **how, ignore_index=3)
    real("nll_loss2d", F + "nll_loss", X(1, 3, 2, 1), Const([[[1], [2]]]), **how, node="NllLoss2DBackward0")
    real("cross_entropy", F + "cross_entropy", X(3, 4), Const([1, 3, 0]), **how, node="NllLossBackward0")
    real("cross_entropy2d", F + "cross_entropy", X(1, 3, 2, 1), Const([[[1], [2]]]), **how, node="NllLoss2DBackward0")

# --- convolution and pooling ---

for d in (1, 2, 3):
    image = (1, 2, *(4, 3, 3)[:d])
    both(
        "convolution",
        f"nn.functional.conv{d}d",
        X(*image),
        X(2, 2, *(2,) * d),
        X(2),
        padding=1,
        stride=2,
        node="ConvolutionBackward0",
    )
    both(
        "convolution",
        f"nn.functional.conv_transpose{d}d",
        X(*image),
        X(2, 1, *(2,) * d),
        padding=1,
        stride=2,
        groups=2,
        node="ConvolutionBackward0",
    )
both("convolution", "nn.functional.conv1d", X(2, 5), X(3, 2, 2), dilation=2, node=None)
conv = "nn.functional.conv1d"
both("convolve", vjp(vjp(conv)), X(1, 2, 5), X(1, 1, 4), X(1, 2, 5), X(1, 2, 2), node=None)
both("convolve_input_vjp", vjp(conv), X(1, 1, 4), X(1, 2, 5), X(1, 2, 2), node=None)
both("convolve_weight_vjp", vjp(conv), X(1, 1, 4), X(1, 2, 5), X(1, 2, 2), node=None)
real("avg_pool2d", "nn.functional.avg_pool2d", X(1, 4, 5), 2, 2, 1)
real("avg_pool2d", "nn.functional.avg_pool2d", X(1, 1, 4, 5), (2, 3), ceil_mode=True, count_include_pad=False)
real("avg_pool3d", "nn.functional.avg_pool3d", X(1, 3, 2, 3), 2, 1)
real("adaptive_avg_pool2d", "nn.functional.adaptive_avg_pool2d", X(1, 4, 5), (2, 3))
real("adaptive_avg_pool3d", "nn.functional.adaptive_avg_pool3d", X(1, 3, 2, 3), (2, 1, 2))
real("max_pool2d_with_indices", "nn.functional.max_pool2d", X(1, 4, 5), 2, 2, 1)
real("max_pool3d_with_indices", "nn.functional.max_pool3d", X(1, 3, 2, 3), 2, 1)
real(
    "adaptive_max_pool2d_with_indices",
    "nn.functional.adaptive_max_pool2d",
    X(1, 4, 5),
    (2, 3),
    node="AdaptiveMaxPool2DBackward0",
)
real(
    "adaptive_max_pool3d_with_indices",
    "nn.functional.adaptive_max_pool3d",
    X(1, 3, 2, 3),
    (2, 1, 2),
    node="AdaptiveMaxPool3DBackward0",
)
real("map_axes_vjp", vjp("nn.functional.avg_pool2d"), X(1, 2, 2), X(1, 4, 5), 2, node=None)
real("map_axes", vjp(vjp("nn.functional.avg_pool2d")), X(1, 4, 5), X(1, 2, 2), X(1, 4, 5), 2, node=None)
real("scatter_planes", vjp("nn.functional.max_pool2d"), X(1, 2, 2), X(1, 4, 5), 2, node=None)
real("gather_planes", vjp(vjp("nn.functional.max_pool2d")), X(1, 4, 5), X(1, 2, 2), X(1, 4, 5), 2, node=None)

# --- random draws, whose derivatives are mostly zero ---

for name in "uniform normal log_normal exponential cauchy geometric".split():
    args = (0.5,) if name == "geometric" else ()
    real(
        f"{name}_",
        seeded(lambda T, x, n=name + "_", a=args: getattr(x * 1, n)(*a)),
        X(2, 3),
        node=f"{''.join(w.title() for w in name.split('_'))}Backward0",
    )
real("random_between", seeded(lambda T, x: (x * 1).random_(2, 9)), X(2, 3), node="RandomBackward0")
real("random_below", seeded(lambda T, x: (x * 1).random_(9)), X(2, 3), node="RandomBackward1")
real("random_any", seeded(lambda T, x: (x * 1).random_()), X(2, 3), node="RandomBackward2")
real("bernoulli_number", seeded(lambda T, x: (x * 1).bernoulli_(0.5)), X(2, 3), node="BernoulliBackward2")
real("bernoulli_tensor", seeded(lambda T, x, p: (x * 1).bernoulli_(p / 3)), X(2, 3), P(2, 3), node="BernoulliBackward1")
real("bernoulli", seeded(lambda T, p: T.bernoulli(p / 3)), P(2, 3))
real("poisson", seeded(lambda T, x: T.poisson(x)), P(2, 3))
real("normal_of_mean", seeded(lambda T, m: T.normal(m, 0.5), False), X(2, 3), node="NormalBackward1")
real("normal_of_std", seeded(lambda T, s: T.normal(0.5, s), False), P(2, 3), node="NormalBackward2")
real("normal_of_both", seeded(lambda T, m, s: T.normal(m, s), False), X(2, 3), P(2, 3), node="NormalBackward3")
real("native_dropout", seeded(lambda T, x: T.native_dropout(x, 0.5, True)[0]), X(2, 3))
real("mul", seeded(lambda T, x: T.nn.functional.dropout(x, 0.5)), X(2, 3))

# --- margins, likelihoods of other shapes ---

for how in ("mean", "sum", "none"):
    real("multi_margin_loss", "nn.functional.multi_margin_loss", X(2, 3), Const([0, 2]), reduction=how)
    real("multi_margin_loss", "nn.functional.multi_margin_loss", X(2, 3), Const([0, 2]), p=2, margin=0.7, reduction=how)
    real(
        "multilabel_margin_loss",
        "nn.functional.multilabel_margin_loss",
        X(2, 3),
        Const([[0, 2, -1], [1, -1, 0]]),
        reduction=how,
    )
    for shape, classes in (((1, 3, 2), [[1, 2]]), ((1, 3, 2, 1, 1), [[[[1]], [[2]]]])):
        kind = "nd" if how == "none" else "2d"
        for name in ("nll_loss", "cross_entropy"):
            real(
                f"{name}{'_' * (kind == 'nd')}{kind}",
                "nn.functional." + name,
                X(*shape),
                Const(classes),
                reduction=how,
                node=None,
            )
