from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest

from nutgraf import recipe
from nutgraf.errors import RecipeError
from nutgraf.recipe import SHIPPED, Recipe, load, override, parse
from nutgraf.run.folder import Run
from nutgraf.run.inputs import Inputs, Source


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


def test_the_paper_has_the_embeddings_of_fasttext_and_cpu_those_it_was_measured_with() -> None:
    found = {
        name: (e.learning_rate, e.sample, e.min_count, e.buckets) for name in SHIPPED for e in [load(name).embeddings]
    }
    assert found["paper"] == (0.05, 1e-4, 5, 2_000_000)
    assert found["cpu"] == (0.025, 1e-3, 2, 200_000)
    assert found["quick"] == (0.025, 1e-3, 2, 50_000)


def test_a_whole_number_is_fine_where_a_fraction_may_be() -> None:
    assert isinstance(recipe.Dbae(copy_bias=3).copy_bias, float)
    assert isinstance(recipe.PrThr(eta=1).eta, float)


def test_reading_recipes_needs_neither_torch_nor_numpy() -> None:
    code = (
        "import sys, nutgraf.recipe; sys.exit(str([name for name in ('torch', 'numpy') if name in sys.modules] or ''))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).stderr.strip() == b""


def test_values_that_need_quoting_survive_the_round_trip() -> None:
    odd = replace(Recipe(seed=3), text=recipe.Text(digits="\\"), plan=recipe.Plan(initializers=("mu1",), iterations=0))
    assert parse(odd.to_toml(), "again") == odd
    quoted = replace(odd, text=recipe.Text(digits='"'))
    assert parse(quoted.to_toml(), "again") == quoted


def test_a_file_starts_from_its_base_and_gives_only_what_differs(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('base = "quick"\nseed = 7\n[pr-thr]\neta = "auto"\n[training]\nbatch = 12\n', encoding="utf-8")
    mine, quick = load(str(path)), load("quick")
    assert (mine.seed, mine.pr_thr.eta, mine.training.batch) == (7, "auto", 12)
    assert mine.dbae == quick.dbae
    assert replace(mine.training, batch=quick.training.batch) == quick.training


def test_overrides() -> None:
    changed = override(
        load("cpu"),
        [
            "seed=9",
            "training.all_steps=2_000",
            "mu1.eta=auto",
            "pr-thr.eta = 0.5",
            'plan.initializers=["mu1"]',
            "dbae.copy_bias=3",
        ],
    )
    assert (changed.seed, changed.training.all_steps, changed.mu1.eta, changed.pr_thr.eta) == (9, 2000, "auto", 0.5)
    assert changed.plan.initializers == ("mu1",)
    assert changed.dbae.copy_bias == 3


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("[training]\nbach = 3", r"recipe mine: training.bach: unknown key; did you mean 'batch'\?"),
        ("[training]\nbatch = 0\nwarmth = 1", r"training.batch = 0 should be .*; training.warmth: unknown key"),
        ("[seq2sec]\nwidth = 3", r"recipe mine: seq2sec: unknown key; did you mean 'seq2seq'\?"),
        ("sead = 3", r"did you mean 'seed'\?"),
        ('base = "big"', "base = 'big' is none of paper, cpu, quick"),
        ("[training]\nbatch = ", "recipe mine: Invalid value"),
        ("training = 3", "recipe mine: training = 3 should be a table"),
        ("seed = 1.5", "seed = 1.5 should be a valid integer"),
        ("seed = true", "seed = True should be a valid integer"),
        ("[seed]\na = 1", "seed = {'a': 1} should be a valid integer"),
        ("[training]\nbatch = 2.5", r"training.batch = 2.5 should be a valid integer"),
        ('[training]\nbatch = "5"', r"training.batch = '5' should be a valid integer"),
        ("[training]\nbatch = true", r"training.batch = True should be a valid integer"),
        ("[training]\nclip = true", r"training.clip = True should be a valid number"),
        ('[training]\nclip = "5"', r"training.clip = '5' should be a valid number"),
        ("[training]\nclip = inf", r"training.clip = inf should be a finite number"),
        ("[training]\ndecay = 1", r"training.decay = 1 should be a valid boolean"),
        ("[dbae]\nweights = 3", r"dbae.weights = 3 should be 'min' or 'max'"),
        ("[dbae]\noutput_words = false", r"dbae.output_words = False should be a valid integer"),
        ('[plan]\ninitializers = "mu1"', r"plan.initializers = 'mu1' should be a list"),
        ("[plan]\ninitializers = [1, 2]", r"plan.initializers = 1 should be a valid string$"),
        ("[plan]\ninitializers = ['mu2']", r"plan.initializers = \['mu2'\] should be .*'pr-thr', 'dbae', 'mu1'"),
        ("[seq2seq]\nkernel = true", r"seq2seq.kernel = True should be a valid integer"),
        ("[mu1]\neta = [1]", r"mu1.eta = \[1\] should be a valid number or 'auto'"),
        ("[mu1]\neta = true", r"mu1.eta = True should be a valid number or 'auto'"),
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
        "embeddings.learning_rate=0",
        "embeddings.sample=1.1",
        "near.candidates=0",
        "near.common=0",
        "near.common=1.1",
        "near.early=0",
        "near.name_penalty=1.1",
        "near.min_score=-0.1",
        "near.max_uses=0",
        "near.again_min_score=1.1",
        "near.again_pairs=0",
        "near.summarizer_weight=0",
        "near.expander_weight=-1",
        "near.repeat=0",
        'plan.initializers=["nearest"]',
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
        "dbae.copy_bias=nan",
        "dbae.copy_bias=inf",
        "dbae.output_words=3",
        "mu1.eta=1.0",
        "mu1.eta=nan",
        "mu1.max_words=0",
        "mu1.learning_rate=nan",
        "mu1.learning_rate=inf",
        "seq2seq.kernel=2",
        "seq2seq.dropout=1",
        "seq2seq.positions=80",
        "training.summarizer_steps=0",
        "training.learning_rate=0",
        "training.learning_rate=-1e-3",
        "training.learning_rate=nan",
        "training.learning_rate=inf",
        "training.clip=0",
        "training.patience=-1",
        "generation.min_text_words=61",
        "generation.min_summary_words=13",
        "generation.sentences_per_chain=-1",
        "generation.top_k=0",
        "decoding.min_words=21",
        "decoding.beam=0",
        "decoding.length_penalty=nan",
        "decoding.length_penalty=-inf",
        "decoding.no_repeat_ngram=-1",
        "decoding.output_words=9",
        "decoding.repeat_top_words=-1",
        "plan.iterations=3",
        "plan.iterations=-2",
        "plan.initializers=[]",
        'plan.initializers=["mu2"]',
        'plan.initializers=["mu1", "mu1"]',
        'plan.all_chains=["mu2"]',
        'plan.all_chains=["mu1", "mu1"]',
    ],
)
def test_absurd_values_are_refused(setting: str) -> None:
    key = re.escape(setting.partition("=")[0].replace("-", "_"))
    with pytest.raises(RecipeError, match=f"^--set {re.escape(setting)}: {key} = .* should (be|have) "):
        override(load("paper"), [setting])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("training.told", "min_coverage"),
        ("training.steps", "summarizer_steps"),
        ("training.tuning_steps", "finetune_steps"),
        ("training.tuning_rate", "finetune_rate"),
        ("dbae.spoken", "output_words"),
        ("generation.spoken", "output_words"),
        ("decoding.spoken", "output_words"),
        ("generation.repeatable", "repeat_top_words"),
        ("decoding.repeatable", "repeat_top_words"),
        ("decoding.no_repeat", "no_repeat_ngram"),
        ("pr_thr.words", "max_words"),
        ("dbae.words", "max_words"),
        ("mu1.words", "max_words"),
        ("pr_thr.start", "init"),
        ("pr_thr.start_words", "init_words"),
        ("pr_thr.start_steps", "init_steps"),
        ("embeddings.joint_sentences", "max_sentences"),
        ("generation.limit", "sentences_per_chain"),
        ("plan.warm", "warm_start"),
        ("plan.together", "train_all"),
        ("dbae.lam", "copy_bias"),
    ],
)
def test_old_keys_name_the_new_ones(tmp_path: Path, old: str, new: str) -> None:
    section, _, key = old.partition(".")
    says = f"{old} is now {section}.{new}"
    path = tmp_path / "mine.toml"
    path.write_text(f"[{section}]\n{key} = 1\n", encoding="utf-8")
    with pytest.raises(RecipeError, match=f"^recipe {re.escape(str(path))}: {re.escape(says)}$"):
        load(str(path))
    with pytest.raises(RecipeError, match=f"^--set {re.escape(old)}=1: {re.escape(says)}$"):
        override(Recipe(), [f"{old}=1"])


