"""The page in a real browser, Debian's chromium: what a user sees, hears and does."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.expected_conditions import alert_is_present
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.wait import WebDriverWait

from nutgraf.progress import ShouldStop, never
from nutgraf.serve.access import Access
from nutgraf.serve.limits import Limits
from nutgraf.summarizing.results import Summary, SummaryOptions, SummaryResult, Word
from tests.serve.serving import Agrees, Echo, explain, models, running

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
MISSING = " and ".join(f"no {name}" for name in ("chromium", "chromedriver") if not shutil.which(name))
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"{MISSING} (apt-get install chromium chromium-driver)")

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,1000",
    "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
)  # fmt: skip
PATIENCE = 60  # seconds
MOST_WORDS = 50  # of a text; the page's own examples are shorter
READ = 30  # words that a model reads of a text
EXAMPLES, LENGTHS = 8, 6


class ShowsOptions(Echo):
    """Answers with the words of `serving.explain` (one copied, one new, a number) and the options it got."""

    def answer(
        self, texts: Sequence[str], options: SummaryOptions, should_stop: ShouldStop = never
    ) -> list[SummaryResult]:
        asked = f"{self.name} words={options.max_words} faithful={options.faithful}"
        read = [" ".join(text.split()[:READ]) for text in texts]
        return [explain(text, f"{text.split()[0]} news 42 {asked}", options.n_best) for text in read]


class CopiesWords(Echo):
    """Answers with the first word, like an initializer: no probabilities, nothing new."""

    def answer(
        self, texts: Sequence[str], options: SummaryOptions, should_stop: ShouldStop = never
    ) -> list[SummaryResult]:
        words = [tuple(text.split()) for text in texts]
        return [SummaryResult(w, (Summary(w[0], (Word(w[0], True, 0, None, False),), None),)) for w in words]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """The driver's path is given, so that selenium never downloads one."""
    assert BROWSER
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options, Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    served = models(ShowsOptions("all-2"), ShowsOptions("mu1-0"), CopiesWords("mu1-2"))
    with running(served, Limits(words=MOST_WORDS, texts=10)) as client:
        yield str(client.base_url).rstrip("/")


@pytest.fixture
def page(browser: webdriver.Chrome, address: str) -> webdriver.Chrome:
    """The browser on a fresh page that has loaded its list of models."""
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    complaints(browser)  # of earlier tests
    browser.get(address)
    until(browser, lambda: texts(browser, "#model option"))
    return browser


def until(page: webdriver.Chrome, holds: Callable[[], object]) -> None:
    WebDriverWait(page, PATIENCE, 0.05).until(lambda _: holds())


def one(page: webdriver.Chrome, selector: str) -> WebElement:
    return page.find_element(By.CSS_SELECTOR, selector)


def texts(page: webdriver.Chrome, selector: str) -> list[str]:
    return [found.text for found in page.find_elements(By.CSS_SELECTOR, selector)]


def complaints(page: webdriver.Chrome) -> list[str]:
    """Return what the browser has logged since the last call: errors of scripts, blocked and failed requests."""
    return [found["message"] for found in page.execute("getLog", {"type": "browser"})["value"]]


def paste(page: webdriver.Chrome, text: str) -> None:
    """Replace the text at once, not key by key."""
    one(page, "#text").clear()
    one(page, "#text").click()
    page.execute_cdp_cmd("Input.insertText", {"text": text})


def press(page: webdriver.Chrome, *keys: str) -> None:
    ActionChains(page).send_keys(*keys).perform()


def finished(page: webdriver.Chrome) -> bool:
    """Whether the page waits for no answer."""
    return one(page, "#go").text == "Summarize" and "…" not in texts(page, "#families .model-summary")


def summarize(page: webdriver.Chrome, text: str) -> None:
    """Summarize a text with the mouse, and wait for the answer."""
    paste(page, text)
    one(page, "#go").click()
    until(page, lambda: one(page, "#source").get_property("textContent") == text and finished(page))


