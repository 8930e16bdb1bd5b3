from dataclasses import replace

import pytest

from nutgraf.errors import RecipeError, RunError
from nutgraf.recipe import BASELINES, PAPER_INITIALIZERS, WITH_PAIRS, Plan, Training
from nutgraf.run.plan import Kind, learning_rate, make_plan, needed, training_steps

NEAR = (*PAPER_INITIALIZERS, "near")


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
        *(
            Plan(chains, iterations, warm_start=warm)
            for chains in (NEAR, ("near",), ("near", "dbae"), ("near", "mu1", "pr-thr"), ("near", "hc"), ("hc", "mu1"))
            for iterations in (0, 2, 4)
            for warm in (False, True)
        ),
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


def test_baselines_stand_beside_the_chains_and_change_none_of_them() -> None:
    for plan in (Plan(iterations=0), Plan(iterations=4, warm_start=True), Plan(NEAR, 2)):
        before, after = make_plan(plan), make_plan(replace(plan, baselines=BASELINES))
        added = [step for step in after if step not in before]
        assert [step for step in after if step not in added] == list(before)
        assert [step.name for step in added if step.kind is Kind.INITIALIZER] == [f"{name}-0" for name in BASELINES]
        assert {step.kind for step in added} <= {Kind.INITIALIZER, Kind.EMBEDDINGS}
        assert make_plan(replace(plan, baselines=BASELINES), True)[: len(after)] == after  # pairs come after all
    assert names(Plan(("mu1",), 0, baselines=("hc",))) == [*BEFORE, "mu1-0", "hc-0"]
    apart = ["embeddings-F", "embeddings-S"]
    assert names(Plan(("mu1",), 0, baselines=("pbsmt",))) == [*BEFORE, "mu1-0", *apart, "pbsmt-0"]
    assert names(Plan(("pr-thr",), 0, baselines=("pbsmt",))) == [*BEFORE, *apart, "pr-thr-0", "pbsmt-0"]


def test_baselines_that_learn_from_pairs_have_a_row_for_each_number_and_one_for_all() -> None:
    plan = Plan(("mu1",), 2, baselines=("mass", "fsc", "adversarial"))
    assert not [name for name in names(plan) if name.startswith(("mass", "fsc")) or "+" in name]
    before = names(plan)
    assert before[-2:] == ["pre-dae-0", "adversarial-0"]  # which starts from it
    rows = ["aligned", "seq2seq", "mu1-2+10", "mu1-2+500"]
    rows += ["adversarial-0+10", "adversarial-0+500", "adversarial-0+all"]
    rows += ["mass-0", "mass-0+10", "mass-0+500", "mass-0+all", "fsc-0+10", "fsc-0+500", "fsc-0+all"]
    assert names(plan, True, (10, 500)) == [*before, *rows]
    steps = {step.name: step for step in make_plan(plan, True, (10, 500))}
    assert [steps[name].start for name in ("mass-0+10", "adversarial-0+all", "fsc-0+10")] == ["mass-0", "pre-dae-0", ""]
    assert [name for name, step in steps.items() if "aligned" in step.needs] == rows[1:7] + rows[8:]


def test_no_step_without_pairs_depends_on_them() -> None:
    plan = Plan(NEAR, 2, baselines=(*BASELINES, *WITH_PAIRS), agreed=True, teachers=1)
    steps = {step.name: step for step in make_plan(plan, True, (10,))}

    def depends(name: str) -> bool:
        return name == "aligned" or any(depends(need) for need in steps[name].needs)

    assert {name for name in steps if depends(name)} == {name for name in steps if "+" in name} | {"aligned", "seq2seq"}


def test_what_learns_from_pairs_after_something_else_learns_for_long_where_there_are_many() -> None:
    training = Training(summarizer_steps=300, all_steps=900, finetune_steps=50, batch=10)
    steps = {step.name: step for step in make_plan(Plan(("mu1",), 2, baselines=("mass",)), True, (100,))}
    assert training_steps(steps["mass-0+100"], training, 100) == 51
    assert training_steps(steps["mass-0+all"], training, 5000) == 900
    assert [learning_rate(steps[name], training) for name in ("mass-0+100", "mu1-2+100")] == [
        training.learning_rate,
        training.finetune_rate,
    ]


