"""The documentation of the API as a page, made from its OpenAPI document: no scripts, nothing from another host."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment

_PAGE = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>nutgraf: API</title>
<link rel="icon" href="/static/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/style.css">
</head>
<body>
<header class="top"><a class="name" href="/">nutgraf</a><nav><a href="/openapi.json">openapi.json</a></nav></header>
<main class="docs">
<h1>API</h1>
<p>{{ info.description }} Every answer other than 200 is <code>{"error": {"code", "message"}}</code>.</p>
{% for path, methods in paths.items() %}{% for method, operation in methods.items() %}
<h2><code>{{ method|upper }} {{ path }}</code></h2>
<p>{{ operation.description }}{% if operation.security %} Needs the key, if the server has one.{% endif %}</p>
{% if operation.requestBody %}
<div class="wide"><table><tbody>
{% for name, field in operation.requestBody.content["application/json"].schema.properties.items() %}
<tr><td><code>{{ name }}</code></td><td>{{ (field.anyOf or [field])[0].type }}</td><td>{{ field.description }}</td></tr>
{% endfor %}
</tbody></table></div>
<pre><code>curl http://127.0.0.1:8000/v1/summarize \\
  -H 'Content-Type: application/json' \\
  -d '{"text": "A long sentence ...", "max_words": 8, "n_best": 3, "explain": true}'</code></pre>
{% endif %}
<p>Answers: {{ operation.responses|join(", ") }}.</p>
{% endfor %}{% endfor %}
</main>
</body>
</html>
""")


def render(schema: dict[str, Any]) -> str:
    """Return the page; everything from the document is escaped."""
    return _PAGE.render(schema)
