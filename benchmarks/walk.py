"""The walk of one round: which modules of cboc run, and how often a call goes from one of them into another.

    python benchmarks/walk.py               a round in one process, and the same through a coordinator
    python benchmarks/walk.py --edges 25    with the edges that are crossed most
    python benchmarks/walk.py --seeds 6     several seeds: the count depends on how long a search climbs

A crossing is a call of a function in one module of the package from a function in another, whatever lies between them
(NumPy, SciPy, the standard library); it is counted between modules, and between rooms, the entries at the top of the
package. Two sites with two parameters take their second turn after four initial designs:
everybody proposes, then everybody asks and tells. Run it with the Python of another checkout to compare two versions.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import cboc

ROOT = str(Path(cboc.__file__).parent)
SITES, PARAMETERS, INITIAL, HORIZON = ("lab-a", "lab-b"), ("a", "b"), 4, 5
IS_OLD = not hasattr(cboc, "Policy")  # version 0.1.0


class Walk:
    """Counts, while it is on, the calls from one module of the package into another."""

    def __init__(self) -> None:
        self.is_on, self.modules, self.edges = False, set[str](), Counter[tuple[str, str]]()
        self._names: dict[CodeType, str | None] = {}

    def module(self, frame: FrameType) -> str | None:
        code = frame.f_code
        if code not in self._names:
            is_ours = code.co_filename.startswith(ROOT)
            parts = Path(code.co_filename).relative_to(ROOT).with_suffix("").parts if is_ours else ()
            self._names[code] = ".".join(parts).removesuffix(".__init__") or None
        return self._names[code]

    def profile(self, frame: FrameType, event: str, _: Any) -> None:
        if not self.is_on or event != "call" or (here := self.module(frame)) is None:
            return
        self.modules.add(here)
        back = frame.f_back
        while back is not None and (there := self.module(back)) is None:
            back = back.f_back
        if back is not None and there != here:
            self.edges[there or "", here] += 1

    @contextmanager
    def recording(self) -> Iterator[None]:
        self.modules, self.edges, self.is_on = set(), Counter(), True
        try:
            yield
        finally:
            self.is_on = False


def outcome(name: str, design: dict[str, float]) -> float:
    """A bowl whose lowest point is a little elsewhere at every site."""
    centre = 0.3 + sum(map(ord, name)) % 7 / 50
    return sum((value - centre) ** 2 for value in design.values())


def settings(seed: int) -> dict[str, Any]:
    if IS_OLD:
        return {"initial": INITIAL, "seed": seed}
    return {"policy": cboc.Policy(initial=INITIAL, seed=seed)}


def study() -> cboc.Study:
    pace = {} if IS_OLD else {"pace": "rounds"}
    return cboc.Study(dict.fromkeys(PARAMETERS, (0.0, 1.0)), SITES, HORIZON, **pace)


def second_turn(walk: Walk, sites: list[cboc.Site]) -> None:
    """The initial designs and the first turn, and then, recorded, the second."""
    for site in sites:
        for _ in range(INITIAL):
            tell(site)
    for number in range(2):
        with walk.recording() if number else _nothing():
            for site in sites:
                site.propose()
            for site in sites:
                tell(site)
            time.sleep(0.05)  # a server's thread ends its last message


def tell(site: cboc.Site) -> None:
    trial = site.ask()
    site.tell(trial, outcome(site.name, trial.design(site.study.space)))


@contextmanager
def _nothing() -> Iterator[None]:
    yield


def in_one_process(walk: Walk, seed: int) -> None:
    agreed = study()
    ledger = cboc.Ledger(agreed)
    sites = [cboc.Site(agreed, name, ledger, direction="minimise", **settings(seed)) for name in SITES]
    second_turn(walk, sites)


def through_a_coordinator(walk: Walk, seed: int) -> None:
    if IS_OLD:
        from cboc.service.app import create_app
        from cboc.service.door import Door as Tokens
        from cboc.service.exchange import Exchange as Transactions
        from cboc.service.schema import upgrade
        from cboc.service.sql import open_database
    else:
        from cboc.coordinator.app import create_app
        from cboc.coordinator.database import open_database
        from cboc.coordinator.schema import upgrade
        from cboc.coordinator.tokens import Tokens
        from cboc.coordinator.transactions import Transactions

    agreed = study()
    with tempfile.TemporaryDirectory() as folder:
        engine = open_database(f"sqlite:///{folder}/coordinator.db")
        upgrade(engine)
        Transactions(engine).create(agreed)
        codes = {name: Tokens(engine).invite(agreed.name, name) for name in SITES}
        with served(create_app(engine)) as url:
            files = {name: f"{folder}/{name}.db" for name in SITES}
            given = {"direction": "minimise", **settings(seed)}
            second_turn(walk, [cboc.join(url, codes[name], storage=files[name], **given) for name in SITES])
        engine.dispose()


@contextmanager
def served(app: Any) -> Iterator[str]:
    import uvicorn

    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical"))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    while thread.is_alive() and not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


def room(module: str) -> str:
    """The entry at the top of the package that a module belongs to."""
    return module.split(".")[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=0, help="how many edges to print")
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    walk = Walk()
    threading.setprofile(walk.profile)
    sys.setprofile(walk.profile)
    print(f"{'':24} {'seed':>5} {'modules':>8} {'crossings':>10} {'rooms':>6} {'crossings':>10}")
    for way in (in_one_process, through_a_coordinator):
        way(walk, options.seeds)  # imports, and fills caches
        for seed in range(options.seeds):
            way(walk, seed)
            crossings = sum(walk.edges.values())
            rooms = {room(module) for module in walk.modules}
            between = sum(count for (there, here), count in walk.edges.items() if room(there) != room(here))
            name = way.__name__.replace("_", " ")
            print(f"{name:24} {seed:5} {len(walk.modules):8} {crossings:10} {len(rooms):6} {between:10}", flush=True)
        for (there, here), count in walk.edges.most_common(options.edges):
            print(f"{count:10} {there} -> {here}")


if __name__ == "__main__":
    main()