def test_a_baseline_may_start_a_chain() -> None:
    loops = [[f"{x}-0", f"{x}-0.pairs", f"{x}-1", f"{x}-1.pairs", f"{x}-2"] for x in ("mu1", "hc")]
    plan = Plan(("mu1", "hc"), 2, baselines=("hc",))
    assert names(plan) == [*BEFORE, *loops[0], *loops[1], "all-2"]


BEFORE = ["text", "casing", "embeddings"]


@pytest.mark.parametrize("warm", [False, True])
def test_near_alone_is_a_chain_like_any_other(warm: bool) -> None:
    assert names(Plan(("near",), 0, warm_start=warm)) == [*BEFORE, "near-0"]
    loop = ["near-0", "near-0.pairs", "near-1", "near-1.pairs", "near-2"]
    assert names(Plan(("near",), 2, warm_start=warm)) == [*BEFORE, *loop]
    later = ["near-2.pairs", "near-3", "near-3.pairs", "near-4"]
    assert names(Plan(("near",), 4, warm_start=warm)) == [*BEFORE, *loop, *later]


@pytest.mark.parametrize("warm", [False, True])
def test_near_and_one_other_have_all_and_no_mixed(warm: bool) -> None:
    assert names(Plan(("mu1", "near"), 0, warm_start=warm)) == [*BEFORE, "mu1-0", "near-0"]
    loops = [[f"{x}-0", f"{x}-0.pairs", f"{x}-1", f"{x}-1.pairs", f"{x}-2"] for x in ("mu1", "near")]
    assert names(Plan(("mu1", "near"), 2, warm_start=warm)) == [*BEFORE, *loops[0], *loops[1], "near-2.pairs", "all-2"]
    assert names(Plan(("mu1", "near"), 4, warm_start=warm))[-1] == "all-4"
    starts = {step.name: step.start for step in make_plan(Plan(("mu1", "near"), 4, warm_start=warm))}
    assert (starts["mu1-1"], starts["near-1"], starts["near-3"]) == ("", *(("mu1-1", "near-1") if warm else ("", "")))


def test_near_comes_after_the_chains_of_the_paper_and_all_before_mixed() -> None:
    cold = names(Plan(NEAR, 2))
    last = ["near-2.pairs", "all-2", "mixed-2"]
    assert cold[-8:] == ["near-0", "near-0.pairs", "near-1", "near-1.pairs", "near-2", *last]
    warm = names(Plan(NEAR, 2, warm_start=True))
    assert warm.index("near-0.pairs") < warm.index("all-1") < warm.index("mu1-1") < warm.index("near-1")
    assert warm[-4:] == ["near-2", *last]
    assert not set(last) & set(names(Plan(NEAR, 2, train_all=False)))
    assert set(names(Plan(NEAR, 0))) - set(names(Plan(iterations=0))) == {"near-0"}


def test_pairs_are_found_again_with_the_help_of_the_models_that_learned_from_the_first() -> None:
    for plan in (Plan(NEAR, 4), Plan(("near",), 6), Plan(("near", "mu1"), 4, warm_start=True)):
        steps = {step.name: step for step in make_plan(plan)}
        assert steps["near-0.pairs"].needs == ("text", "near-0")
        assert steps["near-2.pairs"].needs == ("text", "near-0.pairs", "near-1", "near-2")
        if "near-4.pairs" in steps:
            assert steps["near-4.pairs"].needs == ("text", "near-0.pairs", "near-3", "near-4")
        assert not any(step.pairs for step in steps.values() if step.kind is Kind.PAIRS)  # nothing is trained on them


