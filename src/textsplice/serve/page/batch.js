// Many records: read from a file, written one after the other, doubtful ones first.

import { $, count, fill, h, isolated, say, shorten, theirs } from "./dom.js";
import { Gone, json, lines } from "./api.js";
import { asRecord } from "./keep.js";
import { approvalOf, asResult, withoutApproval, optionsOf, plainly, sentenceOf, slotRemarks } from "./work.js";
import * as rules from "./rules.js";

const CHUNK = 25; // rows a request: what arrived is kept if the server goes
const PAGE = 100; // rows drawn at once
const ORDER = ["refused", "abstained", "doubtful", "unfinished", "waiting", "ok"];
const WORDS = { refused: "refused", abstained: "no text", doubtful: "doubtful", unfinished: "unfinished", waiting: "waiting", ok: "ok" };
const SEVERAL = /,\s|[|;]/;
const BETWEEN = /\s*[|;]\s*|,\s+(?:and\s+)?/;
const FORMULA = /^[=+\-@＝＋－＠\t\r]/;
const JSONL = "application/x-ndjson";
const TYPES = { csv: "text/csv", tsv: "text/tab-separated-values", json: JSONL, jsonl: JSONL, ndjson: JSONL };

/** A text of records as the program's readers take it, with its type: by the name of its file or by how it begins. */
export function readable(text, name = "") {
  const ending = name.includes(".") ? name.toLowerCase().split(".").pop() : "";
  if (["csv", "tsv"].includes(ending)) return { text, type: TYPES[ending] };
  if (/^\s*[[{]/.test(text)) return { text: asLines(text), type: TYPES.jsonl };
  if (ending in TYPES) return { text, type: TYPES.jsonl };
  return { text, type: TYPES[text.trimStart().split("\n", 1)[0].includes("\t") ? "tsv" : "csv"] };
}

/** A JSON document as JSON lines; JSON lines as they are. */
function asLines(text) {
  try {
    const said = JSON.parse(text);
    return (Array.isArray(said) ? said : [said]).map((record) => `${JSON.stringify(record)}\n`).join("");
  } catch {
    return text;
  }
}

/** The records of a text, read by the server as `textsplice generate` reads the file. */
export async function readRecords(text, name) {
  const sent = readable(text, name);
  const { tables, ids, bad } = await json("v1/read", { body: sent.text, type: sent.type });
  const named = (id) => (/^row:\d+$/.test(id) ? undefined : id);
  const rows = sent.text === text ? rowsOf(text, sent.type) : [];
  const broken = new Map((bad ?? []).map((row) => [row.row, row]));
  const read = rows.filter(({ line }) => !broken.has(line));
  const lineOf = (at) => (read.length === tables.length ? read[at].line : undefined); // else the lines are not known
  return { entries: tables.map((table, at) => ({ id: named(ids[at]), line: lineOf(at), record: asRecord(table, { empty: true }) })),
    bad: (bad ?? []).map((row) => ({ ...row, cells: shorten(rows.find(({ line }) => line === row.row)?.text ?? "", 160) })) };
}

/** The rows of a file with the lines they begin in; a quoted cell may hold line feeds. */
function rowsOf(text, type) {
  const rows = [];
  let open = false;
  text.split(/\r\n|\n|\r/).forEach((said, at) => {
    if (open) rows.at(-1).text += `\n${said}`;
    else if (said.trim()) rows.push({ line: at + 1, text: said });
    if (type !== JSONL && said.split('"').length % 2 === 0) open = !open;
  });
  return type === JSONL ? rows : rows.slice(1);
}

/** What a person must look at before what the text merely leaves out. */
const isSerious = ({ result }) => (result?.doubts ?? []).some(({ why }) => why !== "slot") || Boolean(result?.gaps?.length) || (result?.slots ?? []).some(({ status }) => status === "wrong");

const isApproved = (entry) => Boolean(entry.text) && entry.approved === approvalOf(entry.text, entry.record);
const isWaiting = (entry) => !entry.problem && !entry.result && !entry.text;

const statusOf = (entry) => {
  if (entry.problem) return "refused";
  if (isWaiting(entry)) return "waiting";
  const status = entry.result?.status ?? "ok";
  return status === "ok" && remark(entry.result) ? "doubtful" : status;
};

/** Why a person should look at a text, or nothing. */
function remark(result) {
  const gaps = (result?.gaps ?? []).map((gap) => `“${isolated(result.text.slice(...gap.utf16))}”`);
  const doubts = result?.doubts ?? [];
  const said = doubts.length ? doubts.map((doubt) => doubt.what) : result?.reason ? [plainly(result.reason)] : [];
  const slots = doubts.some(({ why }) => why === "slot") ? [] : slotRemarks(result?.slots);
  return [...said.slice(0, 3).map(sentenceOf), gaps.length && `New words: ${gaps.join(", ")}.`, ...slots].filter(Boolean).join(" ");
}

/** Cells of list fields that seem to hold several values, but were read as one. */
function unsplit(entries, fields) {
  const lists = listsOf(fields);
  const found = new Map();
  for (const { record } of entries) {
    for (const [name, value] of Object.entries(record)) if (lists.has(name) && [value].flat().length === 1 && SEVERAL.test([value].flat()[0])) found.set(name, [value].flat()[0]);
  }
  return found;
}

/** A record whose values in these fields are cut where several seem to stand in one. */
function splitLists(record, names) {
  const cut = ([name, value]) => [name, names.has(name) ? [value].flat().flatMap((one) => one.split(BETWEEN)).filter(Boolean) : value];
  return Object.fromEntries(Object.entries(record).map(cut));
}

const listsOf = (fields) => new Set(fields.filter((field) => field.list || field.kind === "list").map((field) => field.name));

export class Batch {
  /** `leaving()` is called before a row is opened, `left()` when the table of the open row goes. */
  constructor({ schema, complain, kept, open, leaving, left, rulesNow }) {
    Object.assign(this, { schema, complain, kept, open, leaving, left, rulesNow });
    this.empty();
    this.listen();
    this.render();
  }

  empty() {
    this.running?.abort();
    const wasOpen = this.at >= 0;
    Object.assign(this, { entries: [], bad: [], name: "", filter: null, page: PAGE, running: null, at: -1 });
    if (wasOpen) this.left();
  }

  // ---- What is kept: everything, or without the results if that is too much ----

  toKeep({ light = false } = {}) {
    const entries = this.entries.map(({ id, line, record, text, result, edited, approved, problem, own, under }) => (light && !edited
      ? { id, line, record, approved, own } : { id, line, record, text, result: light ? undefined : result, edited, approved, problem, own, under }));
    return { name: this.name, entries, bad: this.bad.slice(0, 100), at: this.at };
  }

  takeUp(kept) {
    if (!Array.isArray(kept.entries)) return;
    this.name = typeof kept.name === "string" ? kept.name : "";
    this.bad = Array.isArray(kept.bad) ? kept.bad.filter((row) => typeof row?.what === "string") : [];
    this.entries = kept.entries.filter((entry) => typeof entry === "object" && entry).map((entry) => ({
      id: typeof entry.id === "string" ? entry.id : undefined, record: asRecord(entry.record, { empty: true }), result: asResult(entry.result),
      text: typeof entry.text === "string" ? entry.text : "", edited: entry.edited === true, approved: typeof entry.approved === "string" ? entry.approved : null,
      problem: typeof entry.problem === "string" ? entry.problem : null, line: Number.isInteger(entry.line) ? entry.line : undefined,
      own: rules.asRules(entry.own), under: typeof entry.under === "string" ? entry.under : undefined,
    }));
    this.at = Number.isInteger(kept.at) && kept.at < this.entries.length ? kept.at : -1;
    this.render();
  }

  // ---- Reading and writing ----

  async read(text, name) {
    try {
      const { entries, bad } = await readRecords(text, name);
      this.complain(null);
      this.start(entries, bad, name);
    } catch (error) {
      this.complain(error, () => this.read(text, name));
    }
  }

  start(entries, bad, name) {
    this.empty();
    Object.assign(this, { entries: entries.map((entry) => ({ ...entry, text: "", result: null, approved: null })), bad, name });
    this.render();
    this.kept();
    if (this.entries.length) this.write();
    else this.complain({ message: `${name || "This"} has no records that can be read.`, remedy: "The first line of a CSV file names the fields; each line after it is one record." });
  }

  async write() {
    const mine = (this.running = new AbortController());
    const waiting = this.entries.filter((entry) => statusOf(entry) === "waiting");
    const most = Math.max(1, Math.min(CHUNK, this.schema.limits?.rows ?? CHUNK));
    this.progress();
    try {
      for (let at = 0; at < waiting.length; at += most) await this.writeSome(waiting.slice(at, at + most), mine.signal);
      this.complain(null);
    } catch (error) {
      if (!mine.signal.aborted) this.complain(error, () => this.write());
    }
    if (this.running !== mine) return;
    this.running = null;
    this.render();
    this.kept();
    const doubtful = this.entries.filter((entry) => statusOf(entry) !== "ok").length;
    say(`${count(this.done(), "text")} of ${this.entries.length} written. ${doubtful} to look at.`);
  }

  async writeSome(entries, signal) {
    const always = rules.sent(this.rulesNow().filter((rule) => rule.always));
    const body = { tables: entries.map((entry) => ({ id: entry.id ?? String(this.entries.indexOf(entry) + 1), table: entry.record })), rules: always, alternatives: 4 };
    const under = rules.key(this.rulesNow().filter((rule) => rule.always));
    let at = 0;
    try {
      for await (const result of lines("v1/generate", { body, signal })) this.got(entries[at++], result, under);
    } catch (error) {
      const refused = !(error instanceof Gone) && !signal.aborted && error.status >= 400 && error.status < 500 && ![401, 403, 429].includes(error.status);
      if (!refused) throw error;
      if (entries.length - at === 1) entries[at].problem = error.message;
      else for (const entry of entries.slice(at)) await this.writeSome([entry], signal);
      this.progress();
    }
    if (this.entries.length <= 300) this.kept();
  }

  got(entry, result, under) {
    Object.assign(entry, { result, text: result.text, edited: false, under });
    this.progress();
    const at = this.entries.indexOf(entry);
    const row = $("rows").querySelector(`[data-row="${at}"]`);
    if (row) row.replaceWith(this.row(entry, at));
  }

  done = () => this.entries.filter((entry) => !isWaiting(entry)).length;

  /** The row that is open in the editor has another text. */
  changed(work) {
    const entry = this.entries[this.at];
    if (!entry) return;
    const edited = entry.edited || work.text !== entry.text;
    const own = work.rules.filter((rule) => !rule.always);
    Object.assign(entry, { record: work.record, text: work.text, result: work.result, edited, approved: work.approvedText, own, under: work.under, writtenFor: work.writtenFor, past: work.past });
    if (work.text) entry.problem = null;
  }

  /** This text is no longer approved. */
  forget(text) {
    for (const entry of this.entries) entry.approved = withoutApproval(entry.approved, text);
    if (!$("batch").hidden) this.render();
  }

  openRow(at) {
    const entry = this.entries[at];
    if (!entry) return;
    this.leaving();
    this.at = at;
    this.open({ own: entry.own, under: entry.under ?? undefined, writtenFor: entry.writtenFor, past: entry.past ?? [], record: entry.record, result: entry.result, text: entry.text, options: optionsOf(entry.result), made: entry.edited ? "traced" : undefined, approvedText: entry.approved });
  }

  order() {
    const rank = (entry) => ORDER.indexOf(statusOf(entry)) + (isSerious(entry) ? 0 : 0.5);
    const all = this.entries.map((entry, at) => ({ entry, at }));
    const some = this.filter ? all.filter(({ entry }) => (this.filter === "approved" ? isApproved(entry) : statusOf(entry) === this.filter)) : all;
    return this.running ? some : some.sort((a, b) => rank(a.entry) - rank(b.entry) || a.at - b.at);
  }

  /** The row after the open one, in the order of the table. */
  next() {
    const listed = this.order();
    const here = listed.findIndex(({ at }) => at === this.at);
    this.openRow((listed[here + 1] ?? listed[0])?.at);
  }

  /** How a row is called: by its id, or by its line in the file. */
  nameOf(at) {
    const { id, line } = this.entries[at];
    return id ?? (line ? `line ${line}` : String(at + 1));
  }

  // ---- Drawing ----

  progress() {
    const done = this.done();
    $("progress").max = Math.max(1, this.entries.length);
    $("progress").value = done;
    $("progress-said").textContent = this.entries.length ? `${done} of ${count(this.entries.length, "text")} written` : "";
    $("stop").hidden = !this.running;
    $("go-on").hidden = Boolean(this.running) || done === this.entries.length;
  }

  render() {
    this.progress();
    $("batch-file").textContent = shorten(this.name, 80);
    const has = this.entries.length > 0;
    this.note();
    for (const id of ["download-jsonl", "download-csv"]) $(id).disabled = !this.done() || Boolean(this.running);
    $("batch-clear").disabled = !has;
    $("batch").classList.toggle("has", has);
    $("bad-rows").hidden = !this.bad.length;
    fill($("bad-rows"), h("li", {}, h("b", {}, `${count(this.bad.length, "row")} could not be read and ${this.bad.length === 1 ? "is" : "are"} left out.`)));
    const tally = (status) => this.entries.filter((entry) => (status === "approved" ? isApproved(entry) : statusOf(entry) === status)).length;
    const shown = [...ORDER, "approved"].filter((status) => tally(status));
    if (this.filter && !shown.includes(this.filter)) this.filter = null;
    const button = (status, label, n) => h("button", { type: "button", "aria-pressed": String(this.filter === status), on: { click: () => { this.filter = status; this.page = PAGE; this.render(); $("filters").querySelector("[aria-pressed=true]")?.focus(); } } }, `${label} ${n}`);
    fill($("filters"), has ? button(null, "all", this.entries.length) : null, ...shown.map((status) => button(status, WORDS[status] ?? status, tally(status))));
    const listed = this.order();
    fill($("rows"), ...(this.filter ? [] : this.bad.slice(0, this.page).map(badRow)), ...listed.slice(0, this.page).map(({ entry, at }) => this.row(entry, at)));
    $("rows-empty").hidden = has;
    $("rows-more").hidden = listed.length <= this.page;
  }

  note() {
    const found = unsplit(this.entries, this.schema.fields ?? []);
    $("batch-note").hidden = !found.size;
    if (!found.size) return;
    const [name, value] = [...found][0];
    const split = () => this.start(this.entries.map(({ id, line, record }) => ({ id, line, record: splitLists(record, found) })), this.bad, this.name);
    fill($("batch-note"), h("p", {}, theirs(name), " can have several values, but “", theirs(shorten(value, 60)), "” was read as one."),
      h("button", { type: "button", on: { click: split } }, "Split it and write again"));
  }

  row(entry, at) {
    const status = statusOf(entry);
    const why = entry.problem ? sentenceOf(entry.problem) : remark(entry.result);
    const record = Object.entries(entry.record).filter(([, value]) => value.length).map(([name, value]) => `${name}: ${[value].flat().join(", ")}`).join(" · ");
    return h("tr", { data: { row: at, status } }, h("th", { scope: "row" }, theirs(this.nameOf(at))),
      h("td", {}, h("span", { class: "status", data: { status } }, WORDS[status]), entry.edited ? h("span", { class: "note" }, "edited") : null, isApproved(entry) ? h("span", { class: "note" }, "approved ✓") : null),
      h("td", { dir: "auto" }, h("button", { type: "button", class: "open", on: { click: () => this.openRow(at) } }, entry.text || (status === "waiting" ? "…" : "no text")),
        why ? h("span", { class: "why", dir: "auto" }, why) : null),
      h("td", { class: "of", dir: "auto" }, shorten(record, 160)));
  }

  // ---- Taking it home ----

  download(kind) {
    const done = this.entries.map((entry, at) => ({ ...entry, at })).filter((entry) => statusOf(entry) !== "waiting");
    const text = kind === "jsonl" ? done.map((entry) => `${JSON.stringify(published(entry))}\n`).join("") : csv(done);
    const url = URL.createObjectURL(new Blob([text], { type: kind === "jsonl" ? "application/x-ndjson" : "text/csv" }));
    const link = h("a", { href: url, download: `texts.${kind}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  }

  listen() {
    $("stop").addEventListener("click", () => { this.running?.abort(); this.running = null; this.render(); this.kept(); });
    $("go-on").addEventListener("click", () => this.write());
    $("rows-more").addEventListener("click", () => { this.page += PAGE; this.render(); });
    $("download-jsonl").addEventListener("click", () => this.download("jsonl"));
    $("download-csv").addEventListener("click", () => this.download("csv"));
    $("batch-clear").addEventListener("click", () => { this.empty(); this.render(); this.kept(); say("The table is gone."); $("batch-title").focus(); });
    $("file").addEventListener("change", () => { this.take($("file").files[0]); $("file").value = ""; });
  }

  async take(file) {
    if (!file) return;
    const most = this.schema.limits?.body_bytes ?? Infinity;
    if (file.size > most) {
      this.complain({ message: `${file.name} has ${(file.size / 1e6).toFixed(1)} MB; this server reads ${(most / 1e6).toFixed(1)} MB at once.`, remedy: "Split the file, or use textsplice generate in a terminal." });
      return;
    }
    await this.read(await file.text(), file.name);
  }
}

/** A row of the file that can't be read: where, why, and how it begins. */
const badRow = (row) => h("tr", { data: { status: "refused" } }, h("th", { scope: "row" }, `line ${row.row}`), h("td", {}, h("span", { class: "status", data: { status: "refused" } }, "not read")),
  h("td", {}, h("span", { class: "why", dir: "auto" }, sentenceOf(row.what))), h("td", { class: "of", dir: "auto" }, typeof row.cells === "string" ? row.cells : ""));

/** The row that `verify` and `explain` read; of a text without one, what is known. */
function published(entry) {
  if (entry.result?.row && entry.result.text === entry.text) return { ...entry.result.row, id: entry.id ?? entry.result.row.id };
  return { id: entry.id ?? String(entry.at + 1), table: entry.record, text: entry.text || null, status: statusOf(entry), reason: entry.problem ?? null };
}

/** For spreadsheets: what they would take for a formula gets a ' before it. */
function csv(entries) {
  const cell = (value) => {
    const said = FORMULA.test(value) ? `'${value}` : value;
    return /[",\n\r]/.test(said) ? `"${said.replaceAll('"', '""')}"` : said;
  };
  const fields = [...new Set(entries.flatMap((entry) => Object.keys(entry.record)))];
  const head = ["id", "status", "text", "approved", "sources", ...fields];
  const sources = (entry) => [...new Set((entry.result?.content ?? []).flatMap((block) => block.citations.map((cited) => cited.id).filter(Boolean)))].join(" ");
  const rows = entries.map((entry) => [entry.id ?? String(entry.at + 1), statusOf(entry), entry.text, isApproved(entry) ? "yes" : "", sources(entry),
    ...fields.map((name) => [entry.record[name] ?? ""].flat().join(", "))]);
  return [head, ...rows].map((row) => row.map((value) => cell(String(value ?? ""))).join(",")).join("\r\n") + "\r\n";
}
