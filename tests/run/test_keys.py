"""A step is redone where, and only where, something that it uses has changed."""

from dataclasses import fields, replace
from pathlib import Path

import pytest

from nutgraf import recipe
from nutgraf.run.folder import Run
from nutgraf.run.inputs import Inputs, Source
from nutgraf.run.systems import SYSTEMS

INPUTS = Inputs(Source("t.txt", 10, 200, "aa"), Source("s.txt", 10, 80, "bb"))
# Validation pairs are used by thresholds that are "auto", and a warm start uses all steps and rates.
RECIPE = recipe.override(recipe.Recipe(), ["plan.iterations=4", "plan.warm_start=true", "mu1.eta=auto"])
WITH_NEAR = recipe.override(RECIPE, ['plan.initializers=["pr-thr", "dbae", "mu1", "near"]'])
TAUGHT = recipe.override(WITH_NEAR, ["plan.teachers=2", "plan.find_again=false"])
AGREED = recipe.override(WITH_NEAR, ["plan.agreed=true"])
ALIGNED = replace(INPUTS, aligned=Source("p.tsv", 10, 300, "cc"))
WITH_PAIRS = recipe.override(WITH_NEAR, [f"plan.baselines={[*recipe.BASELINES, *recipe.WITH_PAIRS]}"])
WITH_BASELINES = recipe.override(WITH_NEAR, [f"plan.baselines={list(recipe.BASELINES)}"])


def keys(changed: recipe.Recipe = RECIPE, inputs: Inputs = INPUTS) -> dict[str, str]:
    run = Run(Path("nowhere"), changed, inputs)
    return run.keys(run.plan())


def first_changed(setting: str, settings: recipe.Recipe = RECIPE, inputs: Inputs = INPUTS) -> set[str]:
    """The steps that a setting changes, without those that change because of what they need."""
    changed = recipe.override(settings, [setting])
    before, after = keys(settings, inputs), keys(changed, inputs)
    differing = {name for name in before if before[name] != after[name]}
    steps = Run(Path("nowhere"), settings, inputs).plan()
    return {step.name for step in steps if step.name in differing and not differing & set(step.needs)}


PAIRS_0 = {"mu1-0.pairs", "dbae-0.pairs", "pr-thr-0.pairs"}
PAIRS_2 = {"mu1-2.pairs", "dbae-2.pairs", "pr-thr-2.pairs"}
PAIRS_1 = {"mu1-1.pairs", "dbae-1.pairs", "pr-thr-1.pairs"}


@pytest.mark.parametrize(
    ("setting", "steps"),
    [
        ("text.max_text_words=70", {"text"}),
        ("text.judge_share=0.05", {"text"}),
        ("text.skim=true", {"text"}),
        ("text.joint_vocabulary=900", {"embeddings"}),
        ("text.texts_vocabulary=900", {"embeddings", "embeddings-F"}),
        ("embeddings.max_sentences=900", {"embeddings", "embeddings-F", "embeddings-S"}),
        ("embeddings.epochs=9", {"embeddings"}),
        ("embeddings.procrustes_width=9", {"embeddings-F", "embeddings-S"}),
        ("embeddings.window=9", {"embeddings", "embeddings-F", "embeddings-S"}),
        ("pr_thr.vector_epochs=9", {"embeddings-F", "embeddings-S"}),
        ("pr_thr.eta=0.5", {"pr-thr-0"}),
        ("dbae.copy_bias=3.5", {"dbae-0"}),
        ("mu1.steps=9", {"mu1-0"}),
        ("seq2seq.width=32", {"all-1"}),
        ("training.all_steps=9", {"all-2"}),
        ("training.expander_steps=9", {"all-1"}),
        ("training.summarizer_steps=9", {"mu1-2", "dbae-2", "pr-thr-2"}),
        ("training.finetune_steps=9", {"mu1-1", "dbae-1", "pr-thr-1"}),
        ("training.min_coverage=0.5", {"mu1-2", "dbae-2", "pr-thr-2"}),
        ("generation.sentences_per_chain=9", PAIRS_0),
        ("generation.top_k=9", PAIRS_1),
        ("generation.max_text_words=50", PAIRS_1),
        ("generation.mend=true", PAIRS_0),
        ("generation.max_summary_words=9", {"mu1-2.pairs", "dbae-2.pairs", "pr-thr-2.pairs"}),
        ("decoding.beam=3", set()),
    ],
)
def test_a_setting_changes_the_steps_that_use_it(setting: str, steps: set[str]) -> None:
    assert first_changed(setting) == steps


