"""The server and its page: the summarizers of a run over HTTP.

models      which summarizers are served, and which by default
limits      how much a client may ask for
schema      the JSON of requests and responses, and the checks of a request
batching    one thread that owns the models and summarizes texts of several clients together
metrics     counts and times, for Prometheus
app         the endpoints, the key, the headers; every error is JSON
docs        the documentation of the API as a page, from its OpenAPI document
server      the socket and the signals
static/     the page: HTML, CSS and JavaScript modules, nothing from another host
"""
