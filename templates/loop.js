"use strict";
// Without this script everything is there, too: it only narrows the table of tests, and opens all parts for paper.
const narrow = () => {
  const field = document.getElementById("find");
  const rows = Array.from(document.querySelectorAll("#matrix tbody tr"));
  const words = field.value.toLowerCase().split(" ").filter(Boolean);
  let shown = 0;
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
    shown += row.hidden ? 0 : 1;
  }
  document.getElementById("found").textContent = words.length ? `${shown} of ${rows.length} tests` : "";
};
const prepare = () => {
  const field = document.getElementById("find");
  if (!field) return;
  field.closest(".search").hidden = false;
  field.addEventListener("input", narrow);
};
prepare();
let opened = [];
addEventListener("beforeprint", () => {
  opened = Array.from(document.querySelectorAll("details:not([open])")).filter((part) => !part.querySelector("pre"));
  for (const part of opened) part.open = true;
});
addEventListener("afterprint", () => { for (const part of opened) part.open = false; });
// A mark of the chart leads to a row that may be folded away.
addEventListener("hashchange", () => {
  const target = document.getElementById(location.hash.slice(1));
  const folded = target && target.closest("details");
  if (folded) { folded.open = true; target.scrollIntoView(); }
});
