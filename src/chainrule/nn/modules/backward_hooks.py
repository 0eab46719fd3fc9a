"""Backward hooks of modules: two identity functions, around what goes in and what comes out, whose backward calls them."""

from ...autograd.function import Function
from ...core.grad_mode import is_grad_enabled
from ...core.tensor import Tensor

__all__ = ["BackwardHook"]


class BackwardHookFunction(Function):
    """The identity, as a place in the graph."""

    @staticmethod
    def forward(ctx, *args):
        ctx.mark_non_differentiable(*[a for a in args if not a.requires_grad])
        return args

    @staticmethod
    def backward(ctx, *grads):
        return grads


class BackwardHook:
    """Watches one call of a module: `hooks` run when the gradients of its inputs are known, `pre_hooks` when those of its
    outputs are."""

    def __init__(self, module, hooks: list, pre_hooks: list):
        self.module = module
        self.hooks = hooks
        self.pre_hooks = pre_hooks
        self.grad_outputs = None
        self.count_inputs = 0
        self.input_places: list[int] = []
        self.has_input_node = False

    def setup_input_hook(self, args: tuple) -> tuple:
        """The arguments, led through a node at which the hooks run."""

        def ran(grad_inputs, _):
            if self.grad_outputs is None:
                raise RuntimeError(
                    "Module backward hook for grad_input is called before the grad_output one. This happens because the "
                    "gradient in your nn.Module flows to the Module's input without passing through the Module's output. "
                    "Make sure that the output depends on the input and that the loss is computed based on the output."
                )
            result = self._run(self._placed(grad_inputs))
            self.grad_outputs = None
            if result is not None:
                return tuple(result[i] for i in self.input_places)
            return None

        led, node, places = self._lead(args)
        self.count_inputs, self.input_places = len(args), places
        if node is not None:
            self.has_input_node = True
            node.register_hook(ran)
        return led

    def setup_output_hook(self, output):
        """The output, led through a node at which its gradients are seen."""
        several = isinstance(output, tuple)
        outputs = output if several else (output,)
        led, node, places = self._lead(outputs)
        if node is None:
            return output

        def before(grad_outputs):
            full = [None] * len(outputs)
            for i, g in zip(places, grad_outputs):
                full[i] = g
            changed = tuple(full)
            for hook in self.pre_hooks:
                result = hook(self.module, changed)
                if result is not None:
                    result = result if isinstance(result, tuple) else (result,)
                    if len(result) != len(changed):
                        raise RuntimeError(
                            "Backward pre hook returned an invalid number of grad_output, got "
                            f"{len(result)}, but expected {len(changed)}"
                        )
                    changed = result
            self.grad_outputs = changed
            if not self.has_input_node:
                result = self._run(self._placed(()))
                if result is not None and not all(r is None for r in result):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always return None or None for "
                        "all gradients."
                    )
                self.grad_outputs = None
            return tuple(changed[i] for i in places)

        node.register_prehook(before)
        return led if several else led[0]

    def _placed(self, grads) -> tuple:
        full = [None] * self.count_inputs
        for i, g in zip(self.input_places, grads):
            full[i] = g
        return tuple(full)

    def _run(self, grad_inputs: tuple):
        """The hooks, each given what the one before returned; None where none returned anything."""
        changed = None
        for hook in self.hooks:
            result = hook(self.module, grad_inputs if changed is None else changed, self.grad_outputs)
            if result is None:
                continue
            result = result if isinstance(result, tuple) else (result,)
            if len(result) != len(grad_inputs):
                raise RuntimeError(
                    f"Backward hook returned an invalid number of grad_input, got {len(result)}, but expected "
                    f"{len(grad_inputs)}"
                )
            changed = result
        return changed

    def _lead(self, values: tuple) -> tuple:
        """The values with their tensors led through one node; the node (None where nothing requires grad), the places."""
        places = [i for i, v in enumerate(values) if isinstance(v, Tensor)]
        wanted = is_grad_enabled() and any(values[i].requires_grad for i in places)
        if not wanted:
            return values, None, places
        led = BackwardHookFunction.apply(*[values[i] for i in places])
        node = next(t.grad_fn for t in led if t.grad_fn is not None)
        full = list(values)
        for i, t in zip(places, led):
            full[i] = t
        return tuple(full), node, places