@pytest.mark.parametrize(
    ("setting", "steps"),
    [
        ("near.candidates=9", {"near-0"}),
        ("near.early=9", {"near-0"}),
        ("near.min_score=0.5", {"near-0.pairs"}),
        ("near.max_uses=9", {"near-0.pairs"}),
        ("near.max_lead=0.5", {"near-0.pairs"}),
        ("near.adapt=true", {"near-0.pairs"}),
        ("near.again_min_score=0.5", {"near-2.pairs"}),
        ("near.again_pairs=9", {"near-2.pairs"}),
        ("near.summarizer_weight=9", {"near-2.pairs"}),
        ("near.expander_weight=9", {"near-2.pairs"}),
        ("near.repeat=9", {"near-2"}),  # all-2 by near-2.pairs, which are found with near-2's help
        ("generation.sentences_per_chain=9", PAIRS_0),  # pairs are found for all texts
        ("training.min_coverage=0.5", {"mu1-2", "dbae-2", "pr-thr-2", "near-2"}),
        ("training.all_steps=9", {"all-2", "all-4", "mixed-2"}),
        ('plan.all_chains=["near"]', {"all-2", "all-4"}),
        ("training.finetune_steps=9", {"mu1-1", "dbae-1", "pr-thr-1", "near-1"}),
    ],
)
def test_a_setting_changes_the_steps_of_near_that_use_it(setting: str, steps: set[str]) -> None:
    assert first_changed(setting, WITH_NEAR) == steps


@pytest.mark.parametrize(
    ("setting", "steps"),
    [
        ("teaching.beam=9", {"all-2a.pairs", "all-4a.pairs"}),
        ("teaching.fluency_weight=0", {"all-2a.pairs", "all-4a.pairs"}),
        ("decoding.max_words=15", {"all-2a.pairs", "all-4a.pairs"}),
        ("decoding.prefer_true=true", set()),
        ("training.all_steps=9", {"all-2a", "all-4a", "mixed-2"}),
        ("training.min_coverage=0.5", {"mu1-2", "dbae-2", "pr-thr-2", "near-2", "all-2a"}),
        ("near.repeat=9", {"near-2", "all-2a"}),
    ],
)
def test_a_setting_changes_the_steps_of_teaching_that_use_it(setting: str, steps: set[str]) -> None:
    assert first_changed(setting, TAUGHT) == steps


@pytest.mark.parametrize(
    ("setting", "steps"),
    [
        ("agreement.text_pairs=0.9", {"agreed-2", "agreed-4"}),
        ("agreement.expander_weight=9", {"agreed-2", "agreed-4"}),
        ("agreement.fluency_weight=9", {"agreed-2", "agreed-4"}),
        ("decoding.shorter=0.5", set()),
        ("text.joint_vocabulary=900", {"embeddings"}),
        ("decoding.beam=9", set()),
        ("near.again_pairs=9", {"near-2.pairs"}),
    ],
)
def test_a_setting_changes_agreed_where_it_uses_it(setting: str, steps: set[str]) -> None:
    assert first_changed(setting, AGREED) == steps


def test_agreed_changes_no_other_step() -> None:
    before, after = keys(WITH_NEAR), keys(AGREED)
    assert after.keys() - before.keys() == {"agreed-2", "agreed-4"}
    assert {name: after[name] for name in before} == before


@pytest.mark.parametrize(
    ("setting", "steps"),
    [
        ("hc.steps=9", {"hc-0"}),
        ("pbsmt.stack=9", {"pbsmt-0"}),
        ("pr_thr.epochs=9", {"pr-thr-0", "pbsmt-0"}),
        ("pr_thr.eta=0.5", {"pr-thr-0"}),
        ("near.early=9", {"near-0"}),
        ("adversarial.steps=9", {"adversarial-0"}),
        ("generation.max_summary_words=9", {"nmt-0", "adversarial-0", *PAIRS_2}),
    ],
)
def test_a_setting_changes_the_baselines_that_use_it(setting: str, steps: set[str]) -> None:
    assert first_changed(setting, WITH_BASELINES) == steps


def test_baselines_change_no_other_step() -> None:
    before, after = keys(WITH_NEAR), keys(WITH_BASELINES)
    assert {name: after[name] for name in before} == before
    assert after.keys() - before.keys() == {f"{name}-0" for name in recipe.BASELINES}


