from rich.console import Console

from nutgraf.models.proposals import Score
from nutgraf.summarizing.results import Summary, SummaryResult, Word
from nutgraf.terminal.explanation import explain, mark_new_words

SOURCE = ("Ford", "said", "its", "profit", "fell", ".")


def new(text: str, source: int | None = 4, probability: float | None = 0.125, unsupported: bool = False) -> Word:
    return Word(text, False, source, probability, unsupported)


PROFIT = Word("profit", True, 3, 0.5, False)
BEST = Summary(
    "Profit drops, ``Zorba'' says 7%".replace("``", '"').replace("''", '"'),
    (PROFIT, new("drops"), new(","), new("``"), new("Zorba", 1, unsupported=True), new("''"), new("says"),
     new("7", unsupported=True), new("%")),
    0.254,
)  # fmt: skip
NEXT = Summary("Profit 7", (PROFIT, new("7", unsupported=True)), 0.2)


def test_an_explanation_to_read() -> None:
    assert explain(SummaryResult(SOURCE, (BEST, NEXT))).plain.split("\n") == [
        'Profit [drops], "[Zorba?]" [says] [7?]%',
        "  probability  25% per word",
        '  new          drops (looking at "fell", 12%), Zorba (looking at "said", 12%), says (looking at "fell", 12%), '
        '7 (looking at "fell", 12%)',
        "  unsupported  Zorba: a name that is not in the text",
        "  unsupported  7: a number that is not in the text",
        "  or           Profit [7?] (20% per word; 7: a number that is not in the text)",
    ]


def test_initializers_have_no_probability() -> None:
    own = Summary("Drops profit", (new("drops", None, None), Word("profit", True, 3, None, False)), None)
    assert explain(SummaryResult(SOURCE, (own, own))).plain.split("\n") == [
        "[Drops] profit",
        "  new          drops",
        "  or           [Drops] profit",
    ]


def test_a_found_summary_has_a_nearness() -> None:
    found = Summary("Profit", (Word("profit", True, 3, None, False),), None, 0.456)
    assert explain(SummaryResult(SOURCE, (found,))).plain.split("\n") == [
        "Profit",
        "  nearness     0.46, of this real summary to the text",
    ]


def test_what_several_models_agree_on_has_a_score_in_words() -> None:
    first, second = Score(-7.521, 0.7252, 0.3128, 0.41, 0.0103, 2), Score(-8.1, 0.8335, 0.2498, content=0.00751)
    best, other = (Summary("Profit", (PROFIT,), None, None, score) for score in (first, second))
    assert explain(SummaryResult(SOURCE, (best, other))).plain.split("\n") == [
        "Profit",
        "  score        -7.52, the higher the better; it is made of:",
        "  agreement    73%: how like it is to the other lines that the models proposed",
        "  fluency      31% per word: how much it reads like the summaries of the training",
        "  expected     41%: how much of a real summary it has, as far as its words tell",
        "  content      1.0% per word: how well the text could be guessed from it",
        "  breaks       2: places where it joins what the text has apart, which count against it",
        "  or           Profit (score -8.10: agreement 83%, fluency 25%, content 0.8%)",
    ]


def test_a_blank_text_has_nothing_to_explain() -> None:
    assert explain(SummaryResult((), ())).plain == ""


def test_a_capital_may_be_longer_than_its_letter() -> None:
    summary = Summary("SSx fell", (new("ßx"), Word("fell", True, 4, 0.5, False)), None)
    assert mark_new_words(summary).plain == "[SSx] fell"


def test_nothing_in_a_summary_is_markup() -> None:
    console = Console(width=200)
    with console.capture() as capture:
        console.print(
            mark_new_words(Summary("[red]x[/red]", (Word("[red]x[/red]", True, 0, 0.5, False),), None)), soft_wrap=True
        )
    assert capture.get() == "[red]x[/red]\n"
