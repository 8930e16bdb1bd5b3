"""The description of the API as a page, from its own OpenAPI document: no scripts, nothing from another host."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>nutgraf: HTTP</title>
<link rel="icon" href="/static/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/style.css">
</head>
<body>
<header class="top"><a class="name" href="/">nutgraf</a><nav><a href="/openapi.json">openapi.json</a></nav></header>
<main class="docs">
<h1>HTTP</h1>
<p>{description} Every answer that is not 200 is <code>{{"error": {{"code", "message"}}}}</code>.</p>
{operations}
</main>
</body>
</html>
"""
_EXAMPLE = """curl http://127.0.0.1:8000/v1/summarize \\
  -H 'Content-Type: application/json' \\
  -d '{"text": "A long sentence ...", "max_words": 8, "n_best": 3, "explain": true}'"""


def page(schema: dict[str, Any]) -> str:
    """Return the page; all that comes from the document is escaped."""
    return _PAGE.format(
        description=escape(schema["info"]["description"]),
        operations="\n".join(
            part
            for path, methods in schema["paths"].items()
            for method, operation in methods.items()
            for part in _operation(method.upper(), path, operation)
        ),
    )


def _operation(method: str, path: str, operation: dict[str, Any]) -> Iterator[str]:
    key = " Needs the key, if the server has one." if "security" in operation else ""
    yield f"<h2><code>{escape(method)} {escape(path)}</code></h2>"
    yield f"<p>{escape(operation.get('description', ''))}{key}</p>"
    if "requestBody" in operation:
        fields = operation["requestBody"]["content"]["application/json"]["schema"]["properties"]
        rows = "".join(
            f"<tr><td><code>{escape(name)}</code></td><td>{escape(_kind(field))}</td>"
            f"<td>{escape(field.get('description', ''))}</td></tr>"
            for name, field in fields.items()
        )
        yield f'<div class="wide"><table><tbody>{rows}</tbody></table></div>'
        yield f"<pre><code>{escape(_EXAMPLE)}</code></pre>"
    yield f"<p>Answers: {escape(', '.join(operation['responses']))}.</p>"


def _kind(field: dict[str, Any]) -> str:
    options = [option["type"] for option in field.get("anyOf", [field]) if option.get("type") != "null"]
    return str(options[0]) if options else ""
