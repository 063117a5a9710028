"""How a study grows: messages and bytes of a turn against sites and degree, and rounds until proposals agree.

    python benchmarks/scale.py             bytes to 200 sites, the consensus step to 10,000
    python benchmarks/scale.py --quick     to 50 and 1,000

Bytes are those of real messages of a study in four parameters, of the 20th turn: files as they lie in a folder, bodies
as they go to a coordinator, a stick with everything. 'peers' is computed: one request to every neighbour, answered by
its newest entry. The consensus step runs in memory, for all sites at once, in the whole numbers of every other
transport, without the decay to I; it counts rounds until all proposals are within 1 % of where they began to differ.
"""

from __future__ import annotations

import argparse
import json
import resource
import time

import numpy as np

from cboc import Study
from cboc.consensus.matrix import DESIGN_ONE, WEIGHT_ONE, mix
from cboc.exchange import wire
from cboc.exchange.feeds.entry import DESIGNS, Act, FeedEntry, write
from cboc.exchange.feeds.keys import Keys
from cboc.exchange.feeds.replica import Replica
from cboc.exchange.feeds.sealing import PARTS, Seal
from cboc.exchange.ledger import Ledger
from cboc.exchange.messages import Proposal

D, TURNS = 4, 20
Neighbours = np.ndarray  # (K, d): whom each site hears


# --------------------------------------------------------------------------------------------------- bytes of a turn


def a_study(K: int, edges: object, pace: str) -> Study:
    names = [f"site-{k}" for k in range(K)]
    return Study({f"x{d}": (0.0, 1.0) for d in range(D)}, names, horizon=100, pace=pace, graph=edges)


def an_entry(study: Study, keys: Keys, degree: int, last: FeedEntry | None) -> FeedEntry:
    rng = np.random.default_rng(0)
    said: dict[str, object] = {"act": Act.TURN, "earlier": TURNS, "wells": 1}
    said |= {"state": TURNS} if study.pace.waits else {"seen": {f"site-{k}": TURNS for k in range(1, degree + 1)}}
    designs = {"X": np.rint(rng.random((1, D)) * DESIGN_ONE) / DESIGN_ONE, "bests": rng.random((1, D))}
    return write(keys, study.digest, "site-0", last, TURNS, said, {name: x.tolist() for name, x in designs.items()})


def through_a_coordinator(study: Study) -> tuple[int, int]:
    """Bytes of the bodies of a turn that go out, and that come back."""
    ledger, rng = Ledger(study), np.random.default_rng(0)
    for site in study.sites:
        ledger.submit(Proposal(site, 0, rng.random((1, D)).tolist(), rng.random((1, D)).tolist()))
    last = study.sites[-1]  # it hears of all
    mixed, news = wire.mix_body(ledger.mix(last, 0)), wire.news_body(ledger.news(last))
    sent = wire.proposal_body(Proposal("site-0", 0, rng.random((1, D)).tolist(), rng.random((1, D)).tolist()))
    return len(json.dumps(sent)), len(json.dumps(mixed)) + (0 if study.pace.waits else len(json.dumps(news)))


def report_bytes(K: int, degree: int, pace: str) -> None:
    study = a_study(K, "complete" if degree == K - 1 else circle(K, degree), pace)
    keys = Keys.make()
    identity, agreement = keys.identity, study.agreement()
    said = {"act": Act.HELLO, "signing": identity.signing, "sealing": identity.sealing, "agreement": agreement}
    hello = write(keys, study.digest, "site-0", None, 0, said)
    entry = an_entry(study, keys, degree, hello)
    replica, seal = Replica(study), Seal("site-0", keys)
    replica.take(hello)
    open_, sealed = len(entry.to_bytes()), len(seal.close(entry))
    once = len(seal.keys_for({Keys.make().identity.sealing: PARTS for _ in range(degree)}))
    sent, got = through_a_coordinator(study)
    theirs = open_ if degree == K - 1 else len(entry.without(DESIGNS).to_bytes())
    stick = (degree + 1) * len(hello.to_bytes()) + TURNS * (open_ + degree * theirs)
    rows = {
        "coordinator": (1, sent, 2 if pace == "free" else 1, got),
        "folder": (1, open_, degree, degree * open_),
        "sealed folder": (1, sealed, degree, degree * sealed),
        "peers (computed)": (0, 0, degree, degree * open_),
        "stick": (1, stick, 1, stick),
    }
    for name, (out, bytes_out, came, bytes_in) in rows.items():
        more = f"  and once {once / 1e3:.1f} kB of keys" if name == "sealed folder" else ""
        print(
            f"{pace:>7} {K:6} {degree:6} {name:>17} {out:4} {bytes_out / 1e3:9.1f} {came:5} {bytes_in / 1e3:9.1f}{more}"
        )


# ------------------------------------------------------------------------------------------- rounds until all agree


