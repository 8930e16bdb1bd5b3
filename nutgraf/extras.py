"""The optional parts of the package, and the modules that each one installs.

The base package summarizes, with numpy. `pip install '.[train]'` adds torch, training and evaluation, `.[serve]` the
server, `.[hf]` columns of Hugging Face datasets to train on, `.[cluster]` training on several machines, `.[store]`
objects of a store such as S3.
"""

from __future__ import annotations

from importlib.util import find_spec

from nutgraf.errors import MissingExtraError

MODULES = {
    "train": ("torch", "gensim", "ot", "rouge_score", "scipy", "sparse_dot_topn", "jinja2", "markupsafe"),
    "serve": ("fastapi", "starlette", "uvicorn", "h11", "jinja2", "prometheus_client"),
    "hf": ("datasets",),
    "cluster": ("ray",),
    "store": ("fsspec", "s3fs"),
}
_TITLES = {"train": "training", "serve": "server", "hf": "Hugging Face", "cluster": "cluster", "store": "store"}


def need_extra(extra: str, what: str) -> None:
    """Check that the modules of an extra are installed; the error says what needs them and how to install them."""
    if any(find_spec(module) is None for module in MODULES[extra]):
        raise MissingExtraError(f"{what} needs the {_TITLES[extra]} extra: {_install(extra)}")


def has_torch() -> bool:
    """Whether torch is installed; without it, numpy computes summaries."""
    return find_spec("torch") is not None


def need_torch(what: str) -> None:
    """Check that torch is installed, for what needs nothing else of training."""
    if not has_torch():
        raise MissingExtraError(f"{what} needs torch: {_install('train')}")


def _install(extra: str) -> str:
    return f"pip install '.[{extra}]' in the folder that nutgraf was installed from"
