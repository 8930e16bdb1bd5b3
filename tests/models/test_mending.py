"""Each rule by example: a text, a line that a model might write, and the line that it becomes."""

from __future__ import annotations

import pytest

from nutgraf.models.mending import Mender
from nutgraf.text.lexicon import SPECIALS, Lexicon

# Verbs are known by their forms; a lexicon of news has them.
FORMS = """announce announces announced announcing
    break breaks broke broken breaking hit hits hitting kill kills killed killing cut cuts cutting
    fall falls fell value values valued valuing resign resigns resigned resigning
    say says said saying aim aims aimed aiming lead leads led leading fund funds funded funding
    name names named naming close closes closed closing"""


def mended(text: str, line: str, least: int = 1, most: int = 100) -> str:
    lexicon = Lexicon(SPECIALS).extended([text.split(), line.split(), FORMS.split(), ["to", "and", "the"]])
    found = Mender.of(lexicon.words)(lexicon.encode(text.split()), lexicon.encode(line.split()), least, most)
    return " ".join(lexicon.words[word] for word in found)


@pytest.mark.parametrize(
    ("text", "line", "wanted"),
    [
        ("senator mary hart named jo .", "senator hart names jo", "senator hart names jo"),
        ("senator mary j. hart named jo .", "senator j. hart names jo", "senator hart names jo"),
        ("mary j. hart named jo .", "mary j. names jo", "mary j. hart names jo"),
        ("u.s. senator mary hart named jo .", "senator hart names jo", "senator hart names jo"),
        ("acme senator mary hart named jo .", "acme senator hart names jo", "acme senator hart names jo"),
        ("senators ann lee and mary hart named jo .", "senators lee hart names jo", "senators lee and hart name jo"),
        ("acme fell after president jo hart resigned .", "acme fell after president resigns", None),
        ("teacher mary hart named jo .", "teacher hart names jo", "teacher mary hart names jo"),
    ],
)
def test_behind_a_title_a_headline_has_no_first_name(text: str, line: str, wanted: str | None) -> None:
    assert mended(text, line) == (wanted or "acme fell after president hart resigns")


@pytest.mark.parametrize(
    ("text", "line", "wanted"),
    [
        ("seven people are killed in oslo .", "seven people are killed in oslo", "seven people killed in oslo"),
        ("the plant is closing in oslo .", "plant is closing in oslo", "plant closing in oslo"),
        ("the plant may be closed .", "plant may be closed", "plant may be closed"),
        ("a man who was killed in oslo fell .", "man who was killed in oslo fell", "man who was killed in oslo fell"),
        ("the plant is safe .", "plant is safe", "plant is safe"),
    ],
)
def test_a_headline_has_no_helping_verb_before_a_participle(text: str, line: str, wanted: str) -> None:
    assert mended(text, line) == wanted


