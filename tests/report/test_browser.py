"""The page in a browser: no errors, no requests, a slider that tells the truth, dark, narrow, on paper."""

from __future__ import annotations

import json
import re
import shutil

import pytest

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def address(report, tmp_path_factory):
    return report.write(tmp_path_factory.mktemp("report") / "report.html").as_uri()


@pytest.fixture
def open_page(browser, address):
    """Opens the page and, at the end, fails on anything that the browser complained of or asked for."""
    contexts, complaints, requests = [], [], []

    def opened(width=1280, height=900, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not complaints
    assert set(requests) == {address}


def background(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def lightness(colour):
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / 3


def test_opens_without_errors_or_requests_and_hostile_text_stays_text(open_page):
    page = open_page()
    assert page.title().startswith("A title </title>")  # the words, and not what they would do
    assert page.locator(".answers .card").count() == 6
    assert page.locator("figure svg").count() >= 9
    assert page.locator("table.records tbody tr").count() == 25


def test_the_slider_shows_the_row_of_its_table(open_page):
    page = open_page()
    table = json.loads(page.locator("#threshold-table").text_content())
    slider, size = page.locator("#threshold"), page.locator("#list-size")
    assert size.text_content() == f"{table['size'][table['start']]:,}"
    marker = "document.getElementById('threshold-marker').getBoundingClientRect().left"
    left = page.evaluate(marker)
    slider.focus()
    page.keyboard.press("End")
    while size.text_content() == "0":
        page.keyboard.press("ArrowLeft")
    k = int(slider.input_value())
    assert k > table["start"]
    assert page.locator("#threshold-value").text_content() == str(table["threshold"][k]).removesuffix(".0")
    assert size.text_content() == f"{table['size'][k]:,}"
    assert page.locator("#found").text_content() == f"{int(table['found'][k] + 0.5):,}"
    shown = float(page.locator("#precision").text_content().removesuffix(" %")) / 100
    assert shown == pytest.approx(table["precision"][k], abs=0.00501)
    assert page.locator("#precision-range").text_content().startswith("between ")
    assert page.evaluate(marker) > left
    page.keyboard.press("Home")
    assert page.locator("#recall").text_content() == "100 %"


def test_an_empty_list_has_no_precision(open_page):
    page = open_page()
    table = json.loads(page.locator("#threshold-table").text_content())
    page.locator("#threshold").focus()
    page.keyboard.press("End")
    expected = "–" if table["size"][-1] == 0 else " %"
    assert expected in page.locator("#precision").text_content()


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_dark_follows_the_system_and_the_button(open_page, scheme, dark):
    page = open_page(scheme=scheme)
    assert (lightness(background(page)) < 128) is dark
    page.locator("#theme").click()
    assert (lightness(background(page)) < 128) is not dark
    ink = page.evaluate("getComputedStyle(document.querySelector('figure svg')).color")
    assert abs(lightness(ink) - lightness(background(page))) > 128
    page.locator("#theme").click()
    assert (lightness(background(page)) < 128) is dark


@pytest.mark.parametrize("width", [375, 768])
def test_no_sideways_scrolling(open_page, width):
    page = open_page(width=width, height=800)
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_prints_light_with_all_details(open_page, tmp_path):
    page = open_page(scheme="dark")
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "report.pdf").stat().st_size > 20_000
    page.emulate_media(media="print")
    assert background(page) == "rgb(255, 255, 255)"
    assert not page.locator("#threshold").is_visible()
