"""Peers on real sockets of this machine: every site has a server in a thread, and all have added each other."""

import threading
import time
from contextlib import ExitStack, contextmanager

from cboc.exchange.feeds.addresses import Addresses
from cboc.exchange.feeds.carrier import Nowhere
from cboc.exchange.feeds.feedfile import FeedFile
from cboc.exchange.feeds.network import Feeds
from cboc.exchange.feeds.replica import Replica, neighbours_of
from cboc.peer.serving import listening, server


@contextmanager
def serving(file, say=lambda _: None, port=0):
    """The address of the server of a file of feeds, while it runs."""
    with running(server(file, say), port) as url:
        yield url


@contextmanager
def running(server, port=0):
    """The address of a server, while it runs in a thread."""
    with listening("127.0.0.1", port) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        while thread.is_alive() and not server.started:
            time.sleep(0.005)
        try:
            yield f"https://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def all_serving(files):
    """Serve these files of feeds, by site, and add every site to its neighbours; gives the addresses."""
    with ExitStack() as stack:
        urls = {site: stack.enter_context(serving(file)) for site, file in files.items()}
        for site in files:
            add_neighbours(site, files, urls)
        yield urls


def add_neighbours(site, files, urls):
    _, (study, *_) = files[site].membership()
    for other in neighbours_of(study, site):
        Addresses(files[site]).add(other, urls[other], code_of(files[other]))


def code_of(file):
    return file.keys.identity.fingerprint


def feeds_beside(path):
    """The file of feeds beside a site's file."""
    return FeedFile(path.with_name(f"{path.name}.feeds"))


def begun(path, study, name):
    """A file of feeds of a site that has said hello."""
    file = FeedFile(path / f"{name}.feeds", is_made=True)
    file.remember(site=name)
    Feeds(Replica(study, file.keep), name, file.keys, Nowhere(), file).hello()
    return file
