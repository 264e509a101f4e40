"""Who is not let in: no token, another name, another site, a form without the secret."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sacofa.errors import SettingError
from sacofa.web.settings import ServeSettings

from .clients import BASE, Person, person, serving, stranger

pytest.importorskip("fastapi", reason="the app needs the extra web: pip install 'sacofa[web]'")

from sacofa.web.requests import JobRequest, PlanRequest

App = tuple[Any, ServeSettings]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """One app for all tests here."""
    with serving(tmp_path_factory.mktemp("app"), max_upload=1) as running:
        yield running


@pytest.fixture(scope="module")
def anna(app: App) -> Person:
    """Somebody who opened the address with the token."""
    return person(*app)


LAST_DAYS = {"attributes": {"a": {"type": "date", "first": "9999-01-01", "last": "9999-12-31"}}}
PATHS = ["/", "/api/logs", "/api/openapi.json", "/static/app.css", "/colours.css", "/jobs/x"]


@pytest.mark.parametrize("path", PATHS)
def test_without_the_token_there_is_nothing(app: App, path: str) -> None:
    """Pages, interface, its description and files alike."""
    client = stranger(app[0])
    assert client.get(path).status_code == 401
    for cookie in ("", "x", "token", "None"):
        client.cookies.set("sacofa-8000", cookie)
        assert client.get(path).status_code == 401


@pytest.mark.parametrize("token", ["", "wrong", "%00", "ü"])
def test_a_wrong_token_opens_nothing(app: App, token: str) -> None:
    """No session comes of it."""
    client = stranger(app[0])
    answer = client.get("/", params={"token": token}, follow_redirects=False)
    assert answer.status_code in (401, 403)
    assert not client.cookies
    assert (
        client.get("/api/logs", headers={"Authorization": f"Bearer {token!a}"}).status_code == 401
    )


def test_the_token_leaves_the_address(app: App) -> None:
    """It becomes a cookie that scripts cannot read and other sites' requests do not carry."""
    answer = stranger(app[0]).get("/", params={"token": app[1].token}, follow_redirects=False)
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert app[1].token.lower() not in cookie


def test_the_printed_address_leads_back_to_ones_work(app: App, anna: Person) -> None:
    """Whoever has a session keeps it; whoever has none gets one of their own."""
    log = anna.upload(b"case,activity\n1,a\n")
    anna.client.get("/", params={"token": app[1].token})
    assert [one["id"] for one in anna.ask("GET", "/api/logs").json()] == [log["id"]]
    assert person(*app).ask("GET", "/api/logs").json() == []
    anna.ask("DELETE", f"/api/logs/{log['id']}")


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:8000", "127.0.0.1:9", "127.0.0.1:8000@x", ""]
)
def test_another_name_is_not_served(app: App, anna: Person, host: str) -> None:
    """A name that was made to point here gets nothing, not even with the cookie."""
    assert anna.client.get("/api/logs", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8000", "localhost:8000", "LOCALHOST:8000", "[::1]:8000"]
)
def test_this_machines_names_are_served(anna: Person, host: str) -> None:
    """All names of the loopback."""
    assert anna.client.get("/api/logs", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "http://127.0.0.1:9",
        "file://",
        "http://127.0.0.1:8000.evil.example",
        "http://127.0.0.1:8000@evil.example",
        "http://evil.example@127.0.0.1:8000",
        "http://127.0.0.1:8000/",
        "http://[",
        "http://[::1",
        "",
    ],
)
def test_another_site_is_refused(app: App, anna: Person, origin: str) -> None:
    """Whatever it asks for, also with all secrets."""
    for method in ("POST", "GET"):
        answer = anna.ask(method, "/api/logs?name=a.csv", headers={"Origin": origin}, content=b"x")
        assert answer.status_code == 403
    token = {"Authorization": f"Bearer {app[1].token}", "Origin": origin}
    assert stranger(app[0]).post("/api/logs?name=a.csv", headers=token).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_a_browser_says_about_the_sender_counts(anna: Person, site: str) -> None:
    """Following a link is fine; everything else from another site is not."""
    fetched = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}
    assert anna.client.get("/static/app.css", headers=fetched).status_code == 403
    followed = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"}
    assert anna.client.get("/", headers=followed).status_code == 200
    assert anna.ask("POST", "/api/plan", json={"epsilon": "1"}, headers=followed).status_code == 403


def test_a_change_needs_the_secret_of_the_session(app: App, anna: Person) -> None:
    """A form of another site could send the cookie, but not this header; nor is another's good."""
    other = person(*app)
    for headers in ({}, {"X-CSRF-Token": ""}, {"X-CSRF-Token": "x"}, {"X-CSRF-Token": other.csrf}):
        answer = anna.client.post("/api/plan", json={"epsilon": "1"}, headers=headers)
        assert answer.status_code == 403
    assert anna.ask("POST", "/api/plan", json={"epsilon": "1"}).status_code == 200


def test_programs_use_the_token(app: App) -> None:
    """As a bearer, for the interface and nothing else."""
    client = stranger(app[0])
    headers = {"Authorization": f"Bearer {app[1].token}"}
    assert client.post("/api/plan", json={"epsilon": "1"}, headers=headers).status_code == 200
    assert client.get("/", headers=headers).status_code == 401


def test_every_answer_carries_the_policy(app: App, anna: Person) -> None:
    """Also refusals and errors: nothing from elsewhere runs, no copy is kept, no frame shows it."""
    answers = [
        anna.client.get("/"),
        anna.client.get("/api/logs"),
        anna.client.get("/static/app.js"),
        anna.client.get("/nothing"),
        stranger(app[0]).get("/"),
        anna.client.get("/", headers={"Host": "x"}),
    ]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "server" not in answer.headers


