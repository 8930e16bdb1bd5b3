"""Who may use the server: the key, the names that it is known by, the pages of other sites, the proxies it trusts."""

from __future__ import annotations

import base64
import binascii
import hmac
import ipaddress
from dataclasses import dataclass
from hashlib import sha256

ANY = "*"


@dataclass(frozen=True)
class Access:
    """Without a key, everyone may use the server. `hosts` are names besides localhost; an address needs none."""

    key: str | None = None
    hosts: frozenset[str] = frozenset()
    origins: tuple[str, ...] = ()  # sites whose pages may send requests from a browser
    proxies: tuple[str, ...] = ()  # addresses whose X-Forwarded-For is believed

    def allows_key(self, authorization: str, basic: bool = False) -> bool:
        """Whether an Authorization header has the key: as a bearer token or, where `basic`, as a password."""
        if self.key is None:
            return True
        scheme, _, sent = authorization.partition(" ")
        if scheme.lower() == "basic" and basic:
            sent = _read_password(sent)
        elif scheme.lower() != "bearer":
            sent = ""
        # Digests have one length, so that the time to compare them says nothing of the key.
        return hmac.compare_digest(_digest(sent.strip()), _digest(self.key))

    def allows_host(self, host: str) -> bool:
        """Whether a Host header names this server.

        A page of another site can make its own name point to this machine, and read what is served here to the user.
        It cannot do so with an address. HTTP/1.0 may leave the header out.
        """
        name = host.partition("]")[0].removeprefix("[") if host.startswith("[") else host.partition(":")[0]
        name = name.lower().removesuffix(".")
        return not host or name == "localhost" or bool({name, ANY} & self.hosts) or _is_address(name)


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogateescape")).digest()


def _read_password(sent: str) -> str:
    try:
        return base64.b64decode(sent, validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
