"""In-place changes: versions, what autograd refuses, whose history changes, retained gradients and hooks."""

import gc
import weakref

import numpy as np
import pytest

import chainrule as torch
from tests.ops.numeric import check

LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
VIEW_OF_LEAF = "a view of a leaf Variable that requires grad is being used in an in-place operation."
TWICE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been"
)
SEVERAL = (
    "This view is the output of a function that returns multiple views. Such functions do not allow the output views to be "
    "modified inplace. You should replace the inplace operation by an out-of-place one."
)
FORBIDDEN = (
    " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the "
    "view and the inplace either both inside the {0} block (if you don't want the inplace to be tracked) or both outside (if "
    "you want the inplace to be tracked)."
)
INFERENCE = (
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor "
    "before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
)


def leaf(*shape):
    return torch.ones(*shape, dtype=torch.float64, requires_grad=True)


def refused(function) -> str:
    with pytest.raises(RuntimeError) as found:
        function()
    return str(found.value)


def names(t) -> tuple:
    return t.grad_fn.name(), [n and n.name() for n, _ in t.grad_fn.next_functions]


# --- versions ---


def test_every_change_raises_the_version_once():
    x = torch.zeros(2, 2)
    v = torch.ones(2)
    changes = [
        lambda: x.add_(1), lambda: x.mul_(v), lambda: x.copy_(v), lambda: x.fill_(2), lambda: x.zero_(), lambda: x.exp_(),
        lambda: x.__setitem__(0, v), lambda: x.__setitem__((0, 1), 3.0), lambda: x.__setitem__(x > 0, 1.0),
        lambda: x.__setitem__([0, 1], v), lambda: x.masked_fill_(x > 0, 2.0),
        lambda: x.index_add_(0, torch.tensor([1]), x[:1] * 2),
        lambda: x[0].add_(1), lambda: x.t().add_(1), lambda: x.detach().add_(1), lambda: x.view(4)[1:3].sub_(1),
        lambda: x.t_(), lambda: x.unsqueeze_(0), lambda: x.squeeze_(0), lambda: x.transpose_(0, 1), lambda: x.clamp_(0, 1),
    ]  # fmt: skip
    for count, change in enumerate(changes, 1):
        change()
        assert x._version == count
    assert torch.add(v, 1, out=v) is v and v._version == 1


def test_what_shares_memory_and_not_the_version():
    x = torch.zeros(3)
    x.data.add_(1)
    x.numpy()[0] = 5
    assert x.tolist() == [5, 1, 1] and x._version == 0
    y = x.detach()
    y.add_(1)
    assert x._version == y._version == 1 and x.clone()._version == 0


def test_augmented_assignment_counts_for_the_item_and_for_the_whole():
    x = torch.zeros(3)
    x[1:] += 1
    assert x._version == 2 and x.tolist() == [0, 1, 1]
    x += 1
    assert x._version == 3


@pytest.mark.parametrize(
    "change, text",
    [
        (lambda x: x.add_(torch.ones(3)), "The size of tensor a (2) must match the size of tensor b (3) at non-singleton "
         "dimension 1"),
        (lambda x: x.add_(torch.ones(2, 2, 2)), "output with shape [2, 2] doesn't match the broadcast shape [2, 2, 2]"),
        (lambda x: x.long().add_(0.5), "result type Float can't be cast to the desired output type Long"),
        (lambda x: x.mul_(1j), "result type ComplexFloat can't be cast to the desired output type Float"),
        (lambda x: x.__setitem__(0, torch.ones(3)), "The expanded size of the tensor (2) must match the existing size (3) at "
         "non-singleton dimension 0.  Target sizes: [2].  Tensor sizes: [3]"),
        (lambda x: x.__setitem__(x > 0, torch.ones(3)), "shape mismatch: value tensor of shape [3] cannot be broadcast to "
         "indexing result of shape [4]"),
        (lambda x: x.expand(3, 2, 2).add_(1), "unsupported operation: more than one element of the written-to tensor refers to a "
         "single memory location. Please clone() the tensor before performing the operation."),
        (lambda x: x.view(-1)[1:].add_(x.view(-1)[:-1]), "unsupported operation: some elements of the input tensor and the "
         "written-to tensor refer to a single memory location. Please clone() the tensor before performing the operation."),
        (lambda x: x.index_add_(0, torch.tensor([0, 1]), x), "unsupported operation: some elements of the input tensor and the "
         "written-to tensor refer to a single memory location. Please clone() the tensor before performing the operation."),
    ],
)  # fmt: skip
def test_what_fails_changes_nothing(change, text):
    x = torch.ones(2, 2)
    assert refused(lambda: change(x)) == text
    assert x._version == 0 and x.tolist() == [[1, 1], [1, 1]]