def test_too_much_is_refused(app: App, anna: Person) -> None:
    """By what is announced, and by what comes unannounced; nothing of it stays."""
    big = b"x" * 1_000_001
    assert anna.ask("POST", "/api/logs?name=a.csv", content=big).status_code == 413

    def unannounced() -> Iterator[bytes]:
        yield from (b"x" * 100_000 for _ in range(11))

    answer = anna.ask("POST", "/api/logs?name=a.csv", content=unannounced())
    assert answer.status_code == 413
    answer = anna.ask("POST", "/api/plan", content=b'{"epsilon": "' + b"1" * 2_000_000 + b'"}')
    assert answer.status_code == 413
    assert anna.ask("GET", "/api/logs").json() == []
    assert not list((app[1].folder / "logs").glob("*"))


ODD_HEADERS = st.one_of(
    st.sampled_from(
        [b"http://[", b"http://[::1", b"9" * 5_000, b"-1", b'x="', b"\xff", b"Bearer \xff"]
    ),
    st.binary(max_size=30).filter(lambda value: not set(value) & set(b"\r\n\0")),
)
ODD_NAMES = [
    "Origin",
    "Content-Length",
    "Cookie",
    "Authorization",
    "Sec-Fetch-Site",
    "X-CSRF-Token",
]


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(ODD_NAMES), ODD_HEADERS, min_size=1, max_size=3))
@example({"Origin": b"http://["})
@example({"Content-Length": b"9" * 5_000})
def test_no_header_is_an_error_of_the_app(
    app: App, anna: Person, headers: dict[str, bytes]
) -> None:
    """Whatever stands in it, the request is answered or refused."""
    token = {"Authorization": f"Bearer {app[1].token}"}
    for given_too in (token, {"X-CSRF-Token": anna.csrf}):
        answer = anna.client.post("/api/plan", content=b"{}", headers={**given_too, **headers})
        assert answer.status_code in (401, 403, 413, 422), headers
        assert answer.headers["x-content-type-options"] == "nosniff"


ODD_JSON = st.one_of(
    st.sampled_from(
        [
            "NaN",
            "-Infinity",
            "1e400",
            "9" * 5_000,
            '"\\ud800"',
            '"\\u0000"',
            "[" * 3_000,
            "{",
            '{"\\ud800": 1}',
            '{"attributes": {"\\udfff": {}}}',
            "[" * 900 + "]" * 900,
            '"9999-12/9999-12"',
        ]
    ),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
        ),
        max_leaves=6,
    ).map(json.dumps),
)
JSON = {"Content-Type": "application/json"}
FIELDS = sorted({*PlanRequest.model_fields, *JobRequest.model_fields, "unknown", "\\ud800"})


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), ODD_JSON, max_size=3))
@example({"attributes": '[{"name": "a"}]', "columns": '{"\\ud800": 1}'})
@example({"attributes": '[{"name": "a"}]', "columns": json.dumps(LAST_DAYS)})
def test_no_content_is_an_error_of_the_app(anna: Person, content: dict[str, str]) -> None:
    """Neither what is no JSON, nor what is and makes no sense."""
    parts = {"epsilon": "1", **content}
    body = "{" + ", ".join(f'"{name}": {value}' for name, value in parts.items()) + "}"
    for path in ("/api/plan", "/api/jobs"):
        answer = anna.ask("POST", path, content=body.encode(), headers=JSON)
        assert answer.status_code < 500, (path, body)


def test_an_error_tells_nothing(
    app: App, anna: Person, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever goes wrong inside: no message of it in the answer, and none in the app's log."""

    def fail(owner: str) -> list[Any]:
        raise RuntimeError("patient 4711 has sepsis")

    monkeypatch.setattr(app[0].state.uploads, "of", fail)
    with caplog.at_level(logging.DEBUG):
        answer = anna.ask("GET", "/api/logs")
    assert answer.status_code == 500
    assert "4711" not in answer.text
    assert "4711" not in caplog.text
    assert "RuntimeError" in caplog.text


def test_paths_lead_nowhere_else(anna: Person) -> None:
    """Neither files of the machine nor of the app's own folder can be had by a clever path."""
    for path in (
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static//etc/passwd",
        "/api/jobs/../../etc/passwd",
        "/api/jobs/x/files/..%2f..%2flock",
        "/api/jobs/%2e%2e/files/lock",
    ):
        assert anna.client.get(f"{BASE}{path}").status_code in (404, 405, 422)


def test_settings_of_the_server_are_checked(tmp_path: Path) -> None:
    """Every address needs a name to be called by; ports and sizes have bounds."""
    with pytest.raises(SettingError, match="name the host that browsers use"):
        ServeSettings(folder=tmp_path, host="0.0.0.0", expose=True)
    with pytest.raises(SettingError, match="expose"):
        ServeSettings(folder=tmp_path, host="0.0.0.0", name=("logs.example",))
    named = ServeSettings(folder=tmp_path, host="0.0.0.0", expose=True, name=("logs.example",))
    assert named.authorities == {"logs.example:8000", "logs.example"}
    assert not named.loopback
    for wrong in ({"port": 70000}, {"workers": 0}, {"max_upload": 0}):
        with pytest.raises(SettingError):
            ServeSettings(folder=tmp_path, **wrong)  # type: ignore[arg-type]
    assert "token" not in repr(named).replace(named.token, "")
    assert named.token not in repr(named)
    assert len(named.token) >= 40
