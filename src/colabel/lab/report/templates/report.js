"use strict";
document.documentElement.classList.add("js");

// Rows of a table by one column; places without a value come last, whichever way.
function sortBy(table, column, ascending) {
  const body = table.tBodies[0];
  const keyed = Array.from(body.rows, (row) => {
    const cell = row.cells[column];
    const isNumber = cell.hasAttribute("data-v");
    const key = isNumber ? parseFloat(cell.dataset.v) : cell.textContent.trim();
    const isEmpty = isNumber ? Number.isNaN(key) : cell.classList.contains("none");
    return { row, key, isEmpty };
  });
  const way = ascending ? 1 : -1;
  keyed.sort((a, b) => {
    if (a.isEmpty || b.isEmpty) return Number(a.isEmpty) - Number(b.isEmpty);
    if (typeof a.key === "number" && typeof b.key === "number") return way * (a.key - b.key);
    return way * String(a.key).localeCompare(String(b.key), undefined, { numeric: true });
  });
  body.append(...keyed.map((one) => one.row));
}

function makeSortable(table) {
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, column) => {
    if (head.hasAttribute("data-fixed")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const first = head.dataset.first || "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const next = now === first ? other : first;
      heads.forEach((one) => one.hasAttribute("aria-sort") && one.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", next);
      sortBy(table, column, next === "ascending");
    });
  });
}

// A form shows those rows of its table that fit all of its fields, and the columns ticked.
function makeFilter(form) {
  const table = document.getElementById(form.dataset.table);
  const said = form.querySelector("output");
  const show = () => {
    const chosen = Array.from(form.querySelectorAll("select"), (one) => [one.name, one.value]);
    const words = form.querySelector("input[type=search]");
    const wanted = words ? words.value.trim().toLowerCase() : "";
    let count = 0;
    for (const row of table.tBodies[0].rows) {
      const fits = chosen.every(([name, value]) => value === "" || row.dataset[name] === value);
      const named = row.querySelector("[data-search]");
      row.hidden = !(fits && (!wanted || named.textContent.toLowerCase().includes(wanted)));
      count += row.hidden ? 0 : 1;
    }
    for (const box of form.querySelectorAll("input[type=checkbox]")) {
      const column = Number(box.value);
      for (const row of table.rows) row.cells[column].hidden = !box.checked;
    }
    said.textContent = `${count} of ${table.tBodies[0].rows.length} rows shown`;
  };
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
}

// One measure at a time: its table and pictures.
function makeChooser(form) {
  const panels = Array.from(document.querySelectorAll(`[data-panels="${form.dataset.chooses}"]`));
  const select = form.querySelector("select");
  const show = () =>
    panels.forEach((panel) => panel.classList.toggle("chosen", panel.dataset.measure === select.value));
  select.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
}

function makeCopy(code) {
  if (!navigator.clipboard) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy: ${code.textContent}`);
  button.addEventListener("click", () =>
    navigator.clipboard.writeText(code.textContent).then(
      () => { button.textContent = "Copied"; },
      () => { button.textContent = "Not allowed"; },
    ),
  );
  code.after(button);
}

document.querySelectorAll("table.sortable").forEach(makeSortable);
document.querySelectorAll("form[data-table]").forEach(makeFilter);
document.querySelectorAll("form[data-chooses]").forEach(makeChooser);
document.querySelectorAll("code.command").forEach(makeCopy);
