// The studio: joins the record, the text, its sources and the batch.

import { $, count, debounce, fill, h, say, theirs } from "./dom.js";
import { ask, Gone, json, onWait, useToken } from "./api.js";
import * as keep from "./keep.js";
import { RecordForm } from "./record.js";
import { sentenceOf, Work } from "./work.js";
import { Batch, readRecords } from "./batch.js";
import { untangle } from "./pieces.js";
import { showNoSource } from "./source.js";
import * as rules from "./rules.js";

let work = null;
let batch = null;
let own = null; // one's own text, while a row of the table is open

// ---- Problems ----

let again = null;
let poll = 0;

/** Shows what went wrong and what to do; `null` takes it away. */
function complain(error, retry = null) {
  clearTimeout(poll);
  again = retry;
  if (!error) {
    fill($("alert"));
    return;
  }
  if (error.status === 401) {
    askToken(retry);
    return;
  }
  const close = h("button", { type: "button", class: "quiet", "aria-label": "Dismiss", on: { click: () => complain(null) } }, "×");
  const button = retry ? h("button", { type: "button", on: { click: () => { const next = again; complain(null); next?.(); } } }, "Try again") : null;
  const said = error.message || String(error);
  const sentence = error.where ? [theirs(error.where), ": ", theirs(said)] : [theirs(sentenceOf(said))];
  fill($("alert"), h("div", { class: "box" }, h("p", {}, h("b", {}, ...sentence), error.remedy ? h("span", {}, " ", theirs(error.remedy)) : null),
    h("div", { class: "row" }, button, close)));
  if (error instanceof Gone) poll = setTimeout(() => back(retry), 3000);
}

/** Asks now and then whether the server is there again. */
async function back(retry) {
  try {
    await ask("v1/health");
    complain(null);
    say("The server is back.");
    retry?.();
  } catch {
    poll = setTimeout(() => back(retry), 3000);
  }
}

onWait((seconds) => {
  if (!seconds) fill($("alert"));
  else fill($("alert"), h("div", { class: "box waiting" }, h("p", {}, h("b", {}, "The server is busy."), ` Asking again in ${seconds < 1 ? "a moment" : `${Math.round(seconds)} s`}. Nothing is lost.`)));
});

function askToken(retry) {
  const dialog = $("dialog-token");
  $("token-form").onsubmit = () => {
    useToken($("token").value.trim());
    $("token").value = "";
    retry?.();
  };
  if (!dialog.open) dialog.showModal();
}

// ---- Views ----

