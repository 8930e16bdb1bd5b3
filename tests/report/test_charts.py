import math

import pytest

from nutgraf.report.charts import Axis, Panel, Series, make_axis, outline_bins
from nutgraf.report.page import ENVIRONMENT


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([0.0, 100.0], [0, 50, 100]),
        ([3.6, 5.3], [3.5, 4.0, 4.5, 5.0, 5.5]),
        ([26.92, 37.07], [25, 30, 35, 40]),
        ([7.0], [6.4, 6.6, 6.8, 7.0, 7.2, 7.4, 7.6]),
        ([math.nan, math.inf], [0, 0.5, 1]),
    ],
)
def test_ticks_are_round_and_hold_all_values(values: list[float], ticks: list[float]) -> None:
    made = make_axis(values)
    assert (made.low, made.high) == (made.ticks[0], made.ticks[-1])
    finite = [value for value in values if math.isfinite(value)]
    assert all(made.low <= value <= made.high for value in finite)
    if len(finite) != 1:
        assert list(made.ticks) == ticks


def test_labels() -> None:
    assert [Axis(0, 1, (), percent=True).label(0.5), Axis(0, 1, ()).label(0.5), Axis(0, 1, ()).label(20_000)] == [
        "50%",
        "0.5",
        "20K",
    ]


def test_the_outline_of_a_histogram() -> None:
    assert outline_bins([0, 1, 2], [0.25, 0.75]) == [(0, 0), (0, 0.25), (1, 0.25), (1, 0.75), (2, 0.75), (2, 0)]


def test_a_panel_puts_points_where_they_belong() -> None:
    series = Series("a & b", "mu1", [(0, 0), (1, math.nan), (2, 10)], [(2, 0, 10)], dots=True)
    chart = Panel('<title> "5"', [series], Axis(0, 2, (0, 2)), Axis(0, 10, (0, 10)))
    drawn = ENVIRONMENT.get_template("macros.html").module.panel(chart)  # type: ignore[attr-defined]
    # The corners of the plot; points that are not numbers are left out.
    assert 'viewBox="0 0 320 190"' in drawn
    assert 'd="M36.0 166.0L310.0 8.0"' in drawn
    assert 'd="M310.0 166.0V8.0"' in drawn
    assert drawn.count("<circle") == 2
    assert "<title>a &amp; b</title>" in drawn
    assert "<b>&lt;title&gt; &#34;5&#34;</b>" in drawn
    assert 'aria-label="&lt;title&gt; &#34;5&#34;: a &amp; b"' in drawn
