from nutgraf import recipe as recipes
from nutgraf.summarizing.documents import DocumentLine, summarize_document
from nutgraf.summarizing.results import DEFAULTS, SummaryOptions
from nutgraf.summarizing.summarizer import Summarizer

LEAD = Summarizer.lead(5, recipes.Text())
SENTENCES = [
    "It was a grey morning in town.",
    "The council voted to close two pools in June.",
    "Both pools are old, and the council has no money.",
    "The council voted to close two pools of five.",
    "Swimmers will march on Friday.",
    "The mayor did not speak.",
]


def test_the_headline_is_of_the_leading_sentence_that_matters() -> None:
    found = summarize_document(LEAD, SENTENCES, DEFAULTS)
    assert found.headline == DocumentLine("The council voted to close", SENTENCES[1], 2)
    assert found.bullets == ()
    late = [*SENTENCES[:1] * 5, SENTENCES[1], SENTENCES[2], SENTENCES[3]]
    assert summarize_document(LEAD, late, DEFAULTS).headline.sentence_number == 1


def test_bullets_do_not_repeat_the_headline_or_each_other() -> None:
    found = summarize_document(LEAD, SENTENCES, SummaryOptions(max_words=4), bullets=9)
    # The fourth sentence would give the headline again.
    assert [line.sentence_number for line in found.bullets] == [1, 3, 5, 6]
    assert [line.summary for line in found.bullets][1:3] == ["Both pools are old,", "Swimmers will march on"]
    assert len(summarize_document(LEAD, SENTENCES, DEFAULTS, bullets=2).bullets) == 2


def test_a_document_of_one_sentence() -> None:
    found = summarize_document(LEAD, SENTENCES[5:], DEFAULTS, bullets=2)
    assert (found.headline.summary, found.bullets) == ("The mayor did not speak", ())
