"""The page: one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import colabel
from colabel.exceptions import MissingExtraError
from colabel.lab.paper_tables import Reproduced
from colabel.lab.redo import redo_command, run_command
from colabel.lab.report.drawings import RankPicture, Scatter, draw_ranks, draw_scatter
from colabel.lab.report.kept_files import (
    LabelTable,
    ModelPicture,
    label_tables,
    model_pictures,
    svg_uri,
)
from colabel.lab.report.reproduced import PaperRow, paper_rows, reproduced
from colabel.lab.report.standings import Standing, standings
from colabel.lab.report.text import duration, measure_name, number, plural, seconds, short
from colabel.lab.report.words import about_cells, describe_paper, describe_standing, title_of
from colabel.lab.rows import list_failures
from colabel.lab.runs import Run
from colabel.messages import printable

__all__ = ["render_page"]

# Where folds are many, a page of all cells would be one of nothing else.
MAX_OPEN_CELLS = 60


@dataclass(frozen=True)
class Panel:
    """One measure: its table, its words and its pictures."""

    standing: Standing
    words: Sequence[str]
    ranks: RankPicture | None
    scatters: Sequence[Scatter]


@dataclass(frozen=True)
class Section:
    """One run on the page."""

    run: Run
    panels: Sequence[Panel]
    command: str
    found: Reproduced | None = None
    paper: Sequence[PaperRow] = ()
    paper_words: str = ""
    picture: str = ""
    labels: Sequence[LabelTable] = field(default_factory=list)
    models: Sequence[ModelPicture] = field(default_factory=list)


def render_page(runs: Sequence[Run], *, title: str | None = None) -> str:
    """Return a report of runs as HTML.

    Nothing is fetched and nothing but the page's own script can run: names from data are text, and
    the page's policy forbids the rest.

    Parameters
    ----------
    runs : sequence of Run
    title : str or None
        Heading; None says what was run.

    Raises
    ------
    MissingExtraError
        Without jinja2, which the extra ``lab`` brings.
    """
    template = _environment().get_template("page.html")
    script, style = _asset("report.js"), _asset("style.css")
    sections = [_section(run) for run in runs]
    names = {name for run in runs for name in _names(run, sections)}
    html: str = template.render(
        title=title or title_of(runs),
        sections=sections,
        about=about_cells(runs),
        seconds_in_all=sum(run.seconds for run in runs),
        written=time.strftime("%Y-%m-%d %H:%M"),
        version=colabel.__version__,
        long_names=sorted(name for name in names if short(name) != printable(name)),
        failed=[failure for run in runs for failure in list_failures(run.rows)],
        redo=redo_command,
        max_open_cells=MAX_OPEN_CELLS,
        script=script,
        style=style,
        policy=_policy(script, style),
    )
    return html


def _section(run: Run) -> Section:
    found = reproduced(run)
    paper = paper_rows(found) if found is not None else []
    return Section(
        run,
        [_panel(standing, run) for standing in standings(run)],
        run_command(run),
        found,
        paper,
        describe_paper(paper) if found is not None else "",
        svg_uri(run.picture.read_bytes()) if run.picture is not None else "",
        label_tables(run),
        model_pictures(run),
    )


def _panel(standing: Standing, run: Run) -> Panel:
    wide = len(standing.data) == 1
    drawn = (draw_scatter(standing, data, wide=wide) for data in standing.data)
    return Panel(
        standing,
        describe_standing(standing, run),
        draw_ranks(standing),
        [picture for picture in drawn if picture is not None],
    )


def _names(run: Run, sections: Sequence[Section]) -> list[str]:
    """List every name from elsewhere that is on the page."""
    labels = [name for s in sections if s.run is run for t in s.labels for name in t.label_names]
    return [*run.data, *run.methods, *labels]


def _policy(script: str, style: str) -> str:
    """Return a content security policy under which only this script and this style count."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _asset(name: str) -> str:
    """Return a file of the package, as the browser will see it."""
    return (files(__package__) / "templates" / name).read_text(encoding="utf-8").strip()


@cache
def _environment() -> Any:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup, escape
    except ImportError as error:
        raise MissingExtraError("a report page", "lab") from error
    environment = Environment(
        loader=PackageLoader("colabel.lab.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "name": lambda text, width=60: Markup("<bdi>%s</bdi>") % escape(short(text, width)),
        "short": short,
        "measure": measure_name,
        "num": number,
        "secs": seconds,
        "duration": duration,
        "safe_text": Markup,
    }
    environment.globals |= {"plural": plural}
    return environment
