// One record and its text: writing it, editing it, acting on it, approving it.

import { $, count, debounce, fill, h, isolated, refill, say, shorten, theirs } from "./dom.js";
import { json, newest } from "./api.js";
import { asRecord, isObject } from "./keep.js";
import { carried, draw, labelOf, legend, numbers, piecesOf, seamsOf, spoken, untangle } from "./pieces.js";
import { showNoSource, showSource } from "./source.js";
import * as rules from "./rules.js";

const UNREAD = 800; // milliseconds in which nobody has read a new text
const ALTERNATIVES = 4;
const NO_RULES = rules.key([]);
const SIGNS = { said: ["✓", "said"], missing: ["✗", "not said"], wrong: ["!", "wrong"], unchecked: ["–", "not checked"], pending: ["·", ""] };
const STATUS = { ok: "ok", doubtful: "doubtful", unfinished: "unfinished", abstained: "no text" };

/** A result as it may have been kept: with the parts that are drawn. */
export const asResult = (value) => (isObject(value) && typeof value.text === "string" && Array.isArray(value.content)
  && value.content.every((block) => typeof block?.text === "string" && Array.isArray(block.utf16)) ? value : null);

export class Work {
  /** `form` holds the record. `complain(error, again)` shows a problem; `kept()` is called after each change. */
  constructor({ schema, form, complain, kept, approved }) {
    Object.assign(this, { schema, form, complain, kept, countApproved: approved });
    this.rules = [];
    this.past = [];
    this.asked = newest();
    this.checked = newest();
    this.checkLater = debounce(350, () => this.check());
    this.empty();
    this.listen();
  }

  empty() {
    Object.assign(this, { text: "", result: null, pieces: [], seams: [], selected: -1, options: [], chosen: -1, made: "none", approvedText: null, pending: false, replaced: null, under: null, editing: null, writtenFor: null });
    this.steady = this.form.get();
  }

  // ---- What is kept ----

  toKeep() {
    const { text, result, options, chosen, made, approvedText } = this;
    const past = this.past.slice(-10).map((each) => ({ ...each, result: null }));
    return { record: this.form.get(), rules: this.rules, text, result, options, chosen, made, approvedText, under: this.under, writtenFor: this.writtenFor, past };
  }

  /** Takes up work that was kept; anything that does not fit is left out. */
  takeUp(kept) {
    this.stopAll();
    this.form.set(asRecord(kept.record));
    this.rules = rules.asRules(kept.rules);
    this.empty();
    if (typeof kept.text === "string") this.text = kept.text;
    const options = strings(kept.options);
    this.options = options;
    this.chosen = Number.isInteger(kept.chosen) && kept.chosen < options.length ? kept.chosen : -1;
    this.made = ["generated", "traced"].includes(kept.made) ? kept.made : "none";
    this.approvedText = typeof kept.approvedText === "string" ? kept.approvedText : null;
    this.result = asResult(kept.result);
    this.under = this.result && typeof kept.under === "string" ? kept.under : null;
    this.writtenFor = typeof kept.writtenFor === "string" ? kept.writtenFor : null;
    this.past = pastOf(kept.past);
    this.mode("read");
    this.adopt();
    this.checkAgain();
  }

  /** Another record with its text; rules for the old record go, rules for all stay. Undo brings the old one back. */
  open({ record, result, text, options, made, approvedText, under, writtenFor, own = [], past }) {
    this.stopAll();
    if (past) this.past = past;
    else this.remember();
    this.rules = [...this.rules.filter((rule) => rule.always), ...own];
    this.form.set(record);
    this.empty();
    this.result = asResult(result);
    this.text = text ?? this.result?.text ?? "";
    this.options = options ?? optionsOf(this.result);
    this.chosen = this.options.indexOf(this.text);
    this.made = made ?? (this.result ? "generated" : "none");
    this.approvedText = approvedText ?? null;
    this.under = this.result ? (under ?? NO_RULES) : null;
    this.writtenFor = writtenFor ?? (this.made === "generated" ? plain(this.form.get()) : null);
    this.mode("read");
    this.adopt();
    this.checkAgain();
  }

