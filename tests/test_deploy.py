"""The files of deploy/ as far as they can be read without being run."""

import os
import re
import shutil
import subprocess
import sys
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
EXPOSURE = 2.0  # of 10, by systemd's own count


def program(name):
    """From the same environment as the tests, or from the machine."""
    found = shutil.which(name, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def run(name, *options):
    result = subprocess.run([program(name), *map(str, options)], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


def test_the_dockerfile_is_fine():
    assert run("hadolint", DEPLOY / "Dockerfile") == ""


def test_the_compose_file_has_the_form_of_one():
    run("check-jsonschema", "--builtin-schema", "vendor.compose-spec", DEPLOY / "compose.yaml")


@pytest.fixture
def unit(tmp_path):
    """The unit with a program that is on this machine."""
    text = (DEPLOY / "cboc.service").read_text()
    here = tmp_path / "cboc.service"
    here.write_text(text.replace("/opt/cboc/bin/cboc", shutil.which("true")))
    return here


def test_the_unit_is_fine_and_shut_off(unit):
    assert run("systemd-analyze", "verify", "--man=no", unit) == ""
    said = run("systemd-analyze", "security", "--offline=true", "--no-pager", unit)
    assert float(re.search(r"exposure level for cboc.service: ([\d.]+)", said).group(1)) <= EXPOSURE


def test_the_unit_has_the_parts_of_one():
    lines = (DEPLOY / "cboc.service").read_text().splitlines()
    assert [line for line in lines if line.startswith("[")] == ["[Unit]", "[Service]", "[Install]"]
    settings = [line for line in lines if line and not line.startswith(("#", "["))]
    assert all(re.fullmatch(r"[A-Z][A-Za-z]+=.*", line) for line in settings)
    assert {"DynamicUser=yes", "StateDirectory=cboc", "Restart=on-failure"} <= set(settings)


def test_all_of_them_agree_on_the_port_and_hold_no_secret():
    texts = [(DEPLOY / name).read_text() for name in ("Dockerfile", "compose.yaml", "cboc.service", "Caddyfile")]
    assert all("8000" in text for text in texts)
    assert not any(re.search(r"://\w+:\w+@|PASSWORD[:=] *\w", text) for text in texts)


def test_all_of_them_have_the_proxys_name_and_believe_nobody_but_the_proxy():
    name = "coordinator.example.org"
    assert f"\n{name} {{" in (DEPLOY / "Caddyfile").read_text()
    assert f"--name {name}" in (DEPLOY / "cboc.service").read_text()
    compose = (DEPLOY / "compose.yaml").read_text()
    assert re.search(rf"CBOC_NAMES: {re.escape(name)}\n", compose)
    (believed,) = re.findall(r"FORWARDED_ALLOW_IPS: (\S+)", compose)
    assert re.findall(r"gateway: (\S+)", compose) == [believed] and ip_address(believed).is_private
    (subnet,) = re.findall(r"subnet: (\S+)", compose)
    assert ip_address(believed) in ip_network(subnet)