def choose(page: webdriver.Chrome, model: str) -> None:
    Select(one(page, "#model")).select_by_value(model)


def answered(page: webdriver.Chrome, summary: str) -> bool:
    return one(page, "#summary").text == summary and finished(page)


def test_it_lists_the_models_by_plain_names(page: webdriver.Chrome) -> None:
    assert page.title == "nutgraf"
    assert texts(page, "#model option") == ["Best", "Cuts only", "Learned from cuts"]
    assert one(page, "#model").get_property("value") == "all-2"
    assert one(page, "#about").text.startswith("all-2: learned from")
    assert one(page, "#about").text.endswith("Used by default: the first.")
    choose(page, "mu1-0")
    assert one(page, "#about").text == "mu1-0: keeps the words that a summary would have, and cuts the others."
    assert complaints(page) == []  # no error of a script, nothing that the security policy blocked


def test_an_example_is_summarized(page: webdriver.Chrome) -> None:
    example = one(page, "#examples button")
    example.click()
    until(page, lambda: one(page, "#tally").text and finished(page))
    text = str(example.get_attribute("data-text"))
    assert one(page, "#text").get_property("value") == text
    assert example.get_attribute("aria-pressed") == "true"
    assert one(page, "#summary").text.startswith(f"{text.split()[0]} news 42")


def test_a_change_of_model_length_or_faithfulness_runs_at_once(page: webdriver.Chrome) -> None:
    choose(page, "mu1-0")
    assert one(page, "#error").text == ""  # there is no text yet, and nobody asked for a summary
    summarize(page, "Fire in town")
    assert one(page, "#summary").text == "Fire news 42 mu1-0 words=None faithful=None"
    choose(page, "all-2")
    until(page, lambda: answered(page, "Fire news 42 all-2 words=None faithful=None"))
    one(page, "#lengths label:nth-child(3)").click()
    until(page, lambda: answered(page, "Fire news 42 all-2 words=8 faithful=None"))
    one(page, "#faithful").click()
    until(page, lambda: answered(page, "Fire news 42 all-2 words=8 faithful=True"))


