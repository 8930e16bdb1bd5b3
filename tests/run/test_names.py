import pytest

from nutgraf.run.names import ModelName, is_pairs, latest, lead_words, summarizers


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("mu1-0", ModelName("mu1")),
        ("pr-thr-3", ModelName("pr-thr", 3)),
        ("all-12", ModelName("all", 12)),
        ("all-2+10000", ModelName("all", 2, 10_000)),
        ("all-2b", ModelName("all", 2, teacher="b")),
        ("seq2seq", ModelName("seq2seq")),
        ("near-0", ModelName("near")),
        ("mixed-2", ModelName("mixed", 2)),
        ("agreed-4", ModelName("agreed", 4)),
        ("hc-0", ModelName("hc")),
        ("hc-2", ModelName("hc", 2)),
    ],
)
def test_names_are_read_and_written_alike(text: str, name: ModelName) -> None:
    assert ModelName.parse(text) == name
    assert str(name) == text
    assert ModelName.of_pairs(name.pairs) == name
    assert is_pairs(name.pairs)
    assert not is_pairs(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "mu1",
        "mu1-",
        "mu2-0",
        "mu1-2+",
        "mu1-x",
        "text",
        "mu1-1.pairs",
        "Lead-8",
        "all-2 ",
        "mu1-2a",
        "all-2z",
        "agreed-2a",
        "agreed-2+8",
    ],
)
def test_what_is_no_name_is_none(text: str) -> None:
    assert ModelName.find(text) is None
    with pytest.raises(ValueError, match="not the name of a model"):
        ModelName.parse(text)


def test_what_a_name_says_of_its_model() -> None:
    kinds = {name: ModelName.parse(name) for name in ("mu1-0", "mu1-1", "mu1-2", "all-2+8", "seq2seq")}
    assert not any(found.finds for found in kinds.values())
    assert [i for i in range(5) if ModelName("near", i).finds] == [0, 2, 4]
    assert [name for name, found in kinds.items() if found.initial] == ["mu1-0"]
    assert [name for name, found in kinds.items() if found.expands] == ["mu1-1"]
    assert [name for name, found in kinds.items() if found.supervised] == ["seq2seq"]
    assert [name for name, found in kinds.items() if not found.unsupervised] == ["all-2+8", "seq2seq"]
    assert str(kinds["mu1-2"].at(4)) == "mu1-4"
    assert [name for name in ("hc-0", "hc-1", "hc-2", "mu1-0") if ModelName.parse(name).baseline] == ["hc-0"]


def test_what_learned_from_all_pairs_is_told_from_what_learned_from_some() -> None:
    name = ModelName.parse("mass-0+all")
    assert str(name) == "mass-0+all"
    assert (name.every_pair, name.aligned_limit, name.unsupervised, name.initial) == (True, 0, False, False)
    some = ModelName.parse("mass-0+500")
    assert (some.every_pair, some.aligned_limit, some.unsupervised, some.initial) == (False, 500, False, False)
    assert ModelName.find("mass-0+every") is None
    assert not ModelName.parse("adversarial-0+500").baseline  # its row is among those with pairs


def test_what_is_only_pre_trained_is_no_summarizer() -> None:
    names = ["mass-0+all", "fsc-0+10", "mass-0", "pre-dae-0", "seq2seq", "adversarial-0+10", "all-2", "mass-0+10"]
    expected = ["pre-dae-0", "all-2", "adversarial-0+10", "mass-0+10", "fsc-0+10", "mass-0+all", "seq2seq"]
    assert summarizers(names) == expected
    assert latest(["mass-0"]) is None


def test_lead_is_a_baseline_and_no_model() -> None:
    assert [lead_words(name) for name in ("Lead-8", "Lead-12", "lead-8", "mu1-0")] == [8, 12, None, None]


def test_rows_are_in_the_order_of_the_papers_tables() -> None:
    mixed = ["seq2seq", "all-2+100", "all-4", "mu1-0", "text", "mu1-1", "mu1-2.pairs", "all-2", "dbae-2", "pr-thr-0"]
    assert summarizers(mixed) == ["pr-thr-0", "mu1-0", "dbae-2", "all-2", "all-4", "all-2+100", "seq2seq"]
    more = ["agreed-2", "all-2", "mixed-2", "near-2", "near-1", "near-0", "mu1-2", "mu1-0"]
    assert summarizers(more) == ["mu1-0", "near-0", "mu1-2", "near-2", "mixed-2", "all-2", "agreed-2"]
    assert summarizers(["mu1-0", "hc-2", "mu1-2", "hc-0"]) == ["hc-0", "mu1-0", "hc-2", "mu1-2"]
    assert summarizers(["all-4", "all-2", "all-2b", "all-2a", "mu1-2"]) == [
        "mu1-2",
        "all-2a",
        "all-2b",
        "all-2",
        "all-4",
    ]


@pytest.mark.parametrize(
    ("done", "expected"),
    [
        (["mu1-0", "all-2", "mu1-4"], "all-2"),
        (["all-2a", "all-2", "all-2b"], "all-2"),
        (["all-2a", "mu1-2"], "all-2a"),
        (["agreed-2", "all-2", "near-2"], "agreed-2"),
        (["agreed-2", "all-4", "near-4"], "all-4"),
        (["mu1-2", "dbae-2", "pr-thr-2"], "mu1-2"),
        (["mu1-2", "dbae-4"], "dbae-4"),
        (["mixed-4", "all-2", "near-2"], "all-2"),
        (["near-2", "mixed-2", "mu1-2"], "mixed-2"),
        (["near-2", "mu1-2"], "mu1-2"),
        (["near-0"], "near-0"),
        (["hc-0", "near-0"], "near-0"),
        (["hc-0"], "hc-0"),
        (["pr-thr-0", "dbae-0"], "dbae-0"),
        (["seq2seq", "mu1-2+10"], None),
        ([], None),
    ],
)
def test_the_latest(done: list[str], expected: str | None) -> None:
    assert latest(done) == expected
