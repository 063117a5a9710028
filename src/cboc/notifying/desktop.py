"""A notification on the screen of this computer, by what its system has for that. Nothing leaves the computer."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from html import escape

from cboc.notifying.notification import Notification

LONGEST = 5.0  # seconds until a command that does not end is left alone
APPLE = ("on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run")
WINDOWS = (
    "Add-Type -AssemblyName System.Windows.Forms; Add-Type -AssemblyName System.Drawing; "
    "$shown = New-Object System.Windows.Forms.NotifyIcon; "
    "$shown.Icon = [System.Drawing.SystemIcons]::Information; $shown.Visible = $true; "
    "$shown.ShowBalloonTip(10000, $env:CBOC_TITLE, $env:CBOC_TEXT, 'Info'); Start-Sleep 10; $shown.Dispose()"
)
NONE = "this system has no command that shows notifications on the screen (notify-send, osascript or powershell)"


def show(given: Notification) -> str:
    """Show a notification; returns why that did not work, or ''."""
    title, text = given.title, given.text
    if found := shutil.which("notify-send"):  # it reads the text as markup
        return _run([found, "--app-name=cboc", "--", escape(title, quote=False), escape(text, quote=False)])
    if found := shutil.which("osascript"):
        lines = [word for part in APPLE for word in ("-e", part)]
        return _run([found, *lines, title, text])
    if found := shutil.which("powershell"):  # by the environment: no text is taken for a command
        return _run([found, "-NoProfile", "-Command", WINDOWS], {"CBOC_TITLE": title, "CBOC_TEXT": text})
    return NONE


def _run(command: list[str], more: Mapping[str, str] | None = None) -> str:
    """Run a command, and wait for it a little; one that takes longer shows the notification meanwhile."""
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **(more or {})},
            start_new_session=True,
        )
        code = process.wait(LONGEST)
    except subprocess.TimeoutExpired:
        return ""
    except OSError as error:
        return f"{command[0]} cannot be run ({error.strerror})"
    return "" if code == 0 else f"{command[0]} has failed, with code {code}"
