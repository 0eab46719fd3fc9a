"""The backward pass: accumulation, several roots, retained graphs, targets, freeing, depth, exceptions."""

import gc
import subprocess
import sys
import weakref

import pytest

import chainrule as torch


def leaf(*values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


def test_accumulates_into_leaves_and_keeps_the_same_grad_object():
    x = leaf(1.0, 2.0)
    (x * 3).sum().backward()
    first = x.grad
    (x * x).sum().backward()
    assert x.grad is first
    assert x.grad.tolist() == [5.0, 7.0]
    assert first._version == 1


def test_gradients_of_two_leaves_do_not_share_memory():
    x, y = leaf(1.0), leaf(2.0)
    (x + y).backward(torch.tensor([1.0], dtype=torch.float64))
    x.grad.zero_()
    assert y.grad.tolist() == [1.0]


def test_gradient_argument_is_not_stored():
    x = leaf(1.0, 2.0)
    g = torch.tensor([1.0, 1.0], dtype=torch.float64)
    (x + 0).backward(g)
    x.grad.zero_()
    assert g.tolist() == [1.0, 1.0]


def test_paths_that_meet_are_added_once():
    x = leaf(2.0)
    a = x * 3
    b = a * a + a + a
    b.backward(torch.ones(1, dtype=torch.float64))
    assert x.grad.tolist() == [2 * 6 * 3 + 3 + 3]


def test_second_backward_needs_retain_graph():
    x = leaf(3.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [12.0]
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()
    assert x.grad.tolist() == [12.0]


def test_nothing_saved_may_run_twice():
    x = leaf(3.0)
    y = (x + 1).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [2.0]


def test_several_roots_and_gradients():
    x = leaf(1.0, 2.0)
    a, b = (x * 2).sum(), x * x
    torch.autograd.backward([a, b], [None, torch.tensor([1.0, 10.0], dtype=torch.float64)])
    assert x.grad.tolist() == [4.0, 42.0]


def test_grad_leaves_dot_grad_alone_and_runs_only_what_is_needed():
    x, y = leaf(1.0), leaf(2.0)
    ran = []
    mid = y * 2
    mid.register_hook(lambda g: ran.append(g))
    z = (x * 3 + mid).sum()
    (g,) = torch.autograd.grad(z, x)
    assert g.tolist() == [3.0] and x.grad is None and y.grad is None and not ran


def test_grad_of_non_leaf_and_of_the_root_itself():
    x = leaf(2.0)
    y = x * x
    z = (y * 3).sum()
    gz, gy = torch.autograd.grad(z, [z, y])
    assert gz.item() == 1.0 and gy.tolist() == [3.0]


def test_unused_inputs():
    x, y = leaf(1.0), leaf(1.0)
    with pytest.raises(RuntimeError, match="The differentiated Tensor at index 1 appears to not have been used"):
        torch.autograd.grad(x.sum(), [x, y])
    assert torch.autograd.grad(x.sum(), [x, y], allow_unused=True)[1] is None
    assert torch.autograd.grad(x.sum(), [x, y], materialize_grads=True)[1].tolist() == [0.0]
    with pytest.raises(RuntimeError, match="One of the differentiated Tensors does not require grad"):
        torch.autograd.grad(x.sum(), torch.ones(1))


def test_backward_with_inputs_fills_only_those():
    x, y = leaf(1.0), leaf(2.0)
    mid = x * y
    (mid * mid).sum().backward(inputs=[x, mid])
    assert x.grad.tolist() == [8.0] and y.grad is None and mid.grad.tolist() == [4.0]
    with pytest.raises(RuntimeError, match="`inputs` argument to `backward\\(\\)` cannot be empty."):
        (x * y).sum().backward(inputs=[])


def test_create_graph_to_third_order():
    x = leaf(2.0)
    g = x.pow(4).sum()
    expected = [32.0, 48.0, 48.0]
    for value in expected:
        (g,) = torch.autograd.grad(g.sum(), x, create_graph=True)
        assert g.tolist() == [value]


def test_double_backward_through_exp_of_square():
    # the derivatives of exp(-x**2) at 0 up to the fourth: 0, -2, 0, 12
    x = torch.tensor(0.0, dtype=torch.float64, requires_grad=True)
    y = torch.exp(-(x**2))
    found = []
    for _ in range(4):
        (y,) = torch.autograd.grad(y, x, create_graph=True)
        found.append(y.item())
    assert found == [0.0, -2.0, 0.0, 12.0]


def test_backward_under_create_graph_warns_and_keeps_history():
    x = leaf(3.0)
    with pytest.warns(UserWarning, match="Using backward\\(\\) with create_graph=True"):
        (x * x).sum().backward(create_graph=True)
    assert x.grad.requires_grad
    (g,) = torch.autograd.grad(x.grad.sum(), x)
    assert g.tolist() == [2.0]
    x.grad = None


def test_complex_gradient_is_the_conjugate_one():
    z = torch.tensor([1 + 2j], dtype=torch.complex128, requires_grad=True)
    (z * z.conj()).real.sum().backward()
    assert z.grad.tolist() == [2 + 4j]
    z.grad = None
    (z * (3 + 1j)).real.sum().backward()
    assert z.grad.tolist() == [3 - 1j]


def test_real_leaf_in_complex_expression_gets_a_real_gradient():
    x = leaf(2.0)
    (x * (1 + 5j)).imag.sum().backward()
    assert x.grad.dtype is torch.float64 and x.grad.tolist() == [5.0]


def test_implicit_gradient_needs_a_real_scalar():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        (x * 2).backward()
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad and does not have a grad_fn"):
        torch.ones(2).sum().backward()
    with pytest.raises(
        RuntimeError, match="Mismatch in shape: grad_output\\[0\\] has a shape of torch.Size\\(\\[3\\]\\)"
    ):
        (x * 2).backward(torch.ones(3))


def test_mixed_dtypes_and_broadcast_gradients_fit_their_inputs():
    a = torch.ones(3, 1, dtype=torch.float32, requires_grad=True)
    b = torch.ones(4, dtype=torch.float64, requires_grad=True)
    c = a * b
    assert c.dtype is torch.float64 and c.shape == (3, 4)
    c.sum().backward()
    assert a.grad.dtype is torch.float32 and a.grad.tolist() == [[4.0]] * 3
    assert b.grad.dtype is torch.float64 and b.grad.tolist() == [3.0] * 4


@pytest.mark.parametrize("n", [1_000_000])
def test_a_long_chain_is_built_differentiated_and_freed(n):
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(n):
        y = y + x
    y.sum().backward()
    assert x.grad.item() == n + 1
    node = weakref.ref(y.grad_fn)
    del y
    assert node() is None


def test_graph_is_freed_at_once_without_the_collector():
    gc.collect()
    gc.disable()
    try:
        x = leaf(1.0, 2.0)
        y = (x * 2).exp()
        z = (y * y + x.sin()).sum()
        refs = [weakref.ref(t) for t in (y, z)] + [weakref.ref(t.grad_fn) for t in (y, z)]
        z.backward()
        del y, z
        assert all(r() is None for r in refs)
    finally:
        gc.enable()


def test_training_loop_memory_stays_flat_without_the_collector():
    torch.manual_seed(0)
    x, t = torch.randn(64, 32), torch.randn(64, 8)
    w = torch.zeros(32, 8, requires_grad=True)

    def step():
        data = x.clone().requires_grad_()
        h = (data @ w).sin()
        h[:, 0] = h[:, 1] * 2
        loss = ((h - t) ** 2).mean()
        (g,) = torch.autograd.grad(loss, data, create_graph=True)
        (loss + (g * g).sum()).backward()
        with torch.no_grad():
            w.sub_(0.1 * w.grad)
        w.grad = None

    def blocks_after(steps: int) -> int:
        for _ in range(steps):
            step()
        return sys.getallocatedblocks()

    gc.collect()
    gc.disable()
    try:
        before = blocks_after(500)  # the interpreter's own free lists fill up first
        assert blocks_after(200) - before < 100
    finally:
        gc.enable()


class Stop(BaseException):
    pass


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, Stop])
def test_an_exception_in_a_hook_leaves_everything_usable(error):
    x = leaf(1.0, 2.0)

    def hook(g):
        assert not torch.is_grad_enabled()
        raise error

    y = x * 2
    y.register_hook(hook)
    with pytest.raises(error):
        y.sum().backward()
    assert torch.is_grad_enabled()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_exception_in_a_custom_function_leaves_everything_usable(error):
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, fail):
            if fail:
                raise error
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise error

    x = leaf(1.0)
    with pytest.raises(error):
        Bad.apply(x, True)
    assert torch.is_grad_enabled()
    with pytest.raises(error):
        Bad.apply(x, False).sum().backward()
    assert torch.is_grad_enabled()
    with pytest.raises(error):
        torch.autograd.grad(Bad.apply(x, False).sum(), x, create_graph=True)
    assert torch.is_grad_enabled()
    with torch.no_grad(), pytest.raises(error):
        Bad.apply(x, True)
    assert torch.is_grad_enabled()


