"""A coordinator with a real database, on a real socket."""

from ..coordinator.conftest import engine as engine
from ..coordinator.conftest import serving as serving
from ..coordinator.conftest import url as url
