"""Views and in-place changes: what is shared, whose history changes, and what autograd refuses."""

import numpy as np
import pytest

import chainrule as torch
from tests.ops.numeric import check

A = np.random.default_rng(0).standard_normal((3, 4))


def base():
    return torch.zeros(3, 4, requires_grad=True).clone()


def nodes(t):
    return t.grad_fn.name(), [n and n.name() for n, _ in t.grad_fn.next_functions]


def refused(function):
    with pytest.raises(RuntimeError) as found:
        function()
    return str(found.value)


def test_a_view_of_a_view_has_the_root_as_its_base_and_shares_its_version():
    x = torch.zeros(3, 4)
    y = x[1:].t()[0]
    assert y._base is x and x._base is None
    y.add_(1)
    x.mul_(2)
    assert x._version == y._version == x[0]._version == 2 and x[:, 0].tolist() == [0, 2, 2]
    assert x.detach()._version == 2 and x.detach()._base is None and x.data._version == 0


def test_a_change_of_a_view_rewrites_the_history_of_its_base():
    x = base()
    y, other = x[0], x[:, 1]
    y.mul_(3)
    assert nodes(x) == ("torch::autograd::CopySlices", ["CloneBackward0", None])
    assert y.grad_fn.name() == other.grad_fn.name() == "AsStridedBackward0"
    assert y.grad_fn.next_functions[0][0] is x.grad_fn


def test_a_change_of_the_base_is_in_the_history_of_its_views():
    x = base()
    y = x.view(12)
    x.add_(1)
    assert y.grad_fn.name() == "AsStridedBackward0" and y.grad_fn.next_functions[0][0].name() == "AddBackward0"


def program(name):
    """Programs of views and changes, as functions of a matrix and a vector."""

    def rows(x, v):
        x = x * 1
        x[0] = v
        x[1:, ::2] *= 2
        return x

    def later_view(x, v):
        x = x * 1
        y = x.t()
        x[2].mul_(v)
        y[0].add_(y[1])
        return x, y

    def chain(x, v):
        x = x * 1
        y = x.view(2, 6)[1].view(3, 2).t()
        y.sin_()
        y[0].sub_(x[0, 0])
        return x * x, y

    def overlapping(x, v):
        x = x * 1
        x.diagonal().mul_(v[:3])
        x.unfold(1, 2, 2).sin_()
        x.view(-1)[::5].copy_(v[:3])
        return x

    def saved_before_the_change(x, v):
        x = x * v
        y = x[1:].clone()
        x[1:].mul_(y)
        return x

    def base_without_gradient(x, v):
        y = torch.ones(3, 4, dtype=torch.float64)
        y[1].mul_(v)
        y[:, 0] = x[:, 1]
        return y

    def masked(x, v):
        x = x * 1
        x[torch.tensor(A > 0)] = 2 * v[0]
        x.view(12)[[1, 5]] = v[:2]
        return x

    return locals()[name]


@pytest.mark.parametrize(
    "name",
    ["rows", "later_view", "chain", "overlapping", "saved_before_the_change", "base_without_gradient", "masked"],
)
def test_derivatives_of_programs(name):
    check(program(name), A, np.array([0.3, -0.7, 1.1, 0.5]))


def test_parts_of_complex_tensors():
    def scale(x, v):
        x = x * 1
        x.real.mul_(v.real)
        torch.view_as_real(x)[0, 0] = 2.0
        return x

    check(scale, np.array([1 + 2j, 3 - 1j]), np.array([2.0 + 0j, -1.0 + 0j]))


def test_leaves_and_their_views_may_not_be_changed():
    x = torch.zeros(3, requires_grad=True)
    assert refused(lambda: x.add_(1)).startswith("a leaf Variable that requires grad is being used in an in-place")
    assert refused(lambda: x[0].add_(1)).startswith("a view of a leaf Variable that requires grad is being used in an")
    with torch.no_grad():
        x[0] = 1.0
        x.add_(1)
    assert x.tolist() == [2, 1, 1] and x.is_leaf


