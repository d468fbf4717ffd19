"""PyTorch for a test, which is skipped where there is none: to be imported first, as NumPy
comes with PyTorch. Its warnings are not shown."""

import sys
import warnings

warnings.filterwarnings("ignore")
try:
    import torch  # noqa: F401
except ImportError as error:
    print(f"skipped: there is no PyTorch (Debian: python3-torch): {error}")
    sys.exit(77)
