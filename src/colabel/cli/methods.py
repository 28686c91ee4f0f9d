"""``colabel methods``: what can be fitted."""

from __future__ import annotations

from colabel.cli._app import app
from colabel.cli._common import Json, print_json


@app.command()
def methods(as_json: Json = False) -> None:
    """List the registered methods and what they can do."""
    from colabel.lab.methods import capabilities, get_method, list_methods, make

    if not as_json:
        _show()
        return
    rows = []
    for name in list_methods():
        method, _ = get_method(name)
        rows.append(
            {
                "name": name,
                "class": type(make(name)).__name__,
                "paper": method.paper,
                "summary": method.summary,
                "capabilities": capabilities(name),
            }
        )
    print_json(rows)


def _show() -> None:
    from rich.console import Console

    from colabel.cli._tables import plain_table
    from colabel.cli._text import shown
    from colabel.lab.methods import FACET_RULES, METHODS, RULES, capabilities

    table = plain_table()
    for heading in ("name", "paper", "what it is", "prob."):
        table.add_column(heading, no_wrap=heading != "what it is")
    for name, method in METHODS.items():
        proba = "yes" if capabilities(name)["predict_proba"] else "no"
        table.add_row(*map(shown, (name, method.paper, method.summary, proba)))
    console = Console()
    console.print(table)
    console.print("\nA suffix adds a decision rule tuned on out-of-fold scores:")
    console.print(", ".join(f"NAME+{rule}" for rule in RULES) + ".", highlight=False)
    console.print("For data with facets, the rule that chooses a label of each:")
    console.print(", ".join(f"NAME+{rule}" for rule in FACET_RULES) + ".", highlight=False)
