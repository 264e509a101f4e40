import { ask, attempt, claim, clearProblem, count, find, make, send, tellProblem } from "./common.js";

const limit = find("#limit");
limit.textContent = `${count(Math.round(limit.dataset.bytes / 1e6))} MB`;

const upload = async (file) => {
  if (!file) return;
  clearProblem();
  find("#sending").hidden = false;
  find("#sending-name").textContent = file.name;
  try {
    if (file.size > Number(limit.dataset.bytes)) throw new Error(`${file.name} is larger than ${limit.textContent}`);
    const log = await send(file, (done) => { find("#sent").value = done; });
    location.assign(`/logs/${log.id}`);
  } catch (error) {
    find("#sending").hidden = true;
    find("#file").value = "";
    tellProblem(error);
  }
};

const drop = find("#drop");
find("#file").addEventListener("change", (event) => upload(event.target.files[0]));
for (const name of ["dragenter", "dragover"]) drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); });
for (const name of ["dragleave", "drop"]) drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.remove("over"); });
drop.addEventListener("drop", (event) => upload(event.dataTransfer.files[0]));

const line = (address, name, words) => make("li", {}, make("a", { href: address, textContent: name }), make("span", { className: "soft small", textContent: words }));
const say = (job) => (job.release ? `${count(job.release.cases)} cases in ${count(job.release.variants)} variants, ${job.release.epsilon === null ? "no finite ε" : "ε = " + claim(job.release)}` : job.state);
const size = (bytes) => (bytes < 1e6 ? `${count(Math.ceil(bytes / 1e3))} kB` : `${count(Math.round(bytes / 1e6))} MB`);

const refresh = attempt(async () => {
  const [logs, jobs] = await Promise.all([ask("GET", "/logs"), ask("GET", "/jobs")]);
  find("#logs").replaceChildren(...logs.map((log) => line(`/logs/${log.id}`, log.name, `${size(log.bytes)}, deleted in ${Math.ceil(log.seconds_left / 60)} min`)));
  find("#jobs").replaceChildren(...jobs.map((job) => line(`/jobs/${job.id}`, job.name, say(job))));
  find("#logs-section").hidden = !logs.length;
  find("#jobs-section").hidden = !jobs.length;
  if (find("#ledger")) {
    const { datasets } = await ask("GET", "/ledger");
    const cell = (text, className = "n") => make("td", { className, textContent: text });
    find("#ledger").replaceChildren(...datasets.map((d) => make("tr", {}, make("th", { scope: "row", textContent: d.dataset }), cell((d.budget ?? "no limit") + (d.delta ? ` (${d.delta})` : "")), cell(d.spent ?? "no finite ε"), cell(d.left ?? "no limit"))));
  }
});

// One at a time: while the app does not answer, questions must not pile up.
const keepFresh = async () => {
  await refresh();
  setTimeout(keepFresh, 3000);
};
keepFresh();
