"""What every request passes first and every answer last: the id, the host, the headers, the counts and the log."""

from __future__ import annotations

import re
import secrets
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nutgraf.serve.access import Access
from nutgraf.serve.errors import error_response
from nutgraf.serve.log import LOGGER
from nutgraf.serve.metrics import Metrics

ID = "X-Request-ID"
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_KNOWN = re.compile(r"[\w.-]{1,64}", re.ASCII)
_PROBES = ("/healthz", "/readyz")  # not worth a line in the log where all is well


class Gate:
    """Wraps an app. Answers what it does not handle: a wrong host (421) and exceptions (500)."""

    def __init__(self, app: ASGIApp, access: Access, metrics: Metrics, paths: tuple[str, ...]):
        self._app, self._access, self._metrics, self._paths = app, access, metrics, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer back."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers, began, status = Headers(scope=scope), time.perf_counter(), 0
        sent = headers.get(ID, "")
        number = sent if _KNOWN.fullmatch(sent) else secrets.token_hex(8)

        async def respond(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                answer = MutableHeaders(scope=message)
                answer[ID] = number
                for name, value in HEADERS.items():
                    answer.setdefault(name, value)
            await send(message)

        try:
            if self._access.allows_host(headers.get("host", "")):
                await self._app(scope, receive, respond)
            else:
                message = "unknown host: expected an address, localhost, or a name given with --allow-host"
                await error_response(421, "unknown_host", message)(scope, receive, respond)
        except Exception as error:
            LOGGER.error("internal error", exc_info=error, extra={"fields": {"request": number}})
            if not status:  # else the answer was cut off: the server closes the connection
                message = f"internal error; see the server's log, request {number}"
                await error_response(500, "internal", message)(scope, receive, respond)
        self._record(scope, number, status, time.perf_counter() - began)

    def _record(self, scope: Scope, number: str, status: int, seconds: float) -> None:
        path = scope["path"] if scope["path"] in self._paths else "other"
        self._metrics.requests.labels(path, status).inc()
        if status != 200 or path not in _PROBES:
            client = scope["client"][0] if scope["client"] else ""
            fields = {"request": number, "client": client, "method": scope["method"][:16], "path": path}
            LOGGER.info("request", extra={"fields": {**fields, "status": status, "seconds": round(seconds, 4)}})
