"""The page in a real browser, Debian's chromium: what a user sees, hears and does."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence

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

from nutgraf.serve.limits import Limits
from nutgraf.summarizing.summarizer import SummaryOptions, SummaryResult
from tests.serve.serving import Echo, explain, models, running

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


class ShowsOptions(Echo):
    """Answers with the words of `serving.explain` (one copied, one new, a number) and the options it got."""

    def answer(self, texts: Sequence[str], options: SummaryOptions) -> list[SummaryResult]:
        asked = f"{self.name} words={options.max_words} faithful={options.faithful}"
        return [explain(text, f"{text.split()[0]} news 42 {asked}", options.n_best) for text in texts]


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
    with running(models(ShowsOptions("all-2"), ShowsOptions("mu1-0")), Limits(words=MOST_WORDS)) as client:
        yield str(client.base_url)


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
    rows = texts(page, "#models .model-summary")
    return len(rows) == 2 and "…" not in rows and one(page, "#go").text == "Summarize"


def summarize(page: webdriver.Chrome, text: str) -> None:
    """Summarize a text with the mouse, and wait for all models."""
    paste(page, text)
    one(page, "#go").click()
    until(page, lambda: finished(page))


def test_it_lists_the_models(page: webdriver.Chrome) -> None:
    assert page.title == "nutgraf"
    assert texts(page, "#model option") == ["all-2", "mu1-0"]
    assert one(page, "#model").get_property("value") == "all-2"
    assert "after back-translation" in one(page, "#about").text
    Select(one(page, "#model")).select_by_visible_text("mu1-0")
    assert "mu:1" in one(page, "#about").text
    assert complaints(page) == []  # no error of a script, nothing that the security policy blocked


def test_an_example_is_summarized(page: webdriver.Chrome) -> None:
    example = one(page, "#examples button")
    example.click()
    until(page, lambda: finished(page))
    assert one(page, "#text").get_property("value") == example.get_attribute("data-text")
    assert example.get_attribute("aria-pressed") == "true"
    assert one(page, "#summary").text.startswith("The news 42")


def test_copied_and_new_words_are_marked(page: webdriver.Chrome) -> None:
    assert not one(page, "#origin").is_displayed()
    summarize(page, "Fire in town")
    assert texts(page, "#summary .copied") == ["Fire"]
    assert texts(page, "#summary mark:not(.unsupported)") == ["news"]
    assert texts(page, "#summary mark.unsupported") == ["42"]
    assert one(page, "#tally").text.startswith("3 words: 1 copied, 2 new")
    assert texts(page, "#flags li") == ["42 is a number that is not in the text. The model added it: check it."]
    assert one(page, "#source").text == "Fire in town"
    assert texts(page, "#source .copied") == ["Fire"]
    ActionChains(page).move_to_element(one(page, "#summary .copied")).perform()
    assert texts(page, "#source .highlighted") == ["Fire"]
    assert one(page, "#about-word").text == "Fire: copied from the text, probability 50%"


def test_html_is_shown_as_text_and_runs_nothing(page: webdriver.Chrome) -> None:
    image, script = "<img/src=x/onerror=alert(1)>", "<script>alert(2)</script>"
    summarize(page, f"{image} {script} </p><h1>big</h1>")
    assert one(page, "#summary").text.startswith(f"{image} news")
    assert one(page, "#source").text == f"{image} {script} </p><h1>big</h1>"
    assert not page.find_elements(By.CSS_SELECTOR, "img, body script, .answer h1, .others h1")
    assert not alert_is_present()(page)
    assert complaints(page) == []


def test_alternatives(page: webdriver.Chrome) -> None:
    summarize(page, "Fire in town")
    found = texts(page, "#alternatives li")
    assert [text.split()[:3] for text in found] == [["Fire", "news", "42"]] * 3
    assert [text.split()[-1] for text in found] == ["2", "3", "4"]


def test_all_models_side_by_side_get_what_was_chosen(page: webdriver.Chrome) -> None:
    Select(one(page, "#model")).select_by_visible_text("mu1-0")
    one(page, "#lengths label:nth-child(3)").click()
    one(page, "#faithful").click()
    summarize(page, "Fire in town")
    assert one(page, "#summary").text == "Fire news 42 mu1-0 words=8 faithful=True"
    assert [text.split()[0] for text in texts(page, "#models h3")] == ["all-2", "mu1-0"]
    assert texts(page, "#models .model-summary") == [
        f"Fire news 42 {name} words=8 faithful=True" for name in ("all-2", "mu1-0")
    ]
    assert one(page, "#models [aria-current=true]").get_attribute("data-model") == "mu1-0"
    boxes = [found.rect for found in page.find_elements(By.CSS_SELECTOR, "#models li")]
    assert boxes[0]["y"] == boxes[1]["y"]


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
    faithful = "Faithful: no name and no number that is not in the text"
    assert reached == [
        "Skip to the text", "nutgraf", "API", "Text", *examples, "default", "Model", faithful, "Summarize"
    ]  # fmt: skip


def test_the_keyboard_is_enough(page: webdriver.Chrome) -> None:
    press(page, Keys.TAB, Keys.ENTER)  # the link that skips
    assert page.switch_to.active_element == one(page, "#text")
    press(page, "Fire in town", *[Keys.TAB] * 7, Keys.ARROW_RIGHT)  # past the examples, to the lengths
    press(page, Keys.TAB, Keys.ARROW_DOWN, Keys.TAB, Keys.SPACE, Keys.TAB, Keys.ENTER)
    until(page, lambda: finished(page))
    assert one(page, "#summary").text == "Fire news 42 mu1-0 words=6 faithful=True"
    press(page, Keys.TAB, Keys.ARROW_RIGHT)  # into the summary, to its second word
    assert page.switch_to.active_element.text == "news"
    assert page.execute_script(OUTLINE) >= 2
    assert one(page, "#about-word").text == "news: new"


def test_control_and_enter_in_the_text_summarize(page: webdriver.Chrome) -> None:
    one(page, "#text").send_keys("Fire in town", Keys.CONTROL, Keys.ENTER)
    until(page, lambda: finished(page))
    assert one(page, "#summary").text.startswith("Fire news 42")


def test_an_error_of_the_server_is_shown(page: webdriver.Chrome) -> None:
    assert one(page, "#error").get_attribute("role") == "alert"
    paste(page, "fire " * (MOST_WORDS + 1))
    one(page, "#go").click()
    until(page, lambda: f"{MOST_WORDS + 1} words, expected at most {MOST_WORDS}" in one(page, "#error").text)
    assert one(page, "#go").text == "Summarize"
    summarize(page, "Fire in town")
    assert not one(page, "#error").is_displayed()


def test_a_missing_text_is_an_error_without_a_request(page: webdriver.Chrome) -> None:
    one(page, "#go").click()
    assert "There is no text yet" in one(page, "#error").text
    assert page.switch_to.active_element == one(page, "#text")


def test_the_page_asks_for_the_key(browser: webdriver.Chrome) -> None:
    with running(models(ShowsOptions("all-2")), key="sesame") as client:
        browser.get(str(client.base_url))
        until(browser, lambda: one(browser, "#key-form").is_displayed())
        assert browser.switch_to.active_element.accessible_name == "This server requires a key"
        press(browser, "wrong", Keys.ENTER)
        until(browser, lambda: one(browser, "#key-error").text == "The server rejected that key.")
        press(browser, "sesame", Keys.ENTER)
        until(browser, lambda: texts(browser, "#model option") == ["all-2"])
        assert not one(browser, "#key-form").is_displayed()


def test_no_request_goes_to_another_host(page: webdriver.Chrome, address: str) -> None:
    summarize(page, "Fire in town")
    asked = page.execute_script("return performance.getEntriesByType('resource').map(({ name }) => name)")
    assert {f"{address}/static/page.js", f"{address}/v1/models", f"{address}/v1/summarize"} <= set(asked)
    assert [url for url in asked if not url.startswith(f"{address}/")] == []


def test_every_control_has_a_name(page: webdriver.Chrome) -> None:
    controls = page.find_elements(By.CSS_SELECTOR, "#form :is(input, select, textarea, button)")
    assert len(controls) == 16  # a text, 6 examples, 6 lengths, a model, faithful, the button
    assert [found.get_attribute("outerHTML") for found in controls if not found.accessible_name.strip()] == []


def test_nothing_is_wider_than_a_phone(page: webdriver.Chrome, address: str) -> None:
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    width = "return Math.max(document.documentElement.scrollWidth, innerWidth)"
    assert page.execute_script(width) == 390
    summarize(page, "Fire" * 50 + " in town")
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
    found = page.execute_script(CONTRASTS)
    summarize(page, "Fire in town")
    one(page, "#text").clear()
    one(page, "#go").click()  # the error is read, too
    press(page, *[Keys.TAB] * 11)  # to the first word of the summary, which lights up its source
    assert texts(page, "#source .highlighted") == ["Fire"]
    found += page.execute_script(CONTRASTS)
    shown = {text for text, _ in found}
    assert {"The summary will appear here.", "Fire", "news", "42", "Summarize", "Alternatives"} <= shown
    assert any(text.startswith("There is no text yet") for text in shown)
    assert [(text, ratio) for text, ratio in found if ratio < 4.5] == []
