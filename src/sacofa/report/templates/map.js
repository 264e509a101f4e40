// The process map: what is shown, drawn anew whenever that changes; zoom, pan, frequency or time.

const box = find("#map-box");
const internal = data.flows.length > 1;
let chosenRows = null;
let view = null;

/** The flow of some variants alone: as the release has them. */
const flowOf = (rows, what) => {
  const events = new Array(data.activities.length).fill(0), steps = new Map();
  let cases = 0;
  for (const row of rows) {
    const many = row[what];
    if (!many) continue;
    cases += many;
    const path = row.complete ? [-1, ...row.ids, -1] : [-1, ...row.ids];
    for (const id of row.ids) events[id] += many;
    for (let i = 1; i < path.length; i += 1) {
      const key = `${path[i - 1]} ${path[i]}`;
      steps.set(key, (steps.get(key) ?? 0) + many);
    }
  }
  return { cases, events, steps: [...steps].map(([key, many]) => [...key.split(" ").map(Number), many, null]).sort((a, b) => b[2] - a[2]) };
};

const flowsNow = () => (chosenRows ? (internal ? [flowOf(chosenRows, "original"), flowOf(chosenRows, "count")] : [flowOf(chosenRows, "count")]) : data.flows);
const isTime = () => find("[name=colour]:checked")?.value === "time";
const stepKey = (step) => `${step[0]} ${step[1]}`;
const medians = data.flows.map((flow) => new Map(flow.steps.map((step) => [stepKey(step), step[3]])));
const LIMITS = [60, 3600, 86400, 7 * 86400, 30 * 86400];
const bin = (seconds) => LIMITS.filter((limit) => seconds >= limit).length;

const nameOf = (place) => (place === "start" || place === "end" ? place : data.activities[place]);
const withMargin = (count, margin) => number.format(count) + (margin === null ? "" : ` ± ${number.format(margin)}${count <= margin ? ", below its margin" : ""}`);
const stepMargins = new Map(data.margins.steps.map((step) => [stepKey(step), step[2]]));
/** Margins of error are those of the whole release: an original has none, and of chosen variants none is known. */
const marginOf = (margin, which) => (chosenRows || which < data.flows.length - 1 ? null : margin ?? null);

const drawOne = (flow, layout, which, others, words) => {
  const counts = new Map(flow.steps.map((step) => [stepKey(step), step[2]]));
  const gone = which === 0 ? "vanished" : "appeared";
  const kind = (there) => (internal && !there ? gone : "");
  const otherSteps = new Set(others?.steps.map(stepKey));
  const most = Math.max(1, ...layout.edges.map((edge) => edge.count));
  const root = svg("svg", { class: "map", role: "img", "aria-label": words, viewBox: `0 0 ${layout.width.toFixed(0)} ${layout.height.toFixed(0)}` });
  const arrows = svg("g", {}), numbers = svg("g", { "aria-hidden": "true" });
  const drawArrow = (step, path, head, x, y, anchor) => {
    const key = `${step.raw[0]} ${step.raw[1]}`, many = counts.get(key);
    if (!many) return;
    const seconds = medians[which].get(key) ?? null;
    const margin = marginOf(stepMargins.get(key), which);
    const unsure = margin !== null && many <= margin ? " unsure" : "";
    const shade = isTime() ? (seconds === null ? "d" : `d d${bin(seconds)}`) : kind(otherSteps.has(key));
    const text = isTime() ? (seconds === null ? "" : duration(seconds)) : number.format(many);
    const title = `${nameOf(step.from)} → ${nameOf(step.to)}: ${withMargin(many, margin)}${seconds === null ? "" : `, half of them within ${duration(seconds)}`}`;
    const thick = isTime() ? (seconds === null ? 1.2 : 1.4 + bin(seconds) * 0.8) : 1 + 4.5 * Math.sqrt(many / most);
    arrows.append(svg("g", {}, svg("title", {}, title), svg("path", { class: `arrow ${shade}${unsure}`, d: path, "stroke-width": thick.toFixed(1) }), svg("polygon", { class: `head ${shade}`, points: head })));
    numbers.append(svg("text", { class: `label ${shade}`, x: x.toFixed(1), y: (y + 4).toFixed(1), ...(anchor ? { "text-anchor": anchor } : {}) }, text));
  };
  for (const edge of [...layout.edges].reverse()) {
    const { path, head } = curveOf(layout, edge);
    drawArrow(edge, path, head, edge.number.x, edge.number.y);
  }
  for (const loop of layout.loops) {
    const { node } = loop, x = node.x + node.box / 2, y = node.y;
    drawArrow(loop, `M${x},${y - 8}C${x + 26},${y - 20} ${x + 26},${y + 20} ${x + 9},${y + 8}`, `${x},${y + 6} ${x + 9},${y + 3} ${x + 7},${y + 12}`, x + 24, y, "start");
  }
  root.append(arrows);
  for (const node of layout.nodes) {
    const left = node.x - node.box / 2, top = node.y - node.height / 2;
    if (node.place === "start") root.append(svg("g", {}, svg("title", {}, "start"), svg("path", { class: "end", d: `M${node.x - 10},${node.y - 9}h20l-10,18z` })));
    else if (node.place === "end") root.append(svg("g", {}, svg("title", {}, "end"), svg("rect", { class: "end", x: node.x - 9, y: node.y - 9, width: 18, height: 18, rx: 2 })));
    else if (flow.events[node.place]) {
      const many = flow.events[node.place], lost = kind(!others || others.events[node.place]);
      const text = node.lines.map((line, i) => svg("text", { x: node.x + 3, y: top + 4 + LINE * (i + 1) }, line));
      root.append(svg("g", {}, svg("title", {}, `${data.activities[node.place]}: ${withMargin(many, marginOf(data.margins.events[node.place], which))}`),
        svg("rect", { class: `box ${lost}`, x: left, y: top, width: node.box, height: node.height, rx: 5 }),
        svg("rect", { class: `a${node.place}`, x: left, y: top, width: 7, height: node.height, rx: 2 }),
        ...text, svg("text", { class: "count", x: node.x + 3, y: top + node.height - 8 }, number.format(many))));
    }
  }
  root.append(numbers);
  return root;
};

