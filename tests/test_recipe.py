from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest

from nutgraf import recipe
from nutgraf.errors import RecipeError
from nutgraf.recipe import SHIPPED, Recipe, load, override, parse


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_recipes_load_and_survive_the_round_trip(name: str) -> None:
    shipped = load(name)
    assert parse(shipped.to_toml(), "again") == shipped


def test_the_paper_has_the_appendix_figures_and_copies_nothing() -> None:
    paper = load("paper")
    assert (paper.text.texts_vocabulary, paper.text.summaries_vocabulary) == (50_000, 15_000)
    assert (paper.generation.top_k, paper.generation.min_text_words, paper.generation.max_summary_words) == (15, 16, 12)
    assert paper.training.learning_rate == 5e-4
    assert not paper.seq2seq.copy
    assert load("cpu").seq2seq.copy
    assert load("quick").seq2seq.copy


def test_values_that_need_quoting_survive_the_round_trip() -> None:
    odd = replace(Recipe(seed=3), text=recipe.Text(digits="\\"), plan=recipe.Plan(initializers=("mu1",), iterations=0))
    assert parse(odd.to_toml(), "again") == odd
    quoted = replace(odd, text=recipe.Text(digits='"'))
    assert parse(quoted.to_toml(), "again") == quoted


def test_a_file_starts_from_its_base_and_gives_only_what_differs(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('base = "quick"\nseed = 7\n[pr-thr]\neta = "auto"\n[training]\nsteps = 12\n', encoding="utf-8")
    mine, quick = load(str(path)), load("quick")
    assert (mine.seed, mine.pr_thr.eta, mine.training.steps) == (7, "auto", 12)
    assert mine.dbae == quick.dbae
    assert replace(mine.training, steps=quick.training.steps) == quick.training


def test_overrides() -> None:
    changed = override(
        load("cpu"),
        [
            "seed=9",
            "training.steps=2_000",
            "mu1.eta=auto",
            "pr-thr.eta = 0.5",
            'plan.initializers=["mu1"]',
            "dbae.lam=3",
        ],
    )
    assert (changed.seed, changed.training.steps, changed.mu1.eta, changed.pr_thr.eta) == (9, 2000, "auto", 0.5)
    assert changed.plan.initializers == ("mu1",)
    assert changed.dbae.lam == 3


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("[training]\nstep = 3", r"recipe mine: training: unknown key 'step'; did you mean 'steps'\?"),
        ("[seq2sec]\nwidth = 3", r"unknown key 'seq2sec'; did you mean 'seq2seq'\?"),
        ("sead = 3", r"did you mean 'seed'\?"),
        ('base = "big"', "base = 'big' is none of paper, cpu, quick"),
        ("[training]\nsteps = ", "recipe mine: Invalid value"),
        ("training = 3", "training = 3 is not a table"),
        ("seed = 1.5", "seed = 1.5 is not a number"),
        ("seed = true", "seed = True is not a number"),
        ("[seed]\na = 1", "seed = .* is not a number"),
        ("[training]\nsteps = 2.5", r"training.steps = 2.5: expected int"),
        ('[training]\nsteps = "many"', r"training.steps = 'many': expected int"),
        ("[training]\nsteps = true", r"training.steps = True: expected int"),
        ("[training]\ndecay = 1", r"training.decay = 1: expected bool"),
        ("[dbae]\nweights = 3", r"dbae.weights = 3: expected str"),
        ('[plan]\ninitializers = "mu1"', r"plan.initializers = 'mu1'"),
        ("[plan]\ninitializers = [1]", r"plan.initializers = \[1\]"),
        ("[mu1]\neta = [1]", r"mu1.eta = \[1\]"),
    ],
)
def test_unknown_keys_and_wrong_types_are_named(toml: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        parse(toml, "mine")


@pytest.mark.parametrize(
    "setting",
    [
        "text.digits=##",
        'text.digits=""',
        'text.digits=" "',
        "seed=-1",
        "seed=4294967296",
        "text.texts_vocabulary=9",
        "text.max_text_words=1",
        "text.max_summary_words=1001",
        "embeddings.width=0",
        "embeddings.max_sentences=-1",
        "pr-thr.eta=0",
        "pr-thr.eta=never",
        "pr-thr.eta=nan",
        "pr-thr.batch=1",
        "pr-thr.learning_rate=-5",
        "pr-thr.init_words=0",
        "pr-thr.regularisation=0",
        "dbae.noise=1.5",
        "dbae.weights=mean",
        "dbae.batch=1",
        "dbae.learning_rate=0",
        "dbae.clip=-1",
        "mu1.eta=1.0",
        "mu1.eta=nan",
        "mu1.words=0",
        "mu1.learning_rate=nan",
        "seq2seq.kernel=2",
        "seq2seq.dropout=1",
        "seq2seq.positions=80",
        "training.steps=0",
        "training.learning_rate=0",
        "training.learning_rate=-1e-3",
        "training.learning_rate=nan",
        "training.clip=0",
        "training.patience=-1",
        "generation.min_text_words=61",
        "generation.min_summary_words=13",
        "generation.limit=-1",
        "generation.top_k=0",
        "decoding.min_words=21",
        "decoding.beam=0",
        "decoding.no_repeat_ngram=-1",
        "plan.iterations=3",
        "plan.iterations=-2",
        "plan.initializers=[]",
        'plan.initializers=["mu2"]',
        'plan.initializers=["mu1", "mu1"]',
    ],
)
def test_absurd_values_are_refused(setting: str) -> None:
    section = setting.partition("=")[0].partition(".")[0]
    with pytest.raises(RecipeError, match=section):
        override(load("paper"), [setting])


def test_bad_settings_of_the_command_line() -> None:
    with pytest.raises(RecipeError, match=r"expected section\.key=value"):
        override(Recipe(), ["training.steps"])
    with pytest.raises(RecipeError, match=r"--set training.stepz=3.*did you mean 'steps'"):
        override(Recipe(), ["training.stepz=3"])


def test_recipes_that_are_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="neither a file nor one of paper, cpu, quick"):
        load("papre")
    (tmp_path / "bad.toml").write_bytes(b'base = "caf\xe9"')
    with pytest.raises(RecipeError, match="not UTF-8"):
        load(str(tmp_path / "bad.toml"))


def test_a_recipe_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Recipe().seed = 2  # type: ignore[misc]


def test_small_corpora_are_read_more_often_for_their_vectors() -> None:
    settings = recipe.PrThr(vector_epochs=4, vector_words=1_000)
    assert [settings.epochs_for(words) for words in (0, 90, 500)] == [1_000, 12, 4]
