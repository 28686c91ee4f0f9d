"""The page of a report in a real browser."""

import pytest

from browser import chromium
from colabel.lab.report import write_report
from lab.run_samples import HOSTILE, write_predictions, write_run

if chromium.find() is None:
    pytest.skip(
        "Chromium is not installed (Debian: apt-get install chromium)", allow_module_level=True
    )
pytest.importorskip("jinja2")

# Contrast of text and what is behind it, as the guidelines for accessible pages define it.
CONTRAST = """
(() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const low = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode.parentElement;
    const words = walk.currentNode.textContent.trim();
    if (!words || !node.checkVisibility() || node.closest("script, title")) continue;
    const style = getComputedStyle(node);
    const ink = node.closest("svg") ? style.fill : style.color;
    const [a, b] = [light(rgb(ink)), light(behind(node))].sort();
    if ((b + 0.05) / (a + 0.05) < 4.5) low.push(words.slice(0, 40));
  }
  return low;
})()
"""
MEANS = "#run-1-means"
ROWS = (
    f"[...document.querySelector('{MEANS}').tBodies[0].rows]"
    ".filter(r => !r.hidden).map(r => r.cells[0].textContent)"
)


def choose(page, where, value):
    """Give a field a value, as a person would."""
    page.run(
        f"(() => {{ const field = document.querySelector('{where}'); field.value = '{value}';"
        " field.dispatchEvent(new Event('input', {bubbles: true})) })()"
    )


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = chromium.Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def plain(browser, tmp_path_factory):
    """The page of a run with a failure, a method without scores, and one left out."""
    folder = tmp_path_factory.mktemp("plain")
    write_run(
        folder / "run",
        [f"d{i}" for i in range(5)],
        ("best", "fair", "middle", "worst"),
        failed={("d3", "worst"): "failed: stopped after 120 s, the limit of a cell"},
        no_scores=("middle",),
        left_out=(("d2", "worst"),),
    )
    write_predictions(folder / "run", ["sun", "sand", "sea"], ["best", "middle", "worst"])
    write_report([folder / "run"], folder / "report.html")
    page = browser.open(folder / "report.html")
    yield page
    page.close()


def test_nothing_is_fetched_and_the_console_is_empty(plain):
    assert [url for url in plain.requests() if not url.startswith("data:")] == [
        plain.run("location.href")
    ]
    assert plain.complaints() == []
    assert "default-src 'none'" in plain.run("document.querySelector('meta[http-equiv]').content")


def test_columns_sort_both_ways_with_empty_places_last(plain):
    table = MEANS
    heads = plain.run(
        f"[...document.querySelectorAll('{table} thead button')].map(b => b.textContent)"
    )
    assert heads[0] == "method"
    column = next(i for i, head in enumerate(heads) if head.startswith("LRAP"))
    state = f"document.querySelectorAll('{table} thead th')[{column}].getAttribute('aria-sort')"
    cells = f"[...document.querySelector('{table}').tBodies[0].rows].map(r => r.cells[{column}])"
    assert plain.run(state) == "none"
    for way, sign in (("descending", -1.0), ("ascending", 1.0)):
        plain.run(f"document.querySelectorAll('{table} thead button')[{column}].click()")
        assert plain.run(state) == way
        found = plain.run(f"{cells}.map(c => c.dataset.v)")
        known = [float(value) for value in found if value != "NaN"]
        assert known == sorted(known, key=lambda value: sign * value)
        assert found[len(known) :] == ["NaN"] * 7  # no scores, failed, left out
    plain.run(f"document.querySelectorAll('{table} thead button')[0].click()")
    assert plain.run(state) == "none"
    assert plain.run(ROWS) == sorted(plain.run(ROWS))


def test_a_heading_is_not_broken_inside_a_word(browser, tmp_path):
    methods = [f"method{i}" for i in range(16)]
    write_run(tmp_path / "run", ["d0", "d1"], methods)
    write_predictions(tmp_path / "run", ["sun"], methods)
    write_report([tmp_path / "run"], tmp_path / "report.html")
    page = browser.open(tmp_path / "report.html", width=1000)
    heights = page.run(
        "[...document.querySelectorAll('#labels thead bdi')].map(b => b.getClientRects().length)"
    )
    page.close()
    assert heights == [1] * 16


