import { find, make } from "./common.js";

/** What else is released: attributes to tick, each with its price as long as it is ticked. */
const form = find("#settings");
const chosen = form.elements.namedItem("attribute");
const employees = form.elements.namedItem("employees");
const personal = form.elements.namedItem("personal");
const other = form.elements.namedItem("accept_other");
const file = form.elements.namedItem("columns_file");
const kinds = { number: "float", date: "date", time: "date", "yes or no": "boolean" };
let offered = [];

const names = () => JSON.parse(chosen.value || "[]").filter((name) => offered.some((one) => one.name === name));
const content = async () => (file.files.length ? await file.files[0].text() : null);

/** A column that was declared to have one value for each case is asked for as such. */
const asked = (name) => (find(`#attributes [data-of-case="${CSS.escape(name)}"]`)?.checked ? `case:${name}` : name);

/** As a job takes it. */
export const chosenAttributes = async () => {
  const attribute = names().map(asked);
  return attribute.length ? { attribute, employees: employees.checked, personal: personal.checked, accept_other: other.checked, columns: await content() } : {};
};

/** As a plan takes it: with the types, from which prices follow. */
export const forPlan = async () => {
  const attributes = names().map((name) => ({ name: asked(name), kind: kinds[offered.find((one) => one.name === name).type] ?? "string" }));
  return attributes.length ? { attributes, employees: employees.checked, personal: personal.checked, columns: await content() } : {};
};

const tick = (event) => {
  const now = new Set(names());
  if (event.target.checked) now.add(event.target.value);
  else now.delete(event.target.value);
  // In the order of the log, so that the same choice is always the same request.
  chosen.value = JSON.stringify(offered.map((one) => one.name).filter((name) => now.has(name)));
};

/** List what may be ticked. */
export const showAttributes = (attributes) => {
  offered = attributes;
  const ticked = new Set(names());
  const choice = (one) => {
    const box = make("input", { type: "checkbox", value: one.name, checked: ticked.has(one.name) });
    box.addEventListener("input", tick);
    const about = one.advice ? `${one.type}; ${one.advice}` : one.type;
    const choice = make("label", { className: "choice" }, box, make("span", {}, one.name, make("small", { textContent: about })), make("output", { className: "n small" }));
    // In this log each case has one value; whether that is so by the process, only its owner knows.
    if (!one.constant || /^(case:|\(case\) )/i.test(one.name)) return [choice];
    const of = make("input", { type: "checkbox", value: one.name });
    of.dataset.ofCase = one.name;
    return [choice, make("label", { className: "choice of-case" }, of, make("span", {}, make("small", { textContent: `${one.name}: one value for each case` })))];
  };
  const harmless = offered.filter((one) => !one.personal);
  const risky = offered.filter((one) => one.personal);
  find("#attribute-none").hidden = Boolean(harmless.length);
  find("#attribute-list").hidden = !harmless.length;
  find("#attribute-list").replaceChildren(...harmless.flatMap(choice));
  find("#attribute-personal").hidden = !risky.length;
  find("#personal-list").replaceChildren(...risky.flatMap(choice));
  allowPersonal();
};

/** What looks like personal data can be ticked only after the user has insisted. */
const allowPersonal = () => {
  const boxes = [...find("#personal-list").querySelectorAll("input:not([data-of-case])")];
  for (const box of boxes) {
    box.disabled = !personal.checked;
    if (personal.checked || !box.checked) continue;
    box.checked = false;
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }
};
personal.addEventListener("input", allowPersonal);

/** Show what each ticked one costs, and what is left for all the rest. */
export const showPrices = (shares, currency) => {
  const of = (test) => shares.filter(({ what }) => test(what));
  const priced = of((what) => what.startsWith("attribute "));
  const ticked = names();
  for (const box of find("#attributes").querySelectorAll(".attributes input:not([data-of-case])")) {
    const share = box.checked ? priced[ticked.indexOf(box.value)] : null;
    box.parentElement.querySelector("output").textContent = share ? `${currency} = ${share.epsilon < 0.01 ? share.epsilon.toPrecision(2) : share.epsilon.toFixed(3)}, ± ${Math.ceil(share.noise)} cases` : "";
  }
  find("#attribute-more").hidden = !ticked.length;
  find("#employees-choice").hidden = !ticked.some((name) => /(^|:)resource$/.test(name)) && !employees.checked;
  const sum = (parts) => parts.reduce((total, { epsilon }) => total + epsilon, 0).toFixed(currency === "ε" ? 2 : 4);
  const times = of((what) => what === "times");
  const flow = of((what) => what !== "times" && !what.startsWith("attribute "));
  find("#attribute-sum").textContent = priced.length
    ? `Of ${currency}, ${sum(priced)} buys attributes${times.length ? `, ${sum(times)} times` : ""} and ${sum(flow)} the order of activities. Texts taken from the log are reckoned as 10 different ones.` : "";
};
