"""What `out=` may be, where PyTorch has rules and sentences of its own; and functions that take it besides their method."""

import functools

from ..core.outputs import CAST, EXACT, OUT_RULES, check_out, refuse_out_gradient, write_out
from ..core.registry import FUNCTIONS
from ..core.tensor import Tensor

_SAFELY = "Expected {what} to be safely castable from {{result.scalar_name}} dtype, but got {what} with dtype {{out.scalar_name}}"
_UNCLEAR = "(Could this error message be improved?  If so, please report an enhancement request to PyTorch.)"


def _safely(before: str, what: str = "result") -> tuple:
    return "cast", before + _SAFELY.format(what=what)


# Names of operations, the rule (see core/outputs.py), the sentence, the kind of error where it is no RuntimeError.
_RULES = (
    ("abs bitwise_not ceil conj_physical frac floor neg round sign sgn trunc softshrink hardshrink gelu softplus",
     "exact", "Found dtype {out.scalar_name} but expected {result.scalar_name}"),
    ("cat stack", "cast", "torch.cat(): input types can't be cast to the desired output type {out.scalar_name}", TypeError),
    ("addr outer kron std var pow angle polygamma special_polygamma logit linalg_matrix_rank", *CAST),
    ("renorm", *EXACT),
    ("dot vdot", "exact", "result dtype {out.scalar_name} does not match input dtype {result.scalar_name}"),
    ("mv", "exact", "addmv input tensors must have the same dtype, but got {out.scalar_name}, {result.scalar_name}, and "
     "{result.scalar_name}"),
    ("addbmm", "exact", "self and mat2 must have the same dtype, but got {out.scalar_name} and {result.scalar_name}"),
    ("complex polar", "exact",
     "Expected object of scalar type {result.scalar_name} but got scalar type {out.scalar_name} for argument 'out'"),
    ("max min", "cast", "Expected canCast( typeMetaToScalarType(self.dtype()), typeMetaToScalarType(out.dtype())) to be true, "
     "but got false.  " + _UNCLEAR),
    ("inner tensordot", "exact", "tensordot: Expected the output tensor to have dtype {result.scalar_name}, but got an output "
     "tensor with dtype {out.scalar_name}"),
    ("linalg_matrix_norm", "exact",
     "linalg.matrix_norm expected out tensor dtype {result.scalar_name} but got: {out.scalar_name}"),
    ("amax amin", "exact", "Expected the dtype for input and out to match, but got {result.scalar_name} for input's dtype and "
     "{out.scalar_name} for out's dtype."),
    ("linalg_pinv", *_safely("linalg.pinv: ")),
    ("linalg_cond", *_safely("linalg.cond: ")),
    ("matrix_power", *_safely("matrix_power: ")),
    ("linalg_tensorinv", *_safely("tensorinv: ")),
    ("linalg_tensorsolve", *_safely("tensorsolve: ")),
    ("cholesky", *_safely("cholesky: ")),
    ("cholesky_inverse", *_safely("cholesky_inverse: ")),
    ("cholesky_solve", *_safely("cholesky_solve: ")),
    ("linalg_eig", *_safely("torch.linalg.eig: ", "eigenvalues")),
    ("linalg_eigvals", *_safely("torch.linalg.eigvals: ", "eigenvalues")),
    ("linalg_householder_product", *_safely("torch.linalg.householder_product: ")),
    ("linalg_lstsq", *_safely("torch.linalg.lstsq: ", "solution")),
    ("diff", "exact", "expected scalar_type {result.scalar_name} but found {out.scalar_name}"),
    ("linalg_solve_triangular logsigmoid", "exact",
     "expected scalar type {result.scalar_name} but found {out.scalar_name}"),
    ("frexp", "exact", "torch.frexp() expects mantissa to have dtype {result.cpp_name} but got {out.cpp_name}"),
    ("ldexp", "cast", "ldexp can't be cast to the desired output type {out.scalar_name}"),
    ("masked_select index_select", "exact", "{name}(): self and result must have the same scalar type"),
    ("heaviside", "exact", "heaviside is not yet implemented for tensors with different dtypes."),
    ("ormqr", "exact", "torch.ormqr: Expected input and result to have the same dtype, but input has dtype"
     "{result.scalar_name} and result has dtype {out.scalar_name}"),
    ("float_power", "cast", "the output given to float_power has dtype {out.scalar_name} but the operation's result requires "
     "dtype {result.scalar_name}"),
    ("signbit isposinf isneginf", "exact", "{name} does not support non-boolean outputs."),
    ("nan_to_num", "exact", "nan_to_num: dtype of out: {out.scalar_name} should be same as input: {result.scalar_name}"),
    ("take", "exact", "take(): self and out expected to have the same dtype, but got self.dtype = {result.scalar_name} and "
     "out.dtype = {out.scalar_name}"),
    ("bernoulli", "any", ""),
    ("histc", "exact", "torch.histogram: input tensor and hist tensor should have the same dtype, but got input "
     "{result.cpp_name} and hist {out.cpp_name}"),
    ("logsumexp", "inexact", "logsumexp(): Expected floating point type for result tensor, but got: {out.scalar_name}"),
    ("where", "exact", "Expected out type to be {result.scalar_name} but got {out.scalar_name}"),
    ("nonzero", "exact", "nonzero: Expected out tensor to have scalar type Long but got scalar type{out.scalar_name}"),
    ("all any", "exact", "{name} only supports bool tensor for result, got: {out.scalar_name}"),
    ("mean", "cast", "mean.dtype_out(): input types can't be cast to the desired output type {out.scalar_name}"),
    ("linalg_vecdot", "exact", "linalg.vecdot: Expected out of dtype{result.scalar_name} but found {out.scalar_name}"),
    ("multi_dot", "exact",
     "multi_dot(): expected out tensor to have dtype {result.cpp_name} but got {out.cpp_name}"),
    ("narrow_copy", "exact", "Expected self.dtype() == output.dtype() to be true, but got false.  " + _UNCLEAR),
    ("diag", "cast", "diag: result type {result.scalar_name} can't be cast to the desired out= type {out.scalar_name}"),
    ("nansum nanmean", *CAST),
)  # fmt: skip

for _names, *_rule in _RULES:
    for _name in _names.split():
        OUT_RULES[_name] = tuple(_rule)

# --- functions whose methods take no `out=` (linear, gelu, softplus take it in PyTorch; here they stay short) ---

_TAKE_OUT = {
    "torch": "scatter scatter_add scatter_reduce index_add index_copy index_reduce tril triu diag narrow_copy slice_scatter",
    "nn.functional": "avg_pool2d avg_pool3d logsigmoid softshrink hardshrink",
}


def _takes_out(name: str, function):
    """The function with `out=`."""

    @functools.wraps(function)
    def call(*args, out=None, **kwargs):
        if out is None:
            return function(*args, **kwargs)
        refuse_out_gradient(name, [a for a in (*args, *kwargs.values()) if isinstance(a, Tensor)], (out,))
        result = function(*args, **kwargs)
        check_out(name, out, result._spec.dtype)
        write_out(out, result._array)
        return out

    return call


for _namespace, _names in _TAKE_OUT.items():
    for _name in _names.split():
        FUNCTIONS[_namespace][_name] = _takes_out(_name, FUNCTIONS[_namespace][_name])
