// A text in pieces, each with what it was copied from, and how they are drawn.

import { h, shorten } from "./dom.js";

const KINDS = { table: "table", text: "neighbor", vocabulary: "vocabulary" };
const MARK = /^[^\p{L}\p{N}]{1,2}$/u; // a mark alone is narrower than its label
const BLANK = /[\s\p{Cf}]/u;

/** Places in `inner` as places in `outer`, which says the same but for blanks and invisible characters. */
export function alignment(inner, outer) {
  if (inner === outer) return (at) => at;
  const places = new Array(inner.length + 1).fill(outer.length);
  let there = 0;
  for (let here = 0; here < inner.length; here++) {
    if (BLANK.test(inner[here])) {
      places[here] = there;
      if (there < outer.length && BLANK.test(outer[there])) there++;
      continue;
    }
    let next = there;
    while (next < outer.length && outer[next] !== inner[here]) next++;
    if (next < outer.length) there = next;
    places[here] = there;
    if (there < outer.length) there++;
  }
  places[inner.length] = outer.length;
  return (at) => places[Math.max(0, Math.min(at, inner.length))];
}

/** The pieces of a result as places in `text`; blanks at their ends belong to none. */
export function piecesOf(result, text) {
  const place = alignment(result.text, text);
  const found = [];
  const ranks = new Map((result.row?.sources?.neighbors ?? []).map((neighbor, at) => [neighbor.id, `N${at + 1}`]));
  for (const block of result.content ?? []) {
    const said = block.text.trim();
    if (!said) continue;
    const lead = block.text.indexOf(said);
    const from = block.utf16[0] + lead;
    const start = place(from);
    const stop = place(from + said.length - 1) + 1;
    const citation = block.citations?.[0] ?? null;
    found.push({ start, stop, kind: citation ? (KINDS[citation.source] ?? "neighbor") : "gap", citation,
      id: citation?.id ?? null, name: ranks.get(citation?.id) ?? null, field: citation?.field ?? null, others: (block.citations ?? []).slice(1) });
  }
  return found.filter((piece) => piece.stop > piece.start);
}

/** Where words meet as in no source. Around a gap that goes without saying. */
export function seamsOf(result, text, pieces) {
  const place = alignment(result.text, text);
  const gaps = pieces.filter((piece) => piece.kind === "gap");
  const touches = ([start, stop]) => gaps.some((gap) => gap.stop >= place(start) && gap.start <= place(stop));
  return (result.seams?.unattested ?? []).filter((seam) => !touches(seam.utf16)).map((seam) => place(seam.utf16[1]));
}

