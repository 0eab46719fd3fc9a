"""Records of elementwise operations: arithmetic, elementary functions, powers, rounding, selection, blending, complex."""

from ..catalogue import Const, G, P, U, X, both, imaginary, real, vjp

MASK = Const([[True, False, True], [False, False, True]])

# --- one operand ---

for names, draw, record in (
    ("exp exp2 expm1 sin cos sinh cosh tanh tan atan asinh sigmoid reciprocal neg sinc square abs sgn", X, both),
    ("conj_physical", X, imaginary),
    ("erf erfc relu deg2rad rad2deg sign ceil floor trunc frac digamma lgamma", X, real),
    ("log log2 log10 sqrt rsqrt log1p lgamma digamma", P, real),
    ("log log2 log10 sqrt rsqrt log1p", P, both),
    ("asin acos atanh", U, both),
    ("erfinv", U, real),
    ("acosh", G, both),
):
    for name in names.split():
        for shape in ((2, 3), (), (1,), (0, 2)):
            op = "pow_number" if name == "square" else name
            record(op, name, draw(*shape), node="PowBackward0" if name == "square" else "")

both("exp", lambda T, x: x.t().exp(), X(2, 3))
for n in (0, 1, 2):
    real("polygamma", "polygamma", n, P(2, 3))
real("logit", lambda T, x: T.logit(x / 2), P(2, 3))
real("logit", lambda T, x: T.logit(x / 2, 0.2), P(2, 3))
real("round_whole", "round", X(2, 3), node="RoundBackward0")
real("round_decimals", "round", X(2, 3), decimals=1, node="RoundBackward1")
real("angle", "angle", X(2, 3))
both("angle", "angle", X(3))
imaginary("conj", "conj", X(2, 3))
real("nan_to_num", "nan_to_num", X(2, 3))
real("nan_to_num", "nan_to_num", X(2, 3), 1.0, 2.0, -2.0)
real("frexp", lambda T, x: T.frexp(x)[0], P(2, 3))

# --- two operands ---

PAIRS = (((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2,)), ((2, 2), ()), ((0, 2), (2,)), ((), ()))
for names, draw, record in (
    ("add sub mul div", X, both),
    ("rsub", X, both),
    ("atan2 hypot maximum minimum fmax fmin copysign logaddexp2", X, real),
    ("logaddexp", X, both),
    ("xlogy", P, real),
):
    for name in names.split():
        for a, b in PAIRS:
            record(name, name, X(*a), draw(*b))
for a, b in PAIRS:
    both("pow_tensor", "pow", P(*a), X(*b), node="PowBackward1")
for a, b in (PAIRS[1], PAIRS[3], PAIRS[4]):
    real("special_xlog1py", "special.xlog1py", X(*a), P(*b), node="SpecialXlog1PyBackward0")
    real("remainder", "remainder", X(*a), G(*b), node="RemainderBackward1")
    real("fmod", "fmod", X(*a), G(*b), node="FmodBackward1")
    real("ldexp", "ldexp", X(*a), X(*b))
    both("add_scaled", "add", X(*a), X(*b), alpha=2.5, node="AddBackward0")
    both("sub_scaled", "sub", X(*a), X(*b), alpha=2.5, node="SubBackward0")
    both("rsub_scaled", "rsub", X(*a), X(*b), alpha=2.5, node="RsubBackward0")
    for mode in ("floor", "trunc"):
        real("div_rounded", "div", X(*a), G(*b), rounding_mode=mode, node="DivBackward2")
for shape in ((2, 3), ()):
    both("add", "add", X(*shape), 2)
    both("sub", "sub", X(*shape), 2.5)
    both("mul", "mul", X(*shape), 2.5)
    both("div", "div", X(*shape), 2.5)
    both("rsub_number", "rsub", X(*shape), 2.5, node="RsubBackward1")
    both("rsub_number", lambda T, x: 2.5 - x, X(*shape), node="RsubBackward1")
    both("rsub_number_scaled", "rsub", X(*shape), 2.5, alpha=2, node="RsubBackward1")
    real("remainder_by_number", "remainder", X(*shape), 1.3, node="RemainderBackward0")
    real("fmod_by_number", "fmod", X(*shape), 1.3, node="FmodBackward0")
    real("xlogy_of_number", "xlogy", 1.5, P(*shape), node="XlogyBackward1")
    real("xlogy_by_number", "xlogy", X(*shape), 1.5, node="XlogyBackward2")
    real("copysign_of_number", "copysign", X(*shape), -1.5, node="CopysignBackward1")
    for exponent in (0, 1, 2, 3, -1, -2, 0.5, -0.5, 2.5):
        both("pow_number", "pow", P(*shape), exponent, node="PowBackward0")
    both("pow_of_number", "pow", 2.5, X(*shape), node="PowBackward2")
both("pow_number", "pow", X(2, 2), 3, node="PowBackward0")
both("sub", lambda T, x: x - x.sum(), X(3))
real("mul", lambda T, x: x * x.sum(), X(3))

real("nextafter", "nextafter", X(2, 3), X(3))

# --- three operands, selection ---

