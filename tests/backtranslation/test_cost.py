import pytest

from nutgraf import recipe
from nutgraf.backtranslation.cost import COVERED, estimate
from nutgraf.models.arithmetic import forward
from nutgraf.run.plan import make_plan
from nutgraf.run.sizes import Sizes

SIZES = Sizes(85_000, 200_000, 30, 9)


def test_operations_of_one_pair_by_hand() -> None:
    settings = recipe.override(
        recipe.Recipe(),
        ["embeddings.width=4", "seq2seq.width=2", "seq2seq.encoder_layers=1", "seq2seq.decoder_layers=1"],
    )
    settings = recipe.override(settings, ["text.joint_vocabulary=10"])
    block, ends = 2 * 3 * 2 * 4, 2 * 2 * 2 * 4  # kernel 3, 2 wide, to 4 for the GLU; in and out of the blocks
    attention = 2 * 2 * 2 * 4 + 4 * 5 * 4
    expected = 5 * (block + ends) + 3 * (block + attention + ends + 2 * 4 * 10)
    assert forward(settings, source=5, target=3) == expected


def test_costs_grow_with_what_is_asked() -> None:
    cpu = recipe.load("cpu")
    steps = make_plan(cpu.plan)
    costs = estimate(steps, cpu, SIZES, threads=2)
    assert set(costs) == {step.name for step in steps}
    assert all(cost > 0 for cost in costs.values())
    double = estimate(steps, recipe.override(cpu, ["training.summarizer_steps=3000"]), SIZES, threads=2)
    assert double["mu1-2"] > 1.8 * costs["mu1-2"]
    assert double["mu1-1"] == costs["mu1-1"]
    assert sum(estimate(steps, cpu, SIZES, threads=1).values()) > sum(costs.values())
    # The recipe says an hour or so on two cores.
    assert 0.3 * 3600 < sum(costs.values()) < 4 * 3600


def test_pairs_are_found_in_about_the_time_measured() -> None:
    adapting = recipe.override(recipe.load("quick"), ['plan.initializers=["near"]', "plan.iterations=4"])
    settings = recipe.override(adapting, ["near.adapt=false"])
    steps = make_plan(settings.plan)
    costs = estimate(steps, settings, Sizes(85_000, 1_000_000, 30, 9), threads=2)
    assert 60 < costs["near-0.pairs"] < 100  # 75 s were measured
    assert estimate(steps, adapting, Sizes(85_000, 1_000_000, 30, 9), 2)["near-0.pairs"] > 2 * costs["near-0.pairs"]
    assert costs["near-0"] < 10
    half = estimate(steps, settings, Sizes(42_500, 1_000_000, 30, 9), threads=2)
    assert 0.45 < half["near-0.pairs"] / costs["near-0.pairs"] < 0.55
    assert 0.45 < half["near-2.pairs"] / costs["near-2.pairs"] < 0.55
    full = estimate(steps, recipe.override(settings, ["training.shortlist=0"]), Sizes(85_000, 1_000_000, 30, 9), 2)
    assert full["near-2.pairs"] > costs["near-2.pairs"] > 10


def test_pairs_are_compared_before_a_summarizer_learns_from_them() -> None:
    chosen = [
        "generation.sentences_per_chain=0",
        "training.min_coverage=0",
        'plan.initializers=["pr-thr", "dbae", "mu1", "near"]',
    ]
    settings = recipe.override(recipe.load("cpu"), chosen)
    comparing = recipe.override(settings, ["training.min_coverage=0.6"])
    plain, compared = (estimate(make_plan(one.plan), one, SIZES, threads=1) for one in (settings, comparing))
    more = {name: compared[name] - plain[name] for name in plain if compared[name] != plain[name]}
    once = pytest.approx(200_000 / COVERED)
    thrice = pytest.approx(3 * 200_000 / COVERED)
    chains = {"mu1-2": once, "dbae-2": once, "pr-thr-2": once, "near-2": once}
    assert more == {**chains, "all-2a": once, "mixed-2": thrice}  # all-2 learns from what teachers made


@pytest.mark.parametrize("name", recipe.BASELINES)
def test_baselines_have_a_price(name: str) -> None:
    settings = recipe.override(
        recipe.load("quick"), [f"plan.initializers=['{name}']", "generation.sentences_per_chain=0"]
    )
    costs = [
        estimate(make_plan(settings.plan), settings, Sizes(texts, 1_000_000, 30, 9), threads=1)
        for texts in (85_000, 42_500)
    ]
    assert 5 < costs[0][f"{name}-0"] < 90 * 60
    assert costs[0][f"{name}-0.pairs"] > 1.5 * costs[1][f"{name}-0.pairs"]