@pytest.mark.parametrize(
    ("text", "line", "wanted"),
    [
        ("heavy rain and winds of up to 90 miles , it said .", "heavy rain winds up to 90 miles", None),
        (
            "winds of 140 miles an hour hit the coast .",
            "winds 140 miles hour hit coast",
            "winds of 140 miles an hour hit coast",
        ),
        ("shares of chip maker zenith fell .", "shares chip zenith falls", "shares of chip maker zenith fall"),
        ("acme & acme has named a chief .", "acme & names chief", "acme & acme names chief"),
        ("acme inc named a chief .", "acme names chief", "acme names chief"),
        ("acme named on monday a chief .", "acme names chief", "acme names chief"),
        ("acme said it would close a plant .", "acme close plant", "acme to close plant"),
        ("ann said she would resign .", "ann says she resign", "ann says she would resign"),
        ("acme said on monday its plant is safe .", "acme plant safe", "acme says plant safe"),
        ("acme said on monday it closed .", "acme closes", "acme closes"),
        ("the plant did not close .", "plant close", "plant did not close"),
        ("the plant may be closed .", "plant may closed", "plant may be closed"),
        ("acme said it named a new chief .", "acme new chief", "acme named new chief"),
        ("acme widgets corp named a chief .", "widgets names chief", "acme widgets names chief"),
        ("in may acme named a chief .", "acme names chief", "acme names chief"),
        ("oil company zenith acme named ann .", "oil acme names ann", "oil company zenith acme names ann"),
        ("ann died after being hit .", "ann died after hit", "ann died after being hit"),
        ("ann did n't close mills .", "ann n't close mills", "ann did n't close mills"),
        ("acme will cut 2 miles an hour more .", "acme to cut 2 miles more", "acme to cut 2 miles an hour more"),
        ("acme aims to be hit by rain in oslo .", "acme aims to rain in oslo", "acme aims to be hit by rain in oslo"),
        ("shares in the united kingdom fell .", "shares in fell", "shares in united kingdom fell"),
        (
            "a plant closes in three days and names ann .",
            "plant closes in names ann",
            "plant closes in three days and names ann",
        ),
        ("a plant closes in three days and names ann .", "plant closes and names ann", "plant closes and names ann"),
        ("two men fell nine miles each for ann .", "two men fell nine ann", "two men fell nine miles for ann"),
        ("ann names this year 's chief .", "ann names 's chief", "ann names this year 's chief"),
        ("a plant that is closed names ann .", "plant that closed names ann", "plant that is closed names ann"),
        ("the head of acme resigned .", "head of acme resign", "head of acme resigns"),
        ("acme aims to have closed a plant .", "acme aims to closed plant", "acme aims to have closed plant"),
        (
            "acme fell following the latest cut in oslo .",
            "acme fell cut in oslo",
            "acme fell following latest cut in oslo",
        ),
        ("the firm that runs acme named ann .", "runs acme names ann", "firm that runs acme names ann"),
        ("a fault that cuts power .", "fault cuts power", "fault that cuts power"),
        ("acme fell as it closed a plant .", "acme fell as closes plant", "acme fell as it closes plant"),
        ("acme fell , after a fire .", "acme fell fire", "acme fell after fire"),
        ("at least seven people were killed .", "seven people killed", "at least seven people killed"),
        ("the head of acme resigned .", "acme resigns", "head of acme resigns"),
        ("acme said it named ann .", "names ann", "acme names ann"),
        ("the league for birds of asia named ann .", "for birds names ann", "league for birds of asia names ann"),
        (
            "ann found a planet that circles a star .",
            "ann found planet circles star",
            "ann found planet that circles star",
        ),
        ("ann hit a bill that would have named jo .", "ann hit bill names jo", "ann hit bill to name jo"),
        ("the old union is deeply hit by rain .", "deeply hit by rain", "old union is deeply hit by rain"),
        ("the states of the union named ann .", "named ann", "states of union named ann"),
        ("ann , whose mills were named in may , fell .", "ann named in may , fell", "ann fell"),
        ("ann , who was cut in may , has named jo .", "ann , cut in may , named jo", "ann names jo"),
        ("ann , who was cut in may , old , fell .", "ann cut in may , old , fell", "ann cut in may , old , fell"),
        ("it closes as long as i am ann .", "it closes as long am ann", "it closes as long as i am ann"),
        ("ann says that oslo fell .", "ann oslo falls", "ann says oslo falls"),
        ("aide jo q. hart , of oslo , fell .", "aide jo , fell", "aide jo q. hart , fell"),
        (
            "oil fell more than we had named , hit by ann .",
            "oil fell more than we hit by ann",
            "oil fell more than we had named , hit by ann",
        ),
        ("oil fell , in ohio , led by rain .", "oil fell led by rain", "oil fell , led by rain"),
        ("oil fell , led by rain .", "oil fell rain", "oil fell , led by rain"),
        ("two men are to be named .", "two men named", "two men to be named"),
        ("work on a newly named mill fell .", "work on newly names mill falls", "work on newly named mill falls"),
        (
            "ann fell in may , closing two old mills to jo .",
            "ann fell in may mills to jo",
            "ann fell in may , closing two old mills to jo",
        ),
        ("workers named ann .", "workers names ann", "workers named ann"),
        ("a plant led by ann said it had named jo .", "plant led by ann jo", "plant led by ann names jo"),
    ],
)
def test_what_joins_two_words_comes_back(text: str, line: str, wanted: str | None) -> None:
    assert mended(text, line) == (wanted or "heavy rain and winds of up to 90 miles")