def test_all_old_keys_of_a_section_are_named_at_once() -> None:
    with pytest.raises(RecipeError, match=r"training.steps is now training.summarizer_steps; training.told is now "):
        parse("[training]\nsteps = 1\ntold = 0.5", "mine")


def test_an_old_name_is_no_hint_where_the_new_one_does_not_belong() -> None:
    with pytest.raises(RecipeError, match=r"plan.told: unknown key; did you mean 'train_all'\?"):
        override(Recipe(), ["plan.told=1"])


def test_a_stored_run_with_old_keys_names_the_new_ones(tmp_path: Path) -> None:
    source = Source("a.txt", 1, 1, "digest")
    Run.create(tmp_path, Recipe(), Inputs(source, source))
    stored = tmp_path / "recipe.toml"
    stored.write_text(Recipe().to_toml().replace("copy_bias", "lam"), encoding="utf-8")  # had no checksum then
    with pytest.raises(RecipeError, match=r"recipe.toml: dbae.lam is now dbae.copy_bias$"):
        Run.open(tmp_path)


def test_a_key_that_is_no_more_may_have_the_value_that_did_nothing() -> None:
    """Run folders of version 0.2 have it; lines that lost their ends are no longer to be had."""
    assert parse("[agreement]\ncut = 0\nbeam = 7", "mine") == override(Recipe(), ["agreement.beam=7"])
    with pytest.raises(RecipeError, match=r"agreement.cut: unknown key"):
        parse("[agreement]\ncut = 1", "mine")


