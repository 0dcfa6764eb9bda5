// Rules that a person made by acting on a piece. Each can be seen and removed.

import { h, theirs } from "./dom.js";
import { isObject } from "./keep.js";

const KINDS = ["never", "forbid", "require", "start"];
const NAMES = { never: "never-neighbors", forbid: "forbid-words", require: "require-fields" };
const KEYS = { never: "ids", forbid: "words", require: "fields" };
const WORDS = { never: "never use the text", forbid: "never say", require: "always say", start: "start from the text" };

export const asRules = (value) => (Array.isArray(value) ? value : [])
  .filter((rule) => isObject(rule) && KINDS.includes(rule.kind) && typeof rule.value === "string")
  .slice(0, 200)
  .map(({ kind, value: said, always }) => ({ kind, value: said, always: always === true }));

/** Whether the server can do it. */
export function possible(kind, schema) {
  if (kind === "start") return schema.can?.start ?? ["swap", "full"].includes(String(schema.policy).toLowerCase());
  return (schema.rules ?? []).some((rule) => (rule.name ?? rule) === NAMES[kind]);
}

/** One object a rule, as the API takes them. */
export function sent(rules) {
  return Object.keys(NAMES).flatMap((kind) => {
    const values = [...new Set(rules.filter((rule) => rule.kind === kind).map((rule) => rule.value))];
    return values.length ? [{ rule: NAMES[kind], [KEYS[kind]]: values }] : [];
  });
}

/** Rules that can be checked, in a form that can be compared. */
export const key = (rules) => JSON.stringify(sent(rules.filter((rule) => rule.kind !== "start")));

export const startOf = (rules) => rules.find((rule) => rule.kind === "start")?.value;

export const same = (a, b) => a.kind === b.kind && a.value === b.value;

/** The list with one more; a text starts from one source only. */
export function withRule(rules, rule) {
  return [...rules.filter((old) => !same(old, rule) && (rule.kind !== "start" || old.kind !== "start")), rule];
}

export const inWords = (rule) => `${WORDS[rule.kind]} ${rule.kind === "forbid" ? `“${rule.value}”` : rule.value}`;

export function chip(rule, { remove, toggle }) {
  const scope = rule.kind === "never" || rule.kind === "forbid"
    ? h("button", { type: "button", class: "scope", "aria-pressed": String(rule.always), title: "For this record only, or for all", "aria-label": `Always ${inWords(rule)}`, on: { click: toggle } }, rule.always ? "always" : "here")
    : h("span", { class: "scope" }, "here");
  return h("li", { class: `chip ${rule.kind}` }, h("span", { class: "verb" }, WORDS[rule.kind]), " ", theirs(rule.value, { class: "value" }), scope,
    h("button", { type: "button", class: "remove", "aria-label": `Remove the rule: ${inWords(rule)}`, on: { click: remove } }, "×"));
}