# --- what a node saved ---


def test_a_saved_tensor_that_was_changed():
    for change in (lambda y: y.add_(1), lambda y: y[0].zero_(), lambda y: y.detach().mul_(2), lambda y: y.t().fill_(1)):
        y = leaf(2, 2) * 1
        z = y.exp()
        w = y.sin()
        change(y)
        z.sum().backward(retain_graph=True)  # exp keeps its result
        text = refused(lambda w=w: w.sum().backward())
        assert text.startswith(
            "one of the variables needed for gradient computation has been modified by an inplace operation: "
            "[torch.DoubleTensor [2, 2]]"
        )
        assert (
            "is at version 1; expected version 0 instead. Hint: enable anomaly detection to find the operation" in text
        )
        assert refused(lambda w=w: w.grad_fn._saved_self) == text
        z.mul_(2)
        text = refused(lambda z=z: z.sum().backward())
        assert (
            "[torch.DoubleTensor [2, 2]], which is output 0 of Exp, is at version 1; expected version 0 instead."
            in text
        )


def test_data_escapes_the_check():
    x = leaf(2)
    y = x * 1
    z = y * y
    y.data.fill_(5)
    z.sum().backward()
    assert x.grad.tolist() == [10, 10]


def test_an_operation_in_place_keeps_what_it_needs_of_the_old_values():
    for name in (
        "sin_",
        "cos_",
        "log_",
        "square_",
        "reciprocal_",
        "tanh_",
        "sigmoid_",
        "exp_",
        "sqrt_",
        "abs_",
        "lgamma_",
    ):
        out = name.rstrip("_")
        check(lambda x, name=name: getattr(x * 1, name)(), np.array([0.4, 0.7, 1.3]))
        x, y = leaf(3), leaf(3)
        getattr(x * 2, name)().sum().backward()
        getattr(y * 2, out)().sum().backward()
        assert x.grad.tolist() == y.grad.tolist()


def test_changes_one_after_another():
    def run(x, v):
        y = x * v
        y.add_(v).mul_(2).sub_(x)
        y.pow_(3)
        y.div_(v + 3)
        y[1] = y[0].clone() * v[1]
        y[y > 0] *= 2
        return y

    check(run, np.array([0.3, -0.8, 1.7]), np.array([0.6, -1.1, 0.4]))


def test_a_changed_view_runs_but_once():
    x = leaf(3)
    y = x * 1
    y[0] = 2.0
    y.sum().backward()
    assert x.grad.tolist() == [0, 1, 1]
    assert refused(lambda: y.sum().backward()).startswith(TWICE)


# --- leaves ---


def test_leaves_and_their_views():
    x = leaf(2, 2)
    for change in (
        lambda: x.add_(1), lambda: x.zero_(), lambda: x.copy_(x * 2), lambda: x.mul_(x), lambda: x.t_(),
        lambda: x.masked_fill_(x > 0, 1), lambda: x.index_add_(0, torch.tensor([0]), x[:1] * 2),
        lambda: x.__setitem__(x > 0, 1.0), lambda: x.__setitem__([0, 1], 1.0),
    ):  # fmt: skip
        assert refused(change) == LEAF
    for change in (
        lambda: x[0].add_(1), lambda: x.view(4)[1:].exp_(), lambda: x.t().t_(), lambda: x.__setitem__(0, 1.0),
        lambda: x.__setitem__(..., 1.0), lambda: x.diagonal().zero_(), lambda: x[0].fill_(2), lambda: x.real.mul_(2),
    ):  # fmt: skip
        assert refused(change) in (VIEW_OF_LEAF, LEAF)
    assert x._version == 0 and x.tolist() == [[1, 1], [1, 1]]
    x.detach().add_(1)
    x.data.add_(1)
    with torch.no_grad():
        x += 1
        x[0] = 7.0
    assert x.is_leaf and x.tolist() == [[7, 7], [4, 4]]


