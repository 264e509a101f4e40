import { ask, attempt, count, figures, find, make, pause, percent, tellProblem } from "./common.js";

const id = location.pathname.split("/").pop();
const form = find("#settings");
const prices = ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "3", "5", "10"];
let inspection = null;
let mechanisms = [];

const option = (value, text = value) => make("option", { value, textContent: text });
const field = (name) => form.elements.namedItem(name);
const text = (name) => field(name)?.value.trim() || null;
const whole = (name) => (text(name) === null ? null : Number(text(name)));
const uses = () => new Set(mechanisms.find((m) => m.name === text("mechanism"))?.settings ?? []);

/** What the log contains: wait for it, then show it, or ask for its columns. */
const watch = async () => {
  for (;;) {
    const log = await ask("GET", `/logs/${id}`);
    document.title = `${log.name} · sacofa`;
    find("#name").textContent = log.name;
    find("#left").textContent = `Deleted in ${Math.ceil(log.seconds_left / 60)} minutes, or when its release is made.`;
    const job = log.inspection;
    const working = !job || job.state === "waiting" || job.state === "running";
    find("#reading").hidden = !working;
    find("#columns").hidden = !(job?.state === "refused" && job.columns);
    if (!working) return show(job);
    if (job?.progress) find("#reading-done").value = job.progress;
    await pause(300);
  }
};

const show = (job) => {
  if (job.columns) askColumns(job.columns);
  find("#doubt").hidden = !job.problem?.includes("--trusted");
  if (job.state !== "done") throw new Error(job.problem ?? job.state);
  inspection = job.inspection;
  figures(find("#figures"), [
    ["cases", count(inspection.cases)], ["variants", count(inspection.variants)], ["activities", count(inspection.activities)],
    ["events", count(inspection.events)], ["events of a case, median", count(inspection.lengths["0.5"] ?? 0)],
    ["cases like no other", percent(inspection.unique)],
  ]);
  const colour = new Map();
  for (const variant of inspection.frequent) for (const name of variant.activities) if (!colour.has(name)) colour.set(name, colour.size);
  find("#frequent").replaceChildren(...inspection.frequent.map((variant) =>
    make("tr", {}, make("td", { className: "n", textContent: count(variant.count) }),
      make("td", {}, make("ol", { className: "trace" }, ...variant.activities.map((name) => make("li", { className: `a${colour.get(name)}`, textContent: name, title: name })))))));
  find("#all-columns").replaceChildren(...inspection.columns.map((name) => option(name)));
  for (const name of ["case", "timestamp"]) field(name).placeholder = inspection.found[name] ?? "";
  field("activity").placeholder = inspection.found.activity.join(", ");
  field("order").value = inspection.found.order;
  find("#contents").hidden = false;
  form.hidden = false;
  return plan();
};

const askColumns = (columns) => {
  for (const select of find("#columns-form").querySelectorAll("select")) {
    const asked = columns.missing.includes(select.name);
    select.replaceChildren(option("", asked ? "choose …" : "as recognised"), ...columns.present.map((name) => option(name)));
    select.required = asked;
  }
  find("#columns").hidden = false;
};

const chosen = { case: null, activity: [], timestamp: null, trusted: false };
const look = async (columns) => {
  Object.assign(chosen, columns);
  find("#contents").hidden = true;
  form.hidden = true;
  await ask("POST", `/logs/${id}/inspection`, chosen);
  await watch();
  field("case").value = chosen.case ?? "";
  field("activity").value = chosen.activity.join(", ");
  field("timestamp").value = chosen.timestamp ?? "";
};

find("#trust").addEventListener("click", attempt(() => look({ trusted: true })));
find("#columns-form").addEventListener("submit", attempt(async (event) => {
  event.preventDefault();
  const values = new FormData(event.target);
  const activity = values.get("activity");
  await look({ case: values.get("case") || null, activity: activity ? [activity] : [], timestamp: values.get("timestamp") || null });
}));

const person = () => (form.elements.unit.value === "person" ? { person: text("person"), max_cases: whole("max_cases") } : { person: null, max_cases: null });
const model = () => ({ deviations: whole("deviations"), closed: text("closed") === "true", source: text("source") });
const settings = () => {
  const used = uses();
  const read = { whole, flag: (name) => (text(name) === null ? null : text(name) === "true"), "whole or inf": text, number: text, word: text };
  const chosen = { mechanism: text("mechanism"), epsilon: text("epsilon") ?? "", seed: whole("seed") };
  // The page has a field for each setting of each mechanism; those of others are left out.
  for (const { dataset } of form.querySelectorAll("[data-kind]")) {
    chosen[dataset.setting] = used.has(dataset.setting) ? read[dataset.kind](dataset.setting) : null;
  }
  return chosen;
};

