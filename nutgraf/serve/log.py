"""The server's log: a JSON object per line on standard error, with the id of the request, never its text or the key.

Of an exception, its kind and the lines of code are logged; its message is not, since it may quote a text.
"""

from __future__ import annotations

import json
import logging
import traceback
from datetime import UTC, datetime
from pathlib import Path

LOGGER = logging.getLogger("nutgraf.serve")
_OTHERS = ("uvicorn.error", "asyncio")  # what they have to say goes to the same place


class JsonFormatter(logging.Formatter):
    """Writes a record as one line of JSON; `extra={"fields": {...}}` adds fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, object] = {"time": time, "level": record.levelname.lower(), "event": record.getMessage()}
        line |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[1]:
            error = record.exc_info[1]
            frames = traceback.extract_tb(error.__traceback__)
            line["error"] = type(error).__name__
            line["where"] = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
        return json.dumps(line)


def start_log(requests: bool) -> None:
    """Log to standard error: mistakes of the server and, if wanted, every request."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    for name in (LOGGER.name, *_OTHERS):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.ERROR)
    LOGGER.setLevel(logging.INFO if requests else logging.WARNING)
