"""agreed-N as it is stored."""

import json
from pathlib import Path

import numpy as np
import pytest

from nutgraf import recipe
from nutgraf.errors import RunError
from nutgraf.models.members import Members
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import SPECIALS, Lexicon
from nutgraf.text.trigrams import Trigrams

LEXICON = Lexicon([*SPECIALS, "a", "b", "c"])
SUMMARIES = Corpus.of(np.array(words, np.int32) for words in ([3, 4, 5], [4, 5, 3], [3, 4]))


def test_members_come_back_as_they_were_stored(tmp_path: Path) -> None:
    fluency = Trigrams.train(SUMMARIES, LEXICON)
    members = Members(("all-2", "near-2"), "mu1-1", recipe.Agreement(text_pairs=0.5), fluency, {"all-2": "abc"})
    members.save(tmp_path)
    again = Members.load(tmp_path)
    assert again.names == ("all-2", "near-2", "mu1-1")
    assert (again.weights, again.made_from) == (members.weights, members.made_from)
    assert again.fluency.bits(SUMMARIES).tolist() == fluency.bits(SUMMARIES).tolist()


def test_members_need_no_expander(tmp_path: Path) -> None:
    Members(("mu1-2",), None, recipe.Agreement(), Trigrams.train(SUMMARIES, LEXICON), {}, "mu1-0").save(tmp_path)
    again = Members.load(tmp_path)
    assert (again.names, again.expander, again.cutter) == (("mu1-2",), None, "mu1-0")


@pytest.mark.parametrize("lacking", ["weights", "cutter"])
def test_those_of_an_earlier_version_are_made_again_by_train(tmp_path: Path, lacking: str) -> None:
    Members(("all-2",), "mu1-1", recipe.Agreement(), Trigrams.train(SUMMARIES, LEXICON), {}).save(tmp_path)
    table = json.loads((tmp_path / "agreed.json").read_text())
    del table[lacking]
    (tmp_path / "agreed.json").write_text(json.dumps(table))
    with pytest.raises(
        RunError, match=r"agreed\.json: an earlier version of nutgraf made it\. The `nutgraf train`"
    ) as error:
        Members.load(tmp_path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("expander", ["../all-2", "agreed-2", "mu1-0", "/etc"])
def test_members_are_models_and_no_other_places(tmp_path: Path, expander: str) -> None:
    Members(("all-2",), expander, recipe.Agreement(), Trigrams.train(SUMMARIES, LEXICON), {}).save(tmp_path)
    with pytest.raises(RunError, match=r"agreed\.json"):
        Members.load(tmp_path)


@pytest.mark.parametrize("cutter", ["../mu1-0", "mu1-2", "near-0", "", 5])
def test_nothing_but_mu1_cuts(tmp_path: Path, cutter: str) -> None:
    fluency = Trigrams.train(SUMMARIES, LEXICON)
    Members(("all-2",), "mu1-1", recipe.Agreement(), fluency, {}, "mu1-0").save(tmp_path)
    assert Members.load(tmp_path).cutter == "mu1-0"
    Members(("all-2",), "mu1-1", recipe.Agreement(), fluency, {}, cutter).save(tmp_path)
    with pytest.raises(RunError, match=r"agreed\.json.*cutter"):
        Members.load(tmp_path)


def test_trigrams_of_another_lexicon_or_none_are_named(tmp_path: Path) -> None:
    Members(("all-2",), "mu1-1", recipe.Agreement(), Trigrams.train(SUMMARIES, LEXICON), {}).save(tmp_path)
    assert Members.load(tmp_path, len(LEXICON)).expander == "mu1-1"
    with pytest.raises(RunError, match=r"trigrams\.npz.*lexicon of 6 words"):
        Members.load(tmp_path, 7)
    (tmp_path / "trigrams.npz").write_bytes(b"PK nothing")
    with pytest.raises(RunError, match=r"trigrams\.npz"):
        Members.load(tmp_path)


def test_members_that_learned_initial_summaries_have_a_beam_of_their_own() -> None:
    weights, fluency = recipe.Agreement(beam=9, initial_beam=4), Trigrams.train(SUMMARIES, LEXICON)
    assert Members(("all-2", "near-2", "mu1-2"), "mu1-1", weights, fluency, {}).beams == [9, 9, 4]