/** Draw what the sliders say, and say what is left out. */
const drawMap = () => {
  const flows = flowsNow();
  const present = flows.at(-1).events.filter(Boolean).length || flows[0].events.filter(Boolean).length;
  const slider = find("#activities-shown");
  const activities = Number(slider.value);
  const share = Number(find("#paths-shown").value) / 100;
  const shown = new Map();
  for (const flow of flows) for (const step of chooseSteps(flow, activities, share)) {
    const before = shown.get(stepKey(step));
    shown.set(stepKey(step), { from: step[0], to: step[1], raw: step, count: Math.max(step[2], before?.count ?? 0) });
  }
  const steps = [...shown.values()].sort((a, b) => b.count - a.count);
  if (!steps.length) { box.replaceChildren(make("p", "soft", "There is nothing to draw.")); return; }
  const time = isTime();
  const text = (step) => (time ? duration(medians.at(-1).get(stepKey(step.raw)) ?? 0) : number.format(step.count));
  const layout = layOut(steps, text);
  const own = flows.at(-1);
  const all = own.steps.reduce((sum, step) => sum + step[2], 0) || 1;
  const inside = own.steps.filter((step) => shown.has(stepKey(step)));
  const part = inside.reduce((sum, step) => sum + step[2], 0) / all;
  const drawnPlaces = layout.nodes.filter((node) => node.lines.length && own.events[node.place]).length;
  const words = `${drawnPlaces} of ${present} activities, ${inside.length} of ${own.steps.length} steps: ${percent(part)} of all that happened` + (inside.length < own.steps.length ? `; ${number.format(own.steps.length - inside.length)} are left out` : "");
  find("#map-words").textContent = (chosenRows ? `${chosenRows.length} chosen variants, ${number.format(own.cases)} cases. ` : "") + `Shown are ${words}.`;
  slider.setAttribute("aria-valuetext", `${Math.min(activities, present)} of ${present} activities`);
  find("#paths-shown").setAttribute("aria-valuetext", `${Math.round(share * 100)} % of the steps between them`);
  find("#map-all").hidden = !chosenRows;
  box.replaceChildren(...flows.map((flow, which) => {
    const figure = make("figure");
    if (internal) figure.append(make("figcaption", "", which ? "Release" : "Original"));
    const frame = make("div", "frame");
    // As wide as there is room for, and never larger than letters of usual size.
    frame.style.aspectRatio = `${layout.width} / ${layout.height}`;
    frame.style.maxHeight = `${layout.height + 2 * 16}px`;
    frame.tabIndex = 0;
    frame.setAttribute("role", "group");
    frame.setAttribute("aria-label", `${internal ? (which ? "Map of the release" : "Map of the original") : "Process map"}: plus and minus zoom, arrow keys move it, 0 shows all`);
    frame.append(drawOne(flow, layout, which, internal ? flows[1 - which] : null, `Process map with ${words}. The table below holds the same.`));
    figure.append(frame);
    return figure;
  }));
  view = { x: 0, y: 0, width: layout.width, height: layout.height, full: layout };
  showView();
};