def test_the_copy_button(page: webdriver.Chrome, address: str) -> None:
    permissions = {"origin": address, "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    page.execute_cdp_cmd("Browser.grantPermissions", permissions)
    assert not one(page, "#copy").is_displayed()
    summarize(page, "Fire in town")
    one(page, "#copy").click()
    until(page, lambda: one(page, "#copy").text == "Copied")
    read = "navigator.clipboard.readText().then(arguments[0])"
    assert page.execute_async_script(read) == "Fire news 42 all-2 words=None faithful=None"


def test_copying_works_without_the_clipboard_of_secure_pages(page: webdriver.Chrome) -> None:
    summarize(page, "Fire in town")
    page.execute_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    one(page, "#copy").click()
    until(page, lambda: one(page, "#copy").text == "Copied")
    one(page, "#text").clear()
    one(page, "#text").send_keys(Keys.CONTROL, "v")
    assert one(page, "#text").get_property("value") == "Fire news 42 all-2 words=None faithful=None"


def test_copied_and_new_words_are_marked(page: webdriver.Chrome) -> None:
    assert not one(page, "#origin").is_displayed()
    summarize(page, "Fire in town")
    assert texts(page, "#summary .copied") == ["Fire"]
    assert texts(page, "#summary mark:not(.unsupported)") == ["news"]
    assert texts(page, "#summary mark.unsupported") == ["42"]
    assert one(page, "#tally").text == "3 words: 1 copied, 2 new; score 50%"
    assert texts(page, "#flags li") == ["42 is a number that is not in the text. The model added it: check it."]
    assert one(page, "#source").text == "Fire in town"
    assert texts(page, "#source .copied") == ["Fire"]
    ActionChains(page).move_to_element(one(page, "#summary .copied")).perform()
    assert texts(page, "#source .highlighted") == ["Fire"]
    assert one(page, "#about-word").text == "Fire: copied from the text, probability 50%"


def test_the_legend_has_only_marks_that_occur(page: webdriver.Chrome) -> None:
    def legend() -> list[str]:
        return [text for text in texts(page, "#legend > *") if text]

    summarize(page, "Fire in town")
    assert legend() == ["copied from the text", "new", "not supported by the text"]
    choose(page, "mu1-2")
    until(page, lambda: answered(page, "Fire"))
    assert legend() == ["copied from the text"]


def test_words_that_were_not_read_are_grey(page: webdriver.Chrome) -> None:
    summarize(page, "fire " * READ + "in town")
    assert texts(page, "#source .unread") == [" in town"]
    assert one(page, "#read").text == f"The model read the first {READ} of {READ + 2} words; the rest is in grey."
    summarize(page, "Fire in town.")
    assert texts(page, "#source .unread") == []
    assert one(page, "#read").text == ""


def test_html_is_shown_as_text_and_runs_nothing(page: webdriver.Chrome) -> None:
    image, script = "<img/src=x/onerror=alert(1)>", "<script>alert(2)</script>"
    summarize(page, f"{image} {script} </p><h1>big</h1>")
    assert one(page, "#summary").text.startswith(f"{image} news")
    assert one(page, "#source").text == f"{image} {script} </p><h1>big</h1>"
    assert not page.find_elements(By.CSS_SELECTOR, "img, body script, .answer h1, .more h1")
    assert not alert_is_present()(page)
    assert complaints(page) == []


def test_alternatives_have_scores(page: webdriver.Chrome) -> None:
    summarize(page, "Fire in town")
    found = texts(page, "#alternatives .line")
    assert [text.split()[:3] for text in found] == [["Fire", "news", "42"]] * 3
    assert [text.split()[-1] for text in found] == ["2", "3", "4"]
    assert texts(page, "#alternatives .score") == ["50%"] * 3
    rows = page.find_elements(By.CSS_SELECTOR, "#alternatives li")
    for row, score in zip(rows, page.find_elements(By.CSS_SELECTOR, "#alternatives .score"), strict=True):
        assert row.rect["y"] <= score.rect["y"] < row.rect["y"] + row.rect["height"]
    assert one(page, "#about-scores").is_displayed()
    assert not one(page, "#about-agreement").is_displayed()
    choose(page, "mu1-2")  # it has neither alternatives nor probabilities
    until(page, lambda: answered(page, "Fire"))
    assert not one(page, "#next").is_displayed()
    assert not one(page, "#about-scores").is_displayed()


def test_the_score_of_several_models_is_explained(browser: webdriver.Chrome) -> None:
    with running(models(Agrees("agreed-2"))) as client:
        browser.get(str(client.base_url))
        until(browser, lambda: texts(browser, "#model option"))
        summarize(browser, "Fire in town")
        parts = "agreement 75%, fluency 25%, content 1.6%"
        assert one(browser, "#tally").text == f"3 words: 1 copied, 2 new; score −2.50 ({parts})"
        assert texts(browser, "#alternatives .score") == ["−3.50", "−4.50", "−5.50"]
        assert texts(browser, "#alternatives .parts") == [parts] * 3
        assert not one(browser, "#about-scores").is_displayed()
        assert one(browser, "#about-agreement").text.startswith("Score: the higher the better. It is made of agreement")


def test_all_models_side_by_side_get_what_was_chosen(page: webdriver.Chrome) -> None:
    one(page, "#lengths label:nth-child(3)").click()
    one(page, "#faithful").click()
    choose(page, "mu1-0")
    summarize(page, "Fire in town")
    assert texts(page, "#families .model-summary") == []  # folded away, nobody asks the other models
    one(page, "#others summary").click()
    until(page, lambda: len(texts(page, "#families .model-summary")) == 3 and finished(page))
    assert texts(page, "#families h3") == ["Together", "Cutting"]
    assert texts(page, "#families h4") == ["Best all-2", "Cuts only mu1-0", "Learned from cuts mu1-2"]
    assert one(page, "#families [aria-current=true]").get_attribute("data-model") == "mu1-0"
    assert texts(page, "#families .model-summary") == [
        "Fire news 42 all-2 words=8 faithful=True", "Fire news 42 mu1-0 words=8 faithful=True", "Fire"
    ]  # fmt: skip
    together, initial, learned = (found.rect for found in page.find_elements(By.CSS_SELECTOR, "#families .model"))
    assert initial["y"] == learned["y"]  # an initializer and what was learned from it, side by side
    assert together["x"] == learned["x"] > initial["x"]
    choose(page, "mu1-2")  # while they are shown
    until(page, lambda: page.find_elements(By.CSS_SELECTOR, "#families [data-model=mu1-2][aria-current=true]"))


# The outline of what has the focus; a radio button is invisible, and its label has the outline.
OUTLINE = """
const focused = document.activeElement, box = focused.getBoundingClientRect();
const shown = getComputedStyle(focused.type === "radio" ? focused.nextElementSibling : focused);
return box.left >= 0 && shown.outlineStyle !== "none" ? parseFloat(shown.outlineWidth) : 0;
"""


def test_every_control_is_reached_by_the_tab_key_and_shows_it(page: webdriver.Chrome) -> None:
    reached: list[str] = []
    while reached[-1:] != ["Summarize"]:
        press(page, Keys.TAB)
        reached.append(page.switch_to.active_element.accessible_name)
        assert page.execute_script(OUTLINE) >= 2, reached
        assert len(reached) < 30
    examples = texts(page, "#examples button")
    faithful = "No name and no number that is not in the text"
    assert reached == [
        "Skip to the text", "nutgraf", "API", "Text", *examples, "auto", "Model", faithful, "Summarize"
    ]  # fmt: skip
    press(page, Keys.TAB)
    assert page.switch_to.active_element.accessible_name == "Choose a text file"
    label = "return getComputedStyle(document.activeElement.nextElementSibling).outlineStyle"
    assert page.execute_script(label) == "solid"


def test_the_keyboard_is_enough(page: webdriver.Chrome) -> None:
    press(page, Keys.TAB, Keys.ENTER)  # the link that skips
    assert page.switch_to.active_element == one(page, "#text")
    press(page, "Fire in town", *[Keys.TAB] * (EXAMPLES + 1), Keys.ARROW_RIGHT)  # past the examples, to the lengths
    press(page, Keys.TAB, Keys.ARROW_DOWN, Keys.TAB, Keys.SPACE, Keys.TAB, Keys.ENTER)
    until(page, lambda: answered(page, "Fire news 42 mu1-0 words=6 faithful=True"))
    press(page, Keys.TAB, Keys.TAB, Keys.ARROW_RIGHT)  # past the copy button into the summary, to its second word
    assert page.switch_to.active_element.text == "news"
    assert page.execute_script(OUTLINE) >= 2
    assert one(page, "#about-word").text == "news: new"


def test_control_and_enter_in_the_text_summarize(page: webdriver.Chrome) -> None:
    one(page, "#text").send_keys("Fire in town", Keys.CONTROL, Keys.ENTER)
    until(page, lambda: one(page, "#tally").text and finished(page))
    assert one(page, "#summary").text.startswith("Fire news 42")


def test_an_error_of_the_server_is_shown_without_the_old_answer(page: webdriver.Chrome) -> None:
    assert one(page, "#error").get_attribute("role") == "alert"
    summarize(page, "Fire in town")
    assert one(page, "#others").is_displayed()
    paste(page, "fire " * (MOST_WORDS + 1))
    one(page, "#go").click()
    until(page, lambda: f"{MOST_WORDS + 1} words, expected at most {MOST_WORDS}" in one(page, "#error").text)
    assert one(page, "#go").text == "Summarize"
    assert one(page, "#summary").text == "The summary will appear here."
    for selector in ("#origin", "#copy", "#others", "#flags"):
        assert not one(page, selector).is_displayed()
    assert one(page, "#tally").text == ""
    summarize(page, "Fire in town")
    assert not one(page, "#error").is_displayed()


def test_a_missing_text_is_an_error_without_a_request(page: webdriver.Chrome) -> None:
    one(page, "#go").click()
    assert "There is no text yet" in one(page, "#error").text
    assert page.switch_to.active_element == one(page, "#text")


LINES = "\ufeffFire in town\r\n\r\n" + "fire " * (MOST_WORDS + 1) + "\nRain\tin town\n" + "More rain\n" * 20
SUMMARIES = ["Fire", "", "", "Rain", *["More"] * 20]


def until_worked(page: webdriver.Chrome) -> None:
    until(page, lambda: one(page, "#file-links").is_displayed() and not one(page, "#file-stop").is_displayed())


def test_a_file_of_lines_becomes_a_file_of_summaries(page: webdriver.Chrome, tmp_path: Path) -> None:
    folder = tmp_path / "downloads"
    behaviour = {"behavior": "allow", "downloadPath": str(folder)}
    page.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)
    choose(page, "mu1-2")
    path = tmp_path / "news.txt"
    path.write_bytes(LINES.encode())
    one(page, "#file").send_keys(str(path))
    until_worked(page)
    # Line 3 is too long for this server, and it takes fewer texts in a request than the page sends.
    assert one(page, "#file-status").text == "news.txt: 24 lines. 1 line could not be summarized and is blank."
    one(page, "#file-summaries").click()
    until(page, lambda: (folder / "news.summaries.txt").exists())
    assert (folder / "news.summaries.txt").read_text().split("\n") == [*SUMMARIES, ""]
    one(page, "#file-table").click()
    until(page, lambda: (folder / "news.summaries.tsv").exists())
    table = (folder / "news.summaries.tsv").read_text().split("\n")
    assert (table[0], table[1], table[3]) == ("Fire in town\tFire", "\t", "Rain in town\tRain")
    assert [message for message in complaints(page) if " 422 " not in message] == []


