// The variants: filtered, sorted, a few at a time; those that are chosen are what the map shows.

const body = find("#variants-body");
const STEP = 25;
let shown = STEP;
let total = 0;
const rows = data.rows.map(([count, original, complete, ids, margin], index) => {
  total += count;
  return { index, count, original, complete, ids, margin, upto: total };
});
const chosen = new Set();
const longest = Math.max(1, ...rows.map((row) => Math.max(row.count, row.original ?? 0)));

const trace = (row) => {
  const list = make("ol", "trace");
  for (const id of row.ids) {
    const item = make("li", "a" + id, data.activities[id]);
    item.title = data.activities[id];
    list.append(item);
  }
  if (!row.complete) list.append(make("li", "note", "… cut here"));
  else if (!row.ids.length) list.append(make("li", "note", "no activity at all"));
  return list;
};
const shareMargin = (row) => (row.margin === null || !data.cases ? null : percent(Math.min(row.margin / data.cases, 1)).replace(" %", ""));
const belowMargin = (row) => row.count > 0 && row.margin !== null && row.count <= row.margin;
const cell = (what, text, size = null, share = null) => {
  const element = make("td", "n", text);
  if (size !== null) element.append(make("small", "soft", ` ± ${number.format(size)}`));
  if (share !== null) element.append(make("small", "soft", ` ± ${share}`));
  element.dataset.what = what;
  return element;
};
const bar = (row) => {
  const element = svg("svg", { class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" });
  element.append(svg("rect", { class: "all", width: 100, height: 8 }), svg("rect", { width: (100 * row.count / longest).toFixed(2), height: row.original === null ? 8 : 4.5 }));
  if (row.original !== null) element.append(svg("rect", { class: "was", y: 5, width: (100 * row.original / longest).toFixed(2), height: 3 }));
  return element;
};
const picker = (row) => {
  const place = make("td", "pick"), input = make("input");
  input.type = "checkbox";
  input.checked = chosen.has(row);
  input.setAttribute("aria-label", `Show variant ${row.index + 1} on the map`);
  input.addEventListener("change", () => { if (input.checked) chosen.add(row); else chosen.delete(row); redraw(); });
  place.append(input);
  return place;
};
const draw = (row) => {
  const line = make("tr");
  line.append(picker(row), make("td", "n soft rank", number.format(row.index + 1)));
  const path = make("td", "path");
  path.append(trace(row));
  const cases = cell("cases", number.format(row.count), row.margin);
  if (belowMargin(row)) cases.append(make("span", "tag below", "below margin"));
  cases.append(bar(row));
  line.append(path, cases);
  if (row.original === null) {
    line.append(cell("of all", percent(row.count / (data.cases || 1)), null, shareMargin(row)));
    line.append(cell("so far", percent(row.upto / (data.cases || 1))));
  } else {
    line.append(cell("before", number.format(row.original)));
    const tag = make("td");
    if (!row.count) tag.append(make("span", "tag lost", "lost"));
    if (!row.original) tag.append(make("span", "tag invented", "invented"));
    line.append(tag);
  }
  return line;
};

const search = find("#search"), only = find("#with-activity"), least = find("#least"), most = find("#most");
const names = data.activities.map((name) => name.toLocaleLowerCase());
const matching = () => {
  const kind = find("[name=kind]:checked")?.value ?? "all";
  const words = search.value.toLocaleLowerCase().split(",").map((w) => w.trim()).filter(Boolean);
  const sets = words.map((w) => new Set(names.flatMap((name, i) => (name.includes(w) ? [i] : []))));
  if (only.value !== "") sets.push(new Set([Number(only.value)]));
  const [low, high] = [Number(least.value || 0), Number(most.value || Infinity)];
  return rows.filter(
    (row) =>
      row.ids.length >= low && row.ids.length <= high &&
      sets.every((set) => row.ids.some((id) => set.has(id))) &&
      (kind === "all" ||
        (kind === "lost" && !row.count) ||
        (kind === "invented" && row.original === 0) ||
        (kind === "kept" && row.count && row.original)),
  );
};
const orders = {
  frequent: (a, b) => a.index - b.index,
  rare: (a, b) => b.index - a.index,
  short: (a, b) => a.ids.length - b.ids.length || a.index - b.index,
  long: (a, b) => b.ids.length - a.ids.length || a.index - b.index,
};
let found = rows;
const show = () => {
  found = matching().sort(orders[find("#sort").value]);
  body.replaceChildren(...found.slice(0, shown).map(draw));
  const cases = found.reduce((sum, row) => sum + row.count, 0);
  find("#found").textContent =
    `${number.format(Math.min(shown, found.length))} of ${number.format(found.length)} variants shown` +
    (found.length < rows.length ? `, ${number.format(cases)} cases in all` : "");
  find("#more").hidden = found.length <= shown;
  find("#choose-found").hidden = found.length === rows.length || !found.length;
};
/** The map of what is chosen; of everything where nothing is. */
const redraw = () => {
  chosenRows = chosen.size ? [...chosen] : null;
  find("#chosen").textContent = chosen.size ? `${number.format(chosen.size)} chosen: the map below shows these alone` : "";
  find("#choose-none").hidden = !chosen.size;
  drawMap();
};
only.append(...data.activities.map((name, id) => Object.assign(make("option", "", name), { value: id })));
for (const control of [search, only, least, most, find("#sort"), ...document.querySelectorAll("[name=kind]")]) control.addEventListener("input", () => { shown = STEP; show(); });
find("#more").addEventListener("click", () => {
  const before = body.children.length;
  shown += shown < 100 ? STEP : 200;
  show();
  body.children[before]?.querySelector("li")?.scrollIntoView({ block: "nearest" });
});
find("#choose-found").addEventListener("click", () => { chosen.clear(); found.forEach((row) => chosen.add(row)); show(); redraw(); });
const chooseNone = () => { chosen.clear(); show(); redraw(); };
find("#choose-none").addEventListener("click", chooseNone);
find("#map-all")?.addEventListener("click", chooseNone);
find("#names").addEventListener("change", (event) => {
  find("#variants").classList.toggle("compact", !event.target.checked);
});
find("#variant-tools").hidden = false;
for (const heading of document.querySelectorAll(".variants .pick-head")) heading.hidden = false;
show();
