import os
import platform
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from cboc.errors import CbocError
from cboc.evidence.engines import PATIENCE, arithmetic, engine

from ..machine.ports import free_port

IGNORED = [  # nothing of the newest releases; the oldest that we allow leave files and processes of theirs to the end
    "ignore:unclosed file:ResourceWarning",
    "ignore:subprocess .* is still running:ResourceWarning",
    "ignore:Exception ignored in. <(_io|function Popen):pytest.PytestUnraisableExceptionWarning",
    "ignore:`apply_async` is deprecated:DeprecationWarning:joblib",
]
pytestmark = [pytest.mark.filterwarnings(ignored) for ignored in IGNORED]

WORK = '''
import os, signal, time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info

from cboc.errors import CbocError


@dataclass(frozen=True)
class Job:
    seed: int
    folder: str = ""
    deaths: int = 0


def draw(job):
    threads = max((pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"), default=1)
    return {"draws": np.random.default_rng(job.seed).normal(size=3).tolist(), "threads": threads}


def die_at_first(job):
    """Ends its own process so many times, and then draws."""
    died = len(list(Path(job.folder).glob(f"{job.seed}-*")))
    if died < job.deaths:
        Path(job.folder, f"{job.seed}-{died}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return draw(job)


def wait_for_go(job):
    """The first job is done at once, the others when the test has seen that."""
    while job.seed and not Path(job.folder, "go").exists():
        time.sleep(0.01)
    return draw(job)


def tell_process(job):
    return {"process": os.getpid()}


def tell_arithmetic(job):
    np.ones((2, 2)) @ np.ones((2, 2))
    kernels = {pool["architecture"] for pool in threadpool_info() if pool["internal_api"] == "openblas"}
    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    beyond = [name for name in found if name.startswith(("AVX512", "X86_V4"))]
    return {"asked": os.environ.get("OPENBLAS_CORETYPE"), "kernels": kernels, "beyond": beyond}


class Awkward(Exception):
    def __init__(self, *, where):
        super().__init__(f"awkward {where}")


def fail(job):
    raise {0: CbocError("the design is outside."), 1: KeyError("colour"), 2: Awkward(where="here")}[job.seed]


def sleep(job):
    Path(job.folder, f"pid-{os.getpid()}").touch()
    time.sleep(60)
'''

HEAD = """
import logging, sys, ray
here = ray.init(
    address="local", num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1",
    log_to_driver=False, logging_level=logging.CRITICAL,
)
print(here.address_info["gcs_address"], flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module", autouse=True)
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A module that workers can import, and a Ray that keeps to this machine, with a token of its own."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "engine_work.py").write_text(WORK)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setenv("PYTHONPATH", str(folder))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        yield


@pytest.fixture(scope="module")
def work() -> ModuleType:
    import engine_work

    return engine_work


@pytest.fixture(scope="module")
def dask_address() -> Iterator[str]:
    """A cluster that gives a job up as soon as one worker dies of it, so that the engine has to run it again."""
    import dask
    from distributed import LocalCluster

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            silence_logs=50,
        ) as cluster,
    ):
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def ray_address() -> Iterator[str]:
    with subprocess.Popen([sys.executable, "-c", HEAD], stdin=-1, stdout=-1, text=True) as head:
        assert head.stdout is not None
        yield head.stdout.readline().strip()
        head.communicate()


@pytest.fixture(params=["local", "dask", "ray"])
def place(request: pytest.FixtureRequest) -> dict[str, object]:
    """Two workers, wherever they are."""
    if request.param == "local":
        return {"name": "local", "workers": 2}
    return {"name": request.param, "address": request.getfixturevalue(f"{request.param}_address")}


def test_every_engine_gives_the_results_of_a_loop(work, place):
    jobs = [work.Job(seed) for seed in range(8)]
    assert dict(engine(**place)(work.draw, jobs)) == {job: work.draw(job) | {"threads": 1} for job in jobs}


def test_one_worker_gives_what_two_give(work):
    jobs = [work.Job(seed) for seed in range(3)]
    assert dict(engine("local", 1)(work.draw, jobs)) == dict(engine("local", 2)(work.draw, jobs))


def test_results_arrive_as_they_complete(work, place, tmp_path):
    results = engine(**place)(work.wait_for_go, [work.Job(seed, str(tmp_path)) for seed in range(3)])
    first, _ = next(results)
    (tmp_path / "go").touch()
    assert first.seed == 0
    assert {job.seed for job, _ in results} == {1, 2}


def test_a_killed_worker_costs_no_result(work, place, tmp_path):
    deaths = 5 if place["name"] == "ray" else 1  # Ray itself starts a job four times
    jobs = [work.Job(seed, str(tmp_path), deaths=deaths * (seed == 1)) for seed in range(6)]
    finished = list(engine(**place)(work.die_at_first, jobs))
    assert sorted(job.seed for job, _ in finished) == list(range(6))
    assert dict(finished) == {job: work.draw(job) | {"threads": 1} for job in jobs}
    assert len(list(tmp_path.iterdir())) == deaths


def test_a_job_that_ends_every_worker_ends_the_run_after_the_others(work, tmp_path):
    jobs = [work.Job(seed, str(tmp_path), deaths=1000 * (seed == 0)) for seed in range(4)]
    finished = []
    with pytest.raises(CbocError, match="ended by SIGKILL.* 1 of 4 jobs are left, and finished ones are kept."):
        finished.extend(job.seed for job, _ in engine("local", 2)(work.die_at_first, jobs))
    assert sorted(finished) == [1, 2, 3]
    assert len(list(tmp_path.iterdir())) == 1 + PATIENCE


def test_what_work_raises_is_raised_here(work, place):
    with pytest.raises(CbocError, match="^the design is outside.$"):
        list(engine(**place)(work.fail, [work.Job(0)]))


@pytest.mark.parametrize(("seed", "kind", "message"), [(1, KeyError, "colour"), (2, RuntimeError, "awkward here")])
def test_a_bug_in_work_arrives_with_its_message(work, seed, kind, message):
    with pytest.raises(kind, match=message):
        list(engine("local", 1)(work.fail, [work.Job(seed)]))


def test_dask_without_an_address_is_this_machine(work, tmp_path):
    jobs = [work.Job(seed, str(tmp_path), deaths=int(seed == 0)) for seed in range(2)]
    assert len(dict(engine("dask", 1)(work.die_at_first, jobs))) == 2


def test_ray_without_an_address_is_this_machine_and_no_other_can_reach_it(work, monkeypatch):
    import ray

    monkeypatch.setattr("ray._private.ray_constants.ENABLE_RAY_CLUSTER", True)  # as outside of these tests
    for _, result in engine("ray", 1)(work.tell_process, [work.Job(0)]):
        assert result["process"] != os.getpid()
        assert ray.get_runtime_context().gcs_address.startswith("127.0.0.1:")
        assert int(ray.cluster_resources()["CPU"]) == 1
    assert not ray.is_initialized()


def test_no_jobs_start_nothing(work):
    assert list(engine("ray")(work.draw, [])) == []


@pytest.mark.parametrize(("name", "scheme"), [("dask", "tcp://"), ("ray", "")])
def test_an_address_where_nobody_answers_is_one_sentence(work, name, scheme, capfd):
    address = f"{scheme}127.0.0.1:{free_port()}"
    start = time.monotonic()
    with pytest.raises(CbocError, match=f"^no [DR]a.* answers at {address} "):
        list(engine(name, address=address)(work.draw, [work.Job(0)]))
    assert time.monotonic() - start < 10
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("scheme", ["tls", "ucx", "http", "wss", "nonsense"])
def test_an_address_that_dask_cannot_use_is_one_sentence(scheme):
    """In a process of its own: a client that was never open complains when Python ends."""
    code = (
        "from cboc.evidence.engines import engine; import engine_work as work\n"
        f"try: list(engine('dask', address='{scheme}://127.0.0.1:9')(work.draw, [work.Job(0)]))\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert ran.stderr == ""
    (line,) = ran.stdout.splitlines()
    assert line.startswith(f"CbocError no Dask scheduler answers at {scheme}://127.0.0.1:9 (")


@pytest.mark.parametrize(("name", "package"), [("dask", "distributed"), ("ray", "ray"), ("ray", "joblib")])
def test_a_missing_package_names_the_extra(monkeypatch, name, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(CbocError) as error:
        engine(name)
    place = "in a clone of the repository, run"
    assert str(error.value) == f"the {name} engine needs the package {package}; {place}: pip install '.[{name}]'."


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"name": "dsk"}, "there is no engine 'dsk'; did you mean 'dask'?"),
        ({"workers": 0}, "an engine needs at least one worker; got 0."),
        ({"address": "a:1"}, "the local engine uses this machine; for the cluster at a:1 choose dask or ray."),
        (
            {"name": "ray", "address": "a:1", "workers": 2},
            "the cluster at a:1 has its own workers; give workers or an address, not both.",
        ),
    ],
)
def test_a_wrong_setting_is_one_sentence(settings, sentence):
    with pytest.raises(CbocError) as error:
        engine(**settings)
    assert str(error.value) == sentence


@pytest.mark.skipif(platform.machine() not in arithmetic.X86_64, reason="the kernels are those of x86-64")
@pytest.mark.parametrize(("chosen", "kernels"), [(None, "Haswell"), ("Sandybridge", "Sandybridge")])
def test_a_local_worker_has_a_steady_arithmetic_or_what_the_user_chose(work, monkeypatch, capfd, chosen, kernels):
    for name in ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES"):
        monkeypatch.delenv(name, raising=False)
    if not arithmetic.steady():
        pytest.skip("a processor without AVX2")
    if chosen:
        monkeypatch.setenv("OPENBLAS_CORETYPE", chosen)
    monkeypatch.setenv("PYTHONWARNINGS", "always::ImportWarning")  # NumPy's, of features that it cannot switch off
    before = dict(os.environ)
    ((_, found),) = engine("local", 1)(work.tell_arithmetic, [work.Job(0)])
    assert found["asked"] == kernels
    assert found["kernels"] <= {kernels}  # none at all where another BLAS is installed
    assert found["beyond"] == []
    assert dict(os.environ) == before
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("machine", "baseline", "found", "switched_off"),
    [
        ("x86_64", ["X86_V2"], ["X86_V3", "X86_V4", "AVX512_ICL"], "X86_V4 AVX512_ICL"),
        ("AMD64", ["SSE3"], ["SSE42", "AVX2", "AVX512F", "AVX512_SKX"], "AVX512F AVX512_SKX"),  # before NumPy 2.4
        ("x86_64", ["X86_V3"], [], ""),
        ("x86_64", ["X86_V2"], [], None),
        ("arm64", ["NEON"], ["ASIMDHP"], None),
    ],
)
def test_steady_arithmetic_is_that_of_avx2_where_there_is_avx2(monkeypatch, machine, baseline, found, switched_off):
    for name in ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES"):
        monkeypatch.delenv(name, raising=False)
    features = {name: names for name, names in {"baseline": baseline, "found": found}.items() if names}
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(np, "show_config", lambda mode: {"SIMD Extensions": features} if mode == "dicts" else None)
    kernels = {} if switched_off is None else {"OPENBLAS_CORETYPE": "Haswell"}
    assert arithmetic.steady() == kernels | ({"NPY_DISABLE_CPU_FEATURES": switched_off} if switched_off else {})


def test_ctrl_c_ends_the_workers_at_once_and_silently(tmp_path):
    """As a terminal does it: to the parent and to its workers."""
    code = (
        "from cboc.evidence.engines import engine; import engine_work as work\n"
        f"try: list(engine('local', 2)(work.sleep, [work.Job(seed, {str(tmp_path)!r}) for seed in range(2)]))\n"
        "except KeyboardInterrupt: print('interrupted')"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=-1, stderr=-1, text=True, start_new_session=True) as run:
        while len(workers := list(tmp_path.glob("pid-*"))) < 2:
            time.sleep(0.05)
        os.killpg(run.pid, signal.SIGINT)
        assert run.communicate(timeout=10) == ("interrupted\n", "")
    assert not any(Path("/proc", worker.name.removeprefix("pid-")).exists() for worker in workers)