function view(name, { focus = true } = {}) {
  const many = name === "batch";
  $("write").hidden = many;
  $("batch").hidden = !many;
  const ofMany = many || (batch?.at ?? -1) >= 0; // a row that is open belongs to its table
  keep.write("view", { name });
  for (const [id, on] of [["view-write", !ofMany], ["view-batch", ofMany]]) {
    if (on) $(id).setAttribute("aria-current", "page");
    else $(id).removeAttribute("aria-current");
  }
  if (many) batch?.render();
  else untangle($("layer"));
  fromBatch();
  if (focus) $(many ? "batch-title" : "text-title").focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

function fromBatch() {
  const open = Boolean(batch) && batch.at >= 0;
  $("from-batch").hidden = $("row-said").hidden = !open;
  if (open) fill($("row-said"), "Row ", theirs(batch.nameOf(batch.at)), own?.text || Object.keys(own?.record ?? {}).length ? ". Your own text is kept under One text." : "");
}

// ---- Keeping ----

const keepNow = () => {
  if (!work) return;
  const kept = work.toKeep();
  batch?.changed({ ...kept });
  $("unkept").hidden = keep.write("work", kept) || keep.write("work", { ...kept, result: null });
  keep.write("own", own ?? {});
  if (batch && batch.at >= 0) keepBatch();
};
const keepSoon = debounce(150, keepNow);
const keepBatch = () => {
  const small = batch.entries.length <= 300; // a result has some 20,000 characters
  if (!small || !keep.write("batch", batch.toKeep())) keep.write("batch", batch.toKeep({ light: true }));
};

// ---- Theme ----

function theme(wanted) {
  const dark = wanted ? wanted === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  if (wanted) document.documentElement.dataset.theme = wanted;
  $("theme").setAttribute("aria-pressed", String(dark));
}

// ---- Dialogs ----

async function command() {
  const table = work.form.get();
  const body = { rules: rules.sent(work.rules), table };
  const start = rules.startOf(work.rules);
  if (start) body.start = start;
  try {
    const said = await json("v1/command", { body });
    $("command-text").value = said.command;
    $("dialog-command").showModal();
    await copyCommand();
  } catch (error) {
    complain(error, command);
  }
}

async function copyCommand() {
  try {
    await navigator.clipboard.writeText($("command-text").value);
    $("command-said").textContent = "Copied.";
  } catch {
    $("command-text").select();
    $("command-said").textContent = "Selected: copy it with Ctrl C.";
  }
}

async function showApproved() {
  try {
    await listApproved();
    if (!$("dialog-approved").open) $("dialog-approved").showModal();
  } catch (error) {
    complain(error, showApproved);
  }
}

async function listApproved(done = "") {
  const { approved, rows, keys } = await json("v1/approved");
  counted(approved);
  $("approved-said").textContent = `${done} ${approved ? `${count(approved, "text")} in the file of approved texts${rows.length < approved ? `; the last ${rows.length} are shown` : ""}.` : "None yet. A text that you approve is added to a file, and stands here."}`.trim();
  fill($("approved-list"), ...rows.map((row, at) => approvedItem(row, keys[at])).reverse());
}

function approvedItem({ text, approved: when }, key) {
  const button = (words, act) => h("button", { type: "button", class: "quiet", "aria-label": `${words}: ${text}`, on: { click: act } }, words);
  return h("li", {}, h("span", { dir: "auto" }, text), " ", h("span", { class: "hint" }, when ? new Date(when).toLocaleString() : ""),
    h("span", { class: "row" }, button("Copy", () => copyApproved(text)), button("Remove", () => unapprove(key, text))));
}

async function copyApproved(text) {
  try {
    await navigator.clipboard.writeText(text);
    $("approved-said").textContent = "Copied.";
  } catch {
    $("approved-said").textContent = "This browser does not let the page copy. Select the text and press Ctrl C.";
  }
}

async function unapprove(key, text) {
  let done = "Removed.";
  try {
    await json("v1/unapprove", { body: { key } });
    work.forget(text);
    batch.forget(text);
    keepNow();
  } catch (error) {
    done = [sentenceOf(error.message), error.remedy].filter(Boolean).join(" "); // an alert would lie under the dialog
  }
  await listApproved(done).catch((error) => { $("approved-said").textContent = sentenceOf(error.message); });
  $("approved-title").focus();
}

async function play() {
  try {
    const page = await (await ask("v1/player", { body: { row: work.result.row }, accept: "text/html" })).text();
    const frame = h("iframe", { sandbox: "allow-scripts", title: "The derivation, step by step" });
    frame.srcdoc = page;
    fill($("player-frame"), frame);
    $("dialog-player").showModal();
  } catch (error) {
    complain(error, play);
  }
}

async function pasted(event) {
  event.preventDefault();
  const text = $("paste-text").value;
  $("paste-said").textContent = "";
  if (!text.trim()) return;
  try {
    const { entries, bad } = await readRecords(text, "");
    if (!entries.length) {
      $("paste-said").textContent = bad[0]?.what ?? "No record was found. The first line must name the fields.";
      return;
    }
    $("dialog-paste").close();
    $("paste-text").value = "";
    if (entries.length === 1) {
      alone();
      work.open({ record: entries[0].record });
      view("write", { focus: false });
      $("generate").focus();
    } else {
      view("batch");
      batch.start(entries, bad, "pasted rows");
    }
  } catch (error) {
    $("paste-said").textContent = [error.message, error.remedy].filter(Boolean).join(" ");
  }
}

/** Before a row is opened: what is on the screen is kept, for its row or as one's own. */
function leaving() {
  keepNow();
  if (batch.at < 0) own = work.toKeep();
}

/** The record on the screen is no longer a row of the table, but one's own again. */
function alone() {
  keepNow();
  if (batch.at < 0) return;
  batch.at = -1;
  ownAgain();
  keepBatch();
}

/** One's own text as it was left, under the rules that hold for all by now. */
function ownAgain() {
  const kept = own ?? {};
  own = null;
  work.takeUp({ ...kept, rules: [...work.rules.filter((rule) => rule.always), ...rules.asRules(kept.rules).filter((rule) => !rule.always)] });
  keepNow();
  fromBatch();
}

// ---- Start ----

function listen() {
  $("form").addEventListener("submit", (event) => { event.preventDefault(); work.generate({ focus: matchMedia("(max-width: 900px)").matches }); });
  $("example").addEventListener("click", () => { alone(); work.open({ record: work.schema.example ?? {} }); $("generate").focus(); });
  $("clear").addEventListener("click", () => { alone(); work.open({ record: {} }); $("fields").querySelector("input, select")?.focus(); });
  for (const id of ["paste", "batch-paste"]) $(id).addEventListener("click", () => $("dialog-paste").showModal());
  $("paste-form").addEventListener("submit", pasted);
  $("play").addEventListener("click", play);
  $("command").addEventListener("click", command);
  $("approved").addEventListener("click", showApproved);
  $("command-copy").addEventListener("click", copyCommand);
  $("keys").addEventListener("click", () => $("dialog-keys").showModal());
  $("view-write").addEventListener("click", () => { alone(); view("write"); });
  $("view-batch").addEventListener("click", () => { keepNow(); view("batch"); });
  $("to-batch").addEventListener("click", () => { keepNow(); view("batch"); });
  $("next-row").addEventListener("click", () => { keepNow(); batch.next(); });
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return;
    const control = event.ctrlKey || event.metaKey;
    if (event.key === "Enter" && control && !$("write").hidden) {
      event.preventDefault();
      if (event.shiftKey) work.approve();
      else work.generate();
    }
    const undoes = control && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "z";
    if (undoes && !$("write").hidden && !event.target.closest?.("input:not([type=radio]), textarea, select, [contenteditable]")) {
      event.preventDefault();
      work.undo();
    }
    const digit = /^(?:Digit|Numpad)([1-9])$/.exec(event.code)?.[1];
    if (digit && event.altKey && !control && !$("write").hidden) {
      event.preventDefault();
      work.choose(Number(digit) - 1);
    }
  });
  addEventListener("pagehide", keepNow);
  const below = () => $("send").classList.toggle("below", $("adder").getBoundingClientRect().bottom > $("send").getBoundingClientRect().top + 2);
  addEventListener("scroll", below, { capture: true, passive: true });
  new ResizeObserver(below).observe($("fields"));
  addEventListener("resize", debounce(100, () => { untangle($("layer")); below(); }));
  let inside = 0;
  const carriesFile = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  addEventListener("dragenter", (event) => { if (carriesFile(event)) { inside++; document.body.classList.add("dropping"); } });
  addEventListener("dragleave", () => { inside = Math.max(0, inside - 1); document.body.classList.toggle("dropping", inside > 0); });
  addEventListener("dragover", (event) => { if (carriesFile(event)) event.preventDefault(); });
  addEventListener("drop", (event) => {
    inside = 0;
    document.body.classList.remove("dropping");
    const file = event.dataTransfer?.files?.[0];
    if (!file) return;
    event.preventDefault();
    view("batch");
    batch.take(file);
  });
}