def test_a_view_that_was_made_to_require_grad_is_a_leaf():
    base = torch.zeros(6)
    x = base.view(2, 3).requires_grad_()
    assert refused(lambda: x.add_(1)) == VIEW_OF_LEAF
    assert refused(lambda: x[0].add_(1)) == VIEW_OF_LEAF
    assert refused(lambda: x.__setitem__(0, 1.0)) == VIEW_OF_LEAF
    (x * 2).sum().backward()
    assert x.grad.tolist() == [[2, 2, 2], [2, 2, 2]] and base.grad is None and not base.requires_grad


def test_operand_alone_requires_grad():
    x, v = torch.zeros(2), leaf(2).float().detach().requires_grad_()
    x.add_(v)
    assert names(x) == ("AddBackward0", [None, "torch::autograd::AccumulateGrad"])
    y = torch.zeros(2, 2)
    row, other = y[0], y[1]
    row.mul_(v)
    assert names(y) == ("torch::autograd::CopySlices", [None, "torch::autograd::AccumulateGrad"])
    assert other.requires_grad and other.grad_fn.name() == "AsStridedBackward0"
    integers = torch.zeros(2, dtype=torch.int64)
    integers.copy_(v)
    assert not integers.requires_grad


def test_detached_leaves_receive_nothing_any_more():
    x = leaf(2)
    y = (x * 3).sum()
    x.requires_grad_(False)
    y.backward()
    assert x.grad is None
    x = leaf(2)
    part = x[0]
    x.detach_()
    x.add_(1)
    assert part.requires_grad and names(part) == ("AsStridedBackward0", [None])
    part.backward()
    assert x.grad is None


# --- retained gradients, hooks ---


def test_retained_gradients_follow_changes():
    x = leaf(2, 2)
    y = x * 1
    y.retain_grad()
    y.mul_(3)
    (y * 2).sum().backward()
    assert y.retains_grad and y.grad.tolist() == [[2, 2], [2, 2]] and x.grad.tolist() == [[6, 6], [6, 6]]

    base = x * 1
    base.retain_grad()
    base[0].mul_(3)
    (base * 2).sum().backward()
    assert base.retains_grad and base.grad.tolist() == [[2, 2], [2, 2]]

    base = x * 1
    row = base[0]
    row.retain_grad()
    base.mul_(3)
    assert row.retains_grad
    (row * 2).sum().backward()
    assert row.grad.tolist() == [2, 2]

    base = x * 1
    row = base[0]
    row.retain_grad()
    row.mul_(3)
    (row * 2).sum().backward()
    assert row.retains_grad and row.grad.tolist() == [2, 2]

    base = x * 1
    row = base[0]
    row.retain_grad()
    row.mul_(3)
    base.sum().backward()
    assert row.grad is None  # the gradient of the base does not come by the view


def test_hooks_stay_with_the_values_they_were_registered_for():
    x, seen = leaf(2), []
    y = x * 1
    y.register_hook(lambda g: seen.append(("before", g.tolist())))
    y.mul_(3)
    y.register_hook(lambda g: seen.append(("after", g.tolist())))
    (y * 2).sum().backward()
    assert seen == [("after", [2, 2]), ("before", [6, 6])]

    seen.clear()
    base = x * 1
    row = base[0]
    row.register_hook(lambda g: seen.append(g))
    base.mul_(3)
    row.backward()
    assert seen == []  # the view has a history that is new


# --- views of several outputs, views made elsewhere ---


@pytest.mark.parametrize(
    "name, args", [("Unbind", ()), ("Split", (1,)), ("SplitWithSizes", ([1, 1],)), ("Split", (2,))]
)
def test_views_of_functions_with_several_outputs(name, args):
    y = leaf(2, 2) * 1
    parts = y.unbind() if name == "Unbind" else y.chunk(2) if args == (2,) else y.split(*args)
    with pytest.raises(RuntimeError) as found:
        parts[1].add_(1)
    assert str(found.value) == f"Output 1 of {name} is a view and is being modified inplace. {SEVERAL}"
    with torch.no_grad():
        parts[1].add_(1)
    text = f"Output 0 of {name} is a view and its base or another view of its base has been modified inplace. {SEVERAL}"
    for use in (
        lambda: parts[0] * 2,
        lambda: parts[0].grad_fn,
        lambda: parts[0].sum().backward(),
        lambda: parts[0].view(-1),
    ):
        assert refused(use) == text
    with torch.no_grad():
        assert (parts[0] * 2).sum().item() == 4
        assert refused(lambda: parts[0].grad_fn) == text
    y.sum().backward()


