"""Module: parameters, buffers and submodules under names, and a forward function that is called with hooks around it.

https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

from ...core.grad_mode import no_grad
from ...core.tensor import Tensor
from ...ops.casting import to_arguments
from ...ops.inquiry import typename
from ..parameter import Buffer, Parameter
from .calling import Calling, everywhere
from .state import State

__all__ = ["Module"]

# Where each kind of member lives; a name is in at most one of them, or in __dict__ itself.
_STORES = ("_parameters", "_buffers", "_modules")


class Module(Calling, State):
    """Base class of everything that has parameters.

    Assigning a Parameter, a Buffer or a Module to an attribute registers it under that name; `parameters()`,
    `state_dict()`, `to()` and the rest then reach it, through any depth of nesting.
    """

    training: bool
    call_super_init = False
    _version = 1
    dump_patches = False

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, "Module | None"]
    _non_persistent_buffers_set: set[str]

    def __init__(self, *args, **kwargs) -> None:
        if not self.call_super_init and kwargs:
            raise TypeError(
                f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
            )
        if not self.call_super_init and args:
            raise TypeError(
                f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given"
            )
        own = self.__dict__
        own["training"] = True
        own["_parameters"] = {}
        own["_buffers"] = {}
        own["_non_persistent_buffers_set"] = set()
        self._init_calling()
        self._init_state()
        own["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # --- registering members ---

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Register a tensor that is no parameter; what is `persistent` is part of the `state_dict`."""
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        for hook in everywhere.buffer_registration.values():
            tensor = _or(hook(self, name, tensor), tensor)
        self._buffers[name] = tensor
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Register a parameter; None holds its place."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name("parameter", name, "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To "
                f"express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        for hook in everywhere.parameter_registration.values():
            param = _or(hook(self, name, param), param)
        self._parameters[name] = param

    def add_module(self, name: str, module: "Module | None") -> None:
        """Register a submodule; None holds its place."""
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{typename(module)} is not a Module subclass")
        if not isinstance(name, str):
            raise TypeError(f"module name should be a string. Got {typename(name)}")
        if hasattr(self, name) and name not in self._modules:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'module name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError('module name can\'t be empty string ""')
        for hook in everywhere.module_registration.values():
            module = _or(hook(self, name, module), module)
        self._modules[name] = module

    def register_module(self, name: str, module: "Module | None") -> None:
        """The same as `add_module`."""
        self.add_module(name, module)

    def _check_name(self, kind: str, name, store: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in getattr(self, store):
            raise KeyError(f"attribute '{name}' already exists")

    # --- attributes ---

    def __getattr__(self, name: str) -> Any:
        # Python asks here only for what is not found in the ordinary way.
        own = self.__dict__
        for store in _STORES:
            members = own.get(store)
            if members is not None and name in members:
                return members[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if isinstance(value, Parameter):
            if "_parameters" not in own:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, except_in="_parameters")
            self.register_parameter(name, value)
        elif name in own.get("_parameters", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            if "_modules" not in own:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, except_in="_modules")
            for hook in everywhere.module_registration.values():
                value = _or(hook(self, name, value), value)
            own["_modules"][name] = value
        elif name in own.get("_modules", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            own["_modules"][name] = None
        elif isinstance(value, Buffer) or name in own.get("_buffers", ()):
            self._set_buffer(name, value)
        else:
            object.__setattr__(self, name, value)

    def _set_buffer(self, name: str, value) -> None:
        own = self.__dict__
        if "_buffers" not in own:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"cannot assign '{typename(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)"
            )
        if name in own["_buffers"]:
            for hook in everywhere.buffer_registration.values():
                value = _or(hook(self, name, value), value)
            own["_buffers"][name] = value
            return
        self._forget(name, except_in="_buffers")
        self.register_buffer(name, value, getattr(value, "persistent", True))

    def _forget(self, name: str, except_in: str) -> None:
        """Take a name out of every place but one: it is about to be registered there."""
        own = self.__dict__
        own.pop(name, None)
        for store in _STORES:
            if store != except_in:
                own.get(store, {}).pop(name, None)
        if except_in != "_buffers":
            own.get("_non_persistent_buffers_set", set()).discard(name)

    def __delattr__(self, name: str) -> None:
        for store in _STORES:
            if name in self.__dict__.get(store, ()):
                del self.__dict__[store][name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self):
        names = {*dir(type(self)), *self.__dict__}
        for store in _STORES:
            names.update(self.__dict__.get(store, ()))
        return sorted(name for name in names if not name[0].isdigit())

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        fresh = Module()
        for name, value in fresh.__dict__.items():  # what a module pickled by an older version lacks
            self.__dict__.setdefault(name, value)

    # --- walking through the members ---

    def _named_members(self, get_members_fn: Callable, prefix: str = "", recurse: bool = True,
                       remove_duplicate: bool = True) -> Iterator:  # fmt: skip
        seen = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, member in get_members_fn(module):
                if member is None or member in seen:
                    continue
                if remove_duplicate:
                    seen.add(member)
                yield path + ("." if path else "") + name, member

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters of this module and, with `recurse`, of its submodules; each once."""
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def named_parameters(self, prefix: str = "", recurse: bool = True,
                         remove_duplicate: bool = True) -> Iterator[tuple[str, Parameter]]:  # fmt: skip
        """Pairs (name, parameter)."""
        yield from self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers of this module and, with `recurse`, of its submodules; each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(self, prefix: str = "", recurse: bool = True,
                      remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:  # fmt: skip
        """Pairs (name, buffer)."""
        yield from self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def children(self) -> Iterator["Module"]:
        """The immediate submodules, each once."""
        for _, module in self.named_children():
            yield module

    def named_children(self) -> Iterator[tuple[str, "Module"]]:
        """Pairs (name, immediate submodule)."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def modules(self, remove_duplicate: bool = True) -> Iterator["Module"]:
        """This module and all below it, each once unless `remove_duplicate` is False."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_modules(self, memo: set | None = None, prefix: str = "", remove_duplicate: bool = True):
        """Pairs (dotted path, module), this module first."""
        if memo is None:
            memo = set()
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, prefix + ("." if prefix else "") + name, remove_duplicate)

    def get_submodule(self, target: str) -> "Module":
        """The submodule at a dotted path; this module for the empty one."""
        module: Module = self
        for part in target.split(".") if target else ():
            if not hasattr(module, part):
                raise AttributeError(f"{module._get_name()} has no attribute `{part}`")
            module = getattr(module, part)
            if not isinstance(module, Module):
                raise AttributeError(f"`{part}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: "Module", strict: bool = False) -> None:
        """Put a module at a dotted path; with `strict` one must be there already."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        *path, name = target.split(".")
        if strict and len(path) == 0 and not hasattr(self, name):
            raise AttributeError(f"{self._get_name()} has no attribute `{name}`")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        parent = self.get_submodule(".".join(path))
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted path."""
        return self._get_member(target, Parameter, "an nn.Parameter")

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted path."""
        *path, name = target.split(".")
        module = self.get_submodule(".".join(path))
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return getattr(module, name)

    def _get_member(self, target: str, kind: type, called: str):
        *path, name = target.split(".")
        module = self.get_submodule(".".join(path))
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        member = getattr(module, name)
        if not isinstance(member, kind):
            raise AttributeError(f"`{name}` is not {called}")
        return member

    # --- changing all of it at once ---

    def apply(self, fn: Callable[["Module"], None]):
        """Call `fn` on every submodule, then on this module."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn, recurse: bool = True):
        """Replace the memory of every parameter, its gradient and every buffer by what `fn` makes of it."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, param in self._parameters.items():
            if param is None:
                continue
            with no_grad():
                changed = fn(param)
            grad = param.grad
            if changed._spec.inexact == param._spec.inexact:
                param.grad = None
                param.data = changed
            else:
                param = self._parameters[name] = Parameter(changed, param.requires_grad)
            if grad is not None:
                with no_grad():
                    param.grad = fn(grad).requires_grad_(grad.requires_grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args, **kwargs):
        """Change dtype or memory format of floating and complex parameters and buffers, in place; devices are checked."""
        dtype, _, memory_format = to_arguments(args, kwargs)
        if dtype is not None:
            if not (dtype.is_floating_point or dtype.is_complex):
                raise TypeError(
                    f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
                )
            if dtype.is_complex:
                warnings.warn(
                    "Complex modules are a new feature under active development whose design may change, and some modules "
                    "might not work as expected when using complex tensors as parameters or buffers. Please file an issue "
                    "at https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml if a complex module does not "
                    "work as expected.",
                    stacklevel=2,
                )

        def convert(t):
            options = {}
            if memory_format is not None and t.dim() in (4, 5):
                options["memory_format"] = memory_format
            return t.to(dtype if dtype is not None and t._spec.inexact else t.dtype, **options)

        return self._apply(convert)

    def to_empty(self, *, device, recurse: bool = True):
        """Give every parameter and buffer fresh memory without copying what it held."""
        from ...core.registry import FUNCTIONS

        return self._apply(lambda t: FUNCTIONS["torch"]["empty_like"](t, device=device), recurse=recurse)

    def type(self, dst_type):
        """Cast all parameters and buffers to a dtype."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self):
        """Cast floating parameters and buffers to float32."""
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self):
        """Cast floating parameters and buffers to float64."""
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self):
        """Cast floating parameters and buffers to float16."""
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self):
        """Cast floating parameters and buffers to bfloat16."""
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def cpu(self):
        """Move to the CPU: nothing changes."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device=None):
        """Raise what PyTorch raises in a build for the CPU."""
        return self._apply(lambda t: t.cuda(device))

    def share_memory(self):
        """Raise NotImplementedError: the memory of a tensor belongs to its process."""
        return self._apply(lambda t: t.share_memory_())

    def train(self, mode: bool = True):
        """Set `training` here and below: dropout and batch norm behave differently."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        """The same as `train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True):
        """Say whether gradients are to flow to the parameters."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or fill them with zeros."""
        for p in self.parameters():
            if p.grad is None:
                continue
            if set_to_none:
                p.grad = None
            else:
                if p.grad.grad_fn is not None:
                    p.grad.detach_()
                else:
                    p.grad.requires_grad_(False)
                p.grad.zero_()

    def compile(self, *args, **kwargs) -> None:
        """Do nothing: modules run as they are."""

    def _replicate_for_data_parallel(self):
        raise NotImplementedError("chainrule has no data parallelism: there is one device")

    # --- how it prints ---

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What stands in the parentheses; overridden by layers."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        extra_lines = extra.split("\n") if extra else []
        child_lines = [f"({key}): {_indented(repr(module))}" for key, module in self._modules.items()]
        name = self._get_name()
        if len(extra_lines) == 1 and not child_lines:
            return f"{name}({extra_lines[0]})"
        lines = [*extra_lines, *child_lines]
        return f"{name}(\n  " + "\n  ".join(lines) + "\n)" if lines else f"{name}()"


def _or(value, otherwise):
    return otherwise if value is None else value


def _indented(text: str) -> str:
    """All lines but the first two spaces further in."""
    first, *rest = text.split("\n")
    return "\n".join([first, *("  " + line for line in rest)])