DROP = """
const carried = new DataTransfer();
carried.items.add(new File([arguments[0]], arguments[1]));
for (const type of ["dragover", "drop"])
  document.querySelector("header").dispatchEvent(
    new DragEvent(type, { dataTransfer: carried, bubbles: true, cancelable: true }));
"""


def test_a_file_may_be_dropped_anywhere(page: webdriver.Chrome) -> None:
    choose(page, "mu1-2")
    page.execute_script(DROP, "Fire in town\nRain", "dropped.txt")
    until_worked(page)
    assert one(page, "#file-status").text == "dropped.txt: 2 lines."
    assert one(page, "#file-summaries").text == "dropped.summaries.txt"
    page.execute_script(DROP, "a\0b", "binary.txt")
    until(page, lambda: one(page, "#file-error").text == "binary.txt is not a text file.")
    assert not one(page, "#file-links").is_displayed()


def test_a_file_can_be_stopped_and_what_is_done_is_kept(browser: webdriver.Chrome) -> None:
    slow = Echo("all-2")
    with running(models(slow)) as client:
        browser.get(str(client.base_url))
        until(browser, lambda: texts(browser, "#model option"))
        browser.execute_script(DROP, "Fire\n" * 40, "many.txt")
        until(browser, slow.begun.is_set)
        assert one(browser, "#file-progress").is_displayed()
        assert one(browser, "#file-status").text == "many.txt: 40 lines"
        one(browser, "#file-stop").click()
        until(browser, lambda: one(browser, "#file-status").text == "many.txt: 0 lines of 40; stopped.")
        assert not one(browser, "#file-links").is_displayed()
        slow.go.set()
        browser.execute_script(DROP, "Fire\n" * 40, "many.txt")
        until_worked(browser)
        assert one(browser, "#file-status").text == "many.txt: 40 lines."
        assert one(browser, "#file-progress").get_property("value") == 1


