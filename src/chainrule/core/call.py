"""The callers: how an operation is run and recorded. The one file that may be ugly for speed.

`make_unary` and `make_binary` build the fast caller of one pointwise operation; whatever they do not foresee (mixed
dtypes, broadcasting, numbers that need care, modes) goes to `general.apply`, which does everything for every operation.
Both must mean the same; the suite runs with the fast path off as well (CHAINRULE_FAST=0).
"""

import types

import numpy as np

from . import vocabulary
from .dtype import INTEGER
from .modes import modes, state
from .node import next_sequence, saved_error
from .spec import spec_of
from .tensor import LEAF, Tensor
from .views import NO_GRAD, ORDINARY, make_view, view_edge

new = object.__new__
fit = vocabulary.fit


def own_code(function):
    """A copy of a closure with bytecode of its own: CPython specialises attribute access per code object, and one
    shared by all operations would see a different node class each time."""
    copy = types.FunctionType(
        function.__code__.replace(),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def make_unary(op):
    """The function and method of a pointwise operation of one tensor."""
    kernel, node_type, general = op.ufunc, op.node_type, op.general
    saves_self, saves_result = "self" in op.saved_names, "result" in op.saved_names
    floating = op.result_kind == "float"  # integers would become floating
    if op.result_kind == "bool":
        return make_question(op)
    if len(op.saved_names) > 1:
        raise TypeError(f"{op.name}: a pointwise operation of one operand saves the operand or the result")

    def call(input, *, out=None):
        try:
            spec = input._spec
            if modes.detour or floating and not spec.direct or out is not None:
                return general(input, out=out)
        except AttributeError:
            return general(input, out=out)
        array = input._array
        try:
            out = kernel(array, out=...)
        except Exception:  # the general path finds the right words, or silences the warning
            return general(input)
        t = new(Tensor)
        t._array = out
        t._spec = spec
        t._view = None
        t._counter = version = [0]
        edge = input._edge
        if input._view is not None:
            edge = view_edge(input)
        if edge is None:
            t._edge = None
            return t
        if modes.unusual:
            if state.grad_enabled:
                return general(input)
            t._edge = None
            return t
        node = new(node_type)
        node.edges = (input if edge is LEAF else edge,)
        if saves_result:
            node.saved = (out, version, 0)
        elif saves_self:
            version = input._counter
            if version is None:
                return general(input)
            node.saved = (array, version, version[0])
        else:
            node.saved = ()
        node.sequence = next_sequence()
        node.spec = spec
        node.specs = None
        node.extra = None
        t._edge = node
        return t

    return own_code(call)


def make_question(op):
    """The function and method of an operation of one tensor that has no derivative and gives bools."""
    kernel, general = op.ufunc, op.general

    def call(input, *, out=None):
        if modes.detour or out is not None or not isinstance(input, Tensor):
            return general(input, out=out)
        try:
            found = kernel(input._array, out=...)
        except Exception:
            return general(input)
        t = new(Tensor)
        t._array = found
        t._spec = spec_of(found)
        t._edge = t._view = None
        t._counter = [0]
        return t

    return own_code(call)


def make_binary(op, general=None):
    """The fast caller of a pointwise operation of two tensors, or of a tensor and a Python number.

    What it does not foresee goes to `general`, by default the operation's own general path."""
    kernel, node_type = op.ufunc, op.node_type
    general = general or op.general
    # What is saved where: for the formula of self alone, of other alone, and for both; True where it names the operand.
    of_self = op.formulas["self"].names if "self" in op.formulas else ()
    of_other = op.formulas["other"].names if "other" in op.formulas else ()
    if any(n not in ("self", "other") for n in of_self + of_other):
        return general
    names = op.saved_names
    nothing = not names
    self_needs_self, self_needs_other = "self" in of_self, "other" in of_self
    other_needs_self, other_needs_other = "self" in of_other, "other" in of_other
    both = names == ("self", "other")
    only_self = names == ("self",)
    no_numbers = "other" not in op.numbers
    floating = op.result_kind == "float"  # integers would become floating
    other_is_attribute = "other" not in op.formulas  # a number that PyTorch's node has no edge for

    def call(self, other):
        if modes.detour:
            return general(self, other)
        spec = self._spec
        specs = None
        cls = other.__class__
        if cls is float or cls is int:
            if no_numbers or not spec.direct and (floating or not small_integer(spec, other)):
                return general(self, other)
            try:
                second = spec.scalars[other]
            except KeyError:
                second = number_array(spec, other)
                if second is None:
                    return general(self, other)
            other_edge = other_version = None
        else:
            try:
                other_spec = other._spec
            except AttributeError:
                return general(self, other)
            if other_spec is not spec:
                if other_spec.dtype is not spec.dtype:
                    return general(self, other)
                specs = (spec, other_spec)
            if floating and not spec.direct:
                return general(self, other)
            second = other._array
            other_edge = other._edge
            other_version = other._counter
            if other_version is None:
                return general(self, other)
            if other._view is not None:
                other_edge = view_edge(other)
        array = self._array
        try:
            out = kernel(array, second, out=...)
        except Exception:  # the general path finds the right words, or silences the warning
            return general(self, other)
        t = new(Tensor)
        t._array = out
        if specs is not None:
            spec = spec_of(out)
        t._spec = spec
        t._view = None
        t._counter = [0]
        edge = self._edge
        if self._view is not None:
            edge = view_edge(self)
        if edge is None and other_edge is None:
            t._edge = None
            return t
        if modes.unusual:
            if state.grad_enabled:
                return general(self, other)
            t._edge = None
            return t
        node = new(node_type)
        if other_is_attribute:
            node.edges = (self if edge is LEAF else edge,)
        else:
            node.edges = (self if edge is LEAF else edge, other if other_edge is LEAF else other_edge)
        if nothing:
            node.saved = ()
        else:
            version = self._counter
            if version is None:
                return general(self, other)
            keep_self = edge is not None and self_needs_self or other_edge is not None and other_needs_self
            keep_other = edge is not None and self_needs_other or other_edge is not None and other_needs_other
            if both:
                if keep_other:
                    if other_version is None:
                        kept = (second, None, 0)
                    else:
                        kept = (second, other_version, other_version[0])
                else:
                    kept = NOT_KEPT
                node.saved = ((array, version, version[0]) if keep_self else NOT_KEPT) + kept
            elif only_self:
                node.saved = (array, version, version[0]) if keep_self else NOT_KEPT
            elif keep_other:
                node.saved = (second, other_version, 0 if other_version is None else other_version[0])
            else:
                node.saved = NOT_KEPT
        node.sequence = next_sequence()
        node.spec = spec
        node.specs = specs
        node.extra = None
        t._edge = node
        return t

    return own_code(call)


NOT_KEPT = (None, None, 0)


def make_comparison(op, general=None):
    """The fast caller of an operation of two operands that has no derivative and gives bools."""
    kernel = op.ufunc
    general = general or op.general

    no_numbers = "other" not in op.numbers

    def call(self, other):
        if modes.detour:
            return general(self, other)
        spec = self._spec
        cls = other.__class__
        if cls is float or cls is int:
            if no_numbers:
                return general(self, other)
            if not spec.direct and not small_integer(spec, other):
                return general(self, other)
            try:
                second = spec.scalars[other]
            except KeyError:
                second = number_array(spec, other)
                if second is None:
                    return general(self, other)
        else:
            try:
                if other._spec is not spec and other._spec.dtype is not spec.dtype:
                    return general(self, other)
            except AttributeError:
                return general(self, other)
            second = other._array
        try:
            out = kernel(self._array, second, out=...)
        except Exception:
            return general(self, other)
        t = new(Tensor)
        t._array = out
        t._spec = spec_of(out)
        t._edge = None
        t._view = None
        t._counter = [0]
        return t

    return own_code(call)


def make_binary_inplace(op, general):
    """The fast caller of the in-place twin of a pointwise operation of two operands: where nothing is to be recorded
    the ufunc writes into the target; all else goes to `general`."""
    kernel = op.ufunc

    no_numbers = "other" not in op.numbers
    floating = op.result_kind == "float"

    def call(self, other):
        if modes.detour:
            return general(self, other)
        spec = self._spec
        cls = other.__class__
        if cls is float or cls is int:
            if no_numbers or not spec.direct and (floating or not small_integer(spec, other)):
                return general(self, other)
            try:
                second = spec.scalars[other]
            except KeyError:
                second = number_array(spec, other)
                if second is None:
                    return general(self, other)
        else:
            try:
                other_spec = other._spec
            except AttributeError:
                return general(self, other)
            if other_spec is not spec and other_spec.dtype is not spec.dtype or floating and not spec.direct:
                return general(self, other)
            if other._counter is self._counter and other is not self:
                return general(self, other)
            if not modes.unusual or state.grad_enabled:
                if other._edge is not None or other._view is not None and other._view.base._edge is not None:
                    return general(self, other)
            second = other._array
        counter = self._counter
        array = self._array
        if counter is None or 0 in array.strides:
            return general(self, other)
        if not modes.unusual or state.grad_enabled:
            if self._edge is not None or self._view is not None and self._view.base._edge is not None:
                return general(self, other)
        try:
            kernel(array, second, out=array)
        except RuntimeWarning:
            pass  # NumPy warns after the result is written
        except (TypeError, ValueError):
            return general(self, other)
        counter[0] += 1
        return self

    return own_code(call)


def make_single(op):
    """The caller of an operation of one tensor and any attributes, all given; None where the general one is needed."""
    kinds = op.kinds
    if not kinds or kinds[0] != "one" or any(kinds[1:]) or op.promote or op.keyword_only or op.multi:
        return None
    kernel, node_type, apply_general = op.kernel, op.node_type, op.apply
    views, stand_in = op.views, op.stand_in
    codes = None  # worked out at the first recorded call, when all formulas are declared

    def call(self, *attributes):
        nonlocal codes
        if modes.detour or not isinstance(self, Tensor):
            return apply_general((self, *attributes))
        array = self._array
        try:
            out = kernel(array, *attributes)
        except RuntimeWarning:
            return apply_general((self, *attributes))
        if type(out) is not np.ndarray:
            if type(out) is tuple:
                op.single = None  # from now on straight to the general path, which runs the kernel once
                return apply_general((self, *attributes))
            out = np.asarray(out)
        t = new(Tensor)
        t._spec = spec = spec_of(out)
        t._edge = None
        if views:
            if spec.dtype is not self._spec.dtype or self._counter is None:
                return apply_general((self, *attributes))
            t._array = out
            make_view(t, self, ORDINARY if not modes.unusual or state.grad_enabled else NO_GRAD)
        else:
            if out.base is not None and np.may_share_memory(out, array) or out is array:
                out = out.copy()
            t._array = out
            t._view = None
            t._counter = [0]
        edge = self._edge
        if self._view is not None:
            edge = view_edge(self)
        if edge is None or not spec.inexact or not op.formulas:
            return t
        if modes.unusual:
            if state.grad_enabled:
                return apply_general((self, *attributes))
            return t
        if codes is None:
            codes = save_codes(op)
        node = new(node_type)
        node.edges = (self if edge is LEAF else edge,)
        saved = ()
        for code in codes:
            if code == SELF:
                counter = self._counter
                if counter is None:
                    return apply_general((self, *attributes))
                saved += (array, counter, counter[0]) if stand_in is None else (stand_in(*attributes), None, 0)
            elif code == RESULT:
                saved += (out, t._counter, t._counter[0])
            elif code == SHAPE:
                saved += (self._spec.shape, None, 0)
            elif code == DTYPE:
                saved += (self._spec.array_dtype, None, 0)
            else:
                saved += (attributes[code], None, 0)
        node.saved = saved
        node.sequence = next_sequence()
        node.spec = spec
        node.specs = None if spec is self._spec else (self._spec,)
        node.extra = None
        t._edge = node
        return t

    return own_code(call)


SELF, RESULT, SHAPE, DTYPE = -1, -2, -3, -4


def save_codes(op) -> tuple:
    """What a node of a one-tensor operation saves: the number of an attribute, or one of the codes above."""
    known = {"self": SELF, "result": RESULT, "self_shape": SHAPE, "self_dtype": DTYPE}
    return tuple(known[n] if n in known else op.params.index(n) - 1 for n in op.saved_names)


def make_single_vjp(op):
    """The backward step that goes with `make_single`."""
    function = op.formulas["self"].function
    if op.formulas["self"].wants_all or op.formulas["self"].joint or "needs" in op.formulas["self"].names:
        return None
    checked = tuple(3 * i for i, n in enumerate(op.saved_names) if n == "self" or n.startswith("result"))
    places = tuple(3 * op.saved_names.index(n) for n in op.formulas["self"].names)

    def vjp(node, grad):
        if grad is None:
            return (None,)
        saved = node.saved
        if saved is None:
            raise saved_error(node)
        for i in checked:
            if saved[i + 1] is not None and saved[i + 1][0] != saved[i + 2]:
                raise saved_error(node)
        out = function(vocabulary, grad, *[saved[i] for i in places])
        specs = node.specs
        return (fit(out, node.spec if specs is None else specs[0]),)

    return own_code(vjp)


def small_integer(spec, number) -> bool:
    """Whether an integer tensor and this number have the tensor's dtype, and every such dtype holds the number."""
    return (
        type(number) is int
        and -128 <= number < 128
        and spec.dtype.category == INTEGER
        and (number >= 0 or spec.dtype.is_signed)
    )


def _too_large(number) -> bool:
    """Whether turning the number into float32 may overflow, or into float64 may lose digits."""
    return abs(number) > 1 << 53 if type(number) is int else 3e38 < abs(number) < INFINITY


INFINITY = float("inf")


def number_array(spec, number):
    """A Python number as a 0-dim array of the spec's dtype, kept for the next time; None where it needs care."""
    if spec.dtype.is_complex or number == 0 or number != number or len(spec.scalars) > 512:
        # 0.0 and -0.0 are equal as keys, NaN equals nothing
        return None if _too_large(number) else np.array(number, spec.array_dtype)
    if _too_large(number):
        return None
    made = np.array(number, spec.array_dtype)
    made.flags.writeable = False
    spec.scalars[number] = made
    return made


def make_unary_vjp(op):
    """The backward step of a pointwise operation of one tensor, over raw arrays; None where the general one serves."""
    formula, names = op.formulas["self"].function, op.formulas["self"].names
    if any(n not in ("self", "result") for n in names) or len(names) > 1:
        return None

    def vjp_plain(node, grad):
        if grad is None:
            return (None,)
        out = formula(vocabulary, grad)
        return (out if node.specs is None else fit(out, node.specs[0]),)

    def vjp(node, grad):
        if grad is None:
            return (None,)
        saved = node.saved
        if saved is None:
            raise saved_error(node)
        value, counter, version = saved
        if counter is not None and counter[0] != version:
            raise saved_error(node)
        out = formula(vocabulary, grad, value)
        return (out if node.specs is None else fit(out, node.specs[0]),)

    return own_code(vjp if names else vjp_plain)


def make_binary_vjp(op):
    """The backward step of a pointwise operation of two operands, over raw arrays; None where the general one serves."""
    if set(op.formulas) != {"self", "other"}:
        return None
    first, names = op.formulas["self"].function, op.formulas["self"].names
    second, other_names = op.formulas["other"].function, op.formulas["other"].names
    if op.saved_names == ():

        def vjp(node, grad):
            if grad is None:
                return (None, None)
            edge, other_edge = node.edges
            a = None if edge is None else first(vocabulary, grad)
            b = None if other_edge is None else second(vocabulary, grad)
            if node.specs is not None:
                a, b = fit(a, node.specs[0]), fit(b, node.specs[1])
            return (a, b)

        return own_code(vjp)
    if op.saved_names == ("self", "other") and names == ("other",) and other_names == ("self",):

        def vjp(node, grad):
            if grad is None:
                return (None, None)
            saved = node.saved
            if saved is None:
                raise saved_error(node)
            left, counter, version, right, other_counter, other_version = saved
            if (
                counter is not None
                and counter[0] != version
                or (other_counter is not None and other_counter[0] != other_version)
            ):
                raise saved_error(node)
            edge, other_edge = node.edges
            a = None if edge is None else first(vocabulary, grad, right)
            b = None if other_edge is None else second(vocabulary, grad, left)
            if node.specs is not None:
                a, b = fit(a, node.specs[0]), fit(b, node.specs[1])
            return (a, b)

        return own_code(vjp)
    if op.saved_names == ("self", "other") and all(n in ("self", "other") for n in names + other_names):
        first, second = _of_both(first, names), _of_both(second, other_names)

        def vjp(node, grad):
            if grad is None:
                return (None, None)
            saved = node.saved
            if saved is None:
                raise saved_error(node)
            left, counter, version, right, other_counter, other_version = saved
            if (
                counter is not None
                and counter[0] != version
                or (other_counter is not None and other_counter[0] != other_version)
            ):
                raise saved_error(node)
            edge, other_edge = node.edges
            a = None if edge is None else first(grad, left, right)
            b = None if other_edge is None else second(grad, left, right)
            if node.specs is not None:
                a, b = fit(a, node.specs[0]), fit(b, node.specs[1])
            return (a, b)

        return own_code(vjp)
    return None


def _of_both(formula, names):
    """A formula as a function of the gradient and both operands."""
    if names == ("self", "other"):
        return lambda grad, left, right: formula(vocabulary, grad, left, right)
    if names == ("other",):
        return lambda grad, left, right: formula(vocabulary, grad, right)
    if names == ("self",):
        return lambda grad, left, right: formula(vocabulary, grad, left)
    return lambda grad, left, right: formula(vocabulary, grad)
