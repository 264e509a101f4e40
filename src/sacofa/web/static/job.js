import { ask, attempt, count, figures, find, make, pause } from "./common.js";

const id = location.pathname.split("/").pop();
const formats = { ".xes": "XES", ".xes.gz": "XES, packed", ".csv": "CSV", ".parquet": "Parquet", ".json": "JSON: variants and counts" };
const stages = { waiting: "Waiting for a free place …", starting: "Starting …", reading: "Reading the log …", anonymizing: "Drawing noise …", writing: "Writing …", drawing: "Drawing the report …" };
const link = (file, text) => make("a", { href: `/api/jobs/${id}/files/${file}`, textContent: text, download: "" });

const showResult = async (job) => {
  const release = job.release;
  find("#promise").textContent = release.promise;
  find("#promise").classList.toggle("no", release.epsilon === null || !release.publishable);
  figures(find("#figures"), [["ε of the whole release", release.epsilon ?? "none"], ["cases", count(release.cases)], ["variants", count(release.variants)]]);
  find("#report").href = `/jobs/${id}/report`;
  find("#report-file").href = `/api/jobs/${id}/files/report.html`;
  find("#files").replaceChildren(...Object.entries(formats).map(([suffix, words]) =>
    make("tr", {}, make("th", { scope: "row", textContent: words }), make("td", {}, link(`log${suffix}`, `log${suffix}`)), make("td", {}, link(`log${suffix}.certificate.json`, "certificate")))));
  find("#notices").replaceChildren(...release.notices.map((line) => make("li", { textContent: line })));
  if (release.ledger.length) {
    find("#paid-lines").replaceChildren(...release.ledger.map((line) => make("li", { textContent: line })));
    const entries = await ask("GET", `/ledger/${encodeURIComponent(release.dataset)}`);
    const cell = (text, className = "") => make("td", { className, textContent: text });
    find("#entries").replaceChildren(...entries.map((e) => make("tr", {}, cell(e.id, "n"), cell(e.at), cell(e.mechanism), cell(e.price ?? "none finite", "n"), cell(e.state))));
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
      const log = await ask("GET", `/logs/${job.log}`).catch(() => null);
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
find("#delete").addEventListener("click", attempt(async () => { await ask("DELETE", `/jobs/${id}`); location.assign("/"); }));
watch();