/** The pieces of an old text in a new one: what was typed in between has no source yet. */
export function carried(pieces, before, after) {
  let head = 0;
  const most = Math.min(before.length, after.length);
  while (head < most && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  const shift = after.length - before.length;
  const kept = [];
  for (const piece of pieces) {
    if (piece.stop < head || (piece.stop === head && !/\w/.test(after[head] ?? ""))) kept.push(piece);
    else if (piece.start >= before.length - tail) kept.push({ ...piece, start: piece.start + shift, stop: piece.stop + shift });
    else {
      if (piece.start < head) kept.push({ ...piece, stop: head });
      const rest = before.length - tail;
      if (piece.stop > rest) kept.push({ ...piece, start: rest + shift, stop: piece.stop + shift });
    }
  }
  return kept.filter((piece) => piece.stop > piece.start);
}

/** N1, N2, …: the numbers that the player gives these texts. */
export function numbers(pieces) {
  const texts = new Map(pieces.filter((piece) => piece.kind === "neighbor").map((piece) => [piece.id, piece.name]));
  return new Map([...texts].map(([id, name], at) => [id, name ?? `N${at + 1}`]));
}

export function labelOf(piece, names) {
  if (piece.kind === "neighbor") return names.get(piece.id) ?? "N";
  if (piece.kind === "table") return piece.field ?? "T";
  return piece.kind === "gap" ? "∅" : "V";
}

export function spoken(piece, names) {
  if (piece.kind === "neighbor") return `from ${names.get(piece.id)}, the text ${piece.id}`;
  if (piece.kind === "table") return `from the record, ${piece.field ?? "a value"}`;
  return piece.kind === "gap" ? "stands in no approved text" : "a word of the vocabulary, not copied";
}

/** Draws a text. In `read` mode pieces can be reached and pressed. */
export function draw(layer, text, pieces, { seams = [], selected = -1, reading = true } = {}) {
  const names = numbers(pieces);
  const marks = [...seams].sort((a, b) => a - b);
  const nodes = [];
  let at = 0;
  const plain = (stop) => {
    if (stop > at) nodes.push(text.slice(at, stop));
    at = Math.max(at, stop);
  };
  const seam = (stop) => {
    while (marks.length && marks[0] <= stop) {
      const where = marks.shift();
      if (where < at) continue;
      plain(where);
      nodes.push(h("span", { class: "seam", "aria-hidden": true }, h("b", { title: "No approved text has these words side by side" }, "¦")));
    }
  };
  pieces.forEach((piece, index) => {
    if (piece.start < at) return;
    seam(piece.start);
    plain(piece.start);
    const words = text.slice(piece.start, piece.stop);
    const label = h("b", { class: `tag ${piece.kind}${MARK.test(words) ? " tiny" : ""}`, "aria-hidden": true }, shorten(labelOf(piece, names), 40));
    const props = { class: `run ${piece.kind}`, data: { piece: index } };
    if (reading) Object.assign(props, { role: "button", tabindex: index === Math.max(0, selected) ? 0 : -1,
      "aria-label": `${words}: ${spoken(piece, names)}`, "aria-current": index === selected ? "true" : undefined });
    if (index === selected) props.class += " selected";
    nodes.push(h("span", props, h("span", { class: "anchor" }, label), words));
    at = piece.stop;
  });
  seam(text.length);
  plain(text.length);
  layer.replaceChildren(...nodes, "\u200b");
  untangle(layer);
}

/** Labels stand over their pieces, whole. One that would stand on another moves along its piece, or is left out. Values go first: the other pieces share a few names. */
export function untangle(layer) {
  if (!layer.getClientRects().length) return; // it can't be seen, so nothing has a place
  const labels = [...layer.querySelectorAll(".run")].map((run) => ({ run, tag: run.querySelector(".tag") })).filter(({ tag }) => tag);
  for (const { tag } of labels) {
    tag.classList.remove("away");
    tag.style.translate = "";
  }
  const placed = labels.map(({ run, tag }) => ({ tag, box: tag.getBoundingClientRect(), end: run.getClientRects()[0]?.right ?? 0,
    rank: run.classList.contains("selected") ? 0 : run.classList.contains("neighbor") ? 2 : 1 }));
  const edge = layer.getBoundingClientRect().right;
  const taken = [];
  for (const { tag, box, end, rank } of placed.sort((one, other) => one.rank - other.rank)) {
    const meets = (left) => taken.find((other) => Math.abs(other.top - box.top) < 4 && left < other.right + 3 && other.left < left + box.width + 3);
    let left = Math.max(0, Math.min(box.left, edge - box.width - 2));
    for (let other = meets(left); rank && other && left + box.width <= end; other = meets(left)) left = other.right + 4;
    const away = rank > 0 && (tag.classList.contains("tiny") || Boolean(meets(left)) || (left !== box.left && left > box.left && left + box.width > end + 2));
    tag.classList.toggle("away", away);
    if (away) continue;
    if (left !== box.left) tag.style.translate = `${left - box.left}px 0`;
    taken.push({ left, right: left + box.width, top: box.top });
  }
}

/** The legend: each source once, with how many pieces came from it. */
export function legend(pieces, seams) {
  const names = numbers(pieces);
  const tally = (wanted) => pieces.filter(wanted).length;
  const items = [...names].map(([id, name]) => ["neighbor", name, id, tally((piece) => piece.id === id)]);
  const table = tally((piece) => piece.kind === "table");
  const words = tally((piece) => piece.kind === "vocabulary");
  const gaps = tally((piece) => piece.kind === "gap");
  if (table) items.push(["table", "double line", "your record", table]);
  if (words) items.push(["vocabulary", "V", "vocabulary", words]);
  if (gaps) items.push(["gap", "∅", "new words, in no approved text", gaps]);
  if (seams.length) items.push(["seam", "¦", "never side by side before", seams.length]);
  return items;
}
