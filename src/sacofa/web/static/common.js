"use strict";

const csrf = document.querySelector("meta[name=csrf]").content;
const number = new Intl.NumberFormat("en-US");

export const find = (selector) => document.querySelector(selector);
/** An ε with its δ, if there is one. */
export const claim = ({ epsilon, delta }) => (delta ? `${epsilon}, ${delta}` : epsilon);
export const count = (value) => number.format(value);
export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export const percent = (share) => {
  const p = 100 * share;
  return p.toFixed(p === 0 || p === 100 ? 0 : p < 0.95 || p > 99.05 ? 2 : 1).replace(/\.0+$/, "") + " %";
};

export const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

export const items = (list, lines) => list.replaceChildren(...lines.map((line) => make("li", { textContent: line })));

/** Ask again until the app answers. Only what may be asked twice is: never the start of a job. */
const insist = async (address, options, again) => {
  for (let wait = 500; ; wait = Math.min(2 * wait, 8000)) {
    try {
      const answer = await fetch(address, options);
      find("#offline").hidden = true;
      return answer;
    } catch (error) {
      if (!again) throw new Error("The app does not answer. Nothing was sent twice: look at the start page before you try again.");
      find("#offline").hidden = false;
      await pause(wait);
    }
  }
};

/** Ask the interface; a refusal becomes an error with its one line. */
export const ask = async (method, path, content) => {
  const again = method !== "POST" || path === "/plan";
  const answer = await insist("/api" + path, {
    method,
    headers: { "X-CSRF-Token": csrf, ...(content ? { "Content-Type": "application/json" } : {}) },
    body: content ? JSON.stringify(content) : undefined,
  }, again);
  if (answer.status === 204) return null;
  const body = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(body.detail), { status: answer.status });
  return body;
};

const sendOnce = (file, progress) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", "/api/logs?name=" + encodeURIComponent(file.name));
    request.setRequestHeader("X-CSRF-Token", csrf);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.responseType = "json";
    request.upload.onprogress = (event) => progress(event.loaded / event.total);
    request.onload = () =>
      request.status === 201 ? resolve(request.response) : reject(new Error(request.response?.detail ?? "the upload failed"));
    request.onerror = () => reject(Object.assign(new Error("The upload was broken off. Choose the file again."), { lost: true }));
    request.send(file);
  });

/** Send a file as it is; nothing is left of one that did not come whole, so it can be sent again. */
export const send = async (file, progress) => {
  for (let left = 2; ; left -= 1) {
    try { return await sendOnce(file, progress); } catch (error) {
      if (!error.lost || !left) throw error;
      progress(0);
      await pause(1500);
    }
  }
};

/** Say what went wrong, until somebody has read it. */
export const tellProblem = (error) => {
  find("#problem-words").textContent = error.message ?? String(error);
  find("#problem").hidden = false;
  find("#problem").scrollIntoView({ block: "nearest" });
};
export const clearProblem = () => { find("#problem").hidden = true; };
find("#problem-close").addEventListener("click", clearProblem);
if (location.pathname === "/") find("#problem-back").hidden = true;

/** Run something that may fail; what goes wrong is said on the page. */
export const attempt = (action) => async (event) => {
  try { await action(event); } catch (error) { tellProblem(error); }
};

/** Ask before something is gone for good. */
export const confirmed = (words, yes = "Delete") =>
  new Promise((resolve) => {
    const dialog = find("#question");
    find("#question-words").textContent = words;
    find("#question-yes").textContent = yes;
    dialog.returnValue = "no";
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
    dialog.showModal();
  });

export const figures = (list, pairs) =>
  list.replaceChildren(...pairs.map(([what, value]) => make("div", {}, make("dt", { textContent: what }), make("dd", { textContent: value }))));

/** How strongly a price protects, as a word in a colour; the words come from the app. */
export const showStrength = (element, strength, level) => {
  element.hidden = strength === null;
  element.textContent = strength ?? "";
  element.className = `strength s${level}`;
};