@pytest.mark.parametrize(
    ("text", "line", "wanted"),
    [
        ("seven people were killed .", "seven people kills", "seven people killed"),
        ("acme cut a bid , valuing zenith .", "acme cuts bid values zenith", "acme cuts bid valuing zenith"),
        ("sales at acme fell .", "sales at acme falls", "sales at acme fall"),
        ("profit at acme fell .", "profit at acme falls", "profit at acme falls"),
        ("we will not close it .", "we to not close", "we will not close"),
        ("acme will not close .", "acme to not close", "acme will not close"),
        ("acme will close .", "acme to close", "acme to close"),
        ("a plant that is named acme closed .", "plant is named acme closes", "plant named acme closes"),
        ("acme says sales of oil fell .", "acme says sales of oil falls", "acme says sales of oil fall"),
        ("acme has named ann .", "acme named ann", "acme names ann"),
        ("two firms named ann .", "two firms names ann", "two firms name ann"),
        ("senators ann lee and jo doe named her .", "senators ann lee and jo doe names", None),
        ("acme has broken a rule .", "acme broken rule", "acme breaks rule"),
        ("acme and zenith have named ann .", "acme and zenith names ann", "acme and zenith name ann"),
        ("the firm of ann and jo has named me .", "firm of ann", "firm of ann and jo names me"),
        ("firms at the port have named ann .", "firms", "firms name ann"),
        ("acme may have named ann .", "acme may named ann", "acme may have named ann"),
        ("the plant may have been closed .", "plant may closed", "plant may have been closed"),
        ("senator ann lee and jo doe named her .", "senator ann lee and jo doe names", None),
        ("ann lee and jo doe named a chief .", "ann lee and jo doe names chief", "ann lee and jo doe named chief"),
        ("acme and two mills named ann .", "acme and two mills names ann", "acme and two mills name ann"),
        ("a bid named in court closed the mill .", "bid names in court", "bid named in court closed mill"),
        ("ann has named to the board jo , will .", "ann names to board jo", "ann names to board jo"),
        ("ann named in oslo the board hit a mill .", "ann names in oslo", "ann names in oslo"),
        (
            "mill and plant firm named plants and mills .",
            "mill and plant firm names plants",
            "mill and plant firm names plants",
        ),
        (
            "mill and old plant firm named mills .",
            "mill and old plant firm names mills",
            "mill and old plant firm named mills",
        ),
        (
            "ann , whose old mill in ohio closed , fell .",
            "ann , whose old mill in ohio closed",
            "ann , whose old mill in ohio closed fell",
        ),
        ("acme falls and zenith closed .", "acme falls and zenith closes", "acme falls and zenith closes"),
        ("acme has named ann .", "acme has named ann", "acme has named ann"),
        ("acme is naming a chief and closing a plant .", "acme to close plant", "acme to close plant"),
        ("police in oslo named a man .", "police in oslo names man", "police in oslo name man"),
    ],
)
def test_forms_of_verbs_are_those_of_the_sentence(text: str, line: str, wanted: str | None) -> None:
    assert mended(text, line) == (wanted or line.removesuffix("s"))


@pytest.mark.parametrize(
    ("most", "wanted"),
    [
        (9, "acme closes plants in ohio and names jane doe"),
        (8, "acme closes plants in ohio"),
        (4, "acme closes plants"),
        (2, "acme closes"),
    ],
)
def test_a_whole_line_has_no_more_words_than_are_asked_for(most: int, wanted: str) -> None:
    text = "acme closes plants in ohio and names jane doe as chief ."
    assert mended(text, "acme closes plants ohio and names jane", most=most) == wanted


