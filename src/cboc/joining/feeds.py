"""Joining without a centre: the site's name in the study, and keys that are made here.

folder:PATH   a folder that all sites share
stick:FILE    files that people carry or mail; FILE is one that another site has exported
peers:        the sites reach each other over HTTPS; `cboc peer` says where, and who they are
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from cboc.errors import CbocError, check_kind, installing
from cboc.exchange import wire
from cboc.exchange.amendment import is_same
from cboc.exchange.rest import disagreement
from cboc.exchange.study import Study
from cboc.joining.agreement import go_on_after, keep_agreement, kept_versions
from cboc.joining.departure import left_at
from cboc.names import LONGEST_NAME
from cboc.site.ending import FOR_GOOD
from cboc.storage.sitefile import SiteFile

if TYPE_CHECKING:
    from cboc.exchange.feeds.carrier import Carrier
    from cboc.exchange.feeds.entry import FeedEntry
    from cboc.exchange.feeds.feedfile import FeedFile
    from cboc.exchange.feeds.network import Feeds

FOLDER, STICK, PEERS = "folder:", "stick:", "peers:"
NO_STUDY = "{} holds no study yet: wait for the sync, or give its file (--study) if you are the first."
MOST_ASIDE = 1000  # earlier files of feeds
SETTINGS = ("sealed", "drifts", "git")  # of a site's file, True or False


def is_address(url: object) -> TypeGuard[str]:
    """Whether an address is one without a coordinator."""
    return isinstance(url, str) and url.startswith((FOLDER, STICK, PEERS))


def check_given(url: str, code: object, certificate: object) -> None:
    """Raise one sentence if what a user gave does not go with such an address."""
    if url.strip() == FOLDER:
        raise CbocError("the address of a folder is folder:PATH, such as folder:/home/me/Nextcloud/ours.")
    if url.startswith(PEERS) and url.strip() != PEERS:
        raise CbocError("between peers the address is peers: and nothing more; cboc peer add says where each one is.")
    for what, given in (("an invitation", code), ("a certificate", certificate)):
        if given is not None:
            raise CbocError(f"{what} is for a coordinator; without one there is none: leave it out.")
    if find_spec("cryptography") is None:
        raise CbocError(f"this needs an extra; {installing('page')}.")


def is_sound(about: Mapping[str, Any]) -> bool:
    """Whether a site's file says about its way to the others what we write."""
    return isinstance(about.get("url"), str) and all(isinstance(about.get(name, False), bool) for name in SETTINGS)


def introduce(
    file: SiteFile, url: str, site: str | None, wanted: Mapping[str, Any], study: Study | None, sealed: bool, git: bool
) -> None:
    """Find the study where the others are, or bring it, and keep who this site is."""
    given = {"site": "the name of your site in the study (--site)", "direction": "a direction (maximise or minimise)"}
    values = {"site": site, "direction": wanted.get("direction")}
    if missing := [words for name, words in given.items() if values[name] is None]:
        raise CbocError(f"to join without a coordinator, also give {' and '.join(missing)}.")
    _check_settings(url, sealed, git)
    if study is not None and study.rule.terms is None:
        raise CbocError("a rule of your own cannot be shared with others; use a name, or a fixed matrix.")
    if study is not None:  # before anything is written
        study.index(str(site))
        _check_names(study)
    versions, address, entries = _reached(url, study, str(site), git)
    *earlier, agreed = versions
    if study is not None and not any(is_same(study, each) for each in versions):
        raise disagreement(study, agreed.agreement(), f"the {'folder' if url.startswith(FOLDER) else 'other site'}'s")
    agreed.index(str(site))
    _check_names(agreed)
    Study.from_agreement(agreed.agreement(), is_new=True)  # raises if a name in it misleads people
    kept = feeds_of(file, is_made=True)
    kept.remember(site=site, **({"agreements": [agreed.agreement()]} if url.startswith(PEERS) else {}))
    begin_with(kept, versions, str(site), entries)
    before = {"agreements": [each.agreement() for each in earlier]} if earlier else {}
    file.remember(url=address, site=site, sealed=sealed, git=git, agreement=agreed.agreement(), **before, **wanted)


