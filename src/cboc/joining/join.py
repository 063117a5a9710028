"""Joining a study: the same `Site` as in one process, with its data in its own file.

site = cboc.join("https://coordinator:8000", code, storage="lab-b.db", direction="maximise")
site = cboc.join("lab-b.cboc", storage="lab-b.db", direction="maximise")      # an invitation file
site = cboc.join("folder:/shared/ours", site="lab-b", storage="lab-b.db", direction="maximise")
site = cboc.join("peers:", site="lab-b", storage="lab-b.db", study=study, direction="maximise")
site = cboc.join(storage="lab-b.db")            # later, in another process: it goes on where it was
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from cboc.data.dataset import Dataset, Direction
from cboc.data.earlier.frames import is_frame
from cboc.data.earlier.preview import Preview, as_data
from cboc.data.goal import Goal
from cboc.data.results import Results
from cboc.errors import CbocError, check_kind
from cboc.exchange.identity import identify
from cboc.exchange.invitation import is_invitation
from cboc.exchange.network import Network
from cboc.exchange.rest import Rest
from cboc.exchange.study import Study
from cboc.joining import coordinator, feeds
from cboc.joining.agreement import damaged, keep_agreement, kept_agreement, read_study
from cboc.joining.departure import LEFT_AT, KeptDeparture
from cboc.joining.invited import unfolded
from cboc.joining.own import as_own, keep_own, whole_space
from cboc.joining.wanted import as_kept, check_change, goal_in, is_understood
from cboc.site.policy import Policy
from cboc.site.site import Site
from cboc.site.trial import Trial
from cboc.space.space import Space
from cboc.storage.author import Door
from cboc.storage.sitefile import SiteFile
from cboc.strategy.collaborative import collaborative

KEPT = ("initial", "seed", "stop_below", "goes_on_alone", "most_cost")  # of a policy; of a strategy, its identity
FINAL = ("initial", "seed")  # the settings that cannot change after the first trial


def join(
    url: str | None = None,
    code: str | None = None,
    *,
    storage: str | Path,
    site: str | None = None,
    direction: Direction | str | Goal | Mapping[str, Any] | None = None,
    limits: Iterable[str] | None = None,
    own: Space | Mapping[str, Any] | None = None,
    policy: Policy | None = None,
    study: Study | None = None,
    data: Any = None,
    outcome: str | None = None,
    certificate: str | None = None,
    sealed: bool | None = None,
    drifts: bool | None = None,
    git: bool | None = None,
    patience: float = 60.0,
    goes_on_alone: bool | None = None,
    on_retry: Callable[[str], None] | None = None,
    accept: bool = False,
    door: Door = Door.PYTHON,
) -> Site:
    """Join a study: the first time with an address and a direction; later the file knows them.

    Of several objectives `direction` is a mapping with what is wanted of each, {"yield": "max", "cost": "min"};
    `limits` are what outcomes may not exceed, ["impurity <= 5"]; `own` are parameters that only this site has,
    {"stirring": (100, 900)}. All of it stays in the file.

    Through a coordinator, `code` is that of the invitation; an invitation file (lab-b.cboc) in place of the address
    holds all that is needed. Through a shared folder (folder:PATH), by files on a stick (stick:FILE) or between peers
    (peers:) `site` is the name that the study has for this site; the first one to join, and every peer, also gives the
    `study`. With `sealed` only neighbours can read what it writes into a folder. A site that `drifts` goes on by itself
    if a round is not closed when its deadline has passed twice; `git` says that the folder is a git working copy, to be
    pulled and pushed; both are kept until they are given again. `policy` is how the site behaves; all of it but its
    strategy is kept in the file. `study` is what the site expects: if the others' differs, this raises the differences
    and does not join. `data` are results from before the study: a dataset, a preview that you have looked at
    (`cboc.preview`), or a CSV or XLSX file or a frame in which nothing is doubtful; `outcome` is the name of its
    column, by default the objective's. With the direction they are kept in the file, and may be changed until the first
    trial. `certificate` is the PEM text of the coordinator's self-signed one. While the coordinator is down the site
    goes on alone, and says so; `goes_on_alone` overrides that for this process. `on_retry` is called with the reason
    when a message has to be repeated. With `accept`, a change of the study that waits is accepted. `door` says who
    writes, for the file's history. Tokens and keys are made here, and kept before anything is sent.
    """
    if is_invitation(url):
        url, code, certificate = unfolded(url, code, certificate)
    is_without_centre = feeds.is_address(url)
    if feeds.is_address(url):
        feeds.check_given(url, code, certificate)
    else:
        coordinator.check_given(url, code, certificate, patience)
    _check_kinds(policy, study, data)
    wanted = as_kept(direction, limits)
    file = SiteFile(storage, is_made=url is not None and (code is not None or is_without_centre), door=door)
    if "agreement" in file.about:
        _check_sound(file)
        _settle(file, policy, wanted)
        if is_without_centre != feeds.is_address(file.about["url"]) and url is not None:
            raise CbocError(
                f"{file.path} has joined at {file.about['url']}; cboc move moves it there, or use another file to join."
            )
        if feeds.is_address(file.about["url"]):
            feeds.come_back(file, url, site)
            feeds.settle(file, drifts=drifts, git=git, sealed=sealed)
        else:
            coordinator.move(file, url, code, certificate, patience)
    elif is_without_centre:
        feeds.introduce(file, str(url), site, wanted, study, bool(sealed), bool(git))
        feeds.settle(file, drifts=drifts, git=git, sealed=sealed)
        _settle(file, policy)
    else:
        coordinator.introduce(file, url=url, code=code, certificate=certificate, **wanted)
        _settle(file, policy)
    agreed, name, network = _reached(file, study, patience, on_retry)
    goal = goal_in(file.about, agreed.objectives)
    keep_own(file, as_own(own), agreed)
    alone, space = whole_space(file, agreed)
    if data is not None:
        _begin_with(file, data, agreed, space, goal, outcome)
    kept = _begun(file, space, kept_policy(file) if policy is None else policy)
    joined = Site(
        agreed,
        name,
        network,
        direction=goal,
        policy=kept if goes_on_alone is None else replace(kept, goes_on_alone=goes_on_alone),
        data=file.data(space.dimension, goal),
        own=alone,
        trials=file.trials(),
        save=file.keep,
        first_turn=file.about.get("first_turn", 0),
        spent=file.about.get("spent", 0),
        claim=partial(_claimed, file, len(file.about.get("moves", ()))),
        clock=time.time,
        settle=lambda newest: keep_agreement(file, newest),
        departure=KeptDeparture(file),
    )
    if accept and joined.offered() is not None:
        joined.accept()
    return joined


@contextmanager
def _claimed(file: SiteFile, moves: int) -> Iterator[list[Trial] | None]:
    """Claim a site, unless it has moved since it was opened: then its network leads to where it was."""
    with file.claim() as trials:
        if len(file.about.get("moves", ())) != moves:
            raise CbocError(f"{file.path} has moved to {file.about['url']}; start this program again.")
        yield trials


def _reached(
    file: SiteFile, study: Study | None, patience: float, on_retry: Callable[[str], None] | None
) -> tuple[Study, str, Network]:
    """The study, the site's name in it, and the network through which it reaches the others."""
    if feeds.is_address(file.about["url"]):
        agreed, name = kept_agreement(file, study)
        network = feeds.connect(file, agreed, name)
        return network.study, name, network
    rest = coordinator.connect(file, patience, on_retry)
    return *coordinator.agreed_with(file, rest, study), rest


