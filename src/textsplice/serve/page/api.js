// The server: every question goes through `ask`, which knows what can go wrong.

const TRIES = 6;
let token = "";
try {
  token = sessionStorage.getItem("textsplice.token") ?? "";
} catch {
  // No storage: the token lives as long as the page.
}

export function useToken(value) {
  token = value;
  try {
    sessionStorage.setItem("textsplice.token", value);
  } catch {
    // As above.
  }
}

/** What the server refused, in its own words. */
export class Problem extends Error {
  constructor({ title, detail, remedy, where, code, status }) {
    super(detail || title || "The server refused this.");
    Object.assign(this, { remedy, where, code, status });
  }
}

/** The server does not answer. */
export class Gone extends Error {
  constructor() {
    super("The server does not answer.");
    this.remedy = "Your work is kept in this browser. Start the server again (textsplice serve), then press Try again.";
  }
}

const waiters = new Set();
/** `told(seconds)` is called when the server is busy and we wait; `told(0)` when that is over. */
export const onWait = (told) => waiters.add(told);
const tell = (seconds) => waiters.forEach((told) => told(seconds));

function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal?.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); }, { once: true });
  });
}

async function problemOf(response) {
  try {
    const said = await response.json();
    return new Problem({ ...said, status: response.status });
  } catch {
    return new Problem({ title: `The server answered with ${response.status}.`, status: response.status });
  }
}

async function send(path, { body, type = "application/json", accept = "application/json", signal } = {}) {
  const headers = { Accept: accept };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = type;
  const payload = body === undefined || typeof body === "string" || body instanceof Blob ? body : JSON.stringify(body);
  try {
    return await fetch(path, { method: body === undefined ? "GET" : "POST", headers, body: payload, signal, credentials: "same-origin", cache: "no-store" });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Gone();
  }
}

/** The response, once the server has room for the question. */
export async function ask(path, options = {}) {
  for (let tried = 1; ; tried++) {
    const response = await send(path, options);
    if (response.ok) return response;
    const problem = await problemOf(response);
    // What took too long once may be in time when fewer ask, but hardly the third time.
    if (problem.code !== "busy" || tried === (response.status === 503 ? 2 : TRIES)) throw problem;
    const wished = Number(response.headers.get("Retry-After"));
    const seconds = Math.min(wished > 0 ? wished : 0.4 * 2 ** (tried - 1), 20);
    tell(seconds);
    await pause(seconds * (0.8 + 0.4 * Math.random()), options.signal);
    tell(0);
  }
}

export const json = async (path, options) => (await ask(path, options)).json();

/** The lines of an NDJSON answer, as they arrive. */
export async function* lines(path, options) {
  const response = await ask(path, { ...options, accept: "application/x-ndjson" });
  let rest = "";
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    let chunk;
    try {
      chunk = await reader.read();
    } catch (error) {
      if (options?.signal?.aborted) throw error;
      throw new Gone();
    }
    rest += chunk.value ?? "";
    const parts = rest.split("\n");
    rest = chunk.done ? "" : parts.pop();
    for (const part of parts) {
      if (!part.trim()) continue;
      const said = JSON.parse(part);
      if (typeof said.status === "number") throw new Problem(said);
      yield said;
    }
    if (chunk.done) return;
  }
}

/** Only the newest question counts: an answer that comes after a newer question is dropped. */
export function newest() {
  let running = null;
  const latest = async (question) => {
    running?.abort();
    const mine = (running = new AbortController());
    try {
      const answer = await question(mine.signal);
      return mine === running ? { answer } : null;
    } catch (error) {
      if (mine !== running || mine.signal.aborted) return null;
      throw error;
    }
  };
  latest.stop = () => { running?.abort(); running = null; };
  return latest;
}
