"""The paper's case study: a biosensor in a channel, by finite elements. Needs the extra `fem`."""

from cboc.errors import CbocError

try:
    import skfem as skfem
except ImportError:
    raise CbocError("the biosensor needs scikit-fem, which is not installed; pip install 'cboc[fem]'.") from None