def test_hooks_run_in_pytorchs_order():
    # the hook of the leaf w2, complete early, runs before that of h, which is further from the loss
    order = []
    x, w1, w2 = leaf(1.0), leaf(2.0), leaf(3.0)
    h = x * w1
    y = h * w2
    for name, t in dict(w1=w1, w2=w2, h=h, y=y).items():
        t.register_hook(lambda g, name=name: order.append(name))
    y.sum().backward()
    assert order == ["y", "w2", "h", "w1"]


def test_tensor_hook_replaces_the_gradient_and_can_be_removed():
    x = leaf(1.0, 2.0)
    handle = x.register_hook(lambda g: g * 10)
    (x * 2).sum().backward()
    assert x.grad.tolist() == [20.0, 20.0]
    handle.remove()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [22.0, 22.0]


def test_hook_must_keep_shape_and_type():
    x = leaf(1.0, 2.0)
    y = x * 2
    y.register_hook(lambda g: g.sum())
    with pytest.raises(RuntimeError, match="hook has changed the size of value"):
        y.sum().backward()


def test_retain_grad():
    x = leaf(1.0, 2.0)
    y = x * 2
    assert not y.retains_grad
    y.retain_grad()
    assert y.retains_grad
    (y * y).sum().backward()
    assert y.grad.tolist() == [4.0, 8.0]
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad=False"):
        torch.ones(2).retain_grad()


