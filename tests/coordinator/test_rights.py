"""Two consortia at one coordinator: who sees what, through every route there is."""

import asyncio
from contextlib import contextmanager

import httpx2
import pytest
from starlette.routing import Mount

from cboc import CbocError, Study
from cboc.coordinator.app import create_app
from cboc.coordinator.people import People
from cboc.coordinator.rights import Act, Role, Roles
from cboc.coordinator.tokens import Tokens, new_secret
from cboc.coordinator.transactions import Transactions
from cboc.exchange import wire
from cboc.exchange.invitation import parse_invitation
from cboc.exchange.messages import Proposal

from ..machine import plain

PASSWORD = "correct horse"
OURS, THEIRS = "ours & only ours", "theirs"
PEOPLE = ("stranger", "nobody", "viewer", "owner", "admin")
SEE, OWN, LOGGED_IN, ALL = PEOPLE[2:], PEOPLE[3:], PEOPLE[1:], PEOPLE

pytestmark = pytest.mark.usefixtures("cheap")


@pytest.fixture
def exchange(engine):
    exchange, people, roles = Transactions(engine), People(engine), Roles(engine)
    for name in (OURS, THEIRS):
        exchange.create(Study({"a": (0.0, 1.0), "b": (0.0, 1.0)}, ("x", "y"), 4, name=name, pace="rounds"))
        for site in ("x", "y"):
            exchange.submit(name, Proposal(site, 0, [(0.25, 0.75)]))
    for person in LOGGED_IN:
        people.add(person, PASSWORD)
    roles.give("viewer", OURS, Role.VIEWER)
    roles.give("owner", OURS, Role.OWNER)
    roles.make_admin("admin")
    return exchange


@pytest.fixture
def base(engine, exchange, serving):  # noqa: ARG001
    with serving(engine) as base:
        yield base


@contextmanager
def as_(base, person):
    with plain.Client(base_url=base, headers={"Origin": base}) as client:
        if person != "stranger":
            assert client.post("/login", data={"person": person, "password": PASSWORD}).status_code == 303
        yield client


# For every route of the dashboard: the request about a study, who is served, and whether it changes something.
ROUTES = {
    ("GET", "/login"): ("GET", "/login", {}, ALL),
    ("POST", "/login"): ("POST", "/login", {"person": "viewer", "password": PASSWORD}, ALL),
    ("POST", "/logout"): ("POST", "/logout", {}, ALL),
    ("GET", "/"): ("GET", "/", {}, LOGGED_IN),
    ("GET", "/study"): ("GET", "/study?name={name}", {}, SEE),
    ("GET", "/charts/matrix"): ("GET", "/charts/matrix?name={name}&round=0", {}, SEE),
    ("GET", "/charts/path"): ("GET", "/charts/path?name={name}&parameter=0", {}, SEE),
    ("GET", "/charts/timeline"): ("GET", "/charts/timeline?name={name}", {}, SEE),
    ("GET", "/charts/plane"): ("GET", "/charts/plane?name={name}", {}, SEE),
    ("GET", "/site"): ("GET", "/site?name={name}&site=x", {}, OWN),
    ("POST", "/invite"): ("POST", "/invite", {"name": "{name}", "site": "x"}, OWN),
    ("POST", "/revoke"): ("POST", "/revoke", {"name": "{name}", "site": "x"}, OWN),
}
FOR_PROGRAMS = {(each.method, each.path) for each in wire.ENDPOINTS} | {("GET", "/metrics"), ("GET", "/openapi.json")}


def every_route(routes):
    for route in routes:
        if hasattr(route, "original_router"):  # as newer versions of FastAPI keep a router that is included
            yield from every_route(route.original_router.routes)
        elif not isinstance(route, Mount):  # static files
            yield from ((method, route.path) for method in route.methods - {"HEAD"})


def test_no_route_is_forgotten(engine, exchange):  # noqa: ARG001
    """A new route belongs into the table above, with those who are served."""
    found = set(every_route(create_app(engine).routes))
    assert found - {(method, "/v1/{path:path}") for method in ("GET", "PUT", "POST")} == ROUTES.keys() | FOR_PROGRAMS


def ask(client, route, name):
    method, path, fields, _ = ROUTES[route]
    data = {field: value.format(name=name) for field, value in fields.items()}
    return client.request(method, path.format(name=name.replace("&", "%26")), data=data or None)


@pytest.mark.parametrize("person", PEOPLE)
def test_every_route_with_every_role(base, person):
    """What somebody may not see is answered as what does not exist, to the last byte but its name."""
    for route, (_, path, fields, served) in ROUTES.items():
        is_about_a_study = "name" in path or "name" in fields
        with as_(base, person) as client:
            ours = ask(client, route, OURS)
            if person in served:
                assert ours.status_code in (200, 303), (route, ours.status_code)
                assert ours.headers.get("Location") != "/login" or route[1] == "/logout"
            elif person == "stranger":
                is_at_the_door = ours.headers.get("Location") == "/login" or ours.status_code == 401
                assert is_at_the_door, (route, ours.status_code)
            else:
                assert ours.status_code in (403, 404), (route, ours.status_code)
            if is_about_a_study and person != "stranger":
                theirs, nothing = ask(client, route, THEIRS), ask(client, route, "no such study")
                if person == "admin":
                    assert theirs.status_code == 200
                else:
                    assert theirs.status_code == nothing.status_code == 404
                    assert theirs.content == nothing.content and THEIRS.encode() not in theirs.content


