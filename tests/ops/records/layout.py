"""Records of views, joining, indexing, gathering, scattering, arranging and padding."""

from ..catalogue import Const, P, X, both, real, vjp

MASK = Const([[True, False, True], [False, False, True]])

# --- views ---

for size in ((6,), (3, -1), (1, 2, 3)):
    both("view", "view", X(2, 3), size)
both("view", "reshape", X(2, 3), (3, 2))
both("view", "view", X(), (1, 1))
both("view", "view", X(0, 2), (2, 0))
both("view", "view_as", X(2, 3), Const([[0, 0]] * 3))
both("view", "flatten", X(2, 3))
both("view", "unflatten", X(6), 0, (2, 3))
both("_unsafe_view", "kron", X(2, 2), X(1, 3), node="UnsafeViewBackward0")
both("transpose", "transpose", X(2, 3), 0, -1)
both("transpose", "transpose", X(2, 1, 3), 1, 2)
both("transpose", "swapaxes", X(2, 3), 0, 1)
both("t", "t", X(2, 3))
both("t", "t", X(3))
both("permute", "permute", X(2, 1, 3), (2, 0, -2))
both("permute", "movedim", X(2, 1, 3), 0, 2)
both("permute", lambda T, x: x.T, X(2, 3))
both("squeeze", "squeeze", X(1, 2, 1))
both("squeeze_inplace", lambda T, x: (x * 1).squeeze_(), X(1, 2, 1), node="SqueezeBackward3")
both("squeeze_dim", "squeeze", X(1, 2, 1), -1, node="SqueezeBackward1")
both("squeeze_dim", "squeeze", X(1, 2, 1), 1, node="SqueezeBackward1")
both("squeeze_dim_inplace", lambda T, x: (x * 1).squeeze_(0), X(1, 2, 1), node="SqueezeBackward4")
both("squeeze_dims", "squeeze", X(1, 2, 1), (0, 1, 2), node="SqueezeBackward2")
both("squeeze_dims_inplace", lambda T, x: (x * 1).squeeze_((0, 2)), X(1, 2, 1), node="SqueezeBackward5")
both("unsqueeze", "unsqueeze", X(2, 3), 1)
both("unsqueeze", "unsqueeze", X(), -1)
both("unsqueeze_inplace", lambda T, x: (x * 1).unsqueeze_(0), X(2, 3), node="UnsqueezeBackward1")
both("t_inplace", lambda T, x: (x * 1).t_(), X(2, 3), node="TBackward1")
both("transpose_inplace", lambda T, x: (x * 1).transpose_(0, 1), X(2, 3), node="TransposeBackward1")
both("expand", "expand", X(2, 1), (2, 3))
both("expand", "expand", X(3), (2, -1))
both("expand", "expand", X(), (2, 2))
both("expand", "broadcast_to", X(1, 3), (2, 3))
both("as_strided", "as_strided", X(2, 3), (2, 2), (1, 2), 1)
both("as_strided", "as_strided", X(6), (2, 3), (1, 1))
both("as_strided", lambda T, x: x.t().as_strided((3,), (2,)), X(2, 3))
both("as_strided_vjp", vjp("as_strided"), X(2, 2), X(2, 3), (2, 2), (1, 2), 1, node=None)
both("as_strided_vjp", vjp("as_strided"), X(2, 3), X(6), (2, 3), (1, 1), node=None)
both("as_strided_vjp_vjp", vjp(vjp("as_strided")), X(6), X(2, 3), X(6), (2, 3), (1, 1), node=None)
real("getitem", vjp("scatter_reduce"), X(2, 3), X(2, 3), 1, Const([[0, 2], [1, 1]]), X(2, 3), "prod", node=None)
both("place", vjp(lambda T, x: x[1, ::2]), X(2), X(3, 4), node=None)
both("alias", lambda T, x: x[...], X(2, 3))
both("slice", lambda T, x: x[:], X(2, 3))
both("_reshape_alias", lambda T, x: x.t().reshape(3, 1, 2), X(2, 3), node="ReshapeAliasBackward0")
both("select", "select", X(2, 3), 1, -1)
both("select", lambda T, x: x[1], X(3))
both("slice", lambda T, x: x[1:], X(3, 2))
both("slice", lambda T, x: x[::2], X(4, 2))
both("slice", "narrow", X(4, 2), 0, 1, 2)
both("narrow_copy", "narrow_copy", X(4, 2), 0, 1, 2)
both("unbind", "unbind", X(2, 3), 1)
both("unbind", lambda T, x: (x.unbind()[1], x.unbind()[0] * 2), X(2, 3))
both("split", "split", X(5, 2), 2)
both("split", lambda T, x: x.chunk(2)[1], X(5))
both("split_with_sizes", "split", X(5, 2), (1, 4), node="SplitWithSizesBackward0")
both("slice", "tensor_split", X(5, 2), 2)
both("unsafe_split", "unsafe_split", X(5, 2), 2)
both("unsafe_split_with_sizes", "unsafe_split_with_sizes", X(5, 2), (1, 4))
both("diagonal", "diagonal", X(3, 4), 1)
both("diagonal", "diagonal", X(2, 3, 2), -1, 2, 0)
both("diagonal_place", vjp("diagonal"), X(3), X(3, 4), 1, node=None)
both("unfold", "unfold", X(5, 2), 0, 3, 1)
both("unfold", "unfold", X(5), 0, 2, 3)
both("unfold", "unfold", X(), 0, 1, 1)
both("unfold_place", vjp("unfold"), X(3, 2, 3), X(5, 2), 0, 3, 1, node=None)