both("where", "where", MASK, X(2, 3), X(2, 3))
both("where", "where", MASK, X(3), X(2, 1))
both("where", "where", MASK, X(2, 3), 0.5)
both("where", "where", Const(True), X(), X(2))
both("masked_fill", "masked_fill", X(2, 3), MASK, 0.5)
both("masked_fill", "masked_fill", X(3), MASK, 0.5)
both("fill_where_by_tensor", "masked_fill", X(2, 3), MASK, X(), node="MaskedFillBackward1")
for shape in ((2, 3), ()):
    real("clamp_by_numbers", "clamp", X(*shape), -0.5, 0.52, node="ClampBackward1")
    real("clamp_by_numbers", "clamp", X(*shape), -0.5, node="ClampBackward1")
    real("clamp_by_numbers", "clamp", X(*shape), max=0.52, node="ClampBackward1")
    real("clamp_min_by_number", "clamp_min", X(*shape), 0.52, node="ClampMinBackward0")
    real("clamp_max_by_number", "clamp_max", X(*shape), 0.52, node="ClampMaxBackward0")
    real("clamp_min_by_tensor", "clamp_min", X(2, 3), X(*shape), node="ClampMinBackward1")
    real("clamp_max_by_tensor", "clamp_max", X(2, 3), X(*shape), node="ClampMaxBackward1")
    real("clamp", "clamp", X(2, 3), X(*shape), X(2, 3))
    real("clamp", "clamp", X(2, 3), X(*shape))
    real("clamp", "clamp", X(2, 3), max=X(*shape))
    both("lerp_by_number", "lerp", X(*shape), X(*shape), 0.3, node="LerpBackward0")
    both("lerp_by_number", "lerp", X(2, 3), X(*shape), 0.7, node="LerpBackward0")
    both("lerp_by_tensor", "lerp", X(2, 3), X(*shape), U(2, 3), node="LerpBackward1")
    both("addcmul", "addcmul", X(2, 3), X(*shape), X(3), value=2)
    both("addcdiv", "addcdiv", X(2, 3), X(*shape), P(3), value=2)
both("addcmul", "addcmul", X(), X(2), X(2))
both("addcdiv", "addcdiv", X(2), X(2), X(2))

# --- complex numbers ---

both("view_as_real", lambda T, x: T.view_as_real(x) if x.is_complex() else T.view_as_real(T.complex(x, x)), X(2, 3))
real("view_as_complex", "view_as_complex", X(3, 2))
real("view_as_complex", lambda T, x: -T.view_as_complex(x), X(2), node="NegBackward0")
both("view_as_real", lambda T, x: T.view_as_real(-x if x.is_complex() else T.complex(x, x)), X())
real("view_as_complex", lambda T, x: T.view_as_complex(x[::2]), X(3, 2))
for shape in ((2, 3), ()):
    real("complex", "complex", X(*shape), X(*shape))
    real("polar", "polar", P(*shape), X(*shape))

# --- copies and fillings ---

both("clone", "clone", X(2, 3))
both("clone", "clone", X())
real("to_copy", lambda T, x: x.to(T.complex128), X(2, 3), node="ToCopyBackward0")
both("copy_", lambda T, x, y: (x * 1).copy_(y), X(2, 3), X(3), node="torch::autograd::CopyBackwards")
both("copy_", lambda T, x, y: (x * 1).copy_(y), X(2, 3), X(), node="torch::autograd::CopyBackwards")
both("fill", "fill", X(2, 3), 0.5)
both("fill_with", "fill", X(2, 3), X(), node="FillBackward1")
both("fill_", lambda T, x: (x * 1).fill_(0.5), X(2, 3), node="FillBackward2")
both("fill_with_", lambda T, x, y: (x * 1).fill_(y), X(2, 3), X(), node="FillBackward3")
both("zero_", lambda T, x: (x * 1).zero_(), X(2, 3), node="ZeroBackward0")
for name in "eq ne lt le gt ge".split():
    real(
        f"{name}_tensor_",
        lambda T, x, y, n=name: getattr(x * 1, n + "_")(y),
        X(2, 3),
        X(3),
        node=f"{name.title()}Backward1",
    )
    real(f"{name}_number_", lambda T, x, n=name: getattr(x * 1, n + "_")(0.5), X(2, 3), node=f"{name.title()}Backward0")

# --- special functions ---

for name in "i0 i0e i1 i1e erfcx log_ndtr".split():
    for shape in ((2, 3), ()):
        real(name if name == "i0" else "special_" + name, "special." + name, X(*shape))
real("special_entr", "special.entr", P(2, 3))
real("special_ndtri", lambda T, x: T.special.ndtri(x / 2), P(2, 3))
real("bessel_i", vjp(vjp("special.i1")), X(2), X(2), X(2), node=None)
both("sinc_slope", vjp(vjp("sinc")), X(2), X(2), X(2), node=None)
real("mvlgamma", "mvlgamma", G(2, 3), 2)
real("igamma", "igamma", Const([1.5, 0.7, 2.0], "float64"), P(2, 3))
real("igammac", "igammac", Const([1.5, 0.7, 2.0], "float64"), P(2, 3))
real("special_zeta", "special.zeta", Const([1.5, 3.7, 2.0], "float64"), P(2, 3))
real("special_zeta_of_number", "special.zeta", 1.5, P(2, 3), node="SpecialZetaBackward1")
real("special_xlog1py_of_number", "special.xlog1py", 1.5, P(2, 3), node="SpecialXlog1PyBackward1")
real("special_xlog1py_by_number", "special.xlog1py", X(2, 3), 1.5, node="SpecialXlog1PyBackward2")
