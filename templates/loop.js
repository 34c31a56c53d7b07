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
let cursor = null, range = null;
const point = (number) => {
  const told = document.getElementById("cursor");
  cursor = number;
  if (range && (number < range[0] || number > range[1])) zoom(number, range[1] - range[0]);
  for (const chart of document.querySelectorAll("svg[data-at]")) {
    const [first, last, left, right] = seen(chart);
    const line = chart.querySelector(":scope > .cursor") || chart.appendChild(document.createElementNS(chart.namespaceURI, "path"));
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
// What a chart shows: its first and last iteration, now or at all, and where they lie.
const whole = (chart) => chart.dataset.at.split(" ").map(Number);
const seen = (chart) => range ? [...range, ...whole(chart).slice(2)] : whole(chart);
// All charts show the iterations around one, or all of them: what lies along the axis is stretched, marks are moved.
const zoom = (middle, span) => {
  const charts = Array.from(document.querySelectorAll("svg[data-at]"));
  const [start, end] = whole(charts[0]), from = Math.max(start, Math.min(Math.round(middle - span / 2), end - span));
  range = span < end - start ? [from, from + span] : null;
  for (const chart of charts) {
    const [first, last, left, right] = whole(chart), [low, high] = seen(chart);
    const by = (last - first) / (high - low), shift = left - left * by - (low - first) / (last - first) * (right - left) * by;
    let plot = chart.querySelector(":scope > .plot");
    if (!plot) {
      plot = chart.appendChild(document.createElementNS(chart.namespaceURI, "svg"));
      plot.setAttribute("class", "plot");
      for (const [name, value] of Object.entries({ x: left, width: right - left, height: chart.viewBox.baseVal.height })) plot.setAttribute(name, value);
      plot.setAttribute("viewBox", `${left} 0 ${right - left} ${chart.viewBox.baseVal.height}`);
      plot.append(...chart.querySelectorAll(":scope > :is(.line, .dots, .tests, .part, .spread, .peak, .point, a, text[text-anchor=middle])"));
    }
    plot.setAttribute("overflow", range ? "hidden" : "visible");
    const ticks = plot.querySelectorAll(":scope > text");
    for (const [place, tick] of ticks.entries()) {
      tick.dataset.all ??= `${tick.getAttribute("x")} ${tick.textContent}`;
      const number = Math.round(low + (place + 0.5) / ticks.length * (high - low));
      const [x, text] = range ? [left + (number - low) / (high - low) * (right - left), number] : tick.dataset.all.split(" ");
      tick.setAttribute("x", x);
      tick.textContent = text;
    }
    for (const part of plot.querySelectorAll(":scope > :not(text)")) {
      const stretched = part.matches(".line, .dots, .tests, .part, .spread");
      part.removeAttribute("transform");
      if (!range) continue;
      const box = part.getBBox(), x = box.x + box.width / 2;
      part.setAttribute("transform", stretched ? `matrix(${by} 0 0 1 ${shift} 0)` : `translate(${x * by + shift - x} 0)`);
    }
  }
};
const at = (event, chart) => {
  const [first, last, left, right] = seen(chart), box = chart.getBoundingClientRect();
  const x = (event.clientX - box.left) / box.width * chart.viewBox.baseVal.width;
  return Math.min(last, Math.max(first, Math.round(first + (x - left) / (right - left) * (last - first)) || 0));
};
const chartOf = (event) => event.target.closest && event.target.closest("svg[data-at]:not(.plot)");
let begun = null;
const pointed = (event) => {
  const chart = chartOf(event);
  if (chart && at(event, chart) !== cursor) point(at(event, chart));
};
const pressed = (event) => {
  const chart = event.button === 0 && event.pointerType === "mouse" && chartOf(event);
  begun = chart ? at(event, chart) : null;
  if (chart) event.preventDefault();
};
const released = (event) => {
  const chart = begun !== null && chartOf(event), span = chart ? Math.abs(at(event, chart) - begun) : 0;
  if (span > 1) zoom((at(event, chart) + begun) / 2, span);
  begun = null;
};
// Arrow keys go from iteration to iteration in a chart, and from row to row in the table of loops: one stop of Tab each.
const step = (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const near = { "+": 0.5, "-": 2, "0": Infinity, Escape: Infinity }[event.key];
  const zoomed = near && event.target.matches(".chart") && event.target.querySelector("svg[data-at]");
  if (zoomed) {
    const [first, last] = seen(zoomed), [start, end] = whole(zoomed);
    zoom(cursor ?? (first + last) / 2, Math.min(end - start, Math.max(4, Math.round((last - first) * near))));
    if (cursor !== null) point(cursor);
    event.preventDefault();
    return;
  }
  const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -Infinity, End: Infinity }[event.key];
  const chart = by && event.target.matches(".chart") && event.target.querySelector("svg[data-at]");
  const row = by && event.target.closest(".loops tbody tr");
  const clamped = (number, first, last) => Math.min(last, Math.max(first, number));
  if (chart) {
    const [first, last] = whole(chart);
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
addEventListener("pointerdown", pressed);
addEventListener("pointerup", released);
addEventListener("dblclick", (event) => { if (range && chartOf(event)) zoom(0, Infinity); });
addEventListener("keydown", step);
addEventListener("change", limit);
const prepare = () => {
  for (const link of document.querySelectorAll(".chart a")) link.tabIndex = -1;
  for (const region of document.querySelectorAll(".chart:has(svg[data-at])"))
    region.setAttribute("aria-description", "Arrow keys, Home and End move the cursor over the iterations, plus and minus zoom, 0 shows all");
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
