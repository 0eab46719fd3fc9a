"""Tensor: an array with a gradient, a place in the graph, a version, and perhaps a base that it is a view of.

The operations are not here: `declare` puts them on the class. See inplace.py and views.py for views and versions, node.py
for edges, conversion.py for the ways out of the class (numbers, lists, NumPy, text, pickle).
"""

import warnings
import weakref
from typing import Any

import numpy as np

from . import views
from .device import device as _device
from .dtype import argument_type_name
from .modes import state
from .node import HookDict, Node, Output, RemovableHandle
from .size import Size
from .spec import Spec, spec_of

__all__ = ["Tensor", "LEAF", "wrap"]


class _Leaf:
    """The edge of a leaf that requires grad: its gradient goes to the tensor itself."""

    def __repr__(self):
        return "LEAF"


LEAF = _Leaf()
views._leaf_type = _Leaf
CPU = _device("cpu")
new = object.__new__


class LeafState:
    """What few leaves have: hooks on the gradient, hooks after it was accumulated, and the node shown for the leaf."""

    __slots__ = ("hooks", "post_hooks", "sink")

    def __init__(self):
        self.hooks = HookDict()
        self.post_hooks = HookDict()
        self.sink = no_sink


def no_sink():
    return None


class Tensor:
    """A multi-dimensional array that can be differentiated; https://pytorch.org/docs/stable/tensors.html.

    _array: the ndarray. _spec: its shape and dtype. _edge: None (no gradient), LEAF, or the node or `Output` that made it.
    _view: None or the `View` that ties it to its base. _counter: the version counter that all views of one storage share, a list
    of one integer; None for inference tensors. _grad and _leaf (a `LeafState`) are filled only when there is something to
    say: read them with `getattr(t, "_grad", None)`. (A __getattr__ that gave None would slow down every attribute.)
    """

    __slots__ = ("_array", "_spec", "_edge", "_view", "_counter", "_grad", "_leaf", "__weakref__", "__dict__")
    __module__ = "torch"
    __array_priority__ = 1000
    _kind = 3  # engine.LEAF_KIND: as an edge, a tensor is a leaf
    __hash__ = object.__hash__

    _array: np.ndarray
    _spec: Spec
    _edge: Any
    _view: Any

    # --- shape and type ---

    @property
    def shape(self) -> Size:
        """The size of each dimension."""
        return self._spec.size

    @property
    def dtype(self):
        """The type of the elements."""
        return self._spec.dtype

    @property
    def device(self):
        """Where the memory is: always the CPU."""
        return CPU

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._spec.ndim

    @property
    def itemsize(self) -> int:
        return self._array.itemsize

    @property
    def nbytes(self) -> int:
        return self._array.nbytes

    def size(self, dim=None):
        """The shape, or the size of one dimension."""
        if dim is None:
            return self._spec.size
        return self._spec.shape[wrap_dim(dim, self._spec.ndim)]

    def dim(self) -> int:
        """The number of dimensions."""
        return self._spec.ndim

    ndimension = dim

    def numel(self) -> int:
        """The number of elements."""
        return self._spec.numel

    nelement = numel

    def element_size(self) -> int:
        """Bytes per element."""
        return self._array.itemsize

    def stride(self, dim=None):
        """The steps between neighbours along each dimension, in elements, or along one."""
        strides = strides_of(self._array)
        return strides if dim is None else strides[wrap_dim(dim, self._spec.ndim)]

    def storage_offset(self) -> int:
        """The place of the first element in its storage, in elements."""
        from .vocabulary import owner_of

        owner = owner_of(self._array)
        if not self._spec.numel:
            return 0
        return (
            self._array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        ) // self._array.itemsize

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self._array.__array_interface__["data"][0] if self._spec.numel else 0

    def is_floating_point(self) -> bool:
        return self._spec.dtype.is_floating_point

    def is_complex(self) -> bool:
        return self._spec.dtype.is_complex

    def is_signed(self) -> bool:
        return self._spec.dtype.is_signed

    # --- autograd ---

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are to flow to this tensor; may be set on leaves."""
        if self._edge is not None:
            return True
        return self._view is not None and self._view.base._edge is not None

    @requires_grad.setter
    def requires_grad(self, value):
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        if value and not self._spec.inexact:
            raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad=True):
        """Say whether gradients are to flow to this leaf; RuntimeError for results of operations and for integers."""
        if not self._unmade():
            if not requires_grad:
                raise RuntimeError(
                    "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in "
                    "a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
                )
            return self
        if requires_grad:
            if not self._spec.inexact:
                raise RuntimeError("only Tensors of floating point dtype can require gradients")
            if self._counter is None and not state.inference:
                raise RuntimeError(
                    "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
                )
        self._edge = LEAF if requires_grad else None
        return self

    def _unmade(self) -> bool:
        """Whether no recorded operation made this tensor, as far as is known without making the edge of a view anew."""
        edge = self._edge
        return edge is None or edge is LEAF or edge is views.NOWHERE

    def _node(self):
        """The edge as what made this tensor (a Node or Output); None for a leaf."""
        edge = views.view_edge(self, True) if self._view is not None else self._edge
        if edge is None or edge is LEAF or edge is views.NOWHERE or isinstance(edge, Tensor):
            return None
        return edge

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor; None for a leaf."""
        edge = self._node()
        return edge.node if type(edge) is Output else edge

    @property
    def output_nr(self) -> int:
        edge = self._edge  # also of a view whose history may not be made anew
        return edge.number if type(edge) is Output else 0

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made this tensor."""
        return self._node() is None

    @property
    def grad(self):
        """The gradient that backward passes have added up here; None where none arrived."""
        grad = getattr(self, "_grad", None)
        if (
            grad is None
            and self._edge is not None
            and self._edge is not LEAF
            and self._edge is not views.NOWHERE
            and not self.retains_grad
        ):
            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
                "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
                "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure "
                "you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more informations.",
                UserWarning,
                stacklevel=2,
            )
        return grad

    @grad.setter
    def grad(self, value):
        if value is None:
            self._grad = None
            return
        if not isinstance(value, Tensor):
            raise TypeError(
                f"assigned grad expected to be a Tensor or None but got grad of type {argument_type_name(value)}"
            )
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        if value._spec.dtype is not self._spec.dtype:
            raise RuntimeError(
                f"attempting to assign a gradient with dtype '{value._spec.dtype.cpp_name}' to a tensor with grad_dtype "
                f"'{self._spec.dtype.scalar_name}'. The gradient must match the tensor's grad_dtype (defaults to the "
                "tensor's dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or None to allow any "
                "dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break downstream "
                "systems that assume they match."
            )
        if value._spec.shape != self._spec.shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(value._spec.shape)}' to a tensor of size "
                f"'{list(self._spec.shape)}'. Please ensure that the gradient and the tensor are the same size"
            )
        self._grad = value

    @grad.deleter
    def grad(self):
        self._grad = None

    @property
    def data(self):
        """The same memory, outside the graph and with a version counter of its own."""
        t = wrap(self._array)
        if self._counter is None:
            t._counter = None
        return t

    @data.setter
    def data(self, value):
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {argument_type_name(value)}")
        if self._edge is not None and not value._spec.inexact:
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        self._array = value._array
        self._spec = value._spec

    def detach(self):
        """The same memory and version counter, outside the graph."""
        t = wrap(self._array)
        t._counter = self._counter
        return t

    def detach_(self):
        """Cut this tensor from what made it; RuntimeError for a view."""
        if self._view is not None:
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
                "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence "
                "detach_() cannot be called on these gradients. To fix this error, please refer to the "
                "Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
            )
        self._edge = None
        return self

    @property
    def _base(self):
        return None if self._view is None else self._view.base

    def _is_view(self) -> bool:
        return self._view is not None

    @property
    def _version(self) -> int:
        """How many in-place operations have changed this memory."""
        if self._counter is None:
            raise RuntimeError("Inference tensors do not track version counter.")
        return self._counter[0]

    def is_inference(self) -> bool:
        """Whether this tensor was made in inference mode."""
        return self._counter is None

    @property
    def retains_grad(self) -> bool:
        """Whether this non-leaf tensor keeps its gradient."""
        edge = self._edge
        maker, number = (edge.node, edge.number) if type(edge) is Output else (edge, 0)
        extra = getattr(maker, "extra", None)
        return extra is not None and number in extra.retained

    def retain_grad(self) -> None:
        """Keep the gradient of this non-leaf tensor in `.grad`; nothing to do for a leaf."""
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if not self._unmade():
            node = self._node()
            maker, number = (node.node, node.number) if type(node) is Output else (node, 0)
            maker.extras().retained[number] = weakref.ref(self)

    def register_hook(self, hook) -> RemovableHandle:
        """Call `hook(grad)` whenever the gradient of this tensor is complete; a returned Tensor takes its place."""
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        node = self._node()
        if node is None:
            return self._hooked_leaf().hooks.add(hook)
        maker, number = (node.node, node.number) if type(node) is Output else (node, 0)
        return maker.extras().tensor_hooks.setdefault(number, HookDict()).add(hook)

    def register_post_accumulate_grad_hook(self, hook) -> RemovableHandle:
        """Call `hook(tensor)` after a gradient has been added to `.grad` of this leaf."""
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self._node() is not None:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        return self._hooked_leaf().post_hooks.add(hook)

    def _leaf_state(self) -> LeafState:
        state = getattr(self, "_leaf", None)
        if state is None:
            state = self._leaf = LeafState()
        return state

    def _hooked_leaf(self) -> LeafState:
        """The state of a leaf that is about to get a hook; the engine looks out for such leaves from now on."""
        from .engine import Leaves  # engine.py stands on this file

        state = self._leaf_state()
        if not state.hooks and not state.post_hooks:
            Leaves.hooked += 1
            weakref.finalize(state.hooks, Leaves.forget)
        return state

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        """Send a gradient (of ones for a scalar) from here to the leaves; https://pytorch.org/docs/stable/generated/torch.Tensor.backward.html."""
        backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def backward(*args, **kwargs):
    """Stands for differentiate.backward until that module, which needs this one, is there and puts it here."""
    raise NotImplementedError


def strides_of(array) -> tuple:
    """Strides in elements, as PyTorch counts them: those of a fresh tensor where a dimension of size 0 leaves them open."""
    item = array.itemsize
    if array.size:
        return tuple(s // item for s in array.strides)
    out, step = [], 1
    for n in reversed(array.shape):
        out.append(step)
        step *= max(n, 1)
    return tuple(reversed(out))


def wrap(array) -> Tensor:
    """A tensor over an array, outside every graph."""
    t = new(Tensor)
    t._array = array
    t._spec = spec_of(array)
    t._edge = None
    t._view = None
    t._counter = [0]
    return t


def wrap_dim(dim: int, ndim: int) -> int:
    """A dimension counted from the front; IndexError in PyTorch's words where there is none."""
    most = max(ndim, 1)
    if not -most <= dim < most:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-most}, {most - 1}], but got {dim})")
    return dim + most if dim < 0 else dim