def test_found_pairs_are_learned_from_at_every_iteration_and_mixed_is_all_of_the_paper() -> None:
    steps = {step.name: step for step in make_plan(Plan(NEAR, 4))}
    assert steps["near-0"].needs == ("text", "casing", "embeddings")
    assert steps["near-1"].pairs == ("near-0.pairs",)
    assert steps["near-2"].pairs == ("near-1.pairs", "near-0.pairs")
    assert steps["near-3"].pairs == ("near-2.pairs",)
    assert steps["near-4"].pairs == ("near-3.pairs", "near-2.pairs")
    of_paper = {step.name: step for step in make_plan(Plan(iterations=4))}
    for iteration in (2, 4):
        mixed, everything = steps[f"mixed-{iteration}"], steps[f"all-{iteration}"]
        assert mixed.pairs == of_paper[f"all-{iteration}"].pairs
        assert everything.pairs == (*mixed.pairs, f"near-{iteration - 1}.pairs", f"near-{iteration}.pairs")


def test_all_takes_the_artificial_pairs_of_the_chosen_chains_and_mixed_those_of_all_others() -> None:
    everything = {step.name: step for step in make_plan(Plan(NEAR, 4, warm_start=True))}
    for chosen in (("near",), ("mu1", "near"), ("dbae", "pr-thr")):
        steps = {step.name: step for step in make_plan(Plan(NEAR, 4, all_chains=chosen, warm_start=True))}
        for iteration in (2, 4):
            expected = {f"{chain}-{iteration - 1}.pairs" for chain in chosen} | {f"near-{iteration}.pairs"}
            assert set(steps[f"all-{iteration}"].pairs) == expected
        assert [*steps] == [*everything]
        changed = {name for name, step in steps.items() if step != everything[name]}
        assert changed == {"all-2", "all-4"}


def test_a_warm_start_of_near_is_from_the_common_expander_and_all_starts_from_random_weights() -> None:
    steps = {step.name: step for step in make_plan(Plan(NEAR, 4, warm_start=True))}
    assert steps["all-1"].pairs == ("mu1-0.pairs", "dbae-0.pairs", "pr-thr-0.pairs")  # no found ones
    expected = {"near-1": "all-1", "near-2": "", "near-3": "near-1", "near-4": "near-2"}
    expected |= {"mixed-2": "mu1-2", "mixed-4": "mixed-2", "all-2": "", "all-4": ""}
    assert {name: steps[name].start for name in expected} == expected
    assert "near-1" in [step.name for step in make_plan(Plan(("near",), 2, warm_start=True)) if not step.start]
    settings = Training(summarizer_steps=1, expander_steps=2, all_steps=3, finetune_steps=4)
    steps_of = {"near-1": 4, "near-2": 1, "near-3": 4, "mixed-2": 3, "mixed-4": 3, "all-2": 3, "all-4": 3}
    assert {name: training_steps(steps[name], settings, 10) for name in steps_of} == steps_of


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


def test_without_finding_again_all_learns_from_the_pairs_found_first() -> None:
    steps = {step.name: step for step in make_plan(Plan(NEAR, 2, all_chains=("mu1",), find_again=False))}
    assert steps["all-2"].pairs == ("mu1-1.pairs", "near-0.pairs")
    assert "near-2.pairs" not in steps


def test_all_learns_what_its_teachers_agree_on() -> None:
    plan = Plan(NEAR, 4, all_chains=("mu1",), find_again=False, teachers=2, warm_start=True)
    steps = {step.name: step for step in make_plan(plan)}
    for iteration in (2, 4):
        first, second, last = (f"all-{iteration}{letter}" for letter in ("a", "b", ""))
        assert steps[first].pairs == (f"mu1-{iteration - 1}.pairs", "near-0.pairs")
        assert steps[second].pairs == (f"{first}.pairs", "near-0.pairs")
        assert steps[last].pairs == (f"{first}.pairs", f"{second}.pairs", "near-0.pairs")
        assert not any(steps[name].start for name in (first, second, last))
        for teacher in (first, second):
            agreed = steps[f"{teacher}.pairs"]
            assert agreed.needs == ("text", teacher, f"near-{iteration}", f"mu1-{iteration - 1}")
            assert agreed.kind is Kind.PAIRS
    assert "all-4c" not in steps
    untaught = {step.name: step for step in make_plan(replace(plan, teachers=0))}
    assert {name: step for name, step in steps.items() if "all-" not in name} == {
        name: step for name, step in untaught.items() if "all-" not in name
    }