def test_views_made_under_no_grad():
    x = base()
    with torch.no_grad():
        y = x[0]
    text = (
        "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this use"
    )
    assert y.requires_grad and y.grad_fn is None and refused(lambda: y.add_(1)).startswith(text)
    z = y[1:]
    assert refused(lambda: z.add_(1)).startswith(
        "Output 0 of Slice is a view of a view which was created in no_grad mode and"
    )
    x.add_(1)
    text = "A view was created in no_grad mode and its base or another view of its base has been modified inplace with"
    assert refused(lambda: y + 1).startswith(text)
    assert repr(y) == "tensor([1., 1., 1., 1.], grad_fn=<Invalid>)"
    with torch.no_grad():
        assert (y + 1).tolist() == [2, 2, 2, 2]


def test_views_of_several_outputs():
    x = base()
    y, z = x.unbind()[0], x.unbind()[1].view(2, 2)
    text = "is a view and is being modified inplace. This view is the output of a function that returns multiple views."
    assert refused(lambda: y.add_(1)).startswith("Output 0 of Unbind " + text)
    assert refused(lambda: z.add_(1)).startswith("Output 0 of View " + text)
    x.add_(1)
    text = (
        "Output 0 of Unbind is a view and its base or another view of its base has been modified inplace. This view is"
    )
    assert refused(lambda: y.grad_fn).startswith(text)


def test_a_saved_tensor_that_was_changed_is_named_by_what_changed_it():
    x = torch.ones(3, requires_grad=True) * 1
    y = x * x
    x.add_(1)
    text = refused(lambda: y.backward(torch.ones(3)))
    assert "[torch.FloatTensor [3]], which is output 0 of Add, is at version 1; expected version 0 instead." in text
    z = torch.ones(3, requires_grad=True) * 1
    z.mul_(z)
    assert "which is output 0 of Mul, is at version 1; expected version 0" in refused(lambda: z.backward(torch.ones(3)))


def test_writing_to_memory_that_is_read():
    x = torch.zeros(4)
    assert refused(lambda: x[:3].add_(x[1:])).startswith(
        "unsupported operation: some elements of the input tensor and the"
    )
    assert refused(lambda: x[:3].copy_(x[1:])).startswith(
        "unsupported operation: some elements of the input tensor and"
    )
    assert x.add_(x).tolist() == [0, 0, 0, 0]
    y = torch.zeros(1).expand(3)
    assert refused(lambda: y.add_(1)).startswith(
        "unsupported operation: more than one element of the written-to tensor"
    )


def test_a_second_backward_through_a_change_of_a_view():
    x = torch.tensor(A, requires_grad=True)
    y = x * 1
    y[0].exp_()
    y.backward(torch.ones(3, 4, dtype=torch.float64), retain_graph=True)
    first = x.grad.clone()
    y.backward(torch.ones(3, 4, dtype=torch.float64))
    np.testing.assert_allclose(x.grad.numpy(), 2 * first.numpy())
    assert refused(lambda: y.backward(torch.ones(3, 4, dtype=torch.float64))).startswith(
        "Trying to backward through the graph"
    )


def test_nodes_that_save_sizes_alone_may_run_twice():
    x = torch.zeros(2, 3, requires_grad=True)
    for y in (x.view(6), x[0, 1:], x.unbind()[1], x.diagonal(), torch.cat([x, x]), x.flip(0)):
        y.backward(torch.ones(y.shape))
        y.backward(torch.ones(y.shape))
    for y in (x[[0, 1]], x.gather(0, torch.tensor([[0]])), x.index_select(1, torch.tensor([0]))):
        y.backward(torch.ones(y.shape))
        assert refused(lambda y=y: y.backward(torch.ones(y.shape))).startswith("Trying to backward through the graph")


def test_a_base_with_gaps_in_its_memory():
    v = torch.tensor([2.0, 3.0], requires_grad=True)
    x = torch.from_numpy(np.ones((3, 4), np.float32)[:, ::2])
    x[1].mul_(v)
    x[:, 0].mul_(v[0])
    x.backward(torch.tensor([[1.0, 10.0], [100.0, 1000.0], [10000.0, 100000.0]]))
    assert x.tolist() == [[2, 1], [4, 3], [2, 1]] and v.grad.tolist() == [10401, 1000]


def test_a_result_written_into_a_view_is_differentiated_twice():
    def run(x):
        x = x * 1
        x.unsqueeze(0).exp_()
        return x, x.view(-1)[2:5] * x[0, 0]

    check(run, A, order=3)
