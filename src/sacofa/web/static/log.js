import { ask, attempt, claim, clearProblem, confirmed, count, figures, find, items, make, pause, percent, showStrength } from "./common.js";
import { follow, onSlider } from "./prices.js";
import { chosenAttributes, forPlan, showAttributes, showPrices } from "./attributes.js";
import { chosenReading, onReading, showContents, showReading } from "./reading.js";

const id = location.pathname.split("/").pop();
const form = find("#settings");
const FREE = "\u0000free";
let inspection = null;
let mechanisms = [];
let look = 0;

const option = (value, text = value) => make("option", { value, textContent: text });
const field = (name) => form.elements.namedItem(name);
const text = (name) => field(name)?.value.trim() || null;
const whole = (name) => (text(name) === null ? null : Number(text(name)));
const uses = () => new Set(mechanisms.find((m) => m.name === text("mechanism"))?.settings ?? []);

/** The log; if it is gone because reading it crashed, its last job knows why. */
let lastJob = null;
const askLog = async () => {
  try { return await ask("GET", `/logs/${id}`); } catch (error) {
    const job = error.status === 404 && lastJob ? await ask("GET", `/jobs/${lastJob}`).catch(() => null) : null;
    throw job?.problem ? new Error(job.problem) : error;
  }
};

/** What the log contains: wait for it, then show it, or ask for its columns. */
const watch = async () => {
  const mine = ++look;
  for (;;) {
    const log = await askLog();
    if (mine !== look) return null;
    lastJob = log.inspection?.id ?? lastJob;
    document.title = `${log.name} · sacofa`;
    find("#name").textContent = log.name;
    find("#left").textContent = `Deleted in ${Math.ceil(log.seconds_left / 60)} minutes.`;
    const job = log.inspection;
    const working = !job || job.state === "waiting" || job.state === "running";
    find("#reading").hidden = !working;
    for (const part of ["#contents", "#columns"]) find(part).setAttribute("aria-busy", working);
    if (!working) return show(log);
    if (job?.progress) find("#reading-done").value = job.progress;
    if (job?.stage.startsWith("comparing")) find("#reading-words").textContent = "Comparing times with the order …";
    await pause(300);
  }
};

const show = (log) => {
  const job = log.inspection;
  const doubtful = job.state === "refused" && job.trustable;
  find("#doubt").hidden = !doubtful;
  find("#doubt-words").textContent = doubtful ? job.problem : "";
  const columns = showReading(log);
  if (doubtful) find("#columns").hidden = true;
  const person = text("person") ?? log.reading.person;
  field("person").replaceChildren(option("", "choose …"), ...columns.map((name) => option(name)));
  field("person").value = person ?? "";
  const done = job.state === "done";
  find("#contents").hidden = !done;
  form.hidden = !done;
  inspection = job.inspection;
  if (doubtful || job.columns) return null;
  if (!done) throw new Error(job.problem ?? job.state);
  figures(find("#figures"), [
    ["cases", count(inspection.cases)], ["variants", count(inspection.variants)], ["activities", count(inspection.activities)],
    ["events", count(inspection.events)], ["events of a case, median", count(inspection.lengths["0.5"] ?? 0)],
    ["cases like no other", percent(inspection.unique)],
  ]);
  const colour = new Map();
  for (const variant of inspection.frequent) for (const name of variant.activities) if (!colour.has(name)) colour.set(name, colour.size);
  showContents(inspection, (name) => colour.get(name));
  showAttributes(inspection.attributes);
  return plan();
};