def test_a_section_of_its_own_is_checked_and_so_is_a_changed_one() -> None:
    with pytest.raises(RecipeError, match=r"^text.digits = '##' should be 'keep' or one visible character$"):
        recipe.Text(digits="##")
    with pytest.raises(RecipeError, match=r"^decoding.min_words = 30 should be at most max_words$"):
        replace(recipe.Decoding(), min_words=30)
    with pytest.raises(RecipeError, match=r"^dbae.lam is now dbae.copy_bias$"):
        recipe.Dbae(lam=3)  # type: ignore[call-arg]


def test_bad_settings_of_the_command_line() -> None:
    with pytest.raises(RecipeError, match=r"expected section\.key=value"):
        override(Recipe(), ["training.batch"])
    with pytest.raises(RecipeError, match=r"^--set training.bach=3: training.bach: unknown key; did you mean 'batch'"):
        override(Recipe(), ["training.bach=3"])


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


@pytest.mark.parametrize(
    "setting",
    [
        "plan.iterations=100000000",
        "seq2seq.encoder_layers=1000000000",
        "seq2seq.positions=1000000000",
        "dbae.width=100000000",
        "decoding.beam=1000000000",
        "text.joint_vocabulary=1000000000000",
        "embeddings.buckets=1000000000000",
    ],
)
def test_sizes_have_upper_bounds(setting: str) -> None:
    with pytest.raises(RecipeError, match=r"should be less than or equal to"):
        override(Recipe(), [setting])


LONG = "9" * 90_000


@pytest.mark.parametrize("setting", [f"text.digits={LONG}", f"mu1.width=0x{LONG}", f"{LONG}.y=1", f"plan.{LONG}=1"])
def test_a_message_is_short_whatever_it_is_about(setting: str) -> None:
    with pytest.raises(RecipeError) as refused:
        override(Recipe(), [setting])
    assert len(str(refused.value)) < 2_000


def test_a_recipe_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(RecipeError, match="nested"):
        parse("a = " + "[" * 50_000, "mine.toml")
    with pytest.raises(RecipeError, match="digits"):
        parse(f"seed = {LONG}", "mine.toml")
    with pytest.raises(RecipeError):
        override(Recipe(), ["text.digits=" + "[" * 50_000])
