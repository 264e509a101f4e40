import { count, find, items, make } from "./common.js";

/** How the log is read: the form, the first events under it, and what was found out about times. */
const form = find("#columns-form");
const option = (value, text = value) => make("option", { value, textContent: text });
const field = (name) => form.elements.namedItem(name);
const roles = { case: "case", activity: "activity", activity2: "activity", timestamp: "time stamp", timestamp2: "time of day" };
let rest = [];

/** What stands in the form, as the interface takes it. */
export const chosenReading = () => {
  const value = (name) => field(name).value || null;
  const chosen = { case: value("case"), order: value("order") };
  chosen.timestamp = value("timestamp") && [value("timestamp"), value("timestamp2")].filter(Boolean);
  chosen.activity = [value("activity"), value("activity2"), ...rest].filter(Boolean);
  for (const input of form.querySelectorAll("[data-kind]")) {
    const text = input.value.trim();
    const parts = text.split(",").map((part) => part.trim()).filter(Boolean);
    const read = { flag: () => text === "true", texts: () => parts, stamp: () => (parts.length ? parts : null), whole: () => (text ? Number(text) : null) };
    chosen[input.name] = (read[input.dataset.kind] ?? (() => text || null))();
  }
  return chosen;
};

/** Put into the form what was asked for last, so that a reload changes nothing. */
const restore = (reading) => {
  const [first, second, ...more] = reading.activity;
  rest = more;
  const [timestamp, timestamp2] = [reading.timestamp ?? []].flat();
  const values = { ...reading, activity: first, activity2: second, timestamp, timestamp2 };
  for (const input of form.elements) {
    const value = values[input.name];
    const text = Array.isArray(value) ? value.join(", ") : value === false ? "" : String(value ?? "");
    if (text && input.dataset.kind) find("#reading-more").open = true;
    if (document.activeElement !== input || input.tagName === "SELECT") input.value = text;
  }
};

const offer = (select, columns, words) => select.replaceChildren(option("", words), ...columns.map((name) => option(name)));

/** Show what is known: found columns, missing ones, and the first events. */
export const showReading = (log) => {
  const { inspection: job, reading } = log;
  const found = job.inspection?.found;
  const columns = job.inspection?.columns ?? job.columns?.present ?? (job.preview?.columns ?? []).map((column) => column.name);
  const missing = job.columns?.missing ?? [];
  const [date, time] = [found?.timestamp ?? []].flat();
  const known = (name) => ({ activity: found?.activity[0], timestamp: date, timestamp2: time })[name] ?? (name === "case" ? found?.case : undefined);
  for (const name of ["case", "activity", "timestamp", "timestamp2"]) {
    offer(field(name), columns, missing.includes(name) ? "choose …" : known(name) ? `as found: ${known(name)}` : "none");
    field(name).classList.toggle("wrong", missing.includes(name));
  }
  offer(field("activity2"), columns, "nothing");
  field("order").options[0].textContent = found?.order ? `as usual: ${found.order === "time" ? "by time stamp" : "as in the file"}` : "as usual";
  restore(reading);
  const isXes = /\.xes(\.\w+)?$/i.test(log.name);
  find("#case-field").hidden = isXes;
  find("#columns").hidden = /\.json(\.\w+)?$/i.test(log.name);
  find("#missing").hidden = !missing.length;
  find("#missing").textContent = `Which column holds the ${missing.join(", and which the ")}? Not all columns have names in common use.`;
  const taken = new Map();
  const value = (name) => field(name).value || (name === "activity2" ? null : known(name));
  for (const [name, role] of Object.entries(roles)) if (value(name) && !(isXes && name === "case")) taken.set(value(name), role);
  if (reading.person) taken.set(reading.person, "person");
  showPreview(job.preview, taken);
  showOrder(job.inspection);
  return columns;
};

const showPreview = (preview, taken) => {
  find("#preview-box").hidden = !preview?.columns.length;
  if (!preview) return;
  const mark = (column) => (taken.has(column.name) ? "taken" : "");
  find("#preview-head").replaceChildren(make("tr", {}, ...preview.columns.map((column) =>
    make("th", { scope: "col", className: mark(column) },
      make("span", { textContent: column.name }), make("small", { className: "soft", textContent: taken.has(column.name) ? `${taken.get(column.name)} · ${column.type}` : column.type })))));
  find("#preview-body").replaceChildren(...preview.rows.map((row) =>
    make("tr", {}, ...row.map((value, i) => make("td", { className: mark(preview.columns[i]), textContent: value ?? "", title: value ?? "" })))));
};

const showOrder = (inspection) => {
  const words = find("#order-words");
  const wrong = inspection?.disordered;
  words.classList.toggle("warn", Boolean(wrong));
  if (!inspection || wrong === null) words.textContent = "";
  else if (!wrong) words.textContent = "In every case the time stamps agree with the order of the file.";
  else words.textContent = `In ${count(wrong)} of ${count(inspection.cases)} cases the time stamps contradict the order of the file. Events are taken ${inspection.found.order === "time" ? "by time stamp" : "as in the file"}.`;
};

/** Call back when the form is changed, once people pause. */
export const onReading = (action) => {
  let waiting = 0;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(action, 350);
  });
};

/** What the log contains. */
export const showContents = (inspection, colourOf) => {
  find("#frequent").replaceChildren(...inspection.frequent.map((variant) =>
    make("tr", {}, make("td", { className: "n", textContent: count(variant.count) }),
      make("td", {}, make("ol", { className: "trace" }, ...variant.activities.map((name) => make("li", { className: `a${colourOf(name)}`, textContent: name, title: name })))))));
  items(find("#notices"), inspection.notices);
};