const person = () => (form.elements.unit.value === "person" && text("person") ? { person: text("person"), max_cases: whole("max_cases") ?? 1 } : { person: null, max_cases: null });
let trusted = false;
const reading = () => ({ ...chosenReading(), ...person(), trusted });
const recount = attempt(async () => {
  clearProblem();
  find("#reading-words").textContent = "Counting again …";
  find("#reading-done").removeAttribute("value");
  find("#reading").hidden = false;
  find("#release").disabled = true;
  look += 1;
  await ask("POST", `/logs/${id}/inspection`, reading());
  await watch();
});
onReading(recount);
find("#trust").addEventListener("click", () => { trusted = true; recount(); });

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
/** Who pays: a dataset, nobody on purpose, or not chosen yet. */
const payer = () => {
  const chosen = field("dataset")?.value ?? FREE;
  return chosen === FREE ? { dataset: null, free: true } : { dataset: chosen || null, free: false };
};
const unpaid = () => {
  const { dataset, free } = payer();
  if (!field("dataset") || dataset) return null;
  if (!free) return "Choose the dataset whose budget pays.";
  return field("not_charged").checked ? null : "Confirm above that no budget is charged.";
};

/** What stands beside the button: the price, what is left, or why nothing can be released. */
const sayCost = (answer) => {
  const cost = answer.epsilon === null ? "No finite ε" : `Spends ε = ${claim(answer)}`;
  const { afford } = answer;
  if (!afford) return field("dataset") ? `${cost}, charged to nobody` : cost;
  if (!afford.enough) return `${cost}: not enough, ${afford.left} left of “${afford.dataset}”`;
  return afford.left === null ? `${cost}; “${afford.dataset}” has no limit` : `${cost}; ${afford.left} left of “${afford.dataset}”, ${afford.after} after it`;
};

/** What these settings promise, or why they cannot be. */
const plan = async () => {
  const used = uses();
  for (const part of form.querySelectorAll("[data-setting]")) part.hidden = !used.has(part.dataset.setting);
  find("#person").hidden = form.elements.unit.value !== "person";
  if (find("#free")) find("#free").hidden = !payer().free;
  find("#price-name").textContent = mechanisms.find((m) => m.name === text("mechanism"))?.price.split(/[;:]/)[0] ?? "Privacy budget";
  for (const word of document.querySelectorAll(".subject")) word.textContent = form.elements.unit.value;
  follow(text("epsilon") ?? "");
  const release = find("#release");
  const cost = find("#cost");
  try {
    if (form.elements.unit.value === "person" && !text("person")) throw new Error("Choose the column that identifies the person.");
    const answer = await ask("POST", "/plan", {
      ...settings(), ...person(), ...(uses().has("attribute_share") ? await forPlan() : {}), timed: Boolean(inspection.found.timestamp), activities: inspection.activities, cases: inspection.cases, dataset: payer().dataset,
      public_rules: used.has("rules") && Boolean(field("rules").files.length || text("rules_log")),
    });
    const promise = find("#promise");
    promise.textContent = answer.promise;
    promise.classList.toggle("no", answer.epsilon === null || Boolean(text("seed")));
    showStrength(find("#strength"), answer.strength ?? "no", answer.level ?? 4);
    find("#beliefs-table").hidden = !answer.beliefs.length;
    find("#beliefs").replaceChildren(...answer.beliefs.map((b) => make("tr", {}, make("th", { scope: "row", textContent: percent(b.before) }), make("td", { textContent: `${percent(b.least)} to ${percent(b.most)}` }))));
    items(find("#lines"), answer.epsilon === null ? answer.lines : [`ε = ${claim(answer)} for the whole release`, ...answer.lines]);
    items(find("#not-promised"), answer.not_promised);
    showPrices(answer.shares, answer.delta ? "ρ" : "ε");
    const open = unpaid();
    const enough = answer.afford?.enough ?? true;
    cost.textContent = open ?? sayCost(answer);
    cost.classList.toggle("warn", Boolean(open) || !enough);
    release.disabled = Boolean(open) || !enough;
  } catch (error) {
    find("#promise").textContent = error.message;
    find("#promise").classList.add("no");
    find("#strength").hidden = true;
    find("#beliefs-table").hidden = true;
    find("#lines").replaceChildren();
    showPrices([]);
    cost.textContent = "";
    release.disabled = true;
  }
};