def circle(K: int, degree: int) -> list[tuple[str, str]]:
    return [(f"site-{k}", f"site-{(k + step) % K}") for k in range(K) for step in range(1, degree // 2 + 1)]


def ring(K: int) -> Neighbours:
    sites = np.arange(K)
    return np.stack([(sites - 1) % K, (sites + 1) % K], axis=1)


def random_graph(K: int, degree: int, rng: np.random.Generator) -> Neighbours:
    """The union of degree/2 random rings through all sites: connected, and nearly always without a double edge."""
    columns = []
    for _ in range(degree // 2):
        order = rng.permutation(K)
        place = np.argsort(order)
        columns += [order[(place - 1) % K], order[(place + 1) % K]]
    return np.stack(columns, axis=1)


def step(X: np.ndarray, neighbours: Neighbours, weight: float) -> np.ndarray:
    """x_new = W x with the same weight on every edge and the rest on the diagonal, in whole numbers as everywhere."""
    w = int(weight * WEIGHT_ONE)
    designs = np.rint(X * DESIGN_ONE).astype(np.int64)
    own = WEIGHT_ONE - w * neighbours.shape[1]
    total = own * designs + sum(w * designs[column] for column in neighbours.T)
    return np.rint(total / WEIGHT_ONE) / DESIGN_ONE


def check_step(X: np.ndarray, neighbours: Neighbours, weight: float) -> None:
    """The step of all sites is that of one site in the library."""
    row = np.zeros(len(X), dtype=np.int64)
    np.add.at(row, neighbours[0], int(weight * WEIGHT_ONE))
    row[0] += WEIGHT_ONE - row.sum()
    assert (mix(row, X) == step(X, neighbours, weight)[0]).all()


def rounds_to_agree(neighbours: Neighbours, weight: float, most: int) -> int | None:
    """Rounds until the largest distance from the mean is 1 % of what it was; None if there are more than `most`."""
    X = np.random.default_rng(1).random((len(neighbours), D))
    check_step(X, neighbours, weight)
    first = np.abs(X - X.mean(axis=0)).max()
    for rounds in range(1, most + 1):
        X = step(X, neighbours, weight)
        if np.abs(X - X.mean(axis=0)).max() <= 0.01 * first:
            return rounds
    return None


def in_the_long_run(K: int, degree: int, weight: float) -> float:
    """The same from the second eigenvalue of W: of a ring 1 - 2w (1 - cos 2π/K), of a random graph near the largest
    that such a graph can have, 1 - w (d - 2 √(d-1))."""
    gap = weight * (2 - 2 * np.cos(2 * np.pi / K) if degree == 2 else degree - 2 * np.sqrt(degree - 1))
    return float(np.log(0.01) / np.log1p(-gap))


def report_rounds(K: int) -> None:
    rng = np.random.default_rng(0)
    for name, neighbours in (("ring", ring(K)), ("random, degree 8", random_graph(K, 8, rng))):
        degree = neighbours.shape[1]
        for rule, weight in (("uniform 1/K", 1 / K), ("local 1/(d+1)", 1 / (degree + 1))):
            most = min(3000, 40_000_000 // (K * degree))
            found = rounds_to_agree(neighbours, weight, most)
            slow = f"about {in_the_long_run(K, degree, weight):,.0f}"
            print(f"{K:6} {name:>17} {rule:>15} {found if found is not None else slow!s:>16}", flush=True)
    print(f"{K:6} {'complete':>17} {'uniform 1/K':>15} {1:>16}")


# ------------------------------------------------------------------------------- what the library itself would take


def report_library(K: int) -> None:
    """CPU time of a study on a random graph of degree 8, and of one answer; the memory of the process."""
    neighbours = random_graph(K, 8, np.random.default_rng(0))
    pairs = {(min(k, int(j)), max(k, int(j))) for k in range(K) for j in neighbours[k] if k != j}
    started = time.process_time()
    study = a_study(K, [(f"site-{a}", f"site-{b}") for a, b in pairs], "free")
    built = time.process_time()
    ledger = Ledger(study)
    for site in study.sites:
        ledger.submit(Proposal(site, 0, [[0.5] * D], [[0.5] * D]))
    asked = time.process_time()
    ledger.mix("site-0", 0)
    spent = time.process_time() - asked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{K:6} {built - started:9.2f} {spent:9.2f} {peak:9}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smoke run")
    options = parser.parse_args()
    print(f"{'pace':>7} {'K':>6} {'degree':>6} {'way':>17} {'out':>4} {'kB out':>9} {'in':>5} {'kB in':>9}")
    for pace in ("free", "rounds"):
        for K, degree in ((5, 4), (50, 49)) if options.quick else ((5, 4), (50, 49), (200, 199), (200, 8), (200, 2)):
            report_bytes(K, degree, pace)
    print(f"\n{'K':>6} {'graph':>17} {'weight of edges':>15} {'rounds to 1 %':>16}")
    for K in (50, 1000) if options.quick else (20, 200, 1000, 10_000):
        report_rounds(K)
    print(f"\n{'K':>6} {'study s':>9} {'answer s':>9} {'peak MB':>9}")
    for K in (50, 1000) if options.quick else (200, 1000, 2000, 10_000):
        report_library(K)


if __name__ == "__main__":
    main()