# --- joining ---

both("cat", "cat", (X(2, 3), X(1, 3), X(2, 3)))
both("cat", "cat", (X(2, 3), X(2, 2)), -1)
both("cat", lambda T, x: T.cat([x, x.sum(0, keepdim=True), x]), X(2, 3))
both("cat", "hstack", (X(2), X(3)))
both("stack", "stack", (X(2, 3), X(2, 3)), 1)
both("stack", "stack", (X(), X(), X()))
both("block_diag", "block_diag", X(2, 2), X(3), X())

# --- gathering ---

both("index", lambda T, x, i: x[i], X(3, 2), Const([0, 2, 0]))
both("index", lambda T, x, i, j: x[i, j], X(3, 2), Const([0, 2]), Const([[1], [0]]))
both("index", lambda T, x, i: x[:, i], X(2, 3), Const([-1, 0]))
both("index", lambda T, x, i: x[i, :, 0], X(3, 2, 2), Const([1, 0, 1]))
both("index", lambda T, x, m: x[m], X(2, 3), MASK)
both("accumulate", vjp(lambda T, x, i: x[i]), X(3, 2), X(3, 2), Const([0, 2, 0]), node=None)
both("gather", "gather", X(2, 3), 1, Const([[0, 0], [2, 1]]))
both("gather", "gather", X(), 0, Const(0))
both("gather", "take_along_dim", X(2, 3), Const([[2, 0, 1], [0, 0, 0]]), 1)
both("index_select", "index_select", X(2, 3), 1, Const([2, 0, 2]))
both("take", "take", X(2, 3), Const([[5, 0], [0, -1]]))
both("masked_select", "masked_select", X(2, 3), MASK)
both("masked_select", "masked_select", X(3), MASK)
both("index_last", vjp("index_copy"), X(3, 2), X(3, 2), 0, Const([0, 0]), X(2, 2), node=None)
both(
    "place_last",
    vjp(lambda T, *a: vjp("index_copy")(T, *a)[1]),
    X(2, 2),
    X(3, 2),
    X(3, 2),
    0,
    Const([0, 0]),
    X(2, 2),
    node=None,
)
both("clear", vjp("index_copy"), X(3, 2), X(3, 2), 0, Const([0, 0]), X(2, 2), node=None)
real("embedding", lambda T, w, i: T.nn.functional.embedding(i, w), X(4, 2), Const([[0, 3], [3, 1]]))
real("embedding", lambda T, w, i: T.nn.functional.embedding(i, w, padding_idx=1), X(4, 2), Const([0, 2]))
embed = lambda T, w, i: T.nn.functional.embedding(i, w)
real("embedding_vjp", vjp(embed), X(2, 2), X(4, 2), Const([3, 3]), node=None)
real("embedding_rows", vjp(vjp(embed)), X(4, 2), X(2, 2), X(4, 2), Const([3, 3]), node=None)

# --- arranging ---

both("repeat", "repeat", X(2, 3), (2, 1, 2))
both("repeat", "tile", X(3), (2,))
both("flip", "flip", X(2, 3), (0, -1))
both("flip", "fliplr", X(2, 3))
both("roll", "roll", X(2, 3), 1)
both("roll", "roll", X(2, 3), (1, -1), (0, 1))
both("rot90", "rot90", X(2, 3), 1, (0, 1))
both("rot90", "rot90", X(2, 3), 2, (1, 0))
for k in (0, 1, -1):
    both("tril", "tril", X(2, 3), k)
    both("triu", "triu", X(2, 2, 3), k)