def connect(file: SiteFile, patience: float = 60.0) -> Rest:
    """The network through the coordinator that a site's file names."""
    _check_sound(file)
    if feeds.is_address(file.about["url"]):
        raise CbocError(f"{file.path} has joined without a coordinator, and has none.")
    return coordinator.connect(file, patience)


def _check_sound(file: SiteFile) -> None:
    """Raise one sentence if a site's file says something about itself that we never write."""
    about = file.about
    counts = [about.get(name, 0) for name in ("first_turn", "spent")]
    way = feeds if feeds.is_address(about.get("url")) else coordinator
    is_sound = (
        way.is_sound(about)
        and is_understood(about)
        and isinstance(about.get(LEFT_AT), float | None)
        and all(type(count) is int and count >= 0 for count in counts)
    )
    if not is_sound:
        raise CbocError(damaged(file))


def _check_kinds(policy: object, study: object, data: object) -> None:
    """Raise one sentence if what a user gave is not a policy, a study or data; None is fine."""
    if policy is not None:
        check_kind("a site's policy", policy, Policy, "a Policy(...)")
    if study is not None:
        check_kind("the study that a site expects", study, Study, "a Study(...)")
    if data is not None:
        kinds = "a Dataset, a preview, a frame, or the path of a CSV or XLSX file"
        if not is_frame(data):
            check_kind("a site's data", data, Dataset | Results | Preview | str | PathLike, kinds)