  /** Looks at the text if that was not done, or not under the rules that hold now. */
  checkAgain() {
    if (this.text && (!this.result || this.isStale())) this.check();
  }

  stopAll() {
    this.asked.stop();
    this.checked.stop();
    this.checkLater.cancel();
    this.busy(false);
  }

  // ---- Writing ----

  async generate({ focus = false, remembered = false } = {}) {
    const table = this.form.get();
    if (!Object.keys(table).length) {
      this.complain({ message: "The record is empty.", remedy: "Fill in at least one field, or press Example." });
      return;
    }
    this.checkLater.cancel();
    this.checked.stop();
    this.busy(true);
    try {
      const body = { table, rules: rules.sent(this.rules), alternatives: ALTERNATIVES };
      const start = rules.startOf(this.rules);
      if (start) body.start = start;
      const under = rules.key(this.rules);
      const got = await this.asked((signal) => json("v1/generate", { body, signal }));
      if (!got) return;
      this.busy(false);
      this.complain(null);
      if (!remembered) this.remember();
      this.replaced = this.made === "traced" && this.text && !this.options.includes(this.text) ? this.text : null;
      const result = got.answer.results[0];
      const before = this.text;
      // A second click on "Write the text" must not approve what has come to lie under the finger.
      this.freshUntil = performance.now() + UNREAD;
      setTimeout(() => this.tools(), UNREAD + 20);
      this.take(result, "generated", under);
      this.writtenFor = plain(table);
      this.options = optionsOf(result);
      this.chosen = this.options.length ? 0 : -1;
      this.mode("read");
      this.adopt();
      say(result.text ? `${this.replaced ? "Your own text was replaced; Undo takes it back." : ""} ${result.text === before ? "The same text." : ""} ${result.text} ${this.sentence()}` : this.sentence());
      if (focus) $("text-title").focus({ preventScroll: false });
    } catch (error) {
      this.busy(false);
      this.complain(error, () => this.generate({ remembered }));
    }
  }

  /** Finds where each word of the text as it stands comes from. */
  async check() {
    this.checkLater.cancel();
    const text = this.text;
    if (!text.trim()) {
      this.checked.stop();
      this.take({ text: "", content: [], slots: [], seams: {}, status: "ok" }, "none", rules.key(this.rules));
      this.text = text;
      this.adopt();
      return;
    }
    if (this.schema.can?.trace === false) return;
    // With rules about words, the gate traces the text and says which it breaks.
    const wordings = rules.sent(this.rules.filter((rule) => rule.kind === "forbid" || rule.kind === "require"));
    const body = wordings.length ? { text, rules: wordings } : { text };
    const table = this.form.get();
    if (Object.keys(table).length) body.table = table;
    const under = rules.key(this.rules);
    this.busy(true);
    try {
      const got = await this.checked((signal) => json(wordings.length ? "v1/gate" : "v1/trace", { body, signal }));
      if (!got || this.text !== text) return;
      this.busy(false);
      this.complain(null);
      const gaps = this.gaps().length;
      // What is known of how a text was made stays known when only rules were added.
      const mine = !this.pending && this.made === "generated" && this.result?.text === text ? this.result : null;
      const broken = wordings.length ? brokenOf(got.answer) : [];
      const result = mine ?? got.answer.result ?? got.answer;
      this.take({ ...result, doubts: [...(mine?.doubts ?? []).filter(({ why }) => why !== "rule"), ...broken] }, mine ? "generated" : "traced", under);
      this.text = text;
      this.adopt();
      if (this.gaps().length !== gaps) say(this.sentence());
    } catch (error) {
      this.busy(false);
      this.complain(error, () => this.check());
    }
  }

  take(result, made, under) {
    Object.assign(this, { result, made, under, text: result.text });
  }

  /** Whether what is known of the text was found under other rules. */
  isStale = () => Boolean(this.result) && this.text.trim() !== "" && this.under !== rules.key(this.rules);