def test_the_page_asks_for_the_key(browser: webdriver.Chrome) -> None:
    with running(models(ShowsOptions("all-2")), access=Access(key="sesame")) as client:
        browser.get(str(client.base_url))
        until(browser, lambda: one(browser, "#key-form").is_displayed())
        assert browser.switch_to.active_element.accessible_name == "This server requires a key"
        press(browser, "wrong", Keys.ENTER)
        until(browser, lambda: one(browser, "#key-error").text == "The server rejected that key.")
        press(browser, "sesame", Keys.ENTER)
        until(browser, lambda: texts(browser, "#model option") == ["Best"])
        assert not one(browser, "#key-form").is_displayed()


def test_no_request_goes_to_another_host(page: webdriver.Chrome, address: str) -> None:
    summarize(page, "Fire in town")
    asked = page.execute_script("return performance.getEntriesByType('resource').map(({ name }) => name)")
    assert {f"{address}/static/page.js", f"{address}/v1/models", f"{address}/v1/summarize"} <= set(asked)
    assert [url for url in asked if not url.startswith(f"{address}/")] == []


def test_every_control_has_a_name(page: webdriver.Chrome) -> None:
    controls = page.find_elements(By.CSS_SELECTOR, "#form :is(input, select, textarea, button)")
    assert len(controls) == 1 + EXAMPLES + LENGTHS + 3  # the text, examples, lengths, the model, faithful, the button
    assert [found.get_attribute("outerHTML") for found in controls if not found.accessible_name.strip()] == []


