__version__ = "0.1.0"

# What `torch.__version__` says: the version of PyTorch that is the specification. Scripts compare against it.
TORCH_VERSION = f"2.13.0+chainrule.{__version__}"
