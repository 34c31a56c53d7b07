// A page of `serve`: events say what happens now, and that the record changed; then header and main are fetched again.
const told = document.getElementById("now");
let activity = { what: "", since: null, said: "" };
const lasting = (seconds) => {
  const all = Math.max(0, Math.round(seconds)), hours = Math.floor(all / 3600), minutes = Math.floor(all / 60) % 60;
  return hours ? `${hours} h ${minutes} min` : minutes ? `${minutes} min ${all % 60} s` : `${all} s`;
};
const tell = () => {
  const at = activity.since && new Date(activity.since * 1000);
  const since = at ? ` since ${at.toLocaleTimeString()} (${lasting((Date.now() - at) / 1000)})` : "";
  told.textContent = activity.what && `Now: ${activity.what}${since}${activity.said ? `. It says: ${activity.said}` : ""}`;
};
let renewing = false, missed = false;
const renew = async () => {
  missed = renewing;
  if (renewing) return;
  renewing = true;
  try {
    const answer = await fetch(location.pathname + location.search);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!page.querySelector("main")) return;
    const folds = (of) => Array.from(of.querySelectorAll("details"));
    const name = (part) => part.querySelector("summary").textContent;
    const open = new Map(folds(document).map((part) => [name(part), part.open]));
    for (const part of folds(page)) if (open.has(name(part))) part.open = open.get(name(part));
    const changed = Array.from(document.querySelectorAll("main input[id]"))
      .filter((field) => field.value !== field.defaultValue || field.checked !== field.defaultChecked);
    const focused = document.activeElement, place = [scrollX, scrollY];
    const path = focused && focused !== document.body && (focused.id ? `#${CSS.escape(focused.id)}` :
      focused.getAttribute("href") && `a[href="${CSS.escape(focused.getAttribute("href"))}"]`);
    for (const part of ["header", "main"]) document.querySelector(part).replaceWith(page.querySelector(part));
    for (const field of changed) {
      const same = document.getElementById(field.id);
      if (same) [same.value, same.checked] = [field.value, field.checked];
    }
    prepare();
    if (document.getElementById("find")?.value) narrow();
    if (path) document.querySelector(path)?.focus({ preventScroll: true });
    scrollTo(...place);
    document.title = page.title;
    document.body.dataset.version = page.body.dataset.version;
    document.getElementById("renewed").textContent = `Renewed at ${new Date().toLocaleTimeString()}.`;
  } finally {
    renewing = false;
  }
  if (missed) renew();
};
const source = new EventSource(document.body.dataset.events);
source.addEventListener("message", (event) => {
  activity = JSON.parse(event.data);
  tell();
  if (activity.version !== document.body.dataset.version) renew();
});
source.addEventListener("error", () => { activity = { what: "no connection to `ralph-tracker serve`" }; tell(); });
setInterval(tell, 1000);
