"""The endpoints and the key. Every response other than 200 is {"error": {"code": ..., "message": ...}}."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect

from nutgraf.errors import InputError
from nutgraf.serve import docs
from nutgraf.serve.access import Access
from nutgraf.serve.batching import Batcher, BatchKey, ClosedError, QueueFullError
from nutgraf.serve.errors import ApiError, ErrorBody, error_response
from nutgraf.serve.gate import Gate
from nutgraf.serve.limits import HELD_BYTES, Limits
from nutgraf.serve.metrics import Metrics
from nutgraf.serve.models import Models
from nutgraf.serve.schema import (
    ModelInfo,
    ModelList,
    Parsed,
    SummarizeRequest,
    SummarizeResponse,
    TextSummaryBody,
    parse_request,
)
from nutgraf.summarizing.results import SummaryResult

STATIC = Path(__file__).parent / "static"
_COUNTED = ("/", "/docs", "/openapi.json", "/v1/summarize", "/v1/models", "/healthz", "/readyz", "/metrics")
_CODES = {404: "not_found", 405: "method_not_allowed"}
_ERROR_STATUSES = (400, 401, 408, 413, 415, 421, 422, 500, 503, 504)
_DRAINED = 16 << 20  # bytes past the limit that are read and dropped, so that the client gets an error, not a reset
_RETRY = {"Retry-After": "1"}
_BODY = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": SummarizeRequest.model_json_schema()}}}
}


def make_app(models: Models, limits: Limits, access: Access | None = None) -> FastAPI:
    """Return the app; with a key, all but the page and the probes require it."""
    access, metrics = access or Access(), Metrics()
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
        openapi_url=None,  # ours may need the key
        redirect_slashes=False,  # a redirect would repeat the Host header
    )
    if access.origins:
        methods, headers = ["GET", "POST"], ["Authorization", "Content-Type"]
        app.add_middleware(CORSMiddleware, access.origins, methods, headers)
    app.add_middleware(Gate, access, metrics, _COUNTED)
    _add_errors(app)
    _add_pages(app, access)
    _add_api(app, models, limits, batcher, metrics, [Depends(_require(access))])
    _add_probes(app, batcher)
    return app


def _add_api(
    app: FastAPI, models: Models, limits: Limits, batcher: Batcher, metrics: Metrics, guarded: list[Any]
) -> None:
    errors: dict[int | str, dict[str, Any]] = {status: {"model": ErrorBody} for status in _ERROR_STATUSES}
    memory = _Memory(HELD_BYTES)

    @app.post(
        "/v1/summarize", dependencies=guarded, openapi_extra=_BODY, responses=errors, response_model_exclude_unset=True
    )
    async def summarize(request: Request) -> SummarizeResponse:
        """Summarize one text or several. Texts of many clients are summarized together."""
        with metrics.seconds.time(), memory.hold() as hold:
            parsed = parse_request(await _read_body(request, limits, hold), limits, models)
            results = await _summarize(batcher, request, parsed, limits)
        options = parsed.request.options
        summaries = [TextSummaryBody.from_result(result, options) for result in results]
        return SummarizeResponse(model=parsed.model, summaries=summaries)

    @app.get("/v1/models", dependencies=guarded, responses={401: {"model": ErrorBody}})
    async def list_models() -> ModelList:
        """List the summarizers that are served, in the order of the paper's tables."""
        served = [ModelInfo.of(name, models.best) for name in models.by_name]
        return ModelList(default=models.default.name, default_reason=models.default.reason, models=served)

    @app.get("/metrics", dependencies=guarded, response_class=PlainTextResponse)
    async def show_metrics(request: Request) -> Response:
        """Return counts and times, for Prometheus."""
        body, content_type = metrics.write(request.headers.get("accept", ""))
        return Response(body, headers={"Content-Type": content_type})


def _add_probes(app: FastAPI, batcher: Batcher) -> None:
    down: dict[int | str, dict[str, Any]] = {503: {"model": ErrorBody}}

    @app.head("/healthz", include_in_schema=False)
    @app.get("/healthz", responses=down)
    async def healthz() -> dict[str, str]:
        """Say whether the server works at all; if not, restart it. Needs no key."""
        if not batcher.alive:
            raise ApiError(503, "dead", "the models' thread has ended: restart the server")
        return {"status": "ok"}

    @app.head("/readyz", include_in_schema=False)
    @app.get("/readyz", responses=down)
    async def readyz() -> dict[str, str]:
        """Say whether a request would be accepted now; if not, send it elsewhere. Needs no key."""
        if not batcher.ready:
            raise ApiError(503, "not_ready", "the queue is full, or the server is shutting down", _RETRY)
        return {"status": "ready"}


