"""The server and its page: the summarizers of a run over HTTP.

models       which summarizers are served, and which by default
limits       how much a client may ask for
access       who may use the server: the key, the names of the host, other sites, proxies
schema       the JSON of requests and responses, and the checks of a request
errors       the JSON of every other answer
batching     one thread that owns the models and summarizes texts of several clients together
metrics      counts and times, for Prometheus
log          a line of JSON for what happened, never with a text
gate         what every request passes: its id, the check of the host, the security headers, the counts, the log
app          the endpoints and the key
docs         the documentation of the API as a page, from its OpenAPI document
connections  limits on connections: time and number
server       the socket and the signals
static/     the page: HTML, CSS and JavaScript modules, nothing from another host
"""