def _check_names(agreed: Study) -> None:
    """Raise one sentence if a site has a name that cannot be in an entry."""
    for name in agreed.sites:
        if not wire.NAME.fits(name):
            raise CbocError(
                f"a site's name has at most {LONGEST_NAME} characters, all of which can be printed; change "
                f"{ascii(name)[:120]} in the study file."
            )


def begin_with(kept: FeedFile, versions: list[Study], site: str, entries: Iterable[FeedEntry]) -> None:
    """Take in what was brought."""
    from cboc.exchange.feeds.carrier import Nowhere
    from cboc.exchange.feeds.network import Feeds
    from cboc.exchange.feeds.replica import Replica

    network = Feeds(Replica(versions[0], kept.keep, accepted=versions[1:]), site, kept.keys, Nowhere(), kept)
    network.reload()
    for entry in sorted(entries, key=lambda entry: entry.number):
        network.bring(entry)


def look(url: str, study: Study | None, site: str, git: bool) -> Study:
    """The study at an address, or the one given, without a word to anybody."""
    check_given(url, None, None)
    if not url.startswith(FOLDER):
        return (_brought(url, study) if url.startswith(STICK) else _given(study))[0][-1]
    from cboc.exchange.feeds.folder import Folder
    from cboc.exchange.feeds.git import GitFolder

    place = Folder(_path(url, FOLDER))
    if study is not None and not git and not place.path.is_dir():
        return study  # joining makes it
    if git:
        copy = GitFolder(place, site)
        copy.copy.check()
        copy.pull()
    agreed = place.study() or study
    if agreed is None:
        raise CbocError(NO_STUDY.format(place.path))
    return agreed


def _reached(url: str, study: Study | None, site: str, git: bool) -> tuple[list[Study], str, Iterable[FeedEntry]]:
    """The versions of the study at an address, the address in full, and the entries that come with it."""
    if url.startswith(FOLDER):
        return _found(url, study, site, git)
    return _brought(url, study) if url.startswith(STICK) else _given(study)


def found(url: str, study: Study, site: str, sealed: bool, git: bool) -> tuple[str, list[FeedEntry]]:
    """The address in full, and the entries that come with it, of a place that has this study or none yet."""
    _check_settings(url, sealed, git)
    _check_names(study)
    (agreed, *_), address, entries = _reached(url, study, site, git)
    if agreed.digest != study.digest:
        raise CbocError(f"{address} holds study '{agreed.name}', which differs from yours; move to another place.")
    return address, list(entries)


def check_place(about: Mapping[str, Any], versions: list[Study], name: str, kept: FeedFile) -> None:
    """Raise one sentence if somebody with other keys has been at an address under the name of this site."""
    from cboc.exchange.feeds.replica import Replica

    digests, replica = {study.digest for study in versions}, Replica(versions[0], accepted=versions[1:])
    for entry in _carrier(about, name, kept).take(replica, [name]):
        if entry.site == name and entry.study in digests and entry.identity not in (None, kept.keys.identity):
            raise CbocError(
                f"{about['url']} has entries of '{name}' with other keys: an earlier feed of this site, or somebody "
                "else's. Move to an empty place."
            )


def _check_settings(url: str, sealed: bool, git: bool) -> None:
    if sealed and not url.startswith(FOLDER):
        raise CbocError("sealing is for a folder; on a stick and between peers only those who may read it get it.")
    if git and not url.startswith(FOLDER):
        raise CbocError("--git is for a folder that is a git working copy; leave it out.")


