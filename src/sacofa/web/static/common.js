"use strict";

const csrf = document.querySelector("meta[name=csrf]").content;
const number = new Intl.NumberFormat("en-US");

export const find = (selector) => document.querySelector(selector);
export const count = (value) => number.format(value);

export const percent = (share) => {
  const p = 100 * share;
  return p.toFixed(p === 0 || p === 100 ? 0 : p < 0.95 || p > 99.05 ? 2 : 1).replace(/\.0+$/, "") + " %";
};

export const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

/** Ask the interface; a refusal becomes an error with its one line. */
export const ask = async (method, path, content) => {
  const answer = await fetch("/api" + path, {
    method,
    headers: { "X-CSRF-Token": csrf, ...(content ? { "Content-Type": "application/json" } : {}) },
    body: content ? JSON.stringify(content) : undefined,
  });
  if (answer.status === 204) return null;
  const body = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(body.detail), { status: answer.status });
  return body;
};

/** Send a file as it is; the answer comes when all of it has arrived. */
export const send = (file, progress) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", "/api/logs?name=" + encodeURIComponent(file.name));
    request.setRequestHeader("X-CSRF-Token", csrf);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.responseType = "json";
    request.upload.onprogress = (event) => progress(event.loaded / event.total);
    request.onload = () =>
      request.status === 201 ? resolve(request.response) : reject(new Error(request.response?.detail ?? "the upload failed"));
    request.onerror = () => reject(new Error("the upload was broken off"));
    request.send(file);
  });

export const tellProblem = (error) => {
  const line = find("#problem");
  line.textContent = error.message ?? String(error);
  line.hidden = false;
  line.scrollIntoView({ block: "nearest" });
};

export const clearProblem = () => { find("#problem").hidden = true; };

/** Run something that may fail; what goes wrong is said on the page. */
export const attempt = (action) => async (event) => {
  clearProblem();
  try { await action(event); } catch (error) { tellProblem(error); }
};

export const figures = (list, pairs) =>
  list.replaceChildren(...pairs.map(([what, value]) => make("div", {}, make("dt", { textContent: what }), make("dd", { textContent: value }))));

export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
