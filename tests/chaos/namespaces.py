"""Every site in a network namespace of its own, with a wire to each neighbour that can be cut.

A site has one address on its loopback device, and a route to a neighbour over their wire; there is no other way out.
Everything is gone when the process that holds the namespaces ends.
"""

import subprocess
import sys
from itertools import count

HOLDER = "import sys; print(flush=True); sys.stdin.read()"  # lives until it is left alone


def are_allowed():
    """Whether this machine lets us make namespaces and wires."""
    probe = "ip link add cboc0 type veth peer name cboc1"
    try:
        return subprocess.run(["unshare", "-rn", "sh", "-c", probe], check=False, capture_output=True).returncode == 0
    except OSError:
        return False


class Namespaces:
    def __init__(self, sites, links):
        self._links, self._numbers = links, dict(zip(sites, count(1), strict=False))
        self._outer = _holder(["unshare", "-rn"])
        self._inner = {site: _holder([*self._enter(self._outer), "unshare", "-n"]) for site in sites}
        for site, number in self._numbers.items():
            self._ip(site, "link set lo up", f"addr add {self.host(site)}/32 dev lo")
            assert number < 250
        for one, other in links:
            ends = (f"wire{self._numbers[other]}", f"wire{self._numbers[one]}")
            pids = (self._inner[one].pid, self._inner[other].pid)
            words = f"link add {ends[0]} netns {pids[0]} type veth peer name {ends[1]} netns {pids[1]}".split()
            subprocess.run([*self._enter(self._outer), "ip", *words], check=True)
            self.join((one, other))

    def host(self, site):
        return f"10.77.0.{self._numbers[site]}"

    def command(self, site, command):
        """A command, to be run at a site."""
        return [*self._enter(self._inner[site]), *command]

    def cut(self, link, is_heard):
        """Take a wire away; at the other end, too, or that one notices only that nothing comes."""
        one, other = link
        self._ip(one, f"link set wire{self._numbers[other]} down")
        if is_heard:
            self._ip(other, f"link set wire{self._numbers[one]} down")

    def join(self, link):
        """Put a wire in place, at both ends."""
        for here, there in (link, link[::-1]):
            wire = f"wire{self._numbers[there]}"
            route = f"route replace {self.host(there)}/32 dev {wire} src {self.host(here)}"
            self._ip(here, f"link set {wire} up", route)

    def close(self):
        for holder in (*self._inner.values(), self._outer):
            holder.stdin.close()
            holder.wait()
            holder.stdout.close()

    def _enter(self, holder):
        return ["nsenter", "-t", str(holder.pid), "-U", "--preserve-credentials", "-n"]

    def _ip(self, site, *commands):
        for words in commands:
            subprocess.run([*self._enter(self._inner[site]), "ip", *words.split()], check=True)


def _holder(prefix):
    """A process in a namespace of its own."""
    command = [*prefix, sys.executable, "-S", "-c", HOLDER]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.readline()
    return process