@pytest.mark.parametrize("person", PEOPLE[1:])
def test_the_list_of_studies_is_that_of_the_person(base, person):
    with as_(base, person) as client:
        page = client.get("/").text
    assert ("ours &amp; only ours" in page) == (person in SEE) and (THEIRS in page) == (person == "admin")
    if person == "nobody":
        assert "no study here that you may see" in page and "cboc people allow" in page


def test_counts_are_for_this_machine_and_for_admins(engine, exchange):  # noqa: ARG001
    """They are counts over all studies: one consortium would see in them that another is at work."""
    app = create_app(engine)
    cookies = {person: People(engine).log_in(person, PASSWORD, person) for person in LOGGED_IN}

    async def status(host, person="stranger"):
        transport = httpx2.ASGITransport(app, client=(host, 4711))
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            cookie = {"Cookie": f"cboc_login={cookies[person]}"} if person in cookies else {}
            return (await client.get("/metrics", headers=cookie)).status_code

    assert asyncio.run(status("127.0.0.1")) == asyncio.run(status("::1")) == 200
    assert asyncio.run(status("192.0.2.7", "admin")) == 200
    for person in PEOPLE[:-1]:
        assert asyncio.run(status("192.0.2.7", person)) in (303, 403)


def test_a_token_of_one_study_reaches_no_other(base, engine):
    token = new_secret()
    Tokens(engine).join(Tokens(engine).invite(OURS, "x"), token)
    headers = {"Authorization": f"Bearer {token}"}
    for path in ("/v2/study", "/v2/standing", "/v2/news", "/v2/turns/0/mix"):
        answer = plain.get(base + path, headers=headers)
        assert answer.status_code == 200 and THEIRS not in answer.text
    with as_(base, "stranger") as client:  # a token is no login
        assert client.get("/study", params={"name": OURS}, headers=headers).status_code == 303


def test_an_owner_invites_with_a_file_and_revokes_and_the_record_says_who_did(base, engine):
    with as_(base, "owner") as client:
        answer = client.post("/invite", data={"name": OURS, "site": "x"})
        given = parse_invitation(answer.content, "x.cboc")
        assert answer.headers["Content-Disposition"] == 'attachment; filename="x.cboc"'
        assert (given.study, given.site, given.url, given.certificate) == (OURS, "x", base, None)
        token = new_secret()
        assert Tokens(engine).join(given.code, token) == (OURS, "x")
        assert "It has joined" in client.get("/site", params={"name": OURS, "site": "x"}).text
        assert client.post("/revoke", data={"name": OURS, "site": "x"}).status_code == 200
        with pytest.raises(CbocError, match="unknown or was revoked"):
            Tokens(engine).who(token)
        answer = client.post("/revoke", data={"name": OURS, "site": "y", "for_good": "yes"})
        assert answer.status_code == 200 and "It has left for good" in answer.text
        refused = client.post("/invite", data={"name": OURS, "site": "y"})
        assert refused.status_code == 409 and "cannot be invited again" in refused.text
        refused = client.post("/invite", data={"name": OURS, "site": "z"})
        assert refused.status_code == 404
        elsewhere = client.post("/invite", data={"name": OURS, "site": "x"}, headers={"Origin": "https://elsewhere"})
        assert elsewhere.status_code == 403
    done = [(deed.person, deed.site, deed.act) for deed in Roles(engine).record(OURS)]
    assert done == [("owner", "y", Act.ENDED), ("owner", "x", Act.REVOKED), ("owner", "x", Act.INVITED)]
    assert Roles(engine).record(THEIRS) == []
    with as_(base, "viewer") as client:
        assert client.post("/invite", data={"name": OURS, "site": "x"}).status_code == 403
        assert 'href="/site' not in client.get("/study", params={"name": OURS}).text


def test_a_site_that_has_left_is_invited_and_is_back_when_it_joins(base, engine, exchange):
    exchange.leave(OURS, "x")
    with as_(base, "owner") as client:
        assert "It has left the study" in client.get("/site", params={"name": OURS, "site": "x"}).text
        given = parse_invitation(client.post("/invite", data={"name": OURS, "site": "x"}).content, "x.cboc")
        assert "It has left the study" in client.get("/site", params={"name": OURS, "site": "x"}).text
        Tokens(engine).join(given.code, new_secret())
        assert "It has joined" in client.get("/site", params={"name": OURS, "site": "x"}).text
    assert exchange.standing(OURS).missing == ("x", "y")


def test_roles_change_at_once_and_go_with_the_person(base, engine):
    roles = Roles(engine)
    with as_(base, "viewer") as client:
        assert client.get("/study", params={"name": OURS}).status_code == 200
        roles.take("viewer", OURS)
        assert client.get("/study", params={"name": OURS}).status_code == 404
    with pytest.raises(CbocError, match="has no role in study"):
        roles.take("viewer", OURS)
    with pytest.raises(CbocError, match="did you mean 'theirs'"):
        roles.give("viewer", "their", Role.VIEWER)
    with pytest.raises(CbocError, match="no person 'eve'"):
        roles.give("eve", OURS, Role.VIEWER)
    People(engine).add("owner", "another horse")  # a new password changes no role
    assert roles.of("owner").owns(OURS)
    People(engine).remove("owner")
    assert not roles.of("owner").sees(OURS)
    roles.make_admin("admin", is_admin=False)
    assert not roles.of("admin").sees(OURS)
