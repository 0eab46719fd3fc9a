"""PyTorch's Tensor and autograd in plain Python on NumPy and SciPy: `import chainrule as torch`."""

import warnings as _warnings

# NumPy warns where PyTorch is silent (0 / 0, log(0)); the callers handle it where warnings are errors.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"chainrule\.")

from . import ops  # noqa: E402, F401
from ._version import __version__  # noqa: E402
from .core import dtype as _dtypes  # noqa: E402
from .core.device import device  # noqa: E402
from .core.dtype import (  # noqa: E402
    can_cast,
    dtype,
    finfo,
    get_default_dtype,
    iinfo,
    promote_types,
    set_default_dtype,
    set_default_tensor_type,
)
from .core.grad_mode import (  # noqa: E402
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .core.printing import set_printoptions  # noqa: E402
from .core.registry import FUNCTIONS as _FUNCTIONS  # noqa: E402
from .core.size import Size  # noqa: E402
from .core.tensor import Tensor  # noqa: E402

globals().update(_dtypes.DTYPES)
globals().update(_dtypes.ALIASES)
globals().update(_FUNCTIONS["torch"])


def __getattr__(name):
    from ._missing import missing_attribute

    raise missing_attribute("torch", name)
