"""Settings of the server."""

from __future__ import annotations

import ipaddress
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from ..errors import Argument, SettingError, Statement
from ..release.keys import PrivateKey

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MEGABYTE = 1_000_000


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sacofa"


@dataclass(frozen=True, kw_only=True)
class ServeSettings:
    """Settings of the server, and its limits.

    Attributes:
        port: Port. 0 takes any free one.
        host: Address to listen at. One that other machines can reach requires --expose.
        expose: Let other machines reach the app.
        name: Name under which browsers call the app. Repeat for several.
        max_upload: Largest log, in megabytes.
        max_memory: Memory for reading a trusted file that looks like a decompression bomb, in
            megabytes.
        workers: Number of jobs at the same time. Default: one for each core.
        ledger: Ledger that can pay for releases.
        key: Private key (.key) that signs released files.
        folder: Parent of the folder that the app makes for itself. Default: ~/.cache/sacofa.
        signer: The private key, once it is read; without it, no release is signed.
        token: Secret that grants access to the app.
        keep: Seconds until uploaded logs are deleted at the latest.
        longest_job: Seconds until a job is ended.
        clock: Returns a time in seconds.
    """

    port: int = 8000
    host: str = "127.0.0.1"
    expose: bool = False
    name: tuple[str, ...] = ()
    max_upload: int = 2000
    max_memory: int = 2000
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    ledger: Path | None = None
    key: Path | None = None
    folder: Path = field(default_factory=_cache)
    signer: PrivateKey | None = field(default=None, repr=False)
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    keep: float = 3600.0
    longest_job: float = 6 * 3600.0
    clock: Callable[[], float] = monotonic

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise SettingError("port", self.port, Statement("must.between", low=0, high=65535))
        for name, least in (("max_upload", 1), ("max_memory", 200), ("workers", 1)):
            if getattr(self, name) < least:
                must = Statement("must.at_least", least=least)
                raise SettingError(name, getattr(self, name), must)
        if not self.loopback and not self.expose:
            must = Statement("must.loopback", argument=Argument("expose", True))
            raise SettingError("host", self.host, must)
        if not self.loopback and not self.hosts:
            raise SettingError("name", None, Statement("must.named", host=self.host))

    @property
    def upload_bytes(self) -> int:
        """Maximum size of a log, in bytes."""
        return self.max_upload * MEGABYTE

    @property
    def memory_bytes(self) -> int:
        """Maximum memory for reading a trusted log, in bytes."""
        return self.max_memory * MEGABYTE

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the app."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host.lower() == "localhost"

    @property
    def hosts(self) -> frozenset[str]:
        """The valid host names, without the port."""
        own = () if self.host in ("0.0.0.0", "::", "") else (self.host,)
        local = LOOPBACK if self.loopback else ()
        return frozenset(name.lower().strip("[]") for name in (*own, *local, *self.name))

    @property
    def authorities(self) -> frozenset[str]:
        """The valid values of the Host header."""
        names = {f"[{host}]" if ":" in host else host for host in self.hosts}
        return frozenset({f"{name}:{self.port}" for name in names} | names)

    @property
    def address(self) -> str:
        """The address for a browser, with the token."""
        name = self.name[0] if self.name else self.host
        name = f"[{name}]" if ":" in name else name
        return f"http://{name}:{self.port}/?token={self.token}"
