"""A command at a terminal, where somebody answers its questions."""

import os
import pty
import subprocess
import sys


def at_a_terminal(*command, answer):
    """Run a command where somebody answers its question; its exit code, and all that was seen."""
    master, slave = pty.openpty()
    arguments = [sys.executable, "-m", "cboc", *map(str, command)]
    with subprocess.Popen(arguments, stdin=slave, stdout=slave, stderr=slave, close_fds=True) as process:
        os.close(slave)
        os.write(master, answer.encode())
        seen = b""
        while True:
            try:
                part = os.read(master, 4096)
            except OSError:  # Linux says so when the other end is closed
                break
            if not part:
                break
            seen += part
    os.close(master)
    return process.returncode, " ".join(seen.decode().split())
