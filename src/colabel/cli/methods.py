"""``colabel methods``: what can be fitted."""

from __future__ import annotations

from colabel.cli._app import app
from colabel.cli._common import Json, print_json


@app.command()
def methods(as_json: Json = False) -> None:
    """List the registered methods and what they can do."""
    from colabel.lab.methods import METHODS, RULES, capabilities, get_method, list_methods, make

    if as_json:
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
        return

    from rich.console import Console
    from rich.table import Table

    table = Table("name", "class", "paper", "what it is", "probabilities")
    for name, method in METHODS.items():
        proba = "yes" if capabilities(name)["predict_proba"] else "no"
        table.add_row(name, type(make(name)).__name__, method.paper, method.summary, proba)
    console = Console()
    console.print(table)
    console.print(
        "Add a tuned decision rule to any of them: "
        + ", ".join(f"NAME+{rule}" for rule in RULES)
        + "."
    )
