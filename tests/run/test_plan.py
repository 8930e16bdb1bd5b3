import pytest

from nutgraf.errors import RecipeError, RunError
from nutgraf.recipe import Plan, Training
from nutgraf.run.plan import Kind, make_plan, needed, training_steps


def names(plan: Plan, aligned: bool = False, limits: tuple[int, ...] = ()) -> list[str]:
    return [step.name for step in make_plan(plan, aligned, limits)]


def test_one_chain_is_the_sequence_of_section_3_2() -> None:
    assert names(Plan(("mu1",), 4)) == [
        "text",
        "casing",
        "embeddings",
        "mu1-0",
        "mu1-0.pairs",
        "mu1-1",
        "mu1-1.pairs",
        "mu1-2",
        "mu1-2.pairs",
        "mu1-3",
        "mu1-3.pairs",
        "mu1-4",
    ]


def test_all_is_trained_from_the_pairs_of_the_three_expanders_and_nothing_from_all() -> None:
    steps = {step.name: step for step in make_plan(Plan(iterations=4))}
    assert set(steps["all-2"].pairs) == {"pr-thr-1.pairs", "dbae-1.pairs", "mu1-1.pairs"}
    assert set(steps["all-4"].pairs) == {"pr-thr-3.pairs", "dbae-3.pairs", "mu1-3.pairs"}
    assert not any(need.startswith("all") for step in steps.values() for need in step.needs)


def test_warm_chains_part_after_a_common_expander_and_go_on_from_their_own_models() -> None:
    steps = {
        step.name: step for step in make_plan(Plan(iterations=4, warm_start=True), aligned=True, aligned_limits=(10,))
    }
    assert set(steps["all-1"].pairs) == {"pr-thr-0.pairs", "dbae-0.pairs", "mu1-0.pairs"}
    starts = {name: step.start for name, step in steps.items() if step.start}
    chains = ("pr-thr", "dbae", "mu1")
    assert starts == {
        **{f"{chain}-1": "all-1" for chain in chains},
        **{f"{chain}-{i}": f"{chain}-{i - 2}" for chain in chains for i in (3, 4)},
        "all-2": "mu1-2",
        "all-4": "all-2",
        "all-4+10": "all-4",
    }
    assert all(start in steps[name].needs for name, start in starts.items())
    assert "all-1" not in names(Plan(("mu1",), 4, warm_start=True))
    assert not any(step.start for step in make_plan(Plan(iterations=6)))


def test_steps_by_kind_of_training() -> None:
    settings = Training(summarizer_steps=1, expander_steps=2, all_steps=3, finetune_steps=4)
    steps = make_plan(Plan(iterations=4, warm_start=True), aligned=True, aligned_limits=(10,))
    found = {
        step.name: training_steps(step, settings, 10) for step in steps if step.kind in (Kind.EXPANDER, Kind.SUMMARIZER)
    }
    expected = {"all-1": 2, "mu1-1": 4, "mu1-2": 1, "mu1-3": 4, "mu1-4": 4, "all-2": 3, "seq2seq": 3, "all-4+10": 1}
    assert {name: found[name] for name in expected} == expected


def test_odd_iterations_expand_and_even_ones_summarize() -> None:
    for step in make_plan(Plan(iterations=6)):
        if step.kind is Kind.EXPANDER:
            assert step.iteration % 2 == 1
            assert step.pairs == (f"{step.chain}-{step.iteration - 1}.pairs",)
        if step.kind is Kind.SUMMARIZER:
            assert step.iteration % 2 == 0


def test_every_step_comes_after_its_needs() -> None:
    for plan in (
        Plan(iterations=0),
        Plan(iterations=2),
        Plan(iterations=6, warm_start=True),
        Plan(("dbae", "mu1"), 6),
        Plan(iterations=6, train_all=False),
    ):
        seen: set[str] = set()
        for step in make_plan(plan, aligned=plan.iterations > 0, aligned_limits=(10,) if plan.iterations else ()):
            assert set(step.needs) <= seen
            assert step.name not in seen
            seen.add(step.name)


def test_no_iterations_are_the_initializers_alone() -> None:
    assert set(names(Plan(iterations=0))) == {
        "text",
        "casing",
        "embeddings",
        "embeddings-F",
        "embeddings-S",
        "mu1-0",
        "dbae-0",
        "pr-thr-0",
    }


def test_only_pr_thr_needs_embeddings_apart() -> None:
    assert "embeddings-F" not in names(Plan(("dbae", "mu1"), 2))
    steps = {step.name: step for step in make_plan(Plan(("pr-thr",), 2))}
    assert steps["pr-thr-0"].needs == ("text", "embeddings-F", "embeddings-S")


def test_one_chain_has_no_all() -> None:
    assert not [name for name in names(Plan(("dbae",), 2)) if name.startswith("all")]


def test_supervised_rows_come_last_and_need_aligned_pairs() -> None:
    assert names(Plan(iterations=4), True, (10, 500))[-4:] == ["aligned", "seq2seq", "all-4+10", "all-4+500"]
    assert names(Plan(("pr-thr", "dbae"), 2, False), True, (10,))[-1] == "dbae-2+10"
    with pytest.raises(RecipeError, match="iterations"):
        names(Plan(iterations=0), True, (10,))


def test_needed_is_the_named_step_and_what_it_needs() -> None:
    steps = make_plan(Plan(iterations=2))
    assert [step.name for step in needed(steps, ["mu1-1"])] == ["text", "embeddings", "mu1-0", "mu1-0.pairs", "mu1-1"]
    assert [step.name for step in needed(steps, ["mu1-0"])] == ["text", "casing", "embeddings", "mu1-0"]
    with pytest.raises(RunError, match="mu1-9"):
        needed(steps, ["mu1-9"])