def test_node_hooks_see_and_replace_gradients():
    x = leaf(1.0)
    y = x * 3
    seen = []
    y.grad_fn.register_hook(lambda ins, outs: seen.append((ins[0].item(), outs[0].item())))
    y.grad_fn.register_prehook(lambda outs: (outs[0] * 2,))
    y.sum().backward()
    assert seen == [(6.0, 2.0)] and x.grad.tolist() == [6.0]


def test_hook_on_accumulate_grad_lives_as_long_as_the_graph():
    x = leaf(1.0)
    calls = []
    y = x * 3
    y.grad_fn.next_functions[0][0].register_hook(lambda ins, outs: calls.append(outs[0].item()))
    y.sum().backward()
    assert calls == [3.0]
    del y
    (x * 5).sum().backward()
    assert calls == [3.0]


def test_post_accumulate_grad_hook():
    x = leaf(1.0)
    seen = []
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.item()))
    (x * 3).sum().backward()
    assert seen == [3.0]
    with pytest.raises(RuntimeError, match="post accumulate grad hooks cannot be registered on non-leaf tensors"):
        (x * 1).register_post_accumulate_grad_hook(print)


def test_what_a_node_shows():
    x = leaf(1.0, 2.0)
    y = x * 3
    node = y.grad_fn
    assert type(node).__name__ == node.name() == "MulBackward0"
    (sink, number), none = node.next_functions
    assert sink.name() == "torch::autograd::AccumulateGrad" and number == 0 and none == (None, 0)
    assert sink.variable is x and node.next_functions[0][0] is sink
    assert isinstance(node, torch.autograd.graph.Node) and repr(node).startswith("<MulBackward0 object at 0x")
    node.metadata["note"] = 1
    assert y.grad_fn.metadata == {"note": 1}
    assert (x * x).grad_fn._saved_self is x
    z = x.exp()
    assert z.grad_fn._saved_result.tolist() == z.tolist()
    z.sum().backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        z.grad_fn._saved_result  # noqa: B018


def test_sparse_use_of_outputs_of_a_node_with_several():
    x = leaf(3.0, 1.0, 2.0)
    a, b, c = x.unbind()
    (a * 2 + c * c).backward()
    assert x.grad.tolist() == [2.0, 0.0, 4.0]


PROGRAM_WITH_NAN = """
import chainrule as torch
x = torch.tensor([0.0, -1.0, float("inf")], requires_grad=True)
y = (x.log() / x).sum()
y.backward()
print(x.grad)
"""


@pytest.mark.parametrize("options", [(), ("-W", "error"), ("-W", "always")])
def test_nan_and_infinity_are_no_reason_to_warn(options):
    command = [sys.executable, *options, "-c", PROGRAM_WITH_NAN]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.stderr == ""
    assert result.stdout == "tensor([inf, nan, nan])\n"
