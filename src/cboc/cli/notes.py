"""Notes: what a command says besides its result, on standard error."""

from __future__ import annotations

from rich.console import Console

notes = Console(stderr=True, soft_wrap=True, highlight=False, markup=False, emoji=False)
