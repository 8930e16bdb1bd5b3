"""The server and its page: the summarizers of a run over HTTP.

models      which summarizers are served, and the little that the server needs of one
limits      how much a client may ask for
request     the JSON of a question and of an answer; what is wrong with a question, in plain words
batching    one thread that owns the models and summarizes what several clients sent, together
metrics     what happened so far, in the text format of Prometheus
app         the endpoints, the key, the headers; every error is JSON
docs        the description of the API as a page, from its own OpenAPI document
server      the socket, the signals
static/     the page: one HTML, one CSS, one JavaScript file, nothing from another host
"""