  /** Draws what was taken. */
  adopt() {
    this.pieces = this.result ? piecesOf(this.result, this.text) : [];
    this.seams = this.result ? seamsOf(this.result, this.text, this.pieces) : [];
    this.pending = false;
    if (this.selected >= this.pieces.length) this.selected = -1;
    if ($("editor").value !== this.text) $("editor").value = this.text;
    this.render();
    if (this.stage() === "edit") this.follow();
    else this.select(this.selected, { quiet: true });
    this.kept();
  }

  /** All that one click can change. */
  now() {
    const { text, result, options, chosen, made, approvedText, under, writtenFor } = this;
    return { text, result, options, chosen, made, approvedText, under, writtenFor, rules: this.rules, record: this.form.get() };
  }

  /** Keeps what is there now for Undo: text, rules and record together. */
  remember(now = this.now()) {
    this.session = false;
    this.editing = null;
    this.steady = this.form.get();
    const last = this.past.at(-1);
    const isEmpty = !now.text && !now.rules.length && !Object.keys(now.record).length;
    if ((isEmpty && !last) || (last && sameState(last, now))) return;
    this.past = [...this.past.slice(-29), now];
  }

  undo() {
    let last = this.past.pop();
    while (last && sameState(last, this.now())) last = this.past.pop();
    if (!last) {
      this.tools();
      return;
    }
    this.stopAll();
    const { record, ...before } = last;
    if (JSON.stringify(record) !== JSON.stringify(this.form.get())) this.form.set(record);
    Object.assign(this, before, { replaced: null, editing: null, session: false });
    this.steady = this.form.get();
    this.adopt();
    this.checkAgain();
    say(`Back: ${[this.text, ...this.rules.map((rule) => `Rule: ${rules.inWords(rule)}.`)].join(" ") || "nothing written yet."}`);
  }

  choose(index) {
    if (index < 0 || index >= this.options.length || (index === this.chosen && this.text === this.options[index])) return;
    this.remember();
    this.asked.stop();
    this.replaced = null;
    this.setText(this.options[index]);
    this.chosen = index;
    this.alternatives();
    say(`Text ${index + 1}: ${this.text}`);
    this.check();
  }

  // ---- Editing ----

  stage = () => $("stage").dataset.mode;

  mode(mode, at = null) {
    if (mode === this.stage()) return;
    const editing = mode === "edit";
    $("stage").dataset.mode = mode;
    $("editor").hidden = !editing;
    $("layer").toggleAttribute("aria-hidden", editing);
    if (editing) $("layer").setAttribute("aria-hidden", "true");
    $("edit").setAttribute("aria-pressed", String(editing));
    $("edit").textContent = editing ? "Done" : "Edit";
    if (editing) this.session = false;
    if (editing) document.querySelector(".pane.source").classList.remove("open");
    this.render();
    if (!editing) return;
    $("editor").focus();
    const place = at ?? this.text.length;
    $("editor").setSelectionRange(place, place);
  }

  typed() {
    const text = $("editor").value;
    if (text === this.text) return;
    if (!this.session) this.remember();
    this.session = true;
    this.asked.stop();
    this.replaced = this.writtenFor = null; // from now on it is a person's own
    this.setText(text);
    this.chosen = this.options.indexOf(text);
    this.alternatives();
    this.kept();
    this.checkLater();
  }

  /** The text is another one; its pieces stay where they can until they are known. */
  setText(text) {
    this.pieces = carried(this.pieces, this.text, text);
    this.seams = [];
    this.text = text;
    this.result = null;
    this.pending = true;
    if ($("editor").value !== text) $("editor").value = text;
    this.draw();
    this.tools();
  }

  /** The piece at the caret is the one whose source is shown. */
  follow() {
    if (this.stage() !== "edit" || this.pending) return;
    const at = $("editor").selectionStart;
    const index = this.pieces.findIndex((piece) => piece.start <= at && at <= piece.stop);
    if (index !== this.selected) this.select(index, { quiet: true });
  }