def _found(url: str, study: Study | None, site: str, git: bool) -> tuple[list[Study], str, Iterable[FeedEntry]]:
    """The versions of the study in a folder, the newest last; it is written there if nobody has done so."""
    from cboc.exchange.feeds.folder import Folder
    from cboc.exchange.feeds.git import GitFolder
    from cboc.exchange.feeds.replica import Replica
    from cboc.exchange.feeds.versions import found_in

    place = Folder(_path(url, FOLDER))
    if study is not None and not git:
        place.make()
    remote = GitFolder(place, site) if git else None
    if remote is not None:
        remote.copy.check()
        remote.pull()
    agreed = place.study() or study
    if agreed is None:
        raise CbocError(NO_STUDY.format(place.path))
    if study is None or study.digest == agreed.digest:
        place.found(agreed)
        if remote is not None:
            remote.push()
    _check_names(agreed)
    versions, before = [agreed], 0
    while len(versions) > before:  # a site that was admitted may be a steward of the next change
        before = len(versions)
        versions = found_in(agreed, place.take(Replica(agreed, accepted=versions[1:]), versions[-1].sites))
    return versions, f"{FOLDER}{place.path}", ()


def _brought(url: str, study: Study | None) -> tuple[list[Study], str, Iterable[FeedEntry]]:
    """The versions of the study in a file that another site has exported, or the one given."""
    from cboc.exchange.feeds.bundle import read_bundle, study_of
    from cboc.exchange.feeds.versions import found_in

    name = url.removeprefix(STICK).strip()
    entries = list(read_bundle(_path(url, STICK))) if name else []
    agreed = study_of(entries) or study
    if agreed is None:
        raise CbocError("by stick, the first site gives the study file (--study), the others a file: stick:FILE.")
    versions = found_in(agreed, entries)
    digests = {each.digest for each in versions}
    return versions, STICK, [entry for entry in entries if entry.study in digests]


def _given(study: Study | None) -> tuple[list[Study], str, Iterable[FeedEntry]]:
    """The study that every peer brings; whether it is the same everywhere shows at the first contact."""
    if study is None:
        raise CbocError("between peers every site gives the study file (--study): the same one.")
    return [study], PEERS, ()


def come_back(file: SiteFile, url: str | None, site: str | None) -> None:
    """Join again as the same site in the same way; the folder may have another path now."""
    about = file.about
    if url is not None and left_at(file) is not None:
        name, study = about["site"], about["agreement"]["name"]
        raise CbocError(
            f"'{name}' has left study '{study}', and without a coordinator {FOR_GOOD}; to take part again, agree with "
            f"the others on a site of another name (cboc amend), which may begin with the results in {file.path} "
            "(cboc export, cboc join --data)."
        )
    if site not in (None, about["site"]):
        raise CbocError(f"{file.path} is the file of '{about['site']}'; use another file for '{site}'.")
    if url is None or url == about["url"]:
        return
    way = next(way for way in (FOLDER, STICK, PEERS) if about["url"].startswith(way))
    if way == STICK and url.startswith(STICK):
        raise CbocError(f"{file.path} has joined already; cboc feed import FILE takes in what others have exported.")
    if way != FOLDER or not url.startswith(FOLDER):
        raise CbocError(f"{file.path} has joined at {about['url']}; cboc move {url} moves it there.")
    from cboc.exchange.feeds.folder import Folder

    place = Folder(_path(url, FOLDER))
    place.check(kept_versions(file)[0])
    there = {**about, "url": f"{FOLDER}{place.path}"}
    check_place(there, kept_versions(file), about["site"], feeds_of(file))
    file.remember(url=there["url"])


def how_they_hear(file: SiteFile) -> str:
    """What is left to do until the others know that a site has left, if they are not told at once; or ''."""
    url = str(file.about["url"])
    if url.startswith(STICK):
        return "On a stick the others hear of it from the next file that cboc feed export writes."
    if url.startswith(PEERS):
        return "Between peers the others hear of it from this site's server: let cboc peer serve run until they have."
    return ""


def _path(url: str, way: str) -> Path:
    """The path in an address."""
    try:
        return Path(url.removeprefix(way).strip()).expanduser().resolve()
    except (RuntimeError, ValueError, OSError) as error:
        raise CbocError(f"{url} is not the path of a file or folder here: {error}.") from None


