"""PyTorch's Tensor and autograd in plain Python on NumPy and SciPy: `import chainrule as torch`."""

import math as _math
import warnings as _warnings

# NumPy warns where PyTorch is silent (0 / 0, log(0)); the callers handle it where warnings are errors.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"chainrule\.")

from . import ops  # noqa: E402, F401, I001
from . import autograd, random  # noqa: E402, F401
from ._version import TORCH_VERSION as __version__  # noqa: E402, F401
from .core import dtype as _dtypes, layout as _layouts  # noqa: E402
from .core.device import device, get_default_device, set_default_device  # noqa: E402, F401
from .core.dtype import (  # noqa: E402, F401
    can_cast,
    dtype,
    finfo,
    get_default_dtype,
    iinfo,
    promote_types,
    set_default_dtype,
    set_default_tensor_type,
)
from .core.grad_mode import (  # noqa: E402, F401
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .core.layout import layout, memory_format  # noqa: E402, F401
from .core.printing import get_printoptions, set_printoptions  # noqa: E402, F401
from .core.registry import FUNCTIONS as _FUNCTIONS  # noqa: E402
from .core.size import Size  # noqa: E402, F401
from .core.storage import TypedStorage, UntypedStorage  # noqa: E402, F401
from .core.tensor import Tensor  # noqa: E402, F401

globals().update(_dtypes.DTYPES)
globals().update(_dtypes.ALIASES)
globals().update(_layouts.LAYOUTS)
globals().update(_layouts.MEMORY_FORMATS)
globals().update(_FUNCTIONS["torch"])

pi, e, inf, nan, newaxis = _math.pi, _math.e, _math.inf, _math.nan, None

# Other packages load when they are asked for: `torch.nn` costs nothing until then.
_PACKAGES = ("backends", "cuda", "fft", "func", "linalg", "nn", "optim", "signal", "special", "utils")
__all__ = [_name for _name in globals() if not _name.startswith("_") and _name not in ("core", "ops")]


def __getattr__(name):
    if name in _PACKAGES:
        from importlib import import_module
        from importlib.util import find_spec

        if find_spec(f"{__name__}.{name}") is not None:
            return import_module(f"{__name__}.{name}")
    from ._missing import missing_attribute

    raise missing_attribute("torch", name)
