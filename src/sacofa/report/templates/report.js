
"use strict";
(() => {
  const find = (selector) => document.querySelector(selector);
  const data = JSON.parse(find("#variants-data").textContent);
  const body = find("#variants-body");
  const step = 25;
  const number = new Intl.NumberFormat("en-US");
  let shown = step;

  const percent = (share) => {
    const p = 100 * share;
    return p.toFixed(p === 0 || p === 100 ? 0 : p < 0.95 || p > 99.05 ? 2 : 1) + " %";
  };
  const make = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };

  let total = 0;
  const rows = data.rows.map(([count, original, complete, ids], index) => {
    total += count;
    return { index, count, original, complete, ids, upto: total };
  });

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
  const cell = (what, text) => {
    const element = make("td", "n", text);
    element.dataset.what = what;
    return element;
  };
  const draw = (row) => {
    const line = make("tr");
    line.append(make("td", "n soft", number.format(row.index + 1)));
    const path = make("td", "path");
    path.append(trace(row));
    line.append(path, cell("cases", number.format(row.count)));
    if (row.original === null) {
      line.append(cell("of all", percent(row.count / (data.cases || 1))));
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

  const search = find("#search");
  const names = data.activities.map((name) => name.toLocaleLowerCase());
  const matching = () => {
    const kind = find("[name=kind]:checked")?.value ?? "all";
    const words = search.value.toLocaleLowerCase().split(",").map((w) => w.trim()).filter(Boolean);
    const sets = words.map((w) => new Set(names.flatMap((name, i) => (name.includes(w) ? [i] : []))));
    return rows.filter(
      (row) =>
        sets.every((set) => row.ids.some((id) => set.has(id))) &&
        (kind === "all" ||
          (kind === "lost" && !row.count) ||
          (kind === "invented" && row.original === 0) ||
          (kind === "kept" && row.count && row.original)),
    );
  };
  const show = () => {
    const found = matching();
    body.replaceChildren(...found.slice(0, shown).map(draw));
    const cases = found.reduce((sum, row) => sum + row.count, 0);
    find("#found").textContent =
      `${number.format(Math.min(shown, found.length))} of ${number.format(found.length)} variants shown` +
      (found.length < rows.length ? `, ${number.format(cases)} cases in all` : "");
    find("#more").hidden = found.length <= shown;
  };
  search.addEventListener("input", () => { shown = step; show(); });
  document.querySelectorAll("[name=kind]").forEach((radio) => radio.addEventListener("change", () => { shown = step; show(); }));
  find("#more").addEventListener("click", () => {
    const before = body.children.length;
    shown += shown < 100 ? step : 200;
    show();
    body.children[before]?.querySelector("li")?.scrollIntoView({ block: "nearest" });
  });
  find("#names").addEventListener("change", (event) => {
    find("#variants").classList.toggle("compact", !event.target.checked);
  });
  find("#variant-tools").hidden = false;
  show();

  const slider = find("#detail");
  if (slider) {
    const levels = [...document.querySelectorAll(".level")];
    const move = () => {
      levels.forEach((level, i) => { level.hidden = i + 1 !== Number(slider.value); });
      const words = levels[slider.value - 1].dataset.what;
      find("#detail-words").textContent = words;
      slider.setAttribute("aria-valuetext", words);
    };
    slider.addEventListener("input", move);
    find("#full").addEventListener("change", (event) => {
      find("#map").classList.toggle("full", event.target.checked);
    });
    find("#map-tools").hidden = false;
    move();
  }
})();
