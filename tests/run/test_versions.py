"""A step whose output changes must have its version raised, or finished runs would silently keep the old one."""

import json

import numpy as np
import pytest
import torch
from torch.nn import functional

from nutgraf.models import seq2seq
from nutgraf.run.folder import Run
from nutgraf.run.keys import VERSIONS
from tests.run.fingerprints import STORED, changed_without_a_version, current, project, stored_name
from tests.tiny import Corpus, train_tiny


def test_what_a_step_makes_changes_only_with_its_version(finished: Run, with_near: Run) -> None:
    stored = json.loads(STORED.read_text("utf-8"))
    blamed = [name for run in (finished, with_near) for name in changed_without_a_version(run, stored)]
    assert not blamed, f"{blamed} make something else: raise VERSIONS in nutgraf/run/keys.py, then `make fingerprints`"
    versions = {stored_name(step): VERSIONS[step.kind] for run in (finished, with_near) for step in run.plan()}
    assert {name: step["version"] for name, step in stored.items()} == versions, (
        "`make fingerprints` stores the new ones"
    )


def test_another_random_stream_is_found(corpus: Corpus, copied: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it once happened: dropout drew other numbers, and no version was raised."""
    before = current(copied)  # not the stored ones: where those differ by rounding, what depends on it is forgiven
    monkeypatch.setattr(seq2seq, "dropout", lambda x, rate, training: functional.dropout(x, rate, training))
    for name in ("mu1-1", "mu1-2"):
        (copied.step_folder(name) / "manifest.json").unlink()
    run = train_tiny(corpus, copied.folder)
    # mu1-2 is forgiven, for it needs what mu1-1 made.
    assert changed_without_a_version(run, before) == ["mu1-1"]


def test_rounding_moves_a_fingerprint_by_little_and_another_draw_by_much() -> None:
    drawn = [np.random.default_rng(seed).normal(size=5_000) for seed in (1, 2)]
    rounded = torch.from_numpy(drawn[0]).to(torch.bfloat16).double().numpy()
    assert abs(project(drawn[0]) - project(rounded)) < 0.02
    assert abs(project(drawn[0]) - project(drawn[1])) > 0.2
