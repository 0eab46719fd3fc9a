"""The state of a module by name: `state_dict`, and `load_state_dict` with all its hooks and complaints."""

from collections import OrderedDict, namedtuple
from collections.abc import Mapping

from ...core.grad_mode import no_grad
from ...core.node import RemovableHandle
from ...core.tensor import Tensor
from ..parameter import Parameter

__all__ = ["State", "EXTRA_STATE"]

EXTRA_STATE = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What `load_state_dict` did not find, and what it had no use for."""

    __slots__ = ()

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class _WithModule:
    """A pre-hook of loading that is to be given the module as well."""

    def __init__(self, hook, module):
        self.hook, self.module = hook, module

    def __call__(self, *args):
        return self.hook(self.module, *args)


class State:
    """The part of Module that writes and reads a `state_dict`."""

    _parameters: dict
    _buffers: dict
    _modules: dict
    _non_persistent_buffers_set: set
    _version: int
    _state_dict_hooks: OrderedDict
    _state_dict_pre_hooks: OrderedDict
    _load_state_dict_pre_hooks: OrderedDict
    _load_state_dict_post_hooks: OrderedDict

    def _init_state(self) -> None:
        own = self.__dict__
        own["_state_dict_hooks"] = OrderedDict()
        own["_state_dict_pre_hooks"] = OrderedDict()
        own["_load_state_dict_pre_hooks"] = OrderedDict()
        own["_load_state_dict_post_hooks"] = OrderedDict()

    # --- writing ---

    def get_extra_state(self):
        """Anything else that belongs to the state; a module that overrides this overrides `set_extra_state` too."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called. Please file an issue at "
            "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug."
        )

    def set_extra_state(self, state) -> None:
        """Take back what `get_extra_state` returned."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called. Please file an issue at "
            "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug."
        )

    def _save_to_state_dict(self, destination, prefix: str, keep_vars: bool) -> None:
        """Put what this module itself holds into `destination`."""
        for name, param in self._parameters.items():
            if param is not None:
                destination[prefix + name] = param if keep_vars else param.detach()
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = buffer if keep_vars else buffer.detach()
        if type(self).get_extra_state is not State.get_extra_state:
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """An OrderedDict of all parameters and persistent buffers, detached unless `keep_vars`; they share memory."""
        if args:  # the old form, with positional arguments
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and prefix == "" else prefix
            keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            changed = hook(self, destination, prefix, local_metadata)
            if not getattr(hook, "_from_public_api", False):
                destination = destination if changed is None else changed
            elif changed is not None:
                raise RuntimeError("state_dict post-hook must return None")
        return destination

    def register_state_dict_post_hook(self, hook) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` at the end of `state_dict`."""
        hook._from_public_api = True
        return _add(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook) -> RemovableHandle:
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError("Cannot register the same function as the state dict post hook that was previously "
                               "registered via register_state_dict_post_hook")  # fmt: skip
        return _add(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before `state_dict`."""
        return _add(self._state_dict_pre_hooks, hook)

    # --- reading ---

    def _register_load_state_dict_pre_hook(self, hook, with_module=False) -> RemovableHandle:
        return _add(self._load_state_dict_pre_hooks, _WithModule(hook, self) if with_module else hook)

    def register_load_state_dict_pre_hook(self, hook) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected, errors)` before loading."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after loading."""
        return _add(self._load_state_dict_post_hooks, hook)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                              error_msgs) -> None:  # fmt: skip
        """Take what this module itself holds out of `state_dict`; what is wrong goes into the three lists."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        buffers = {k: v for k, v in self._buffers.items() if k not in self._non_persistent_buffers_set}
        local_state = {k: v for k, v in (*self._parameters.items(), *buffers.items()) if v is not None}
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, param in local_state.items():
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            error = self._load_one(name, key, param, state_dict[key], assign)
            if error:
                error_msgs.append(error)
        self._load_extra_state(state_dict, prefix, strict, missing_keys, unexpected_keys)
        if strict:
            unexpected_keys += self._unexpected(state_dict, prefix, local_state)

    def _load_one(self, name, key, param, given, assign: bool) -> str:
        """Put `given` into the parameter or buffer `name`; what is wrong with it, or an empty text."""
        if not isinstance(given, Tensor):
            return (
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint but '
                f"received {type(given)}"
            )
        if len(param.shape) == 0 and len(given.shape) == 1:
            given = given[0]  # files of long ago kept single numbers as tensors of one element
        if given.shape != param.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the shape in current "
                f"model is {param.shape}."
            )
        try:
            with no_grad():
                if not assign:
                    param.copy_(given)
                    return ""
                if isinstance(param, Parameter) and not isinstance(given, Parameter):
                    given = Parameter(given, requires_grad=param.requires_grad)
                elif isinstance(param, Parameter):
                    given.requires_grad_(param.requires_grad)
                setattr(self, name, given)
        except Exception as error:
            return (
                f'While {"assigning" if assign else "copying"} the parameter named "{key}", whose dimensions in the model are '
                f"{param.size()} and whose dimensions in the checkpoint are {given.size()}, an exception occurred : "
                f"{error.args}."
            )
        return ""

    def _load_extra_state(self, state_dict, prefix, strict, missing_keys, unexpected_keys) -> None:
        key = prefix + EXTRA_STATE
        if type(self).set_extra_state is not State.set_extra_state:
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            elif strict:
                missing_keys.append(key)
        elif strict and key in state_dict:
            unexpected_keys.append(key)

    def _unexpected(self, state_dict, prefix, local_state) -> list[str]:
        found = []
        for key in state_dict:
            if key.startswith(prefix) and key != prefix + EXTRA_STATE:
                name, _, below = key[len(prefix) :].partition(".")
                if below or "." in key[len(prefix) :]:
                    if name not in self._modules:
                        found.append(key)
                elif name not in local_state:
                    found.append(key)
        return found

    def load_state_dict(self, state_dict: Mapping, strict: bool = True, assign: bool = False):
        """Copy (or, with `assign`, put) the values of `state_dict` into this module.

        Returns (missing_keys, unexpected_keys); RuntimeError that lists all that is wrong.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing_keys: list[str] = []
        unexpected_keys: list[str] = []
        error_msgs: list[str] = []
        metadata = getattr(state_dict, "_metadata", None)
        state_dict = OrderedDict(state_dict)
        if metadata is not None:
            state_dict._metadata = metadata  # type: ignore[attr-defined]
        job = _Loading(metadata, strict, assign, missing_keys, unexpected_keys, error_msgs)
        job.load(self, state_dict, "")
        if strict:
            if unexpected_keys:
                listed = ", ".join(f'"{k}"' for k in unexpected_keys)
                error_msgs.insert(0, f"Unexpected key(s) in state_dict: {listed}. ")
            if missing_keys:
                listed = ", ".join(f'"{k}"' for k in missing_keys)
                error_msgs.insert(0, f"Missing key(s) in state_dict: {listed}. ")
        if error_msgs:
            listed = "\n\t".join(error_msgs)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}")
        return _IncompatibleKeys(missing_keys, unexpected_keys)


class _Loading:
    """One call of `load_state_dict`, on its way through the submodules."""

    def __init__(self, metadata, strict, assign, missing_keys, unexpected_keys, error_msgs):
        self.metadata, self.strict, self.assign = metadata, strict, assign
        self.missing_keys, self.unexpected_keys, self.error_msgs = missing_keys, unexpected_keys, error_msgs

    def load(self, module, state_dict, prefix: str) -> None:
        local_metadata = {} if self.metadata is None else self.metadata.get(prefix[:-1], {})
        if self.assign:
            local_metadata["assign_to_params_buffers"] = True
        module._load_from_state_dict(
            state_dict, prefix, local_metadata, True, self.missing_keys, self.unexpected_keys, self.error_msgs
        )
        for name, child in module._modules.items():
            if child is not None:
                below = prefix + name + "."
                self.load(child, {k: v for k, v in state_dict.items() if k.startswith(below)}, below)
        keys = _IncompatibleKeys(self.missing_keys, self.unexpected_keys)
        for hook in module._load_state_dict_post_hooks.values():
            if hook(module, keys) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are notexpected to return new values, if "
                    "incompatible_keys need to be modified,it should be done inplace."
                )


def _add(hooks: OrderedDict, hook) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle
