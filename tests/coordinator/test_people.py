import threading

import pytest

from cboc.coordinator.people import AT_ONCE, LIFETIME, People
from cboc.coordinator.rate_limit import RateLimit, TooMany
from cboc.coordinator.tokens import NotAllowed, fingerprint
from cboc.errors import CbocError

PASSWORD = "correct horse"


@pytest.fixture
def now():
    return [1000.0]


@pytest.fixture
def people(engine, now, cheap):  # noqa: ARG001
    people = People(engine, lambda: now[0], lambda: now[0])
    people.add("ada", PASSWORD)
    return people


def rows(engine):
    with engine.connect() as connection:
        return [
            str(tuple(row))
            for table in ("people", "logins")
            for row in connection.exec_driver_sql(f"SELECT * FROM {table}")
        ]


def test_a_cookie_says_who_looks_until_it_is_too_old(people, now):
    cookie = people.log_in("ada", PASSWORD)
    assert len(cookie) >= 43 and people.who(cookie) == "ada"  # 256 bits, six in a character
    now[0] += LIFETIME - 1.0
    assert people.who(cookie) == "ada"
    now[0] += 1.0
    assert people.who(cookie) is None


def test_who_logs_out_is_out_and_others_stay(people):
    first, second = people.log_in("ada", PASSWORD), people.log_in("ada", PASSWORD)
    people.log_out(first)
    assert people.who(first) is None and people.who(second) == "ada"
    assert people.who("") is None and people.who("guess") is None


def test_a_wrong_password_and_an_unknown_name_get_the_same_answer(people):
    answers = []
    for person, password in (("ada", "wrong horse"), ("eve", PASSWORD), ("a\0b", PASSWORD), ("x" * 5000, PASSWORD)):
        with pytest.raises(NotAllowed) as refused:
            people.log_in(person, password, address=person[:3])
        answers.append(str(refused.value))
    assert len(set(answers)) == 1


def test_an_unknown_name_costs_one_argon2_too(people, monkeypatch):
    done = []

    class Counting:
        def hash(self, _):
            done.append("hash")

        def verify(self, *_):
            done.append("verify")
            return False

    monkeypatch.setattr(people, "_hasher", Counting())
    for person in ("ada", "eve"):
        with pytest.raises(NotAllowed):
            people.log_in(person, "wrong horse")
    assert done == ["verify", "hash"]


def test_a_new_password_ends_the_logins_with_the_old_one(people):
    cookie = people.log_in("ada", PASSWORD)
    people.add("ada", "another horse")
    assert people.who(cookie) is None and people.names() == ["ada"]
    with pytest.raises(NotAllowed):
        people.log_in("ada", PASSWORD)
    assert people.who(people.log_in("ada", "another horse")) == "ada"


def test_a_password_that_is_changed_meanwhile_logs_nobody_in(people, monkeypatch):
    monkeypatch.setattr(people, "_is_right", lambda *_: people.add("ada", "another horse") or True)
    with pytest.raises(NotAllowed, match="changed just now"):
        people.log_in("ada", PASSWORD)


def test_who_is_removed_is_out(people):
    cookie = people.log_in("ada", PASSWORD)
    people.add("bob", PASSWORD)
    assert people.names() == ["ada", "bob"]
    people.remove("ada")
    assert people.who(cookie) is None and people.names() == ["bob"]
    with pytest.raises(CbocError, match="no person 'ada'"):
        people.remove("ada")


@pytest.mark.parametrize(
    ("person", "password", "said"),
    [
        ("eve", "short", "at least 10 characters; got 5"),
        ("", PASSWORD, "printable"),
        ("a\nb", PASSWORD, "printable"),
        ("x" * 101, PASSWORD, "up to 100"),
    ],
)
def test_names_and_passwords_are_checked(people, person, password, said):
    with pytest.raises(CbocError, match=said):
        people.add(person, password)
    assert people.names() == ["ada"]


def test_a_stolen_database_logs_nobody_in(engine):
    people = People(engine)
    people.add("ada", PASSWORD)
    cookie = people.log_in("ada", PASSWORD)
    kept = "".join(rows(engine))
    assert "$argon2id$v=19$m=65536,t=3" in kept and fingerprint(cookie) in kept
    assert cookie not in kept and PASSWORD not in kept


