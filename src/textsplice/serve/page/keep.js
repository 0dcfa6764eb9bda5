// What is kept in the browser. Storage may be absent, full, or hold anything: the page works all the same.

const BOUND = 3_500_000; // characters; browsers give about five million
const STORAGES = ["sessionStorage", "localStorage"]; // a tab's own first: two tabs do not mix their work

let key = "textsplice.studio";
/** Work on one run is not mixed with work on another. */
export const keepFor = (name) => { key = `textsplice.studio/${name}`; };

export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** What this tab kept; in a new tab, what any tab kept last. */
export function read(part) {
  for (const storage of STORAGES) {
    try {
      const kept = JSON.parse(window[storage].getItem(`${key}/${part}`) ?? "null");
      if (isObject(kept)) return kept;
    } catch {
      // Then the other one.
    }
  }
  return {};
}

/** Whether it could be kept, here or there. */
export function write(part, value) {
  const text = JSON.stringify(value);
  return STORAGES.map((storage) => put(storage, `${key}/${part}`, text)).some(Boolean);
}

function put(storage, name, text) {
  try {
    window[storage].removeItem(name); // something old is worse than nothing
    if (text.length > BOUND) return false;
    window[storage].setItem(name, text);
    return true;
  } catch {
    return false;
  }
}

export function theme(value) {
  try {
    if (value === undefined) return localStorage.getItem("textsplice.theme");
    localStorage.setItem("textsplice.theme", value);
  } catch {
    // Then it lasts as long as the page.
  }
  return value;
}

/** A record as it may be sent: known shapes only. A file's record keeps its empty cells, a form's does not. */
export function asRecord(value, { empty = false } = {}) {
  if (!isObject(value)) return {};
  const clean = (item) => (["string", "number", "boolean"].includes(typeof item) ? String(item) : "");
  const entries = Object.entries(value).map(([name, item]) => [name, Array.isArray(item) ? item.map(clean).filter(Boolean) : clean(item)]);
  return Object.fromEntries(entries.filter(([, item]) => empty || item.length));
}