def settle(file: SiteFile, **given: bool | None) -> None:
    """Keep in the file which of `SETTINGS` were given now."""
    news = {name: value for name, value in given.items() if value is not None}
    for name, value in news.items():
        check_kind(name, value, bool, "True or False")
    _check_settings(file.about["url"], bool(news.get("sealed")), bool(news.get("git")))
    if news.get("git"):
        _check_git(file)
    file.remember(**news)


def _check_git(file: SiteFile) -> None:
    """Raise one sentence if the folder of a site's file cannot be pulled and pushed."""
    from cboc.exchange.feeds.folder import Folder
    from cboc.exchange.feeds.git import GitFolder

    GitFolder(Folder(file.about["url"].removeprefix(FOLDER)), file.about["site"]).copy.check()


def feeds_of(file: SiteFile, *, is_made: bool = False) -> FeedFile:
    """The file of feeds beside a site's file; only joining makes it."""
    from cboc.exchange.feeds.feedfile import FeedFile

    return FeedFile(feeds_path(file.path), is_made=is_made)


def feeds_path(path: Path) -> Path:
    """Where the file of feeds lies, beside a site's file."""
    return path.with_name(f"{path.name}.feeds")


def put_aside(place: Path) -> list[Path]:
    """The files of feeds that a site had before, from times between which it was with a coordinator."""
    numbered = (place.with_name(f"{place.name}.{number}") for number in range(1, MOST_ASIDE))
    return list(takewhile(Path.exists, numbered))


def connect(file: SiteFile, agreed: Study, name: str) -> Feeds:
    """The network that a site's file names."""
    from cboc.exchange.feeds.addresses import Addresses
    from cboc.exchange.feeds.arrival import arrive
    from cboc.exchange.feeds.network import Feeds
    from cboc.exchange.feeds.peers import Peers
    from cboc.exchange.feeds.replica import Replica

    kept = feeds_of(file)
    if kept.about.get("site") != name:
        raise CbocError(f"{kept.path} is the file of feeds of another site; bring back that of '{name}'.")
    carrier, drifts = _carrier(file.about, name, kept), bool(file.about.get("drifts"))
    if kept.about.get("drifts", False) != drifts:
        kept.remember(drifts=drifts)  # for the server, which does not open the site's file
    if isinstance(carrier, Peers):
        agreed = _arrived(file, agreed, arrive(kept, carrier))
    first, *accepted = kept_versions(file)
    replica = Replica(first, kept.keep, Addresses(kept).codes, accepted)
    network = Feeds(replica, name, kept.keys, carrier, kept, drifts=drifts, study=agreed)
    network.hello()
    _settle_signed(file, network)
    go_on_after(file, *network.progress)
    return network


def _arrived(file: SiteFile, agreed: Study, versions: list[Study]) -> Study:
    """Keep the versions of the study of before, which a new peer has heard from its neighbours."""
    *before, newest = versions
    if before and not file.about.get("agreements"):
        file.remember(agreement=newest.agreement(), agreements=[each.agreement() for each in before])
        return newest
    return agreed


def _settle_signed(file: SiteFile, network: Feeds) -> None:
    """Go on with a version that this site has signed as a steward, once all have: it is asked only once."""
    if max(network.feed.signed.values(), default=0) > network.study.version:
        newest = network.agreed()
        if newest.version > network.study.version and newest.digest in network.feed.signed:
            keep_agreement(file, newest)
            network.accept(network.site, newest)


def _carrier(about: Mapping[str, Any], name: str, kept: FeedFile) -> Carrier:
    from cboc.exchange.feeds.addresses import Addresses
    from cboc.exchange.feeds.carrier import Nowhere
    from cboc.exchange.feeds.folder import Folder
    from cboc.exchange.feeds.git import GitFolder
    from cboc.exchange.feeds.peers import Peers
    from cboc.exchange.feeds.sealing import Seal

    if about["url"].startswith(STICK):
        return Nowhere()
    if about["url"].startswith(PEERS):
        return Peers(name, kept.keys, Addresses(kept))
    seal = Seal(name, kept.keys, kept)
    folder = Folder(about["url"].removeprefix(FOLDER), seal, seals=bool(about.get("sealed")))
    return GitFolder(folder, name) if about.get("git") else folder
