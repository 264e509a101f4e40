"""Release a log through a running web app: upload, wait, download. Standard library only.

    python web_client.py ADDRESS LOG OUT.zip

ADDRESS is what the app printed when it was started, with its token.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit
from urllib.request import Request, urlopen


class App:
    """A running app, and whoever knows its token."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._base = f"{parts.scheme}://{parts.netloc}/api"
        self._token = parse_qs(parts.query)["token"][0]

    def ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """Send one request; what comes back."""
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        request = Request(self._base + path, body, headers, method=method)
        with urlopen(request) as answer:
            content: bytes = answer.read()
        return content

    def ask_json(self, method: str, path: str, content: object = None) -> Any:
        """The same with JSON both ways."""
        body = None if content is None else json.dumps(content).encode()
        return json.loads(self.ask(method, path, body))

    def upload(self, file: Path) -> str:
        """Upload a log; its id."""
        answer = self.ask("POST", f"/logs?name={quote(file.name)}", file.read_bytes())
        return str(json.loads(answer)["id"])

    def wait(self, job: str) -> dict[str, Any]:
        """Wait until a job has ended."""
        while True:
            found: dict[str, Any] = self.ask_json("GET", f"/jobs/{job}")
            if found["state"] not in ("waiting", "running"):
                return found
            time.sleep(0.2)


def main(address: str, log: str, target: str) -> None:
    """Release one log at ε = 1, charge no budget, and take log, certificate and report."""
    app = App(address)
    wish = {"log": app.upload(Path(log)), "epsilon": 1, "not_charged": True, "delete_log": True}
    job = app.wait(app.ask_json("POST", "/jobs", wish)["id"])
    if job["state"] != "done":
        sys.exit(job["problem"])
    print(job["release"]["promise"])
    Path(target).write_bytes(app.ask("GET", f"/jobs/{job['id']}/files/log.xes.gz.zip"))


if __name__ == "__main__":
    main(*sys.argv[1:])