function counted(approved) {
  $("approved").textContent = `${approved.toLocaleString("en")} approved here`;
}

async function start() {
  theme(keep.theme());
  $("theme").addEventListener("click", () => theme(keep.theme($("theme").getAttribute("aria-pressed") === "true" ? "light" : "dark")));
  for (const button of document.querySelectorAll("[data-close]")) button.addEventListener("click", () => button.closest("dialog").close());
  $("dialog-player").addEventListener("close", () => fill($("player-frame")));
  showNoSource();
  await connect();
}

async function connect() {
  try {
    const schema = await json("v1/schema");
    complain(null);
    keep.keepFor(schema.run ?? schema.name ?? "");
    $("corpus").title = `${schema.name ?? ""}, ${schema.policy}`;
    fill($("corpus"), `Writes from ${(schema.texts ?? 0).toLocaleString("en")} approved texts`, ...(schema.name && schema.name !== "bundled" ? [" of ", theirs(schema.name)] : []));
    const form = new RecordForm(schema.fields ?? [], (name) => work?.recordChanged(name));
    work = new Work({ schema, form, complain, kept: keepSoon, approved: counted });
    batch = new Batch({ schema, complain, kept: keepBatch, rulesNow: () => work.rules, leaving, left: ownAgain, open: (row) => { work.open(row); view("write"); } });
    listen();
    batch.takeUp(keep.read("batch"));
    own = batch.at >= 0 ? keep.read("own") : null;
    work.takeUp(keep.read("work"));
    view(keep.read("view").name === "batch" ? "batch" : "write", { focus: false });
    document.documentElement.dataset.ready = "yes";
    counted((await json("v1/approved")).approved);
  } catch (error) {
    complain(error, connect);
  }
}

start();