def test_rows_and_columns_are_filtered(plain):
    form = "form[data-table=run-1-means]"
    choose(plain, f"{form} select", "1")
    assert sorted(plain.run(ROWS)) == ["best", "fair", "middle", "worst"]
    choose(plain, f"{form} input[type=search]", "OR")
    assert plain.run(ROWS) == ["worst"]
    assert plain.run(f"document.querySelector('{form} output').textContent") == "1 of 20 rows shown"
    hidden = f"[...document.querySelectorAll('{MEANS} tr')].map(r => r.cells[2].hidden)"
    box = f"document.querySelector('{form} input[type=checkbox]').click()"
    assert not any(plain.run(hidden))
    plain.run(box)
    assert all(plain.run(hidden))
    plain.run(box)
    for field in ("select", "input[type=search]"):
        choose(plain, f"{form} {field}", "")
    assert len(plain.run(ROWS)) == 20


def test_one_measure_is_shown_at_a_time(plain):
    shown = (
        "[...document.querySelectorAll('.panel')].filter(p => p.checkVisibility())"
        ".map(p => p.getAttribute('aria-label'))"
    )
    assert plain.run(shown) == ["example F1"]
    choose(plain, "form[data-chooses] select", "2")
    assert plain.run(shown) == ["Hamming loss"]
    # Ranks, and time on each dataset.
    assert plain.run("document.querySelectorAll('.panel.chosen svg').length") == 6


def test_no_place_is_empty(plain):
    empty = "[...document.querySelectorAll('td, th')].filter(c => !c.textContent.trim()).length"
    assert plain.run(empty) == 0
    silent = "[...document.querySelectorAll('td.none')].filter(c => !c.title).length"
    assert plain.run(silent) == 0
    reasons = "[...document.querySelectorAll('td.none')].map(c => c.textContent + ': ' + c.title)"
    found = set(plain.run(reasons))
    assert "failed: failed: stopped after 120 s, the limit of a cell" in found
    assert "not run: it was not asked to run there" in found
    assert "no scores: it gives no scores" in found


def test_keys_alone_are_enough(plain):
    """Tab reaches a head of a table, which shows that it is reached; Enter sorts."""
    plain.run("document.querySelector('#cells details').open = true")
    plain.run("document.querySelector('#cells form output').tabIndex = -1")
    plain.run("document.querySelector('#cells form select[name=s]').focus()")
    for _ in range(2):  # the table, which scrolls, then its first head
        plain.press("Tab", 9)
    focused = "document.activeElement.closest('th') && document.activeElement.textContent"
    assert plain.run(focused) == "method"
    assert plain.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    plain.press("Enter", 13, "\r")
    assert (
        plain.run("document.activeElement.closest('th').getAttribute('aria-sort')") == "ascending"
    )


def test_every_control_and_picture_has_a_name(plain):
    tree = plain.call("Accessibility.getFullAXTree")["nodes"]
    roles = {"button", "combobox", "searchbox", "checkbox", "image", "table", "region", "link"}
    seen = [
        node for node in tree if node.get("role", {}).get("value") in roles and not node["ignored"]
    ]
    assert len(seen) > 50
    assert [node for node in seen if not node.get("name", {}).get("value")] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(plain, scheme):
    plain.show(1200, scheme=scheme)
    assert plain.run(CONTRAST) == []
    plain.show(1200)


def test_a_phone_scrolls_tables_and_not_the_page(plain):
    plain.show(375, 700)
    assert plain.run("document.documentElement.scrollWidth") == 375
    plain.show(1200)


def test_it_prints(plain):
    assert plain.pdf().startswith(b"%PDF")
    plain.show(1200, media="print")
    assert not plain.run("document.querySelector('form.filters').checkVisibility()")
    plain.show(1200)


def test_hostile_names_are_text(browser, tmp_path):
    names = HOSTILE
    reason = f"failed: RuntimeError: {names[0]}"
    run = write_run(tmp_path / "<b>run", names, names, (0,), failed={(names[1], names[0]): reason})
    write_predictions(run, names, names, data=names[0], seeds=(0,))
    write_report([run], tmp_path / "report.html")
    page = browser.open(tmp_path / "report.html", width=375, height=700)
    assert page.run("typeof window.ran") == "undefined"
    assert page.complaints() == []
    assert len([url for url in page.requests() if not url.startswith("data:")]) == 1
    assert page.run("document.querySelectorAll('script').length") == 1
    assert page.run("document.querySelectorAll('[onload], [onerror], b').length") == 0
    assert page.run("document.documentElement.scrollWidth") == 375
    heads = page.run(
        "[...document.querySelectorAll('#labels th[scope=row]')].map(c => c.textContent)"
    )
    assert heads[:3] == [*names[:2], names[2]]
    assert "…" in heads[3]
    assert "\\u202e" in heads[4]
    assert names[3] in page.run("[...document.querySelectorAll('.full')].map(p => p.textContent)")
    assert page.run("document.querySelectorAll('bdi').length") > 20
    page.close()