def test_old_logins_are_swept_away(people, engine, now):
    people.log_in("ada", PASSWORD)
    now[0] += LIFETIME
    people.log_in("ada", PASSWORD)
    assert len(rows(engine)) == 2  # a person, a login


@pytest.mark.parametrize(("same", "tries"), [("person", 30), ("address", 5), ("both", 5)])
def test_after_a_few_failures_not_even_argon2_is_asked(people, now, monkeypatch, same, tries):
    monkeypatch.setattr(people, "_is_right", lambda _, password: password == PASSWORD)

    def log_in(k, password="wrong horse"):
        who = f"person {k}" if same == "address" else "ada"
        where = f"address {k}" if same == "person" else "here"
        return people.log_in(who, password, where)

    for k in range(tries):
        with pytest.raises(NotAllowed):
            log_in(k)
        now[0] += 1.0
    monkeypatch.setattr(people, "_is_right", None)
    with pytest.raises(TooMany) as refused:
        log_in(tries, PASSWORD)
    assert refused.value.wait == 60 - tries
    monkeypatch.undo()
    now[0] += 60.0 - tries
    assert people.who(people.log_in("ada", PASSWORD, "here")) == "ada"


def test_nobody_locks_somebody_else_out_from_one_address(people, monkeypatch):
    monkeypatch.setattr(people, "_is_right", lambda _, password: password == PASSWORD)
    for _ in range(100):
        with pytest.raises((NotAllowed, TooMany)):
            people.log_in("ada", "wrong horse", "there")
    assert people.who(people.log_in("ada", PASSWORD, "here")) == "ada"


def test_success_does_not_count(people, monkeypatch):
    monkeypatch.setattr(people, "_is_right", lambda *_: True)
    for _ in range(20):
        people.log_in("ada", PASSWORD, "here")


def test_few_passwords_are_checked_at_once(people, monkeypatch):
    is_begun, may_end = threading.Semaphore(0), threading.Event()

    class Slow:
        def verify(self, *_):
            is_begun.release()
            may_end.wait(30)
            return True

    monkeypatch.setattr(people, "_hasher", Slow())
    threads = [threading.Thread(target=people.log_in, args=("ada", PASSWORD, f"address {k}")) for k in range(AT_ONCE)]
    for thread in threads:
        thread.start()
        assert is_begun.acquire(timeout=30)
    with pytest.raises(TooMany):
        people.log_in("ada", PASSWORD, "another")
    may_end.set()
    for thread in threads:
        thread.join()
    assert people.log_in("ada", PASSWORD, "another")


def test_a_limiter_counts_tries_before_they_are_made_and_remembers_few_keys():
    now = [0.0]
    limiter = RateLimit(lambda: now[0], tries=2, period=10.0, most=3)
    limiter.count("a")
    now[0] = 4.0
    limiter.count("a")
    with pytest.raises(TooMany) as refused:
        limiter.count("a", "b")
    assert refused.value.wait == 6
    limiter.count("b")  # the try that was refused did not count
    limiter.count("b")
    now[0] = 10.0
    limiter.count("a")
    limiter.excuse("a")
    limiter.count("a")
    for key in "cdefg":
        limiter.count(key)
    assert len(limiter._times) == 3


def test_a_clock_that_is_set_back_locks_nobody_out(engine, cheap):  # noqa: ARG001
    now, ticks = [1e9], [0.0]
    people = People(engine, lambda: now[0], lambda: ticks[0])
    people.add("ada", PASSWORD)
    for _ in range(5):
        with pytest.raises(NotAllowed):
            people.log_in("ada", "wrong horse", "192.0.2.7")
    now[0] -= 86400.0
    with pytest.raises(TooMany, match="again in 60 s"):
        people.log_in("ada", PASSWORD, "192.0.2.7")
    ticks[0] += 61.0
    assert people.who(people.log_in("ada", PASSWORD, "192.0.2.7")) == "ada"
