// The source of a piece: the text it was copied from, in context, with its record.

import { $, fill, h, theirs } from "./dom.js";
import { json, newest } from "./api.js";

const fetched = new Map();
const latest = newest();

/** A place counted in characters as one counted in UTF-16 units. */
const unit = (text, at) => [...text].slice(0, at).join("").length;

function marks(text, citations) {
  const found = [];
  for (const { citation, strong } of citations) {
    let [start, stop] = [citation.start, citation.stop];
    if (Number.isInteger(start) && Number.isInteger(stop)) [start, stop] = [unit(text, start), unit(text, stop)];
    else {
      start = text.indexOf(citation.cited_text);
      stop = start + citation.cited_text.length;
    }
    if (start >= 0 && stop > start) found.push({ start, stop, strong });
  }
  return found.sort((a, b) => a.start - b.start || Number(b.strong) - Number(a.strong));
}

function inContext(text, citations) {
  const nodes = [];
  let at = 0;
  for (const { start, stop, strong } of marks(text, citations)) {
    if (start < at) continue;
    nodes.push(text.slice(at, start), h("mark", { class: strong ? "cited" : "also" }, text.slice(start, stop)));
    at = stop;
  }
  return [...nodes, text.slice(at)];
}

export function recordTable(record, wanted = null) {
  const rows = Object.entries(record ?? {}).map(([name, value]) => h("tr", { class: name === wanted ? "wanted" : undefined },
    h("th", { scope: "row" }, theirs(name)), h("td", { dir: "auto" }, Array.isArray(value) ? value.join(", ") : String(value))));
  return h("table", { class: "cells" }, h("tbody", {}, ...rows));
}

const title = (piece, name, what) => h("p", { class: "what" }, h("b", { class: `tag ${piece.kind}` }, name), " ", what);

function nothing(piece, words) {
  const sentence = piece.kind === "gap"
    ? "No approved text and no value of the record has these words. Edit them, or approve the text if you answer for them yourself: then they have a source from the next time the approved texts are added."
    : "The program chose this word from those it knows. It was not copied.";
  fill($("source"), title(piece, piece.kind === "gap" ? "∅" : "V", piece.kind === "gap" ? "in no approved text" : "chosen, not copied"),
    h("blockquote", { dir: "auto" }, h("mark", { class: "cited gap" }, words)), h("p", { class: "hint" }, sentence));
  fill($("source-record"));
}

/** Shows where a piece comes from. `pieces` are all of the text, `record` is its record. */
export async function showSource(piece, { words, name, pieces, record }) {
  if (piece.kind === "gap" || piece.kind === "vocabulary") {
    latest.stop();
    nothing(piece, words);
    return;
  }
  if (piece.kind === "table") {
    latest.stop();
    fill($("source"), title(piece, piece.field ?? "T", "a value of this record"), h("blockquote", { dir: "auto" }, h("mark", { class: "cited table" }, words)));
    fill($("source-record"), h("h3", {}, "This record"), recordTable(record, piece.field));
    return;
  }
  const show = (source) => {
    const citations = pieces.filter((other) => other.id === piece.id && other.citation).map((other) => ({ citation: other.citation, strong: other === piece }));
    fill($("source"), title(piece, name, h("span", {}, "from the approved text ", theirs(source.id, { class: "id" }))),
      h("blockquote", { dir: "auto" }, ...inContext(source.text, citations)),
      source.approved ? h("p", { class: "hint" }, "Approved here.") : null,
      piece.others.length ? h("p", { class: "hint" }, "Also in ", theirs(piece.others.map((other) => other.id ?? other.field).join(", "))) : null);
    const known = source.table && Object.keys(source.table).length;
    fill($("source-record"), known ? h("h3", {}, "Its record") : null, known ? recordTable(source.table) : null);
  };
  const kept = fetched.get(piece.id);
  if (kept) show(kept);
  const got = await latest((signal) => json(`v1/sources/${encodeURIComponent(piece.id)}`, { signal }));
  if (!got) return;
  if (fetched.size > 500) fetched.clear();
  fetched.set(piece.id, got.answer);
  show(got.answer);
}

export function showNoSource() {
  latest.stop();
  fill($("source"), h("p", { class: "hint empty" }, "Click a piece of the text. The text it was copied from appears here, with the piece marked."));
  fill($("actions"));
  fill($("source-record"));
}