  /** A field has another value; going from field to field makes steps for Undo. */
  recordChanged(name) {
    if (this.editing !== name) {
      this.remember({ ...this.now(), record: this.steady });
      this.editing = name;
    }
    this.steady = this.form.get();
    this.more();
    this.slots();
    this.kept();
    if (!this.text) return;
    this.pending = true;
    this.status();
    this.tools();
    this.checkLater();
  }

  // ---- Drawing ----

  unsaid = () => (this.result?.slots ?? []).filter((slot) => slot.status === "missing" || slot.status === "wrong");

  /** The excluded texts that words stand in. */
  unwanted = () => [...new Set(this.pieces.map((piece) => piece.id))].filter((id) => this.rules.some((rule) => rule.kind === "never" && rule.value === id));

  /** How many of the rules shown the text breaks. */
  broken = () => (this.text.trim() && this.result ? this.unwanted().length + (this.result.doubts ?? []).filter((doubt) => doubt.why === "rule").length : 0);

  newWords = () => this.gaps().reduce((sum, gap) => sum + Math.max(1, this.text.slice(gap.start, gap.stop).match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu)?.length ?? 0), 0);

  /** Whether the record is another than the one that the text was written for. */
  isOutdated = () => this.writtenFor !== null && this.text.trim() !== "" && this.writtenFor !== plain(this.form.get());

  gaps = () => this.pieces.filter((piece) => piece.kind === "gap");

  busy(on) {
    $("stage").classList.toggle("busy", on);
    $("stage").setAttribute("aria-busy", String(on));
  }

  render() {
    this.more();
    this.draw();
    this.status();
    this.tools();
    this.slots();
    this.ruleChips();
    this.alternatives();
  }

  /** Facts to tick off, rules and other texts: nothing of it before there is anything to say. */
  more() {
    const any = this.text || this.result || this.rules.length || Object.keys(this.form.get()).length;
    document.querySelector(".pane.more").hidden = !any;
  }

  draw() {
    const layer = $("layer");
    const focused = layer.contains(document.activeElement);
    if (this.text) draw(layer, this.text, this.pieces, { seams: this.seams, selected: this.selected, reading: this.stage() === "read" });
    else fill(layer, this.nothing());
    if (focused) (layer.querySelector("[tabindex='0']") ?? $("text-title")).focus({ preventScroll: true });
    fill($("legend"), ...legend(this.pieces, this.seams).map(([kind, name, what, times]) => h("li", {},
      h("b", { class: `tag ${kind}` }, name), " ", theirs(shorten(what, 40), { class: kind === "neighbor" ? "id" : undefined }), h("span", { class: "times" }, ` ${times}×`))));
  }

  /** What stands where no text is: how to get one. */
  nothing() {
    if (this.stage() === "edit") return h("span");
    if (this.result?.status === "abstained") return h("p", { class: "empty" }, "No text for this record yet.");
    return h("div", { class: "empty" }, h("p", {}, "Fill in the record, then press “Write the text”."),
      h("button", { type: "button", id: "try", on: { click: () => { $("example").click(); this.generate({ focus: true }); } } }, "Show me an example"));
  }

  /** What is to be said of the text, in one sentence. */
  sentence() {
    if (!this.result || this.isStale()) return this.text ? "Looking where the words come from …" : "";
    const { status, reason, doubts } = this.result;
    if (status === "abstained" || (!this.text && reason)) return `${this.rules.length ? "No text keeps your rules: " : ""}${capital(plainly(reason ?? "none was found"), this.rules.length)} ${this.rules.length ? "Remove a rule, or fill in more fields." : "Fill in more fields, or press Edit and write it yourself."}`;
    if (!this.text.trim()) return "";
    const gaps = this.gaps();
    const said = this.isOutdated() ? ["The record has changed since: write again. The text is for the earlier values."] : [];
    // What is not said, and seams, are told below.
    if (doubts?.length) said.push(...doubts.filter(({ why }) => why !== "slot" && why !== "seam").map((doubt) => sentenceOf(doubt.what)));
    else if (reason) said.push(sentenceOf(reason));
    const unwanted = this.unwanted();
    if (unwanted.length) said.push(`Some words stand in ${unwanted.join(", ")}, which you exclude.`);
    if (gaps.length) said.push(`New words, in no approved text and not in the record: ${gaps.slice(0, 5).map((gap) => `“${isolated(this.text.slice(gap.start, gap.stop))}”`).join(", ")}${gaps.length > 5 ? ", …" : "."}`);
    else if (!this.pieces.some((piece) => piece.kind === "vocabulary")) said.push("Every word has a source.");
    said.push(...slotRemarks(this.result.slots));
    if (this.seams.length) said.push(`At ${count(this.seams.length, "place")} (¦) words meet that no approved text has side by side.`);
    return said.join(" ");
  }

  status() {
    const label = $("status");
    const gaps = this.gaps().length;
    let [kind, words] = ["none", ""];
    if (this.isStale()) [kind, words] = ["waiting", "checking"];
    else if (this.result && (this.text.trim() || this.result.status === "abstained")) {
      kind = this.result.status;
      words = STATUS[kind] ?? kind;
      const unsaid = this.unsaid().length;
      const broken = this.broken();
      if (kind !== "abstained" && (broken || this.isOutdated() || (kind === "ok" && (gaps || unsaid)))) [kind, words] = ["doubtful", [this.isOutdated() && "record changed", broken && breaks(broken), gaps && inNew(this.newWords()), unsaid && `${count(unsaid, "value")} to check`].filter(Boolean).join(", ")];
    }
    label.dataset.status = kind;
    label.textContent = words;
    fill($("verdict"), this.sentence(), ...this.offers());
  }

  /** What to do about a text that could not be written, or that took the place of a person's own. */
  offers() {
    const offer = (words, act) => [" ", h("button", { type: "button", class: "quiet offer", on: { click: act } }, words)];
    if (this.result?.status === "abstained") {
      return this.rules.slice(-4).flatMap((rule) => offer(`Remove “${shorten(rules.inWords(rule), 60)}”`, () => this.removeRule(rule)));
    }
    return this.replaced ? [" Your own text was replaced by this one.", ...offer("Take mine back", () => { this.undo(); $("edit").focus(); })] : [];
  }

  tools() {
    const has = Boolean(this.text.trim());
    const gaps = this.gaps().length;
    const done = has && this.approvedText === approvalOf(this.text, this.form.get());
    $("undo").disabled = !this.past.length;
    $("play").disabled = !this.result?.row || !has;
    $("approve").disabled = !has || done || this.schema.can?.approve === false || performance.now() < (this.freshUntil ?? 0);
    const broken = this.broken();
    $("approve").textContent = done ? "Approved ✓" : broken ? `Approve although it ${breaks(broken)}` : gaps ? `Approve with ${inNew(this.newWords())}` : "Approve";
    if (!done) $("approved-now").textContent = "";
  }

  slots() {
    const record = this.form.get();
    const kinds = new Map((this.schema.fields ?? []).map((field) => [field.name, field.kind]));
    const known = this.result?.slots ?? [];
    const listed = known.length && !this.pending ? known : Object.entries(record).filter(([name]) => kinds.get(name) !== "unsaid")
      .flatMap(([field, values]) => [values].flat().map((value) => ({ field, value, status: "pending" })));
    const canRequire = rules.possible("require", this.schema);
    refill($("slots"), ...listed.slice(0, 200).map((slot, at) => {
      const [sign, words] = SIGNS[slot.status] ?? SIGNS.pending;
      const required = this.rules.some((rule) => rule.kind === "require" && rule.value === slot.field);
      const first = listed.findIndex((other) => other.field === slot.field) === at;
      return h("li", { class: `slot ${slot.status}` }, h("span", { class: "sign", "aria-hidden": true }, sign),
        h("span", { class: "value" }, theirs(slot.field, { class: "name" }), " ", theirs(shorten(slot.value, 80))),
        h("span", { class: "state" }, words),
        canRequire && first && slot.field in record ? h("button", { type: "button", class: "quiet", "aria-pressed": String(required), "aria-label": `Must say ${slot.field}`, title: "The text must say this, as the record writes it",
          on: { click: () => this.toggle({ kind: "require", value: slot.field, always: false }) } }, "must say") : h("span"));
    }), listed.length ? null : h("li", { class: "hint" }, "The values of the record, ticked off as the text says them."));
  }

  ruleChips() {
    refill($("rules"), ...this.rules.map((rule) => rules.chip(rule, {
      remove: () => this.removeRule(rule),
      toggle: () => {
        this.remember();
        this.rules = this.rules.map((other) => (other === rule ? { ...rule, always: !rule.always } : other));
        this.ruleChips();
        this.tools();
        this.kept();
      },
    })));
    $("rules").hidden = !this.rules.length;
  }

  alternatives() {
    const list = this.options;
    const rows = list.map((option, at) => {
      const radio = h("input", { type: "radio", name: "alternative", value: at, on: { change: () => this.choose(at) } });
      radio.checked = at === this.chosen && this.text === option;
      return h("label", { class: "option" }, radio, h("kbd", { "aria-hidden": true }, String(at + 1)), h("span", { dir: "auto" }, option));
    });
    const focused = $("alternatives").contains(document.activeElement);
    fill($("alternatives"), ...rows, list.length > 1 ? null : h("p", { class: "hint" }, list.length ? "No other text was found for this record." : "Up to four other texts for the same record."));
    if (focused) $("alternatives").querySelector("input:checked")?.focus({ preventScroll: true });
  }

  // ---- A piece ----

  select(index, { focus = false, quiet = false } = {}) {
    this.selected = index < this.pieces.length ? index : -1;
    for (const node of $("layer").querySelectorAll(".run")) {
      const mine = Number(node.dataset.piece) === this.selected;
      node.classList.toggle("selected", mine);
      if (this.stage() !== "read") continue;
      node.tabIndex = mine || (this.selected < 0 && node.dataset.piece === "0") ? 0 : -1;
      if (mine) node.setAttribute("aria-current", "true");
      else node.removeAttribute("aria-current");
    }
    untangle($("layer"));
    const piece = this.pieces[this.selected];
    document.querySelector(".pane.source").classList.toggle("open", Boolean(piece) && (focus || (document.querySelector(".pane.source.open") !== null && this.stage() === "read")));
    const node = focus && this.stage() === "read" ? $("layer").querySelector("[aria-current]") : null;
    // The sheet of a phone is open by now, so that the piece is brought to where it does not cover it.
    node?.focus();
    if (node && matchMedia("(max-width: 760px)").matches) node.scrollIntoView({ block: "center" });
    if (!piece) {
      showNoSource();
      return;
    }
    const names = numbers(this.pieces);
    const words = this.text.slice(piece.start, piece.stop);
    fill($("actions"), ...this.actions(piece, words));
    const context = { words, name: labelOf(piece, names), pieces: this.pieces, record: this.form.get() };
    showSource(piece, context).catch((error) => this.complain(error, () => this.select(this.selected)));
    if (!quiet) say(`“${words}” ${spoken(piece, names)}.`);
  }

  actions(piece, words) {
    const button = (label, why, click) => {
      const id = `why-${label.toLowerCase().replace(/[^a-z]+/g, "-")}`;
      return h("div", { class: "act" }, h("button", { type: "button", title: why, "aria-describedby": id, on: { click } }, label), h("p", { class: "hint", id }, why));
    };
    const act = (label, rule, why) => (rules.possible(rule.kind, this.schema) ? button(label, why, () => this.addRule(rule)) : null);
    const edit = button("Edit here", "Change the words yourself.", () => this.mode("edit", piece.stop));
    const forbid = act("Don’t say this", { kind: "forbid", value: words, always: false }, "No text for this record may say these words.");
    if (piece.kind === "neighbor") {
      return [act("Don’t use it here", { kind: "never", value: piece.id, always: false }, "Write this text again without this source."),
        act("Never use it", { kind: "never", value: piece.id, always: true }, "The same for every record, until you remove the rule."),
        forbid, act("Start from it", { kind: "start", value: piece.id, always: false }, "Write this text again by changing this source."), edit];
    }
    if (piece.kind === "table" && piece.field) return [act(`Must say ${shorten(piece.field, 30)}`, { kind: "require", value: piece.field, always: false }, "Every text must say this, as the record writes it."), edit];
    return [forbid, edit];
  }

  toggle(rule) {
    const on = this.rules.find((other) => rules.same(other, rule));
    if (on) this.removeRule(on);
    else this.addRule(rule);
  }

  removeRule(rule) {
    this.setRules(this.rules.filter((other) => other !== rule), `Removed: ${rules.inWords(rule)}.`);
  }

  addRule(rule) {
    this.setRules(rules.withRule(this.rules, rule), `Rule: ${rules.inWords(rule)}.`, rule);
  }

  /** Other rules, another text. What stood there before can be brought back. */
  setRules(list, message, added = null) {
    this.remember();
    this.rules = list;
    document.querySelector(".pane.source").classList.remove("open"); // on a phone it lies over the new text
    this.ruleChips();
    this.slots();
    this.status();
    this.tools();
    this.kept();
    say(message);
    const chips = $("rules").querySelectorAll("li.chip");
    const at = added ? list.indexOf(added) : -1;
    (chips[at]?.querySelector(".remove") ?? $("forbid-words")).focus({ preventScroll: true });
    if (Object.keys(this.form.get()).length) this.generate({ remembered: true });
    else this.checkAgain();
  }

  // ---- Leaving ----

  async approve() {
    if ($("approve").disabled) return;
    if (this.pending) await this.check();
    const text = this.text;
    const body = { text, table: this.form.get() };
    if (this.result?.row) body.row = this.result.row;
    try {
      const done = await json("v1/approve", { body });
      this.approvedText = approvalOf(text, body.table);
      this.tools();
      this.complain(null);
      this.kept();
      this.countApproved(done.approved);
      $("approved-now").textContent = `Added to ${done.file ?? "the approved texts"}: ${count(done.approved, "text")} now.`;
    } catch (error) {
      this.complain(error, () => this.approve());
    }
  }

  /** This text is no longer approved. */
  forget(text) {
    this.approvedText = withoutApproval(this.approvedText, text);
    this.past = this.past.map((each) => ({ ...each, approvedText: withoutApproval(each.approvedText, text) }));
    this.tools();
  }

  listen() {
    const layer = $("layer");
    const pieceOf = (event) => event.target.closest?.("[data-piece]");
    layer.addEventListener("click", (event) => {
      const node = pieceOf(event);
      if (node && this.stage() === "read") this.select(Number(node.dataset.piece), { focus: true });
    });
    layer.addEventListener("focusin", (event) => {
      const node = pieceOf(event);
      if (node && Number(node.dataset.piece) !== this.selected) this.select(Number(node.dataset.piece));
    });
    layer.addEventListener("dblclick", (event) => {
      const node = pieceOf(event);
      if (node) this.mode("edit", this.pieces[Number(node.dataset.piece)]?.stop);
    });
    layer.addEventListener("keydown", (event) => this.key(event, pieceOf(event)));
    $("editor").addEventListener("input", () => this.typed());
    $("editor").addEventListener("keydown", (event) => {
      if (event.key === "Escape") { this.mode("read"); $("edit").focus(); }
    });
    document.addEventListener("selectionchange", () => { if (document.activeElement === $("editor")) this.follow(); });
    $("actions").addEventListener("keydown", (event) => {
      if (event.key === "Escape") $("layer").querySelector("[aria-current]")?.focus();
    });
    $("edit").addEventListener("click", () => {
      this.mode(this.stage() === "edit" ? "read" : "edit");
      if (this.stage() === "read" && this.pending) this.check();
    });
    $("source-close").addEventListener("click", () => {
      document.querySelector(".pane.source").classList.remove("open");
      $("layer").querySelector("[tabindex='0']")?.focus({ preventScroll: true });
      document.querySelector(".pane.source").classList.remove("open");
    });
    $("undo").addEventListener("click", () => this.undo());
    $("approve").addEventListener("click", () => this.approve());
    $("forbid").addEventListener("submit", (event) => {
      event.preventDefault();
      const words = $("forbid-words").value.trim();
      $("forbid-words").value = "";
      if (words) this.addRule({ kind: "forbid", value: words, always: false });
    });
  }

  key(event, node) {
    if (!node || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = Number(node.dataset.piece);
    const last = this.pieces.length - 1;
    const to = { ArrowRight: Math.min(at + 1, last), ArrowDown: Math.min(at + 1, last), ArrowLeft: Math.max(at - 1, 0), ArrowUp: Math.max(at - 1, 0), Home: 0, End: last }[event.key];
    if (to !== undefined) this.select(to, { focus: true });
    else if (event.key === "Enter" || event.key === " ") $("actions").querySelector("button")?.focus();
    else if (event.key.toLowerCase() === "e") this.mode("edit", this.pieces[at]?.stop);
    else return;
    event.preventDefault();
  }
}