@pytest.mark.parametrize(
    ("text", "line", "wanted"),
    [
        ("acme names jane doe as chief .", "acme names jane", "acme names jane doe"),
        ("acme names doe as port arden old football club came back .", "acme names doe as port", "acme names doe"),
        ("plant closes after a fire broke out at noon .", "plant closes after a fire broke", None),
        ("train hits a lorry at noon .", "train hits", "train hits lorry"),
        ("acme bids , valuing the firm at $ 2 .", "acme bids valuing", "acme bids valuing firm"),
        ("managers at the retail and wealth unit will not be named .", "managers at retail", None),
        ("floods closed hundreds of plants .", "floods closed hundreds", "floods closed hundreds of plants"),
        ("acme aims to buy natural gas .", "acme aims to buy natural", "acme aims to buy natural gas"),
        ("profit falls due to rain .", "profit falls due", "profit falls due to rain"),
        ("acme names chief .", "acme names chief", "acme names chief"),
        ("the board of acme named doe chief .", "board of acme", "board of acme named doe chief"),
        ("the plant in ohio , oslo was closed in may .", "plant in ohio , oslo", "plant in ohio , oslo closed in may"),
        ("acme closes plants in ohio , a day after zenith .", "acme closes plants in ohio , a day", None),
        ("acme named ann in deals closing the last gap of all .", "acme named ann in deals closing", None),
        ("the plant closes .", "the plant closes", "plant closes"),
        ("acme will have to close .", "acme to to close", "acme to close"),
        ("acme closes bora bora .", "acme closes bora bora", "acme closes bora bora"),
        ("names zenith 's big new long red unit .", "names zenith 's", "names zenith"),
        ("acme named ann , heir of more than 50 plants .", "acme named ann , heir of more", None),
        (
            "acme named ann , heir of more than 50 big old red mines .",
            "acme named ann , heir of more",
            "acme named ann",
        ),
        (
            "acme announced that the mill in ohio will close .",
            "acme announces mill",
            "acme announces mill to close",
        ),
        ("acme announced a mill in ohio that will close .", "acme announces mill", "acme announces mill"),
        ("sales fell , more than men had named .", "sales fell , more than men", "sales fell"),
        ("sales fell in may , more than men had named .", "sales fell in may , more than", "sales fell in may"),
        ("acme falls in may , closing mills and many new plants .", "acme falls in may ,", "acme falls in may"),
        (
            "a man who hit the plant has killed more than ten of the men .",
            "man who hit plant",
            "man who hit plant kills more than ten of men",
        ),
        ("ann , whose man resigned , killed two .", "ann , whose man resigned", "ann , whose man resigned killed two"),
        ("a man who hit jo has named ann and two men .", "man who hit jo", "man who hit jo names ann and two men"),
        ("ann says a plant would be closed in may .", "ann says plant", "ann says plant would be closed in may"),
        ("acme names ann before moving to a big old town .", "acme names ann before moving", "acme names ann"),
        ("acme closes plants a day after zenith closed .", "acme closes plants a day", "acme closes plants"),
        ("acme closes plants just a day after zenith .", "acme closes plants just a day", "acme closes plants"),
        ("acme falls , closed by the long and cold rain .", "acme falls , closed", "acme falls"),
        ("acme cuts jobs , the third cut this year .", "acme cuts jobs , third cut", "acme cuts jobs"),
        ("acme cuts jobs , the third cut , in may .", "acme cuts jobs , third cut", "acme cuts jobs , third cut"),
        ("ann was named for 29 years jail and other new and old terms .", "ann named for 29", "ann named for 29 years"),
        ("acme named ann , four years after a big old red mine closed .", "acme named ann , four", "acme named ann"),
        ("acme named ann in a new funding round led by jo .", "acme names ann in new funding round", None),
        ("acme was closed by low prices and cuts jobs .", "acme closed by low prices", "acme closed by low prices"),
        ("acme names ann head of food & drug stores .", "acme names ann head of food", None),
        ("acme closes a fund focused on oil .", "acme closes fund", "acme closes fund"),
        ("acme closes as a train hit a lorry .", "acme closes as train hit", "acme closes as train hit lorry"),
        ("acme was hit by claims in oslo .", "acme hit by claims", "acme hit by claims"),
        ("acme will name big and old and very deep mines .", "acme to name big", "acme to name big"),
        (
            "leaders named ann chief of a bank to close big and old and very deep mines .",
            "leaders name ann chief of bank to close",
            "leaders name ann chief of bank",
        ),
        ("acme named ann to facilitate the swift and safe end .", "acme named ann to facilitate", "acme named ann"),
        (
            "ann finds a cut that shows how the seas rose .",
            "ann finds cut that shows how",
            "ann finds cut that shows how seas rose",
        ),
    ],
)
def test_a_line_ends_where_a_phrase_does(text: str, line: str, wanted: str | None) -> None:
    endings = {
        "plant closes after a fire broke": "plant closes after a fire broke out",
        "managers at retail": "managers at retail and wealth unit will not be named",
        "acme closes plants in ohio , a day": "acme closes plants in ohio",
        "acme named ann in deals closing": "acme named ann in deals",
        "acme names ann in new funding round": "acme names ann in new funding round",
        "acme names ann head of food": "acme names ann head of food & drug stores",
        "acme named ann , heir of more": "acme named ann , heir of more than 50 plants",
    }
    assert mended(text, line) == (wanted or endings[line])