@pytest.mark.parametrize(
    ("setting", "steps"),
    [
        ("fsc.steps=9", {"fsc-0+all"}),
        ("adversarial.steps=9", {"adversarial-0", "adversarial-0+all"}),
        ("training.held_out=9", {"all-1", "seq2seq", "pre-dae-0", "nmt-0", "mass-0", "fsc-0+all"}),
    ],
)
def test_a_setting_changes_what_learns_from_pairs(setting: str, steps: set[str]) -> None:
    assert first_changed(setting, WITH_PAIRS, ALIGNED) == steps


def test_other_pairs_change_only_what_learns_from_them() -> None:
    before = keys(WITH_PAIRS, ALIGNED)
    after = keys(WITH_PAIRS, replace(ALIGNED, aligned=Source("q.tsv", 10, 300, "dd")))
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"aligned", "seq2seq", "adversarial-0+all", "mass-0+all", "fsc-0+all"}


def test_a_new_version_of_a_baseline_changes_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    before = keys(WITH_BASELINES)
    monkeypatch.setitem(SYSTEMS, "hc", replace(SYSTEMS["hc"], version=2))
    after = keys(WITH_BASELINES)
    assert {name for name in before if before[name] != after[name]} == {"hc-0"}


def test_near_changes_no_step_of_the_other_chains_except_all() -> None:
    before, after = keys(), keys(WITH_NEAR)
    assert {name for name in before if before[name] != after[name]} == {"all-2", "all-4"}
    assert {name.split("-")[0] for name in after.keys() - before.keys()} == {"near", "mixed"}


def test_the_seed_changes_every_step() -> None:
    before, after = keys(), keys(replace(RECIPE, seed=7))
    assert not set(before.values()) & set(after.values())


def test_every_setting_that_makes_a_model_is_part_of_a_key() -> None:
    mended = recipe.override(WITH_PAIRS, ["generation.mend=true"])
    where = {"teaching": TAUGHT, "agreement": AGREED, "generation.initial_words": mended}
    for section in fields(RECIPE):
        if section.name in ("seed", "decoding", "plan"):
            continue
        for field in fields(getattr(RECIPE, section.name)):
            name = f"{section.name}.{field.name}"
            value = _other(getattr(getattr(RECIPE, section.name), field.name), name)
            of = where.get(name, where.get(section.name, WITH_PAIRS))
            assert first_changed(f"{name}={value}", of, ALIGNED), name


def _other(value: object, name: str) -> object:
    """Return another value that is allowed."""
    texts = {"text.digits": "N", "pr_thr.init": "shared", "dbae.weights": "max", "mu1.eta": "0.5"}
    texts |= {"agreement.initial_lengths": "[1.0]"}
    if name in texts:
        return texts[name]
    if isinstance(value, bool):
        return str(not value).lower()
    if name.endswith(("output_words", "repeat_top_words")):
        return 20  # below ten would be too few
    small = {"dbae.noise": 0.4, "seq2seq.dropout": 0.2, "training.min_coverage": 0.5, "seq2seq.kernel": 5}
    small |= {"pr_thr.eta": 0.5, "embeddings.sample": 0.5, "text.judge_share": 0.5, "near.max_lead": 0.5}
    small |= {"near.common": 0.5, "near.name_penalty": 0.5, "near.min_score": 0.5, "near.again_min_score": 0.5}
    small |= {"adversarial.alone": 0.5, "adversarial.discount": 0.5}
    assert isinstance(value, int | float)
    return small.get(name, value + 1 if value < 20 or name.endswith(("batch", "chunk")) else value + 10)


def test_more_iterations_change_no_key_that_was_there() -> None:
    for settings in (RECIPE, WITH_NEAR):
        before, after = keys(settings), keys(recipe.override(settings, ["plan.iterations=6"]))
        assert {name: after[name] for name in before} == before
        assert len(after) > len(before)


def test_validation_pairs_matter_where_a_threshold_is_chosen_on_them() -> None:
    valid = replace(INPUTS, valid=Source("v.tsv", 5, 100, "cc"))
    before, after = keys(), keys(inputs=valid)
    assert {name for name in before if before[name] != after[name] and name.endswith("-0")} == {"mu1-0"}


def test_the_size_of_chunks_is_part_of_a_key_only_where_it_cuts_parts() -> None:
    for size, same in ((1_024, True), (8_192, True), (1_000, False), (4_097, False)):
        assert (keys(recipe.override(RECIPE, [f"generation.chunk={size}"])) == keys()) is same