def test_nothing_is_wider_than_a_phone(page: webdriver.Chrome, address: str) -> None:
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    width = "return Math.max(document.documentElement.scrollWidth, innerWidth)"
    assert page.execute_script(width) == 390
    summarize(page, "Fire" * 50 + " in town")
    assert page.execute_script(width) == 390
    one(page, "#others summary").click()
    page.execute_script(DROP, "Fire in town", f"{'dropped' * 20}.txt")
    until_worked(page)
    until(page, lambda: len(texts(page, "#families .model-summary")) == 3 and finished(page))
    assert page.execute_script(width) == 390
    page.get(f"{address}/docs")
    assert page.execute_script(width) == 390


# Every text that is shown, with the contrast (WCAG 2) of its colour and the colour behind it.
CONTRASTS = """
const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
const light = (colour) => channels(colour).slice(0, 3).map((value) => value / 255)
  .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
  .reduce((sum, value, place) => sum + value * [0.2126, 0.7152, 0.0722][place], 0);
const behind = (element) => {
  const colour = getComputedStyle(element).backgroundColor;
  return channels(colour)[3] === 0 ? behind(element.parentElement) : colour;
};
const contrast = (element, part) => {
  const [low, high] = [getComputedStyle(element, part).color, behind(element)].map(light).sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};
const own = (element) => [...element.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE)
  .map(({ data }) => data.trim()).join("");
const field = document.getElementById("text");
return [...document.body.querySelectorAll("*")]
  .filter((element) => own(element) && element.getClientRects().length)
  .map((element) => [own(element), contrast(element)])
  .concat([[field.placeholder, contrast(field, "::placeholder")]]);
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_is_readable(page: webdriver.Chrome, scheme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    paper = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(251, 250, 247)") == (scheme == "light")
    one(page, "#go").click()  # the error is read, too
    found = page.execute_script(CONTRASTS)
    page.execute_script(DROP, "Fire in town", "dropped.txt")
    until_worked(page)
    summarize(page, "fire " * READ + "in town")
    one(page, "#others summary").click()
    until(page, lambda: len(texts(page, "#families .model-summary")) == 3 and finished(page))
    one(page, "#copy").click()
    press(page, Keys.TAB)  # to the first word of the summary, which lights up its source
    assert texts(page, "#source .highlighted") == ["fire"]
    found += page.execute_script(CONTRASTS)
    shown = {text for text, _ in found}
    assert {"The summary will appear here.", "fire", "news", "42", "Summarize", "Alternatives"} <= shown
    assert {"in town", "50%", "Choose a text file", "dropped.summaries.txt", "Learned from cuts"} <= shown
    assert any(text.startswith("There is no text yet") for text in shown)
    assert [(text, ratio) for text, ratio in found if ratio < 4.5] == []
