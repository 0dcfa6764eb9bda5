// Nodes, never markup: whatever a record or a text says is shown as text.

export const $ = (id) => document.getElementById(id);

/** An element with properties and children. Strings become text nodes. */
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") node.className = value;
    else if (name === "on") for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    else if (name === "data") Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** Somebody's words among ours: they can't turn the direction of what follows. */
export const theirs = (text, props = {}) => h("bdi", props, String(text));

/** The same inside a sentence. */
export const isolated = (text) => `\u2068${text}\u2069`;

export function fill(node, ...children) {
  node.replaceChildren(...children.filter((child) => child !== null && child !== undefined && child !== false));
}

/** The same for a list with buttons: the one that has the focus keeps it, by its name. */
export function refill(node, ...children) {
  const name = node.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
  fill(node, ...children);
  if (name) [...node.querySelectorAll("[aria-label]")].find((each) => each.getAttribute("aria-label") === name)?.focus({ preventScroll: true });
}

/** Says something to those who listen to the page. */
export function say(message) {
  $("said").textContent = message;
}

export function debounce(wait, action) {
  let timer = 0;
  const later = (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...args), wait);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

export const count = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

export const shorten = (text, most) => {
  const signs = [...String(text)];
  return signs.length > most ? `${signs.slice(0, most - 1).join("")}…` : String(text);
};
