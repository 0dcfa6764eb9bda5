// What is kept in the browser. Storage may be absent, full, or hold anything: the page works all the same.

const BOUND = 3_500_000; // characters; browsers give about five million

let key = "textsplice.studio";
/** Work on one run is not mixed with work on another. */
export const keepFor = (name) => { key = `textsplice.studio/${name}`; };

export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

export function read(part) {
  try {
    const kept = JSON.parse(localStorage.getItem(`${key}/${part}`) ?? "null");
    return isObject(kept) ? kept : {};
  } catch {
    return {};
  }
}

/** Whether it could be kept. */
export function write(part, value) {
  try {
    const text = JSON.stringify(value);
    if (text.length > BOUND) return false;
    localStorage.setItem(`${key}/${part}`, text);
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

/** A record as it may be sent: known shapes only. */
export function asRecord(value) {
  if (!isObject(value)) return {};
  const clean = (item) => (["string", "number", "boolean"].includes(typeof item) ? String(item) : "");
  const entries = Object.entries(value).map(([name, item]) => [name, Array.isArray(item) ? item.map(clean).filter(Boolean) : clean(item)]);
  return Object.fromEntries(entries.filter(([, item]) => item.length));
}
