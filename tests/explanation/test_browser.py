"""Pages of explanations in Chromium: what they show, and what clicks do.

They need Selenium, `chromium` and `chromedriver` (Debian's packages chromium and chromium-driver);
without these they are skipped.
"""

import re
import shutil

import numpy as np
import pytest

import adjoint as ad
from adjoint.explanation.value_text import text_of
from tests.explanation.examples import (
    EXAMPLES,
    in_place_writes,
    nan_from_log,
    polynomial_fit,
    recursion,
)

webdriver = pytest.importorskip("selenium.webdriver", exc_type=ImportError)
from selenium.webdriver import ActionChains  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no Chromium with its driver"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
]
IDS = [make.__name__ for make in EXAMPLES]


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    folder = tmp_path_factory.mktemp("profile")
    for one in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(one)
    options.add_argument(f"--user-data-dir={folder}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


class Page:
    """A page in the browser, and the explanation that it is of."""

    def __init__(self, driver, folder, found, width=1200):
        self.driver, self.found = driver, found
        file = folder / "page.html"
        found.save(file)
        self.size = file.stat().st_size
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        driver.get(file.as_uri())

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.one(selector).get_property("textContent")

    def section(self, name):
        """The number of the section of a function."""
        heads = [one.get_property("textContent").split()[0] for one in self.all("summary")]
        return heads.index(name)

    def operations(self, section):
        """By text of the operations of a function: value, local derivative, cotangent."""
        rows = self.driver.execute_script(
            "return [...document.querySelectorAll(arguments[0])]"
            ".map(row => [...row.cells].map(cell => cell.textContent))",
            f"#s{section} tr.op",
        )
        return {text: tuple(cells) for _, text, *cells in rows}

    def rows(self, section):
        """The operations of a function: number, value, cotangent."""
        rows = self.driver.execute_script(
            "return [...document.querySelectorAll(arguments[0])]"
            ".map(row => [row.dataset.event, row.cells[2].textContent, row.cells[4].textContent])",
            f"#s{section} tr.op",
        )
        return [tuple(row) for row in rows]

    def events(self, name, number):
        """The operations in one call of a function."""
        calls = [call for call in self.found._run.tape.calls if call.name == name]
        return [event for event in self.found._run.tape.events if event.call is calls[number]]

    def click(self, element):
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        ActionChains(self.driver).move_to_element(element).click().perform()

    def errors(self):
        return [one for one in self.driver.get_log("browser") if one["level"] != "INFO"]


@pytest.fixture
def opened(chromium, tmp_path):
    pages = []

    def open_page(make, **options):
        f, args = make() if callable(make) and make.__name__ in IDS else make
        with np.errstate(all="ignore"):
            pages.append(Page(chromium, tmp_path, ad.explain(f, *args), **options))
        return pages[-1]

    yield open_page
    assert pages and not pages[-1].errors()


@pytest.mark.parametrize("width", [1200, 400])
@pytest.mark.parametrize("make", EXAMPLES, ids=IDS)
def test_a_page_of_each_example(opened, make, width):
    page = opened(make, width=width)
    assert page.size < 1_000_000
    assert page.text("#value") == text_of(page.found.value)
    rows = page.driver.execute_script(
        "return [...document.querySelectorAll('#gradient tbody tr')]"
        ".map(row => [...row.cells].map(cell => cell.textContent))"
    )
    run = page.found._run
    assert rows == [
        [one.name, one.snapshot.text, "0" if bar is None else text_of(bar)]
        for one, bar in zip(run.tape.inputs, run.bars, strict=True)
    ]
    assert page.all("#graph .node.result") or make is nan_from_log
    assert page.all("tr.op")
    script = "return document.documentElement.scrollWidth"
    assert page.driver.execute_script(script) <= width  # what is wide scrolls by itself
    resources = "return performance.getEntriesByType('resource').length"
    assert page.driver.execute_script(resources) == 0


def test_sliders(opened):
    page = opened(in_place_writes)
    step = page.section("Tank.step")
    for call in (0, 1):
        for iteration in (1, 2):
            expected = [
                (str(event.number), event.value.text, event.bar.text)
                for event in page.events("Tank.step", call)
                if event.path in ((), ((0, iteration),))
            ]
            assert sorted(page.rows(step)) == sorted(expected) and len(expected) == 15
            if iteration == 1:
                slider = page.one(f'#s{step} input[data-label^="loop"]')
                slider.send_keys(Keys.ARROW_RIGHT)
                assert page.driver.switch_to.active_element.get_attribute("value") == "2"
        page.one(f'#s{step} input[data-label="call"]').send_keys(Keys.ARROW_RIGHT)


def test_hovering_lights_lines_of_the_generated_code(opened):
    page = opened(in_place_writes)
    page.all("#s0 .switch button")[1].click()
    row = page.one("#s0 tr.line[data-line]:nth-child(5)")
    ActionChains(page.driver).move_to_element(row).perform()
    line = row.get_attribute("data-line")
    lit = page.all("#s0 .code .lit")
    lit = [one for one in lit if one.is_displayed()]
    assert lit and {one.get_attribute("data-line") for one in lit} == {line}
    assert any("pow_left(" in one.text for one in lit) and any("_bar" in one.text for one in lit)
    assert len(page.all("#graph .node.lit")) == 2
    code = next(one for one in page.all("#s0 .code div") if "'step'" in one.text)
    ActionChains(page.driver).move_to_element(code).perform()
    (source,) = page.all("#s0 tr.line.lit")
    assert "tank.step(inflow)" in source.text


def test_a_switch_between_the_program_and_the_generic_tier(opened):
    page = opened(nan_from_log)
    program, generic = page.all("#s0 [data-shown]")
    buttons = page.all("#s0 .switch button")
    assert [one.text for one in buttons] == ["program of the fast tier", "generic tier"]
    assert program.is_displayed() and not generic.is_displayed()
    assert "def gradient(p):" in program.text and "p_bar" in program.text
    source = next(one for one in page.all("#s0 tr.line") if "weights = p / np.sum(p)" in one.text)
    ActionChains(page.driver).move_to_element(source).perform()
    lit = [one.text for one in program.find_elements(By.CSS_SELECTOR, ".lit")]
    assert any("weights = p / t" in one for one in lit) and any("p_bar = " in one for one in lit)
    assert not any("np.log(weights)" in one and "_bar" not in one for one in lit)
    page.click(buttons[1])
    assert not program.is_displayed() and "def forward(" in generic.text
    assert [one.get_attribute("aria-pressed") for one in buttons] == ["false", "true"]
    assert not page.all("#graph .switch")
    page.click(buttons[0])
    code = next(one for one in program.find_elements(By.CSS_SELECTOR, ".code div")
                if "logs = np.log" in one.text and "#" not in one.text)  # fmt: skip
    ActionChains(page.driver).move_to_element(code).perform()
    (source,) = page.all("#s0 tr.line.lit")
    assert "logs = np.log(weights)" in source.text


def test_a_function_without_a_program_has_no_switch(opened):
    def f(x):
        text = f"{x:.3f}"
        return x * x + len(text)

    page = opened((f, (2.0,)))
    assert not page.all(".switch") and "generic tier" in page.text("#s0 .pair p")


def test_callees_unfold(opened):
    page = opened(recursion)
    section = page.section("power")
    assert page.operations(section)["half * half * x"][0] == text_of(1.25**11)
    for depth, expected in ((2, 1.25**5), (3, 1.25**2)):
        (button,) = page.all(f"#s{section} .calls button")
        assert button.text == "→ power"
        page.click(button)
        assert page.one(f"#s{section} .controls .mono").text == f"{depth} of 5"
        assert text_of(expected) in {value for value, _, _ in page.operations(section).values()}


def test_a_section_of_many_calls(opened):
    page = opened(polynomial_fit)
    call = page.section("Polynomial.__call__")
    assert len(page.all(f"#s{call} tr.op")) == 9
    page.click(page.one(f"#s{call} tr.op button"))
    assert len(page.all(f"#s{call} tr.op")) == 101


def test_nodes_lead_to_lines(opened):
    page = opened(in_place_writes)
    node = page.all("#graph .node[data-event]")[10]
    page.click(node.find_element(By.CSS_SELECTOR, "rect"))
    (row,) = page.all("tr.op.here")
    event = page.found._run.tape.events[int(node.get_attribute("data-event"))]
    assert row.get_attribute("data-event") == str(event.number)
    assert event.value.text in row.text and event.bar.text in row.text


def test_the_first_line_that_is_not_finite(opened):
    page = opened(nan_from_log)
    assert page.text("#bad").startswith(page.found.first_not_finite)
    page.click(page.one("#bad button"))
    (row,) = page.all("tr.op.here")
    assert "np.log(weights)" in row.text
    assert [one.text for one in row.find_elements(By.CSS_SELECTOR, "td.bad")] == [
        "[-0.4055, -inf, -1.099]"
    ]


def test_contributions_to_a_chosen_input(opened):
    page = opened(in_place_writes)
    names = [one.text for one in page.all("#input option")]
    assert names == ["levels", "levels[0]", "levels[1]", "levels[2]", "rate", "inflow"]
    gradient = page.found.gradient
    for place, total in ((1, gradient[0][0]), (4, gradient[1]), (5, gradient[2])):
        page.one("#input").send_keys(Keys.HOME, *[Keys.ARROW_DOWN] * place)
        assert page.text("#total") == text_of(total)
        amounts = [one.text for one in page.all("#contributions td:nth-child(3)")]
        assert sum(map(float, amounts)) == pytest.approx(total, rel=1e-4)
    assert page.text("#contributions td:nth-child(2)") == "self.levels[0] += inflow (4 times)"
    page.click(page.one("#contributions button"))
    assert "self.levels[0] += inflow" in page.one("tr.op.here").text


def test_nothing_of_the_user_is_markup(opened):
    def hostile(table):
        name = "</script><img src=x onerror=alert(1)>"  # <b>bold</b>
        return table[name] * table["<i>"]

    page = opened((hostile, ({"</script><img src=x onerror=alert(1)>": 2.0, "<i>": 3.0},)))
    assert not page.all("img") and not page.all("b") and not page.all("i")
    assert "<img src=x" in page.text("#gradient") and "<b>bold</b>" in page.text("#s0")
    assert re.search(r"table\['<i>'\]", page.text("#graph"))


def test_a_notebook_shows_the_page_in_a_frame(opened, tmp_path):
    page = opened(recursion)
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><meta charset=utf-8>{page.found._repr_html_()}", "utf-8")
    page.driver.get(file.as_uri())
    page.driver.switch_to.frame(page.one("iframe"))
    assert page.text("#value") == text_of(page.found.value) and page.all("tr.op")
    page.driver.switch_to.default_content()
