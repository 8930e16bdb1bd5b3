"""The one form of every answer other than 200: {"error": {"code": ..., "message": ...}}."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel
from starlette.responses import JSONResponse

_LONGEST_MESSAGE = 400  # characters; a message may quote a key that the client made up


class ErrorDetail(BaseModel):
    """What went wrong: a code for programs, a message for people."""

    code: str
    message: str


class ErrorBody(BaseModel):
    """The body of every response other than 200."""

    error: ErrorDetail


class ApiError(Exception):
    """A response other than 200: its status, a code for programs and a message for people."""

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None):
        super().__init__(message)
        self.status, self.code, self.headers = status, code, headers
        self.message = message if len(message) <= _LONGEST_MESSAGE else message[:_LONGEST_MESSAGE] + " ..."


def error_body(code: str, message: str) -> bytes:
    """Return the body of an error."""
    return ErrorBody(error=ErrorDetail(code=code, message=message)).model_dump_json().encode()


def error_response(status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return an error as a response."""
    body = ErrorBody(error=ErrorDetail(code=code, message=message))
    return JSONResponse(body.model_dump(), status, headers)