/** A record in a form that can be compared: the order of its fields says nothing. */
const plain = (record) => JSON.stringify(Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1)));

const inNew = (words) => count(words, "new word");

const breaks = (broken) => (broken === 1 ? "breaks a rule" : `breaks ${broken} rules`);

export const sentenceOf = (clause) => capital(/[.!?]$/.test(clause) ? clause : `${clause}.`);

/** What was approved is a text for a record: if either changes, it is not approved. */
export const approvalOf = (text, record) => JSON.stringify([text, record]);

export const withoutApproval = (approved, text) => (approved && JSON.parse(approved)[0] === text ? null : approved);

/** The most frequent reason for no text, in words for people who have not read the glossary. */
export const plainly = (reason) => reason.replace(/^[a-z]+(?:-[a-z]+)+: /, "").replace("no neighbor can be used: each shows a field that this table lacks", "no approved text fits: each says something that this record does not have")
  .replace("no text of the store may be spliced from", "every approved text is excluded");

/** The rules that a text breaks by the gate, as doubts. */
const brokenOf = ({ reasons }) => reasons.filter((reason) => reason.why === "rule").map((reason) => ({ why: "rule", what: capital(reason.what.replace(/^[a-z-]+: /, "")) }));

const sameState = (one, other) => one.text === other.text && JSON.stringify([one.rules, one.record]) === JSON.stringify([other.rules, other.record]);