/** Keep what was chosen with the log, so that going back or reloading loses nothing. */
const kept = () => [...form.elements].filter((input) => input.name && input.type !== "file");
const keep = () => {
  const draft = {};
  for (const input of kept()) {
    if (input.type === "radio") { if (input.checked) draft[input.name] = input.value; }
    else draft[input.name] = input.type === "checkbox" ? String(input.checked) : input.value;
  }
  draft["more"] = String(find("#more").open);
  return ask("PUT", `/logs/${id}/draft`, draft).catch(() => null);
};
const restore = (draft) => {
  for (const input of kept()) {
    const value = draft[input.name];
    if (value === undefined) continue;
    if (input.type === "radio") input.checked = input.value === value;
    else if (input.type === "checkbox") input.checked = value === "true";
    else if (input.tagName !== "SELECT" || [...input.options].some((one) => one.value === value)) input.value = value;
  }
  find("#more").open = draft["more"] === "true";
};

let waiting = 0;
const changed = (event) => {
  clearTimeout(waiting);
  const again = ["unit", "person", "max_cases"].includes(event?.target?.name);
  waiting = setTimeout(() => { keep(); if (again && (form.elements.unit.value === "case" || text("person"))) recount(); else plan(); }, again ? 350 : 150);
};
form.addEventListener("input", (event) => { if (event.target.id !== "slider") changed(event); });
onSlider((price) => { field("epsilon").value = price; follow(price); changed(); });

form.addEventListener("submit", attempt(async (event) => {
  event.preventDefault();
  clearProblem();
  const release = find("#release");
  release.disabled = true;
  try {
    await keep();
    const used = uses();
    const file = used.has("rules") ? field("rules").files[0] : null;
    const names = (text("activities") ?? "").split("\n").map((line) => line.trim()).filter(Boolean);
    const { dataset, free } = payer();
    const job = await ask("POST", "/jobs", {
      ...settings(), log: id, columns: { ...reading(), ...(used.has("attribute_share") ? await chosenAttributes() : {}) }, rules: file ? await file.text() : null, rules_file: file ? file.name.slice(-200) : null,
      model: file ? model() : {}, rules_log: used.has("rules") ? text("rules_log") : null,
      activities: names.length ? names : null, dataset, not_charged: free, delete_log: field("delete_log").checked, released_by: text("released_by"),
    });
    location.assign(`/jobs/${job.id}`);
  } finally {
    release.disabled = false;
  }
}));

find("#delete").addEventListener("click", attempt(async () => {
  if (!(await confirmed(`Delete “${find("#name").textContent}” and everything that was derived from it? Releases that were made of it stay.`))) return;
  await ask("DELETE", `/logs/${id}`);
  location.assign("/");
}));

// A page that the browser kept would show budgets as they were.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

const offerPayers = async () => {
  const { datasets } = await ask("GET", "/ledger");
  const left = (d) => (d.left === null ? "no limit" : `${d.left} left`);
  field("dataset").replaceChildren(option("", "choose …"), ...datasets.map((d) => option(d.dataset, `${d.dataset} (${left(d)})`)), option(FREE, "none: charge no budget"));
};

attempt(async () => {
  try {
    mechanisms = await ask("GET", "/mechanisms");
    field("mechanism").replaceChildren(...mechanisms.map((m) => option(m.name, m.default ? `${m.name}: one price for everything` : `${m.name}: as published`)));
    field("mechanism").value = mechanisms.find((m) => m.default).name;
    const logs = await ask("GET", "/logs");
    field("rules_log").replaceChildren(option("", "none"), ...logs.filter((log) => log.id !== id).map((log) => option(log.id, log.name)));
    if (field("dataset")) await offerPayers();
    const log = logs.find((one) => one.id === id);
    if (log) {
      trusted = log.reading.trusted;
      if (log.draft.person) field("person").replaceChildren(option(log.draft.person));
      restore(log.draft);
    }
    await watch();
  } finally {
    find("#reading").hidden = true;
  }
})();
