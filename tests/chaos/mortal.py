"""A process that can be killed and started again. What it says is kept."""

import os
import subprocess
from contextlib import suppress
from signal import SIGKILL, SIGTERM


class Mortal:
    def __init__(self, command, log):
        self.command, self.log, self._process = command, log, None

    def start(self):
        with open(self.log, "ab") as log:
            self._process = subprocess.Popen(self.command, stdout=log, stderr=log, start_new_session=True)

    def kill(self):
        if self._process is not None and self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, SIGKILL)
            self._process.wait()

    def end(self, patience):
        """Ask it to come to an end; its status, None if it does not."""
        self._process.send_signal(SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(patience)
        return None

    @property
    def has_failed(self):
        """Whether it has ended by itself."""
        return self._process.poll() is not None

    @property
    def words(self):
        return self.log.read_text() if self.log.exists() else ""