both("diag_embed", "diag_embed", X(2, 3), 1)
both("diag_embed", "diag", X(3), -1)
both("diagonal_copy", "diag", X(3, 2), -1, node="DiagonalBackward0_copy")

# --- padding ---

pad = "nn.functional.pad"
both("constant_pad_nd", pad, X(2, 3), (1, 2, 0, 1), "constant", 0.5)
both("constant_pad_nd", pad, X(2, 3), (-1, 1))
for d, shape, pads in ((1, (1, 4), (2, 1)), (2, (1, 3, 3), (1, 2, 2, 0)), (3, (1, 2, 2, 3), (1, 0, 1, 1, 0, 1))):
    both(f"reflection_pad{d}d", pad, X(*shape), pads, "reflect", node=f"ReflectionPad{d}DBackward0")
    both(f"replication_pad{d}d", pad, X(*shape), pads, "replicate", node=f"ReplicationPad{d}DBackward0")

# --- scattering ---

TWO = Const([[0, 2], [1, 1]])
both("index_put", "index_put", X(3, 2), (Const([0, 2]),), X(2, 2))
both("index_put", "index_put", X(3, 2), (Const([0, 0]),), X(2), True)
both("index_put", lambda T, x, m, v: (x * 1).index_put_((m,), v), X(2, 3), MASK, X())
both("scatter", "scatter", X(2, 3), 1, Const([[0, 2], [1, 0]]), X(2, 2))
both("scatter_value", "scatter", X(2, 3), 1, TWO, 0.5, node="ScatterBackward1")
both("scatter_add", "scatter_add", X(2, 3), 1, TWO, X(2, 2))
both("scatter_add", "scatter_add", X(2, 3), 0, Const([[0]]), X(2, 2))
both("index_add", "index_add", X(2, 3), 1, Const([0, 0]), X(2, 2), alpha=2)
both("index_copy", "index_copy", X(2, 3), 1, Const([2, 0]), X(2, 2))
both("index_fill", "index_fill", X(2, 3), 1, Const([2, 0]), 0.5)
both("index_fill_tensor", "index_fill", X(2, 3), 1, Const([2, 0]), X(), node="IndexFillBackward1")
both("put", "put", X(2, 3), Const([0, 4]), X(2))
both("put", "put", X(2, 3), Const([0, 0]), X(2), True)
both("masked_scatter", "masked_scatter", X(2, 3), MASK, X(4))
both("select_scatter", "select_scatter", X(2, 3), X(2), 1, -1)
both("slice_scatter", "slice_scatter", X(4, 2), X(2, 2), 0, 1, 3)
both("diagonal_scatter", "diagonal_scatter", X(2, 3), X(2), 1)
both("as_strided_scatter", "as_strided_scatter", X(2, 3), X(2, 2), (2, 2), (1, 2), 1)
HOLES = Const(
    [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]], "float64"
)  # a product that holds zeros is differentiated in another way
real(
    "scatter_reduce_prod",
    lambda T, h, x, i, s: (x * h).scatter_reduce(1, i, s, "prod"),
    HOLES,
    X(2, 3),
    TWO,
    X(2, 2),
    node="ScatterReduceBackward0",
)
real(
    "index_reduce_prod",
    lambda T, h, x, i, s: (x * h).index_reduce(1, i, s, "prod"),
    HOLES,
    X(2, 3),
    Const([2, 0]),
    X(2, 2),
    node="IndexReduceBackward0",
)
real("multiply_at", vjp("scatter_reduce"), X(2, 3), X(2, 3), 1, TWO, X(2, 2), "prod", node=None)
for sign in (X, P):
    for keep in (True, False):
        for how, name in (("sum", "sum"), ("mean", "sum"), ("prod", "prod"), ("amax", "amax"), ("amin", "amin")):
            real(
                f"scatter_reduce_{name}",
                "scatter_reduce",
                sign(2, 3),
                1,
                TWO,
                sign(2, 2),
                how,
                include_self=keep,
                node="ScatterReduceBackward0",
            )
            if how != "sum":
                real(
                    f"index_reduce_{name}",
                    "index_reduce",
                    sign(2, 3),
                    1,
                    Const([2, 2]),
                    sign(2, 2),
                    how,
                    include_self=keep,
                    node="IndexReduceBackward0",
                )
