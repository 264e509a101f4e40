"""How the app is served."""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from ..errors import SettingError, Statement
from ..release.keys import PrivateKey

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MEGABYTE = 1_000_000


@dataclass(frozen=True, kw_only=True)
class ServeSettings:
    """How the app is served, and what it allows."""

    folder: Path
    """The app's own folder; all it writes is in there."""
    host: str = "127.0.0.1"
    """The address to listen at."""
    port: int = 8000
    """The port to listen at."""
    names: tuple[str, ...] = ()
    """More names under which browsers may call the app."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    """Whoever knows it may use the app."""
    max_upload: int = 2_000 * MEGABYTE
    """The largest log, in bytes."""
    keep: float = 3600.0
    """Uploaded logs are deleted after so many seconds, at the latest."""
    workers: int = 2
    """How many jobs run at the same time."""
    longest_job: float = 6 * 3600.0
    """A job that takes longer, in seconds, is ended."""
    max_memory: int = 2_000 * MEGABYTE
    """What reading a log may take that is trusted although it looks like a bomb, in bytes."""
    ledger: Path | None = None
    """Pays for releases; without it there are no budgets."""
    signer: PrivateKey | None = field(default=None, repr=False)
    """Signs released files; without it nothing is signed."""
    clock: Callable[[], float] = monotonic
    """Tells seconds."""

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise SettingError("port", self.port, Statement("must.between", low=0, high=65535))
        for name in ("max_upload", "workers", "longest_job"):
            if getattr(self, name) < 1:
                must = Statement("must.at_least", least=1)
                raise SettingError(name, getattr(self, name), must)
        if not self.loopback and not self.hosts:
            raise SettingError("name", None, Statement("must.named", host=self.host))

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the app."""
        return is_loopback(self.host)

    @property
    def hosts(self) -> frozenset[str]:
        """What the Host header may say, without the port."""
        own = () if self.host in ("0.0.0.0", "::", "") else (self.host,)
        local = LOOPBACK if self.loopback else ()
        return frozenset(name.lower().strip("[]") for name in (*own, *local, *self.names))

    @property
    def authorities(self) -> frozenset[str]:
        """What the Host header may say."""
        names = {f"[{host}]" if ":" in host else host for host in self.hosts}
        return frozenset({f"{name}:{self.port}" for name in names} | names)

    @property
    def address(self) -> str:
        """Where a person goes, with the token."""
        name = self.names[0] if self.names else self.host
        name = f"[{name}]" if ":" in name else name
        return f"http://{name}:{self.port}/?token={self.token}"


def is_loopback(host: str) -> bool:
    """Tell whether an address is this machine's own."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