def test_views_made_without_recording():
    x = leaf(2, 2)
    with torch.no_grad():
        row = x[0]
    assert row.requires_grad and row.grad_fn is None and row.is_leaf
    text = "element 0 of tensors does not require grad and does not have a grad_fn"
    assert refused(lambda: row.sum().detach().backward()) == text
    assert refused(lambda: row[0].detach().backward()) == text
    assert refused(lambda: row.backward(torch.ones(2, dtype=torch.float64))) == text
    y = (x * 2).sum()
    assert torch.autograd.grad(y, [row, x], allow_unused=True)[0] is None
    text = (
        "A view was created in no_grad mode and is being modified inplace with grad mode enabled."
        + FORBIDDEN.format("no_grad")
    )
    assert refused(lambda: row.add_(1)) == text
    row.retain_grad()
    assert not row.retains_grad
    with torch.no_grad():
        row.add_(1)
    assert x.tolist() == [[2, 2], [1, 1]]


def test_inference_tensors():
    with torch.inference_mode():
        x = torch.ones(2)
        x.add_(1)
        part = x[0]
        with torch.enable_grad():
            assert not (leaf(2) * 2).requires_grad and torch.is_grad_enabled()
    assert x.is_inference() and part.is_inference() and part._base is None and not part._is_view()
    assert refused(lambda: x.add_(1)) == INFERENCE
    assert refused(lambda: part.zero_()) == INFERENCE
    assert refused(lambda: x._version) == "Inference tensors do not track version counter."
    assert (
        refused(lambda: x.requires_grad_())
        == "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
    )
    assert x.tolist() == [2, 2] and x.detach().is_inference() and x.data.is_inference() and not x.clone().is_inference()
    y = leaf(2)
    assert refused(lambda: y * x).startswith(
        "Inference tensors cannot be saved for backward. Please do not use Tensors created"
    )
    (y + x).sum().backward()
    (y * 1).add_(x)
    base = y * 1
    with torch.inference_mode():
        view = base[0]
        base.mul_(2)
    assert not view.is_inference() and base._version == 1
    text = "A view was created in inference mode and is being modified inplace in normal mode." + FORBIDDEN.format(
        "inference_mode"
    )
    assert refused(lambda: view.add_(1)) == text


def test_a_view_of_a_custom_function_may_not_be_changed():
    class Part(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:1]

        @staticmethod
        def backward(ctx, grad):
            return torch.cat([grad, torch.zeros_like(grad)])

    y = Part.apply(leaf(2) * 1)
    text = refused(lambda: y.add_(1))
    assert text.startswith("Output 0 of Part is a view and is being modified inplace. This view was created inside a")


# --- chains of views ---


def test_long_chains_of_views_share_one_base():
    def run(x, v):
        x = x * 1
        y = x.view(2, 2, 3).permute(2, 0, 1)[1:].transpose(0, 2)
        y[..., 0] = v
        y.unsqueeze(1).squeeze().select(0, 1).mul_(x[0, 0].clone())
        x.t()[2].add_(y[1, 0, 1])
        z = x.unfold(1, 2, 2)
        z[:, 0] = z[:, 0].clone() * v
        assert z._base is x and y._base is x
        return x, y, z

    check(run, np.random.default_rng(1).standard_normal((4, 3)), np.array([0.7, -1.3]))


def test_an_expanded_tensor_is_changed_before_it_is_expanded():
    def run(x):
        y = x * 1
        wide = y.expand(3, 2)
        y.mul_(x)
        return wide * wide

    check(run, np.array([0.3, -0.7]))


def test_the_first_value_that_is_masked():
    def run(x, v):
        x = x * 1
        x[x > 0] = v[0]
        x[(x < 0) & (x > -0.5)] = torch.zeros(1, dtype=torch.float64)
        return x * v[1]

    check(run, np.array([[0.3, -0.2], [-0.8, 1.5]]), np.array([0.4, 0.9]))
    x = torch.ones(2, requires_grad=True) * 1
    x[torch.tensor([True, False])] = 2.0
    assert x.grad_fn.name() == "IndexPutBackward0"


def test_nothing_is_kept_alive_by_what_has_been_changed():
    gc.disable()
    try:
        y = leaf(3) * 1
        row = y[0]
        row.mul_(2)
        y[1] = row
        ref, kept = weakref.ref(y), weakref.ref(y.grad_fn)
        del y, row
        assert ref() is None and kept() is None
    finally:
        gc.enable()