def has_own_strategy(file: SiteFile) -> bool:
    """Whether the policy in a site's file had a user's strategy, which the file identifies but cannot rebuild."""
    return "strategy" in file.about.get("policy", {})


def kept_policy(file: SiteFile) -> Policy:
    """The policy in a site's file, with the default strategy; without a seed of its own it has the file's."""
    kept = file.about.get("policy", {})
    try:
        given = {name: kept[name] for name in KEPT if name in kept}
        if given.get("seed") is None:
            given["seed"] = file.about.get("seed", 0)  # files of earlier versions drew none
        return Policy(**given)
    except (CbocError, TypeError):
        raise CbocError(damaged(file)) from None


def _settle(file: SiteFile, policy: Policy | None, wanted: Mapping[str, Any] | None = None) -> None:
    """Keep the given settings in the file; after the first trial some of them cannot change."""
    before = kept_policy(file)
    given = {} if policy is None else {name: getattr(policy, name) for name in KEPT}
    if policy is not None and policy.initial is None:
        given["initial"] = before.initial  # not given: it stays as it is
    if policy is not None and policy.seed is None:
        given["seed"] = before.seed
    if policy is not None and (strategy := identify(policy.strategy)) != identify(collaborative()):
        given["strategy"] = strategy
    fixed = {name: (getattr(before, name), given[name]) for name in FINAL if name in given}
    for name, (old, new) in fixed.items():
        if file.is_begun and old != new:
            raise CbocError(f"{file.path} began with {name} = {old!r}, which cannot change to {new!r}.")
    news: dict[str, Any] = {} if policy is None else {"policy": given}
    if wanted:
        check_change(file, wanted, read_study(file.about["agreement"], damaged(file)))
        news |= wanted
    if any(file.about.get(name) != value for name, value in news.items()):
        file.remember(**news)


def _begun(file: SiteFile, space: Space, policy: Policy) -> Policy:
    """The policy with the number of initial experiments and the seed that the file keeps: no default changes them."""
    kept = file.about.get("policy", {})
    if kept.get("initial") is None:
        kept |= {"initial": policy.begins_with(len(space.names))}
        file.remember(policy=kept)
    return replace(policy, initial=kept["initial"], seed=kept_policy(file).seed)


def _begin_with(file: SiteFile, data: Any, agreed: Study, space: Space, goal: Goal, outcome: str | None) -> None:
    objective, dimension = agreed.objective, space.dimension
    if not isinstance(data, Dataset | Results):
        data = as_data(data, space, outcome or objective.name, objective.unit, goal.direction)
    before = Results.before(data, dimension, goal)
    with file.claim():  # no other process asks for the first experiment meanwhile
        if file.is_begun and before != Results.before(file.data(dimension, goal), dimension, goal):
            raise CbocError(f"{file.path} began with other data from before the study, which cannot change any more.")
        file.remember(data=data.to_dict())
