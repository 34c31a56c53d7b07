"use strict";
// Without this script everything is there, too: it moves a cursor over the charts, narrows tables, opens parts for paper.
const narrow = () => {
  const field = document.getElementById("find");
  const rows = Array.from(document.querySelectorAll(".searched tbody tr"));
  const words = field.value.toLowerCase().split(" ").filter(Boolean);
  const folded = document.getElementById("more-tests")?.closest("details");
  if (folded && words.length) folded.open = true;
  let shown = 0;
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
    shown += row.hidden ? 0 : 1;
  }
  document.getElementById("found").textContent = words.length ? `${shown} of ${rows.length} shown` : "";
};
// The table of a long loop has some of its rows; the others are drawn in the form of the first when they are asked for.
const complete = () => {
  const list = document.getElementById("unlisted");
  if (!list) return;
  const body = list.closest("details").querySelector("tbody"), first = body.rows[0];
  for (const [place, number, why, ...texts] of JSON.parse(list.textContent)) {
    const row = first.cloneNode(true);
    row.id = `i${number}`;
    row.className = "";
    row.dataset.why = why;
    for (const [column, text] of texts.entries()) {
      const link = row.cells[column].querySelector("a");
      if (link) link.href = link.getAttribute("href").replace(/\d+$/, number);
      (link || row.cells[column]).textContent = text;
    }
    body.insertBefore(row, body.rows[place] || null);
  }
  list.remove();
};
addEventListener("toggle", (event) => { if (event.target.querySelector("#unlisted")) complete(); }, true);
// One line over all charts, and what is known of its iteration in one sentence: its row, why, and its other metrics.
let cursor = null;
const point = (number) => {
  const told = document.getElementById("cursor");
  cursor = number;
  for (const chart of document.querySelectorAll("svg[data-at]")) {
    const [first, last, left, right] = chart.dataset.at.split(" ").map(Number);
    const line = chart.querySelector(".cursor") || chart.appendChild(document.createElementNS(chart.namespaceURI, "path"));
    const x = left + (number - first) / Math.max(1, last - first) * (right - left);
    line.setAttribute("class", "cursor");
    line.setAttribute("d", `M${x.toFixed(1)} 0V${chart.viewBox.baseVal.height}`);
  }
  complete();
  const row = document.getElementById(`i${number}`);
  if (!row) { told.textContent = `Iteration ${number}: no record`; return; }
  const names = Array.from(row.closest("table").querySelectorAll("th"), (each) => each.textContent);
  const cells = Array.from(row.cells, (cell) => cell.textContent);
  const others = Array.from(document.querySelectorAll("figure[data-values]"))
    .filter((each) => !names.includes(each.dataset.label))
    .map((each) => `${each.dataset.label} ${each.dataset.values.split("|")[row.sectionRowIndex]}`);
  const values = names.map((name, place) => `${name} ${cells[place]}`).filter((_, place) => cells[place]);
  told.textContent = [...values.slice(0, 1), row.dataset.why, ...values.slice(1), ...others].filter(Boolean).join(" · ");
};
const pointed = (event) => {
  const chart = event.target.closest && event.target.closest("svg[data-at]");
  if (!chart) return;
  const [first, last, left, right] = chart.dataset.at.split(" ").map(Number), box = chart.getBoundingClientRect();
  const x = (event.clientX - box.left) / box.width * chart.viewBox.baseVal.width;
  const number = Math.round(first + (x - left) / (right - left) * (last - first));
  const at = Math.min(last, Math.max(first, number || 0));
  if (at !== cursor) point(at);
};
// Arrow keys go from iteration to iteration in a chart, and from row to row in the table of loops: one stop of Tab each.
const step = (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -Infinity, End: Infinity }[event.key];
  const chart = by && event.target.matches(".chart") && event.target.querySelector("svg[data-at]");
  const row = by && event.target.closest(".loops tbody tr");
  const clamped = (number, first, last) => Math.min(last, Math.max(first, number));
  if (chart) {
    const [first, last] = chart.dataset.at.split(" ").map(Number);
    point(clamped((cursor ?? (by === -1 ? last + 1 : first - 1)) + by, first, last));
  } else if (row) {
    const rows = Array.from(row.parentNode.rows).filter((each) => !each.hidden);
    const place = stops(row).indexOf(event.target), next = stops(rows[clamped(rows.indexOf(row) + by, 0, rows.length - 1)]);
    if (place < 0) return;
    for (const stop of stops(row)) stop.tabIndex = -1;
    for (const stop of next) stop.tabIndex = 0;
    next[Math.min(place, next.length - 1)].focus();
  } else return;
  event.preventDefault();
};
const stops = (row) => Array.from(row.querySelectorAll("a, input"));
const limit = () => {
  const boxes = Array.from(document.querySelectorAll(".loops input")), most = Number(document.querySelector(".loops")?.dataset.most);
  const full = boxes.filter((box) => box.checked).length >= most;
  for (const box of boxes) box.disabled = full && !box.checked;
};
addEventListener("pointermove", pointed);
addEventListener("keydown", step);
addEventListener("change", limit);
const prepare = () => {
  for (const link of document.querySelectorAll(".chart a")) link.tabIndex = -1;
  for (const region of document.querySelectorAll(".chart:has(svg[data-at])"))
    region.setAttribute("aria-description", "Arrow keys, Home and End move the cursor over the iterations");
  Array.from(document.querySelectorAll(".loops tbody tr")).slice(1).flatMap(stops).forEach((stop) => { stop.tabIndex = -1; });
  limit();
  if (document.getElementById("unlisted")?.closest("details").open) complete();
  if (cursor !== null && document.getElementById("cursor")) point(cursor);
  const field = document.getElementById("find");
  if (!field) return;
  field.closest(".search").hidden = false;
  field.addEventListener("input", narrow);
};
prepare();
let opened = [];
addEventListener("beforeprint", () => {
  complete();
  opened = Array.from(document.querySelectorAll("details:not([open])")).filter((part) => !part.querySelector("pre"));
  for (const part of opened) part.open = true;
});
addEventListener("afterprint", () => { for (const part of opened) part.open = false; });
// A mark of the chart leads to a row that may be folded away.
addEventListener("hashchange", () => {
  complete();
  const target = document.getElementById(location.hash.slice(1));
  const folded = target && target.closest("details");
  if (folded) { folded.open = true; target.scrollIntoView(); }
});