/** Steps for Undo as they may have been kept. */
const pastOf = (kept) => (Array.isArray(kept) ? kept : []).filter((each) => typeof each?.text === "string").map((each) => {
  const options = strings(each.options);
  return { text: each.text, result: asResult(each.result), options, chosen: options.indexOf(each.text), made: "traced", under: null, writtenFor: typeof each.writtenFor === "string" ? each.writtenFor : null, approvedText: typeof each.approvedText === "string" ? each.approvedText : null,
    rules: rules.asRules(each.rules), record: asRecord(each.record) };
});

const strings = (value) => (Array.isArray(value) ? value.filter((each) => typeof each === "string").slice(0, 12) : []);

/** What the text does not say, and what it says wrongly. */
export function slotRemarks(slots) {
  const named = (status) => (slots ?? []).filter((slot) => slot.status === status).map((slot) => `${isolated(slot.field)} (${isolated(shorten(slot.value, 80))})`);
  const listed = (words, names) => (names.length ? [`${words}: ${names.slice(0, 5).join(", ")}${names.length > 5 ? ", …" : "."}`] : []);
  return [...listed("Wrong", named("wrong")), ...listed("Not said", named("missing"))];
}

const capital = (sentence, inside = 0) => `${inside ? sentence.charAt(0) : sentence.charAt(0).toUpperCase()}${sentence.slice(1).replace(/\.?$/, ".")}`;

/** The text itself first, then the others that were found. */
export function optionsOf(result) {
  if (!result?.text) return [];
  return [...new Set([result.text, ...(result.alternatives ?? []).map((each) => each.text)])].slice(0, ALTERNATIVES + 1);
}
