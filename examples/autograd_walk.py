"""A walk through autograd: what a tensor remembers, how gradients come back, and where they are kept.

An ordinary PyTorch script. It prints its own lines, each group followed by what the last line of it gives.
"""

import warnings
from pathlib import Path
from sys import _getframe

import torch

warnings.simplefilter("ignore")  # reading .grad of an intermediate result warns, and here it is done on purpose

LINES = Path(__file__).read_text(encoding="utf-8").splitlines()
printed = 0


def chapter(title):
    """Print a heading; the code that is shown next begins after it."""
    global printed
    printed = _getframe(1).f_lineno
    print(f"\n{title}\n{'-' * len(title)}")


def show(*values):
    """Print the code since the last call, then the values."""
    global printed
    last = _getframe(1).f_lineno
    for line in filter(None, LINES[printed:last]):
        if line.startswith("show("):
            line = line.removeprefix("show(").removesuffix(")")
        print("..." if line.startswith((" ", "except", ")")) else ">>>", line)
    print(*values)
    printed = last


chapter("1. A tensor that asks for gradients")

x = torch.ones(2, 2, requires_grad=True)
show(x)
# Made by hand, so no operation stands behind it: x is a leaf.
show(x.grad_fn, x.is_leaf)
# The result of an operation remembers which one, in grad_fn.
y = x + 2
show(y)
show(type(y.grad_fn).__name__, y.is_leaf)
z = y * y * 3
out = z.mean()
show(z, out)


chapter("2. Backward")

# out is the mean of 3 (x + 2)^2 over four elements: its derivative, 3/2 (x + 2), is 4.5 at x = 1.
out.backward()
show(x.grad)


chapter("3. Gradients add up until they are zeroed")

x.sum().backward()
show(x.grad)
x.grad.zero_()
x.sum().backward()
show(x.grad)


chapter("4. Who asks for gradients")

a = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
b = a * 3 / (a + 1)
show(b.requires_grad, b.grad_fn)
# One operand that asks is enough for the result to ask.
w = torch.ones(2, 2, requires_grad=True)
c = (b * w).sum()
show(c.requires_grad, type(c.grad_fn).__name__)
try:
    b.sum().backward()
except RuntimeError as error:
    message = error
show(message)


chapter("5. A result that is not a single number")

x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
z = (2 * x).view(2, 2)
show(z)
# backward then needs a vector v and gives v times the Jacobian; for a single number v is 1.
z.backward(torch.tensor([[1.0, 0.1], [0.01, 0.001]]))
show(x.grad)
try:
    (x * 2).backward()
except RuntimeError as error:
    message = error
show(message)


chapter("6. In between")

# Results on the way get no .grad, unless they are told to keep it.
a = torch.tensor([3.0], requires_grad=True)
b = a * a
c = b * 2
c.backward()
show(a.grad, b.grad)
b = a * a
b.retain_grad()
c = b * b
c.backward(retain_graph=True)
show(b.grad)
# The graph was kept for a second pass. After a pass that does not keep it, it is gone.
c.backward()
try:
    c.backward()
except RuntimeError as error:
    message = str(error).partition(" (")[0]
show(message)


chapter("7. Outside the graph")

x = torch.tensor(1.0, requires_grad=True)
y1 = x**2
with torch.no_grad():
    y2 = x**3
show(y1, y2)
# y2 counts as a constant: the derivative of x^2 alone comes back.
(y1 + y2).backward()
show(x.grad)
show(x.detach())
# .data shares the memory and none of the history: backward does not see the change.
x = torch.ones(1, requires_grad=True)
y = 2 * x
x.data *= 100
y.backward()
show(x, x.grad)


chapter("8. A derivative of your own")


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 3 * x**2


x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = Cube.apply(x)
show(y)
y.sum().backward()
show(x.grad)
# With create_graph the gradient has a graph too, and can be differentiated: 6x.
(first,) = torch.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
(second,) = torch.autograd.grad(first.sum(), x)
show(second)


chapter("9. The graph, followed by hand")

node = (x * x + 1).sum().grad_fn
names = [node.name()]
while node.next_functions:
    node = node.next_functions[0][0]
    names.append(node.name())
show(" -> ".join(names))
# The graph ends in the node that adds into x.grad.
show(node.variable is x)


chapter("10. All of it: a line through points")

torch.manual_seed(0)
x = torch.rand(20, 1)
y = 3 * x + 0.5
w = torch.zeros(1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for _ in range(201):
    loss = ((x * w + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.5 * w.grad
        b -= 0.5 * b.grad
    w.grad.zero_()
    b.grad.zero_()
show(w, b)
