import { attempt, find, make } from "./common.js";

/** The interface, read off its own description. */
const typeOf = (schema) => {
  if (schema.$ref) return schema.$ref.split("/").pop();
  const kinds = (schema.anyOf ?? []).map(typeOf).filter((kind) => kind !== "null");
  if (kinds.length) return [...new Set(kinds)].join(" or ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  return schema.type === "array" ? `list of ${typeOf(schema.items ?? {})}` : schema.type ?? "anything";
};

const table = (caption, rows, where) => make("div", { className: "wide", tabIndex: 0, role: "region", ariaLabel: `${caption} of ${where}` }, make("table", {}, make("caption", { textContent: caption }),
  make("thead", {}, make("tr", {}, ...["name", "type", "what it is"].map((textContent) => make("th", { scope: "col", textContent })))),
  make("tbody", {}, ...rows.map(([name, type, words, needed]) => make("tr", {},
    make("th", { scope: "row" }, make("code", { textContent: name }), needed ? make("small", { className: "soft", textContent: " needed" }) : ""),
    make("td", { textContent: type }), make("td", { textContent: words ?? "" }))))));

const fields = (schema) => Object.entries(schema.properties ?? {}).map(([name, entry]) => [name, typeOf(entry), entry.description, (schema.required ?? []).includes(name)]);

const draw = (description, method, path, way) => {
  const where = `${method.toUpperCase()} ${path}`;
  const named = (schema) => (schema?.$ref ? description.components.schemas[schema.$ref.split("/").pop()] : schema);
  const part = make("section", {}, make("h2", {}, make("code", { textContent: where })), make("p", { textContent: way.description ?? way.summary }));
  if (way.parameters?.length) part.append(table("In the address", way.parameters.map((entry) => [entry.name, typeOf(entry.schema), entry.description ?? (entry.in === "query" ? "a question mark and this" : "a part of the path"), entry.required]), where));
  const body = way.requestBody?.content ?? {};
  const schema = named(body["application/json"]?.schema);
  if (schema) {
    if (schema.properties) part.append(table("The body, JSON", fields(schema), where));
    for (const example of schema.examples ?? []) part.append(make("pre", { tabIndex: 0, textContent: JSON.stringify(example, null, 2) }));
  } else if (Object.keys(body).length) part.append(make("p", { className: "soft", textContent: "The body is the file itself." }));
  const answers = Object.entries(way.responses).filter(([status]) => status < 300);
  for (const [status, answer] of answers) {
    const given = answer.content?.["application/json"]?.schema;
    const inside = named(given?.type === "array" ? given.items : given);
    const box = make("details", {}, make("summary", { textContent: `Answer ${status}${given ? ": " + typeOf(given) : ""}` }));
    if (inside?.properties) box.append(table(typeOf(given), fields(inside), where));
    else box.append(make("p", { className: "soft", textContent: status === "204" ? "Nothing." : "A file." }));
    part.append(box);
  }
  return part;
};

attempt(async () => {
  for (const place of document.querySelectorAll(".origin")) place.textContent = location.origin;
  const description = await (await fetch("/api/openapi.json")).json();
  for (const [path, ways] of Object.entries(description.paths)) for (const [method, way] of Object.entries(ways)) find("#ways").append(draw(description, method, path, way));
})();
