"""The endpoints, the key, the headers. Every answer that is not 200 is {"error": {"code": ..., "message": ...}}."""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nutgraf.errors import InputError
from nutgraf.serve import docs
from nutgraf.serve.batching import Batcher, ClosedError, Group, QueueFullError
from nutgraf.serve.limits import Limits
from nutgraf.serve.metrics import CONTENT_TYPE, Metrics
from nutgraf.serve.models import Models, described
from nutgraf.serve.request import Answer, ApiError, ErrorBody, Fault, Model, ModelList, SummarizeRequest, Summary, parse
from nutgraf.summarizing.summarizer import SummaryOptions, SummaryResult

STATIC = Path(__file__).parent / "static"
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
_NAMES = {404: "not_found", 405: "method_not_allowed"}
_REFUSALS = (400, 401, 408, 413, 415, 422, 500, 503, 504)
_DRAINED = 16 << 20  # bytes past the limit that are read and dropped, so that the client hears why, not a reset
_BUSY = {"Retry-After": "1"}
_BODY = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": SummarizeRequest.model_json_schema()}}}
}


def make_app(models: Models, limits: Limits, key: str | None = None) -> FastAPI:
    """Return the app; with a key, /v1 and /metrics want `Authorization: Bearer KEY`."""
    metrics = Metrics()
    batcher = Batcher(models, limits, metrics)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(batcher.close)

    app = FastAPI(
        title="nutgraf",
        description="Summaries by the models of a run.",
        version=version("nutgraf"),
        lifespan=lifespan,
        docs_url=None,  # FastAPI's own pages load scripts from another host
        redoc_url=None,
    )
    app.add_middleware(_Around, metrics=metrics, paths=("/", "/v1/summarize", "/v1/models", "/healthz", "/metrics"))
    _add_errors(app)
    _add_pages(app)
    _add_api(app, models, limits, batcher, metrics, [Depends(_guard(key))])
    return app


def _add_api(
    app: FastAPI, models: Models, limits: Limits, batcher: Batcher, metrics: Metrics, guarded: list[Any]
) -> None:
    refusals: dict[int | str, dict[str, Any]] = {status: {"model": ErrorBody} for status in _REFUSALS}

    @app.post(
        "/v1/summarize",
        dependencies=guarded,
        openapi_extra=_BODY,
        responses=refusals,
        response_model_exclude_unset=True,
    )
    async def summarize(request: Request) -> Answer:
        """Summarize one text or several. Requests of many clients are computed together."""
        began = time.monotonic()
        try:
            asked, name, texts = parse(await _body(request, limits), limits, models)
            options = SummaryOptions(asked.max_words, asked.min_words, asked.faithful, asked.n_best, asked.explain)
            group = Group(name, options)
            found = await _found(batcher, group, texts, limits)
        finally:
            metrics.latency(time.monotonic() - began)
        return Answer(model=name, summaries=[Summary.answer(one, asked.n_best, asked.explain) for one in found])

    @app.get("/v1/models", dependencies=guarded, responses={401: {"model": ErrorBody}})
    async def list_models() -> ModelList:
        """List the summarizers that are served, in the order of the paper's tables."""
        known = [Model(name=name, description=described(name)) for name in models.by_name]
        return ModelList(default=models.default, models=known)

    @app.get("/metrics", dependencies=guarded, response_class=PlainTextResponse)
    async def show_metrics() -> Response:
        """Counts and times, in the text format of Prometheus."""
        return Response(metrics.text(batcher.waiting), headers={"Content-Type": CONTENT_TYPE})

    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        """Answer when the models are loaded. Needs no key."""
        return {"status": "ok"}


def _add_pages(app: FastAPI) -> None:
    app.mount("/static", StaticFiles(directory=STATIC))

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    @app.get("/docs", include_in_schema=False)
    async def show_docs() -> HTMLResponse:
        return HTMLResponse(docs.page(app.openapi()))


async def _body(request: Request, limits: Limits) -> bytes:
    """Read the body, but never keep more of it than the limit nor wait for longer."""
    # Also keeps other sites' pages from sending requests here: a browser asks first before it sends JSON elsewhere.
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise ApiError(415, "unsupported_media_type", "expected JSON: send Content-Type: application/json")
    body, size = bytearray(), 0
    try:
        async with asyncio.timeout(limits.seconds):
            async for chunk in request.stream():
                size += len(chunk)
                if size <= limits.body:
                    body += chunk
                elif size > limits.body + _DRAINED:
                    break
    except TimeoutError:
        raise ApiError(408, "slow_request", f"the body did not arrive within {limits.seconds:g} seconds") from None
    if size > limits.body:
        raise ApiError(413, "body_too_large", f"expected a body of at most {limits.body} bytes")
    return bytes(body)


async def _found(batcher: Batcher, group: Group, texts: list[str], limits: Limits) -> list[SummaryResult]:
    try:
        async with asyncio.timeout(limits.seconds):
            return await asyncio.wrap_future(batcher.submit(group, texts))
    except QueueFullError:
        raise ApiError(503, "queue_full", "too many texts are waiting; try again in a moment", _BUSY) from None
    except ClosedError:
        raise ApiError(503, "shutting_down", "the server is shutting down", _BUSY) from None
    except TimeoutError:
        raise ApiError(504, "timeout", f"no summary within {limits.seconds:g} seconds") from None
    except InputError as error:
        raise ApiError(422, "invalid_request", str(error)) from None


def _guard(key: str | None) -> Callable[..., Awaitable[None]]:
    """Return the check of the key; without one, everybody may ask."""

    async def check(
        sent: Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))],
    ) -> None:
        if key is not None and not hmac.compare_digest((sent.credentials if sent else "").encode(), key.encode()):
            told = "expected the server's key: send Authorization: Bearer KEY"
            raise ApiError(401, "unauthorized", told, {"WWW-Authenticate": "Bearer"})

    return check


def _add_errors(app: FastAPI) -> None:
    def refused(_: Request, error: Exception) -> Response:
        assert isinstance(error, ApiError)
        return _error(error.status, error.code, error.message, error.headers)

    def unknown(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return _error(error.status_code, _NAMES.get(error.status_code, "refused"), error.detail, error.headers)

    def gone(_: Request, error: Exception) -> Response:
        return _error(400, "disconnected", "the client went away")  # nobody will read it, but the metrics count it

    def broken(request: Request, error: Exception) -> Response:
        # uvicorn closes the connection after a mistake: the client must know, or its next request would be lost.
        return _error(500, "internal", "the server made a mistake; its log says more", {"Connection": "close"})

    app.add_exception_handler(ApiError, refused)
    app.add_exception_handler(HTTPException, unknown)
    app.add_exception_handler(ClientDisconnect, gone)
    app.add_exception_handler(Exception, broken)


def _error(status: int, code: str, message: str, headers: Any = None) -> JSONResponse:
    body = ErrorBody(error=Fault(code=code, message=message))
    return JSONResponse(body.model_dump(), status, headers)


class _Around:
    """Puts the security headers on every answer and counts it by path and status."""

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: tuple[str, ...]):
        self._app, self._metrics, self._paths = app, metrics, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                path = scope["path"] if scope["path"] in self._paths else "other"
                self._metrics.request(path, message["status"])
            await send(message)

        await self._app(scope, receive, answer if scope["type"] == "http" else send)