def test_the_papers_all_can_be_taught_too() -> None:
    steps = {step.name: step for step in make_plan(Plan(iterations=2, teachers=1, warm_start=True))}
    assert steps["all-2a"].pairs == ("pr-thr-1.pairs", "dbae-1.pairs", "mu1-1.pairs")
    assert steps["all-2a"].start == "mu1-2"
    assert steps["all-2a.pairs"].needs == ("text", "all-2a", "mu1-2", "mu1-1")
    assert steps["all-2"].pairs == ("all-2a.pairs",)


def test_a_chain_alone_may_have_an_agreed_summarizer_of_its_own() -> None:
    alone = Plan(("mu1",), 4, agreed=True, learn_initial=("mu1",))
    steps = {step.name: step for step in make_plan(alone)}
    assert steps["agreed-2"].needs == ("text", "mu1-2", "mu1-1", "mu1-0")
    assert steps["agreed-4"].needs == ("text", "mu1-4", "mu1-3", "mu1-0")
    for other in (replace(alone, learn_initial=()), replace(alone, agreed=False)):
        assert [step.name for step in make_plan(other) if step.kind is Kind.AGREED] == []


def test_summarizers_also_learn_initial_summaries_and_are_members_of_agreed() -> None:
    plan = Plan(NEAR, 4, agreed=True, learn_initial=("mu1", "near"))
    before, steps = ({step.name: step for step in make_plan(p)} for p in (replace(plan, learn_initial=()), plan))
    assert steps.keys() == before.keys()
    for iteration in (2, 4):
        assert steps[f"mu1-{iteration}"].pairs == (f"mu1-{iteration - 1}.pairs", "mu1-0.pairs")
        assert steps[f"agreed-{iteration}"].needs[2:] == (
            f"near-{iteration}",
            f"mu1-{iteration}",
            f"mu1-{iteration - 1}",
            "mu1-0",
        )
    same = [name for name in steps if steps[name] == before[name]]
    assert {*steps} - {*same} == {"mu1-2", "mu1-4", "agreed-2", "agreed-4"}


def test_no_chain_but_mu1_cuts_for_agreed() -> None:
    for chain in ("dbae", "pr-thr"):
        steps = {step.name: step for step in make_plan(Plan((chain,), 2, agreed=True, learn_initial=(chain, "mu1")))}
        assert steps["agreed-2"].needs == ("text", f"{chain}-2", f"{chain}-1")


def test_agreed_is_made_of_all_near_and_the_expander_of_the_teachers() -> None:
    plan = Plan(NEAR, 4, all_chains=("mu1",), find_again=False, teachers=1, warm_start=True)
    before, steps = make_plan(plan), {step.name: step for step in make_plan(replace(plan, agreed=True), True, (10,))}
    for iteration in (2, 4):
        agreed = steps[f"agreed-{iteration}"]
        assert agreed.needs == ("text", f"all-{iteration}", f"near-{iteration}", f"mu1-{iteration - 1}")
        assert steps[f"all-{iteration}a.pairs"].needs[-1] == agreed.needs[-1]
        assert (agreed.kind, agreed.start, agreed.pairs) == (Kind.AGREED, "", ())
    assert all(steps[step.name] == step for step in before)  # nothing else changes
    assert "all-4+10" in steps  # what is fine-tuned is a model
    assert not any(name.startswith("agreed") for step in steps.values() for name in step.needs)
    assert {"casing", "all-2", "near-2", "mu1-1"} <= {step.name for step in needed([*steps.values()], ["agreed-2"])}


def test_agreed_needs_near_and_all() -> None:
    for chains, train_all in ((PAPER_INITIALIZERS, True), (("near",), True), (NEAR, False)):
        assert not [name for name in names(Plan(chains, 2, train_all, agreed=True)) if name.startswith("agreed")]
    steps = {step.name: step for step in make_plan(Plan(("near", "mu1"), 2, all_chains=("near",), agreed=True))}
    assert steps["agreed-2"].needs == ("text", "all-2", "near-2", "near-1")
