import { ask, attempt, claim, confirmed, count, figures, find, items, make, pause, showStrength } from "./common.js";

const id = location.pathname.split("/").pop();
const formats = [...find("#format").options];
const stages = { waiting: "Waiting for a free place …", starting: "Starting …", reading: "Reading the log …", anonymizing: "Drawing noise …", writing: "Writing …", drawing: "Drawing the report …" };
const link = (file, text) => make("a", { href: `/api/jobs/${id}/${file}`, textContent: text, download: "" });

const showLog = async (job) => {
  const log = await ask("GET", `/logs/${job.log}`).catch(() => null);
  find("#log-there").hidden = !log;
  find("#log-gone").hidden = Boolean(log);
  find("#again").href = `/logs/${job.log}`;
  return log;
};

const showResult = async (job) => {
  const release = job.release;
  find("#promise").textContent = release.promise;
  find("#promise").classList.toggle("no", release.epsilon === null || !release.publishable);
  showStrength(find("#strength"), release.strength ?? "no", release.level ?? 4);
  find("#verdict").hidden = !release.verdict;
  find("#verdict").textContent = `Accuracy of the figures: ${release.verdict}`;
  figures(find("#figures"), [["ε of the whole release", release.epsilon === null ? "none" : claim(release)], ["cases", count(release.cases) + (release.cases_margin === null ? "" : ` ± ${count(release.cases_margin)}`)], ["variants", count(release.variants)]]);
  find("#report").href = `/jobs/${id}/report`;
  find("#report-file").href = `/api/jobs/${id}/files/report.html`;
  for (const end of ["csv", "json"]) find(`#figures-${end}`).href = `/api/jobs/${id}/files/figures.${end}`;
  const signer = release.publishable ? (await ask("GET", "/signer")).name : null;
  find("#signed").hidden = !signer;
  if (signer) find("#signed").textContent = `signature by ${signer}`;
  find("#files").replaceChildren(...formats.map(({ value: suffix, textContent }) => make("tr", {},
    make("th", { scope: "row", textContent }),
    make("td", {}, link(`files/log${suffix}`, `log${suffix}`)),
    make("td", {}, link(`files/log${suffix}.certificate.json`, "certificate")),
    ...(signer ? [make("td", {}, link(`signatures/log${suffix}`, "signature"))] : []))));
  const choose = () => { find("#all").href = `/api/jobs/${id}/files/log${find("#format").value}.zip`; };
  find("#format").addEventListener("change", choose);
  choose();
  items(find("#notices"), release.notices);
  items(find("#secret-notices"), job.secret_notices);
  find("#secret").hidden = !job.secret_notices.length;
  await showLog(job);
  if (release.ledger.length) {
    items(find("#paid-lines"), release.ledger);
    const entries = await ask("GET", `/ledger/${encodeURIComponent(release.dataset)}`);
    const cell = (text, className = "") => make("td", { className, textContent: text });
    find("#entries").replaceChildren(...entries.map((e) => make("tr", {}, cell(e.id, "n"), cell(`${e.at.slice(0, 16).replace("T", " ")} UTC`), cell(e.mechanism), cell(e.price === null ? "none finite" : claim({ epsilon: e.price, delta: e.delta }), "n"), cell(e.state))));
    find("#paid").hidden = false;
  }
};

const watch = attempt(async () => {
  for (;;) {
    const job = await ask("GET", `/jobs/${id}`);
    const working = job.state === "waiting" || job.state === "running";
    document.title = `${job.name} · ${job.state} · sacofa`;
    find("#name").textContent = job.name;
    find("#working").hidden = !working;
    find("#result").hidden = job.state !== "done";
    find("#ended").hidden = working || job.state === "done";
    if (job.state === "done") return showResult(job);
    if (!working) {
      find("#why").textContent = job.state === "cancelled" ? "Cancelled." : job.problem;
      const log = await showLog(job);
      find("#back").href = log ? `/logs/${job.log}` : "/";
      find("#back").textContent = log ? "Back to the log: choose other settings" : "Back to the start";
      return null;
    }
    find("#stage").textContent = stages[job.stage] ?? job.stage;
    find("#done").value = job.progress;
    await pause(250);
  }
});

find("#cancel").addEventListener("click", attempt(async () => { await ask("POST", `/jobs/${id}/cancel`); }));
find("#delete").addEventListener("click", attempt(async () => {
  if (!(await confirmed("Delete this release here? What you have not downloaded is gone; its ε stays spent."))) return;
  await ask("DELETE", `/jobs/${id}`);
  location.assign("/");
}));
find("#delete-log").addEventListener("click", attempt(async () => {
  const job = await ask("GET", `/jobs/${id}`);
  if (!(await confirmed("Delete the log that was uploaded, and everything that was derived from it? This release stays."))) return;
  await ask("DELETE", `/logs/${job.log}`);
  find("#secret").hidden = true;
  await showLog(job);
}));
watch();
