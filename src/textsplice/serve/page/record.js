// The record as a form, made from what the corpus knows of its fields.

import { $, h, theirs } from "./dom.js";
import { asRecord } from "./keep.js";

const SHOWN = 24; // fields at first; the others can be added by name
const HINTS = {
  "yes-no": ["yes/no", "A yes or a no. Texts say it in other words."],
  worded: ["worded", "Texts often say this value in other words."],
  coded: ["coded", "Texts say this value in other words only."],
  unsaid: ["not said", "Texts do not say this value. It only helps to find similar records."],
  list: ["list", "Several values may be given."],
  number: ["number", "A number, perhaps with a unit."],
};

export class RecordForm {
  /** `changed` is called after each change by a person. */
  constructor(fields, changed) {
    this.known = new Map(fields.map((field) => [field.name, field]));
    this.many = fields.length > SHOWN;
    const ranked = this.many ? [...fields].sort((a, b) => (b.share ?? 0) - (a.share ?? 0)) : fields;
    this.first = ranked.slice(0, SHOWN).map((field) => field.name);
    this.changed = changed;
    this.values = new Map();
    this.shown = [];
    $("field-names").replaceChildren(...ranked.slice(SHOWN, SHOWN + 500).map((field) => h("option", { value: field.name })));
    $("add-field-button").addEventListener("click", () => this.add());
    $("add-field").addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      this.add();
    });
    this.set({});
  }

  /** The record without what is empty. What was typed into a list but not added yet belongs to it, and stays where it is. */
  get() {
    const values = new Map(this.values);
    for (const input of $("fields").querySelectorAll("input[data-list]")) {
      const [name, typed] = [input.dataset.list, input.value.trim()];
      if (typed && !this.listed(name).includes(typed)) values.set(name, [...this.listed(name), typed]);
    }
    const said = [...values].map(([name, value]) => [name, Array.isArray(value) ? value : value.trim()]);
    return Object.fromEntries(said.filter(([, value]) => value.length));
  }

  set(record) {
    this.values = new Map(Object.entries(asRecord(record)));
    this.shown = [...new Set(this.many ? [...this.values.keys(), ...this.first] : [...this.first, ...this.values.keys()])];
    $("fields").replaceChildren(...this.shown.map((name, at) => this.field(name, at)));
  }

  add() {
    const input = $("add-field");
    const name = input.value.trim();
    if (!name) return;
    if (!this.shown.includes(name)) {
      this.shown.push(name);
      $("fields").append(this.field(name, this.shown.length - 1));
    }
    input.value = "";
    $(`field-${this.shown.indexOf(name)}`)?.focus();
  }

  field(name, at) {
    const known = this.known.get(name) ?? { kind: "said", values: [], list: false };
    const [tag, hint] = HINTS[known.kind] ?? [];
    const isList = known.list || known.kind === "list" || Array.isArray(this.values.get(name));
    const label = h("div", { class: "label" },
      h("label", { for: `field-${at}` }, theirs(name)),
      tag ? h("span", { class: `kind ${known.kind}`, title: hint, id: `hint-${at}` }, tag) : null);
    const options = { id: `field-${at}`, "aria-describedby": tag ? `hint-${at}` : undefined };
    const control = known.kind === "yes-no" && !isList ? this.choice(name, known, options) : isList ? this.list(name, known, at, options) : this.text(name, known, at, options);
    return h("div", { class: `field ${known.kind}` }, label, control);
  }

  choice(name, known, options) {
    const now = String(this.values.get(name) ?? "");
    const values = [...new Set([...(known.values ?? []), now])].filter(Boolean);
    const select = h("select", { ...options, on: { change: (event) => this.put(name, event.target.value) } },
      h("option", { value: "" }, "not given"), ...values.map((value) => h("option", { value }, value)));
    select.value = now;
    return select;
  }

  text(name, known, at, options) {
    const values = known.values ?? [];
    const input = h("input", { ...options, dir: "auto", list: values.length ? `values-${at}` : undefined,
      placeholder: known.kind === "number" && values.length ? `such as ${values[0]}` : undefined,
      on: { input: (event) => this.put(name, event.target.value) } });
    input.value = String(this.values.get(name) ?? "");
    return h("div", {}, input, values.length ? h("datalist", { id: `values-${at}` }, ...values.map((value) => h("option", { value }))) : null);
  }

  list(name, known, at, options) {
    const values = known.values ?? [];
    const chips = h("ul", { class: "chips", "aria-label": `Values of ${name}` });
    const input = h("input", { ...options, dir: "auto", data: { list: name }, list: values.length ? `values-${at}` : undefined, placeholder: "type one, then Enter" });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        this.push(name, input);
      } else if (event.key === "Backspace" && !input.value) this.drop(name, this.listed(name).length - 1, input);
    });
    input.addEventListener("change", () => this.push(name, input));
    input.addEventListener("input", () => this.changed(name));
    const add = h("button", { type: "button", "aria-label": `Add a value to ${name}`, on: { click: () => { this.push(name, input); input.focus(); } } }, "+");
    const box = h("div", { class: "listed" }, chips, h("div", { class: "row" }, input, add),
      values.length ? h("datalist", { id: `values-${at}` }, ...values.map((value) => h("option", { value }))) : null);
    input.chips = chips;
    this.chips(name, input);
    return box;
  }

  listed(name) {
    const now = this.values.get(name);
    return Array.isArray(now) ? now : now ? [now] : [];
  }

  chips(name, input) {
    const values = this.listed(name);
    input.chips.hidden = !values.length;
    input.chips.replaceChildren(...values.map((value, index) => h("li", { class: "chip" }, theirs(value),
      h("button", { type: "button", "aria-label": `Remove ${value}`, on: { click: () => { this.drop(name, index, input); input.focus(); } } }, "×"))));
  }

  push(name, input) {
    const value = input.value.trim();
    input.value = "";
    if (!value || this.listed(name).includes(value)) return;
    this.values.set(name, [...this.listed(name), value]);
    this.chips(name, input);
    this.changed(name);
  }

  drop(name, index, input) {
    const values = this.listed(name);
    if (index < 0 || index >= values.length) return;
    this.values.set(name, values.filter((_, at) => at !== index));
    this.chips(name, input);
    this.changed(name);
  }

  put(name, value) {
    this.values.set(name, value);
    this.changed(name);
  }
}
