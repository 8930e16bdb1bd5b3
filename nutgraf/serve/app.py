"""The endpoints, the key, the headers. Every response other than 200 is {"error": {"code": ..., "message": ...}}."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
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
from nutgraf.serve.batching import Batcher, BatchKey, ClosedError, QueueFullError
from nutgraf.serve.limits import Limits
from nutgraf.serve.metrics import Metrics
from nutgraf.serve.models import Models
from nutgraf.serve.schema import (
    ApiError,
    ErrorBody,
    ErrorDetail,
    ModelInfo,
    ModelList,
    SummarizeRequest,
    SummarizeResponse,
    TextSummaryBody,
    parse_request,
)
from nutgraf.summarizing.results import SummaryResult

STATIC = Path(__file__).parent / "static"
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
_CODES = {404: "not_found", 405: "method_not_allowed"}
_ERROR_STATUSES = (400, 401, 408, 413, 415, 422, 500, 503, 504)
_DRAINED = 16 << 20  # bytes past the limit that are read and dropped, so that the client gets an error, not a reset
_RETRY = {"Retry-After": "1"}
_BODY = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": SummarizeRequest.model_json_schema()}}}
}


def make_app(models: Models, limits: Limits, key: str | None = None) -> FastAPI:
    """Return the app; with a key, /v1 and /metrics require `Authorization: Bearer KEY`."""
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
    app.add_middleware(_HeadersAndCounts, metrics, ("/", "/v1/summarize", "/v1/models", "/healthz", "/metrics"))
    _add_errors(app)
    _add_pages(app)
    _add_api(app, models, limits, batcher, metrics, [Depends(_require(key))])
    return app


def _add_api(
    app: FastAPI, models: Models, limits: Limits, batcher: Batcher, metrics: Metrics, guarded: list[Any]
) -> None:
    errors: dict[int | str, dict[str, Any]] = {status: {"model": ErrorBody} for status in _ERROR_STATUSES}

    @app.post(
        "/v1/summarize", dependencies=guarded, openapi_extra=_BODY, responses=errors, response_model_exclude_unset=True
    )
    async def summarize(request: Request) -> SummarizeResponse:
        """Summarize one text or several. Texts of many clients are summarized together."""
        with metrics.seconds.time():
            wanted, name, texts = parse_request(await _read_body(request, limits), limits, models)
            results = await _summarize(batcher, BatchKey(name, wanted.options), texts, limits)
        summaries = [TextSummaryBody.from_result(result, wanted.options) for result in results]
        return SummarizeResponse(model=name, summaries=summaries)

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

    @app.head("/healthz", include_in_schema=False)
    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        """Answer once the models are loaded. Needs no key."""
        return {"status": "ok"}


def _add_pages(app: FastAPI) -> None:
    app.mount("/static", StaticFiles(directory=STATIC))

    @app.head("/", include_in_schema=False)
    @app.get("/", include_in_schema=False)
    async def show_page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    @app.head("/docs", include_in_schema=False)
    @app.get("/docs", include_in_schema=False)
    async def show_docs(request: Request) -> HTMLResponse:
        return HTMLResponse(docs.render(app.openapi(), str(request.base_url).rstrip("/")))


async def _read_body(request: Request, limits: Limits) -> bytes:
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
                    body += chunk
                elif size > limits.body + _DRAINED:
                    break
    except TimeoutError:
        raise ApiError(408, "slow_request", f"the body did not arrive within {limits.seconds:g} seconds") from None
    if size > limits.body:
        raise ApiError(413, "body_too_large", f"expected a body of at most {limits.body} bytes")
    return bytes(body)


async def _summarize(batcher: Batcher, key: BatchKey, texts: list[str], limits: Limits) -> list[SummaryResult]:
    try:
        async with asyncio.timeout(limits.seconds):
            return await asyncio.wrap_future(batcher.submit(key, texts))
    except QueueFullError:
        raise ApiError(503, "queue_full", "too many texts are waiting; try again later", _RETRY) from None
    except ClosedError:
        raise ApiError(503, "shutting_down", "the server is shutting down", _RETRY) from None
    except TimeoutError:
        raise ApiError(504, "timeout", f"no summary within {limits.seconds:g} seconds") from None
    except InputError as error:
        raise ApiError(422, "invalid_request", str(error)) from None


def _require(key: str | None) -> Callable[..., Awaitable[None]]:
    """Return the check of a request's key; without a key, every request passes."""

    async def check(
        sent: Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))],
    ) -> None:
        if key is not None and not hmac.compare_digest((sent.credentials if sent else "").encode(), key.encode()):
            message = "expected the server's key: send Authorization: Bearer KEY"
            raise ApiError(401, "unauthorized", message, {"WWW-Authenticate": "Bearer"})

    return check


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(ApiError)
    async def answer_api_error(_: Request, error: ApiError) -> Response:
        return _error(error.status, error.code, error.message, error.headers)

    @app.exception_handler(HTTPException)
    async def answer_http_error(_: Request, error: HTTPException) -> Response:
        return _error(error.status_code, _CODES.get(error.status_code, "refused"), error.detail, error.headers)

    @app.exception_handler(ClientDisconnect)
    async def answer_disconnect(_: Request, error: Exception) -> Response:
        return _error(400, "disconnected", "the client disconnected")  # nobody reads it, but the metrics count it

    @app.exception_handler(Exception)
    async def answer_internal_error(_: Request, error: Exception) -> Response:
        # uvicorn closes the connection after it: the client must know, or its next request would be lost.
        return _error(500, "internal", "internal error; see the server's log", {"Connection": "close"})


def _error(status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    body = ErrorBody(error=ErrorDetail(code=code, message=message))
    return JSONResponse(body.model_dump(), status, headers)


class _HeadersAndCounts:
    """Puts the security headers on every response and counts it by path and status."""

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: tuple[str, ...]):
        self._app, self._metrics, self._paths = app, metrics, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def respond(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                path = scope["path"] if scope["path"] in self._paths else "other"
                self._metrics.requests.labels(path, message["status"]).inc()
            await send(message)

        await self._app(scope, receive, respond if scope["type"] == "http" else send)
