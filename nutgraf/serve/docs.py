"""The documentation of the API as a page, made from its OpenAPI document: no scripts, nothing from another host."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment

REQUEST = """{"text": "Port Belano will close its oldest bridge.",
       "max_words": 4, "n_best": 2, "explain": true}"""
RESPONSE = """{
  "model": "all-2",
  "summaries": [
    {
      "summary": "Port Belano shuts bridge",
      "probability": 0.46,
      "words": [
        {"text": "Port", "copied": true, "source": 0, "probability": 0.62, "unsupported": false},
        {"text": "Belano", "copied": true, "source": 1, "probability": 0.97, "unsupported": false},
        {"text": "shuts", "copied": false, "source": 3, "probability": 0.13, "unsupported": false},
        {"text": "bridge", "copied": true, "source": 6, "probability": 0.57, "unsupported": false}
      ],
      "alternatives": [
        {"summary": "Oldest bridge to close", "probability": 0.31, "words": [...]}
      ],
      "source_words": ["Port", "Belano", "will", "close", "its", "oldest", "bridge", "."],
      "skipped": []
    }
  ]
}"""
SCORE = '"score": {"total": 1.22, "agreement": 0.71, "fluency": 0.39, "expected": 0.40, "content": null, "breaks": 0}'
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
<pre><code>curl {{ address }}{{ path }} \\
  -H 'Content-Type: application/json' \\
  -d '{{ request }}'</code></pre>
<p>The answer to it. Without <code>n_best</code> and <code>explain</code>, it has <code>summary</code> alone.</p>
<pre><code>{{ response }}</code></pre>
<p>A model such as agreed-2, in which several models agree, has no probability of a line. Its lines have a score, the
higher the better: <code>{{ score }}</code>. <code>total</code> orders the lines. It is made of <code>agreement</code>
(how like the line is to the others that the models proposed, from 0 to 1), <code>fluency</code> (how much it reads
like a summary, a probability per word), <code>expected</code> (how much of a real summary it has, as far as its words
tell, from 0 to 1) and <code>content</code> (how well the text could be guessed from it, a probability per word);
<code>breaks</code>, places where it joins what the text has apart, count against it. What a model does not weigh is
null.</p>
{% endif %}
<p>Answers: {{ operation.responses|join(", ") }}.</p>
{% endfor %}{% endfor %}
</main>
</body>
</html>
""")


def render(schema: dict[str, Any], address: str) -> str:
    """Return the page of a server at an address; everything from the document and the client is escaped."""
    return _PAGE.render(schema, address=address, request=REQUEST, response=RESPONSE, score=SCORE)