/** What these settings promise, or why they cannot be. */
const plan = async () => {
  const used = uses();
  for (const part of form.querySelectorAll("[data-setting]")) part.hidden = !used.has(part.dataset.setting);
  find("#person").hidden = form.elements.unit.value !== "person";
  find("#price-name").textContent = mechanisms.find((m) => m.name === text("mechanism"))?.price.split(/[;:]/)[0] ?? "Price";
  for (const word of document.querySelectorAll(".subject")) word.textContent = form.elements.unit.value;
  const place = prices.indexOf(text("epsilon"));
  if (place >= 0) find("#slider").value = place;
  find("#slider").setAttribute("aria-valuetext", text("epsilon") ?? "");
  const release = find("#release");
  try {
    if (form.elements.unit.value === "person" && !text("person")) throw new Error("Name the column that says whose case it is.");
    const answer = await ask("POST", "/plan", {
      ...settings(), ...person(), activities: inspection.activities, cases: inspection.cases,
      public_rules: used.has("rules") && Boolean(field("rules").files.length || text("rules_log")),
    });
    const promise = find("#promise");
    promise.textContent = answer.promise;
    promise.classList.toggle("no", answer.epsilon === null || Boolean(text("seed")));
    find("#beliefs-table").hidden = !answer.beliefs.length;
    find("#beliefs").replaceChildren(...answer.beliefs.map((b) => make("tr", {}, make("th", { scope: "row", textContent: percent(b.before) }), make("td", { textContent: `${percent(b.least)} to ${percent(b.most)}` }))));
    const items = (lines) => lines.map((line) => make("li", { textContent: line }));
    find("#lines").replaceChildren(...items(answer.epsilon === null ? answer.lines : [`ε = ${answer.epsilon} for the whole release`, ...answer.lines]));
    find("#not-promised").replaceChildren(...items(answer.not_promised));
    release.disabled = false;
  } catch (error) {
    find("#promise").textContent = error.message;
    find("#promise").classList.add("no");
    find("#beliefs-table").hidden = true;
    find("#lines").replaceChildren();
    release.disabled = true;
  }
};

let waiting = 0;
form.addEventListener("input", (event) => {
  if (event.target.id === "slider") field("epsilon").value = prices[event.target.value];
  clearTimeout(waiting);
  waiting = setTimeout(plan, 150);
});

form.addEventListener("submit", attempt(async (event) => {
  event.preventDefault();
  const release = find("#release");
  release.disabled = true;
  try {
    const used = uses();
    const file = used.has("rules") ? field("rules").files[0] : null;
    const names = (text("activities") ?? "").split("\n").map((line) => line.trim()).filter(Boolean);
    const columns = {
      case: text("case"), timestamp: text("timestamp"), order: text("order"), trusted: inspection.found.trusted,
      activity: (text("activity") ?? "").split(",").map((name) => name.trim()).filter(Boolean), ...person(),
    };
    const job = await ask("POST", "/jobs", {
      ...settings(), log: id, columns, rules: file ? await file.text() : null, rules_file: file ? file.name.slice(-200) : null,
      model: file ? model() : {}, rules_log: used.has("rules") ? text("rules_log") : null,
      activities: names.length ? names : null, dataset: text("dataset"),
    });
    location.assign(`/jobs/${job.id}`);
  } finally {
    release.disabled = false;
  }
}));

find("#delete").addEventListener("click", attempt(async () => {
  await ask("DELETE", `/logs/${id}`);
  location.assign("/");
}));

attempt(async () => {
  mechanisms = await ask("GET", "/mechanisms");
  field("mechanism").replaceChildren(...mechanisms.map((m) => option(m.name, m.default ? `${m.name}: one price for everything` : `${m.name}: as published`)));
  field("mechanism").value = mechanisms.find((m) => m.default).name;
  const others = (await ask("GET", "/logs")).filter((log) => log.id !== id);
  field("rules_log").replaceChildren(option("", "none"), ...others.map((log) => option(log.id, log.name)));
  if (field("dataset")) {
    const { datasets } = await ask("GET", "/ledger");
    field("dataset").replaceChildren(option("", "none"), ...datasets.map((d) => option(d.dataset, `${d.dataset} (left: ${d.left ?? "no limit"})`)));
  }
  try { await watch(); } catch (error) {
    find("#reading").hidden = true;
    tellProblem(error);
  }
})();