def test_as_many_words_stay_as_are_asked_for() -> None:
    text, line = "acme names doe as port arden football club came back .", "acme names doe as port"
    assert mended(text, line, least=3) == "acme names doe"
    assert mended(text, line, least=4) == line
    assert mended("acme names a chief .", "acme names a chief", least=0) == "acme names a chief"
    assert mended("names a chief .", "names a chief", least=0) == "names a chief"


@pytest.mark.parametrize(
    ("text", "line", "wanted"),
    [
        ("acme aims to close a large plant in oslo .", "acme aims to close", "acme aims to close large plant"),
        ("acme named a chief hit by rain in oslo .", "acme names chief hit by", "acme names chief hit by rain"),
        (
            "ann aims to close acme 's head office in oslo .",
            "ann aims to close acme 's",
            "ann aims to close acme 's head office",
        ),
        (
            "ann aims to close acme 's head office in oslo .",
            "ann aims to close acme",
            "ann aims to close acme 's head office",
        ),
    ],
)
def test_what_a_verb_or_an_owner_lacks_comes_behind_it(text: str, line: str, wanted: str) -> None:
    assert mended(text, line) == wanted


@pytest.mark.parametrize("line", ["", "zenith", "( zenith", "falls"])
def test_lines_of_other_words_and_empty_ones_stay(line: str) -> None:
    assert mended("acme names chief .", line) == line.removeprefix("( ")


@pytest.mark.parametrize(
    ("text", "line", "wanted"),
    [
        ("acme announced it has closed a plant .", "acme announces closes plant", "acme closes plant"),
        ("acme announced that it will close a plant .", "acme announces close plant", "acme to close plant"),
        ("acme announced that it has broken into zenith .", "acme announces into zenith", "acme breaks into zenith"),
        (
            "two men announced they have broken into zenith .",
            "two men announce into zenith",
            "two men break into zenith",
        ),
        ("acme announced that zenith has closed .", "acme announces zenith closes", "acme announces zenith closes"),
        ("acme announced its chief resigned .", "acme announces chief resigns", "acme announces chief resigns"),
        ("ann announced he was named chief .", "ann announces named chief", "ann named chief"),
        ("acme said it will close a plant .", "acme says will close plant", "acme will close plant"),
        ("acme said it is close to a deal .", "acme says is close to deal", "acme is close to deal"),
    ],
)
def test_who_announces_what_he_does_does_it(text: str, line: str, wanted: str) -> None:
    assert mended(text, line) == wanted


@pytest.mark.parametrize(
    ("text", "line", "wanted"),
    [
        (
            "ann hit by talks of big old new men in oslo .",
            "ann hit by talks of oslo",
            "ann hit by talks in oslo",
        ),
        ("ann named as a very new member of his team .", "ann named as team", "ann named as very new member of team"),
        ("ann hit by talks of leaders in oslo .", "ann hit by talks of oslo", "ann hit by talks of leaders in oslo"),
        ("ann hit by talks of two leaders .", "ann hit by talks of leaders", "ann hit by talks of two leaders"),
    ],
)
def test_a_noun_has_its_own_preposition(text: str, line: str, wanted: str) -> None:
    assert mended(text, line) == wanted
