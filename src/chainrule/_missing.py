"""How chainrule says that it lacks something PyTorch has: one wording, for attributes and for modules."""


def missing_attribute(module_name: str, name: str) -> AttributeError:
    """The error for `name`, looked up in vain in the chainrule module `module_name`.

    The text begins as PyTorch's does. A module's own `__getattr__` raises it:

        def __getattr__(name):
            raise missing_attribute(__name__, name)
    """
    module = torch_name(module_name)
    return AttributeError(f"module '{module}' has no attribute '{name}' (chainrule has no {module}.{name})")


def missing_module(name: str) -> ModuleNotFoundError:
    """The error for an import of the module `name`, which PyTorch may have and chainrule has not."""
    return ModuleNotFoundError(f"chainrule has no module {name}", name=name)


def torch_name(module_name: str) -> str:
    """`chainrule.nn` as scripts know it: `torch.nn`."""
    package, dot, rest = module_name.partition(".")
    return f"torch{dot}{rest}" if package == "chainrule" else module_name