/** Show a part of the map; both maps of an internal report move together. */
const showView = () => {
  for (const map of box.querySelectorAll("svg.map")) map.setAttribute("viewBox", [view.x, view.y, view.width, view.height].map((v) => v.toFixed(1)).join(" "));
  box.classList.toggle("zoomed", view.width < view.full.width - 1);
};
const zoom = (factor, fx = 0.5, fy = 0.5) => {
  const width = Math.min(view.full.width, Math.max(120, view.width * factor));
  const height = view.full.height * width / view.full.width;
  view.x += (view.width - width) * fx;
  view.y += (view.height - height) * fy;
  Object.assign(view, { width, height });
  move(0, 0);
};
const move = (dx, dy) => {
  view.x = Math.max(0, Math.min(view.full.width - view.width, view.x + dx * view.width));
  view.y = Math.max(0, Math.min(view.full.height - view.height, view.y + dy * view.height));
  showView();
};
const showWhole = () => { Object.assign(view, { x: 0, y: 0, width: view.full.width, height: view.full.height }); showView(); };

if (find("#map-tools")) {
  const few = Math.max(...data.flows.map((flow) => flow.events.filter(Boolean).length));
  find("#activities-shown").max = Math.max(1, few);
  find("#activities-shown").value = Math.min(few, 25);
  for (const control of [find("#activities-shown"), find("#paths-shown"), ...document.querySelectorAll("[name=colour]")]) control.addEventListener("input", () => {
    find("#map").classList.toggle("by-time", isTime());
    drawMap();
  });
  find("#zoom-in").addEventListener("click", () => zoom(0.7));
  find("#zoom-out").addEventListener("click", () => zoom(1 / 0.7));
  find("#zoom-all").addEventListener("click", showWhole);
  box.addEventListener("wheel", (event) => {
    // Without the key the wheel scrolls the page, as everywhere.
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const place = event.target.closest("svg")?.getBoundingClientRect();
    zoom(event.deltaY > 0 ? 1.18 : 1 / 1.18, place ? (event.clientX - place.left) / place.width : 0.5, place ? (event.clientY - place.top) / place.height : 0.5);
  }, { passive: false });
  box.addEventListener("keydown", (event) => {
    const keys = { "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1 / 0.7), 0: showWhole, ArrowLeft: () => move(-0.15, 0), ArrowRight: () => move(0.15, 0), ArrowUp: () => move(0, -0.15), ArrowDown: () => move(0, 0.15) };
    const zoomed = box.classList.contains("zoomed");
    if (!keys[event.key] || (event.key.startsWith("Arrow") && !zoomed)) return;
    event.preventDefault();
    keys[event.key]();
  });
  let held = null;
  box.addEventListener("pointerdown", (event) => { if (box.classList.contains("zoomed")) { held = [event.clientX, event.clientY]; box.setPointerCapture(event.pointerId); } });
  box.addEventListener("pointermove", (event) => {
    if (!held) return;
    const place = box.querySelector("svg").getBoundingClientRect();
    move((held[0] - event.clientX) / place.width, (held[1] - event.clientY) / place.height);
    held = [event.clientX, event.clientY];
  });
  for (const name of ["pointerup", "pointercancel"]) box.addEventListener(name, () => { held = null; });
  addEventListener("beforeprint", () => { if (view) showWhole(); });
  find("#map-tools").hidden = false;
  for (const part of ["#map-legend", "#map-hint"]) find(part).hidden = false;
  find("#map-table").open = false;
  drawMap();
}
