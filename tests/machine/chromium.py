"""Debian's Chromium, driven by Playwright: nothing is downloaded."""

import os
import shutil

import pytest

from .needed import leave_out


@pytest.fixture(scope="module")  # one at a time: a second one beside it in the same process does not start
def browser():
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium")
    if program is None:
        leave_out("Chromium is not here: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"] if os.getuid() == 0 else [])
        yield browser
        browser.close()