def _add_pages(app: FastAPI, access: Access) -> None:
    app.mount("/static", _Static(directory=STATIC))
    guarded = [Depends(_require_on_page(access))]

    @app.head("/", include_in_schema=False)
    @app.get("/", include_in_schema=False)
    async def show_page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})

    @app.head("/docs", include_in_schema=False, dependencies=guarded)
    @app.get("/docs", include_in_schema=False, dependencies=guarded)
    async def show_docs(request: Request) -> HTMLResponse:
        return HTMLResponse(docs.render(app.openapi(), str(request.base_url).rstrip("/")))

    @app.get("/openapi.json", include_in_schema=False, dependencies=guarded)
    async def show_schema() -> JSONResponse:
        return JSONResponse(app.openapi())


class _Static(StaticFiles):
    """Serves files; older versions of starlette fail at a null byte, and log it, where there is just no such file."""

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        return ("", None) if "\0" in path else super().lookup_path(path)


class _Memory:
    """Counts the bytes of all bodies that are held."""

    def __init__(self, most: int):
        self._most, self._held = most, 0

    @contextmanager
    def hold(self) -> Iterator[Callable[[int], None]]:
        """Yield a function that takes bytes, which are given back at the end; if there are too many, it is 503."""
        own = 0

        def take(size: int) -> None:
            nonlocal own
            if self._held + size > self._most:
                raise ApiError(503, "queue_full", "too many requests are waiting; try again later", _RETRY)
            own += size
            self._held += size

        try:
            yield take
        finally:
            self._held -= own


async def _read_body(request: Request, limits: Limits, hold: Callable[[int], None]) -> bytes:
    """Read the body; keep no more of it than the size limit, and wait no longer than the time limit."""
    # Also keeps pages of other sites from sending requests here: a browser sends JSON elsewhere only if allowed to.
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise ApiError(415, "unsupported_media_type", "expected JSON: send Content-Type: application/json")
    body, size = bytearray(), 0
    try:
        async with asyncio.timeout(limits.seconds):
            async for chunk in request.stream():
                size += len(chunk)
                if size <= limits.body:
                    hold(len(chunk))
                    body += chunk
                elif size > limits.body + _DRAINED:
                    break
    except TimeoutError:
        raise ApiError(408, "slow_request", f"the body did not arrive within {limits.seconds:g} seconds") from None
    if size > limits.body:
        raise ApiError(413, "body_too_large", f"expected a body of at most {limits.body} bytes")
    return bytes(body)


async def _summarize(batcher: Batcher, request: Request, parsed: Parsed, limits: Limits) -> list[SummaryResult]:
    """Wait for the summaries; if the client hangs up or the time is over, the work is stopped."""
    client = request.client.host if request.client else ""
    try:
        queued = batcher.submit(BatchKey(parsed.model, parsed.request.options), parsed.texts, client, parsed.work)
    except QueueFullError:
        raise ApiError(503, "queue_full", "too many texts are waiting; try again later", _RETRY) from None
    except ClosedError:
        raise _shutting_down() from None
    answer, gone = asyncio.wrap_future(queued.future), asyncio.ensure_future(_wait_for_disconnect(request))
    either: set[asyncio.Future[Any]] = {answer, gone}
    try:
        await asyncio.wait(either, timeout=limits.seconds, return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            return answer.result()
        if gone.done():
            raise ClientDisconnect
        raise ApiError(504, "timeout", f"no summary within {limits.seconds:g} seconds")
    except ClosedError:
        raise _shutting_down() from None
    except InputError as error:
        raise ApiError(422, "invalid_request", str(error)) from None
    finally:
        gone.cancel()
        answer.cancel()
        batcher.drop(queued)


def _shutting_down() -> ApiError:
    return ApiError(503, "shutting_down", "the server is shutting down", _RETRY)


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _require(access: Access) -> Callable[..., Awaitable[None]]:
    """Return the check of a request's key; without a key, every request passes."""

    async def check(
        request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))]
    ) -> None:
        if not access.allows_key(request.headers.get("authorization", "")):
            raise _unauthorized("Bearer")

    return check


def _require_on_page(access: Access) -> Callable[..., Awaitable[None]]:
    """Like `_require`, for pages that people open: their browser asks for the key, as a password."""

    async def check(request: Request) -> None:
        if not access.allows_key(request.headers.get("authorization", ""), basic=True):
            raise _unauthorized('Basic realm="nutgraf: any name, and the key as password", charset="UTF-8"')

    return check


def _unauthorized(scheme: str) -> ApiError:
    message = "expected the server's key: send Authorization: Bearer KEY"
    return ApiError(401, "unauthorized", message, {"WWW-Authenticate": scheme})


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(ApiError)
    async def answer_api_error(_: Request, error: ApiError) -> Response:
        return error_response(error.status, error.code, error.message, error.headers)

    @app.exception_handler(HTTPException)
    async def answer_http_error(_: Request, error: HTTPException) -> Response:
        return error_response(error.status_code, _CODES.get(error.status_code, "refused"), error.detail, error.headers)

    @app.exception_handler(ClientDisconnect)
    async def answer_disconnect(_: Request, error: Exception) -> Response:
        return error_response(499, "disconnected", "the client disconnected")  # nobody reads it, but it is counted
