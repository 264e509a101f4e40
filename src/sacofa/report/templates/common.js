// Shared by all parts of the script: the data of the page, and small tools.
const find = (selector) => document.querySelector(selector);
const data = JSON.parse(find("#page-data").textContent);
const number = new Intl.NumberFormat("en-US");

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
const svg = (tag, attributes, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};
/** A duration in one unit, as the tables say it. */
const duration = (seconds) => {
  for (const [name, size] of [["y", 31536000], ["d", 86400], ["h", 3600], ["min", 60], ["s", 1]]) {
    if (seconds === size || seconds >= size * (size > 3600 ? 2 : 1) || name === "s") {
      const amount = seconds / size;
      return `${amount.toLocaleString("en-US", { maximumFractionDigits: amount >= 10 || Number.isInteger(amount) ? 0 : 1 })} ${name}`;
    }
  }
  return "";
};
