"""The paper's case study: a biosensor in a channel, by finite elements. Needs the extra `fem`."""

from cboc.errors import CbocError, installing

try:
    import skfem as skfem
except ImportError:
    raise CbocError(f"the biosensor needs scikit-fem, which is not installed; {installing('fem')}.") from None
