"use strict";
// Plays derivations. All text reaches the page by textContent; nothing is ever parsed as markup.
(() => {
  const [BEGIN, END] = ["\u0002", "\u0003"];
  const { derivations, neighbors: pool } = JSON.parse(document.getElementById("derivation-data").textContent);
  const home = document.getElementById("player");
  let shown = null; // the derivation on the board, with its replayed canvases
  let at = 0; // 0 is the empty canvas, 1…n the splices, n + 1 the finished text
  let timer = 0;
  const parts = {};

  function make(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (value !== null && value !== false) element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  }

  const kindOf = (source) => shown.sources[source].kind;
  const tokenAt = (place) => shown.sources[place.source].tokens[place.position];
  const hidden = (token) => token === BEGIN || token === END;
  // A token carries the space before it; a masked word is nothing but that.
  const written = (token) => (token.startsWith(" ") ? token.slice(1) : token);
  const folded = (tokens) => tokens.map((token) => written(token).toLowerCase());
  const isMask = (token) => written(token) === "";
  const isSpaced = (token) => token.startsWith(" ");

  // Sources as `Splice.neighbor` counts them.
  function sourcesOf({ table, neighbors, words, coverage }) {
    const sources = { 0: { kind: "table", id: "", text: "", tokens: table } };
    neighbors.forEach((number, n) => (sources[n + 1] = { kind: "neighbor", ...pool[number] }));
    for (const [id, tokens] of Object.entries(words)) {
      sources[1 + neighbors.length + Number(id)] = { kind: coverage ? "gap" : "vocabulary", id: "", text: "", tokens };
    }
    return sources;
  }

  function replay(derivation) {
    const canvases = [[]];
    derivation.steps.forEach(({ splice: [start, stop, source, begin, end] }, step) => {
      const span = [];
      for (let position = begin; position < end; position++) span.push({ source, position, step });
      const canvas = canvases[canvases.length - 1];
      canvases.push([...canvas.slice(0, start), ...span, ...canvas.slice(stop)]);
    });
    return canvases;
  }

  function label(place) {
    const kind = kindOf(place.source);
    if (kind === "neighbor") return `neighbor ${place.source}`;
    if (kind === "vocabulary") return "vocabulary";
    if (kind === "gap") return "no source";
    const cell = shown.cells.find((c) => c.start <= place.position && place.position < c.stop);
    return cell ? `table · ${cell.field}` : "table";
  }

  function tag(source) {
    const kind = kindOf(source);
    const spoken = kind === "gap" ? { role: "img", "aria-label": "stands in no source", title: "stands in no source" } : {};
    return make("b", { class: `tag ${kind}`, ...spoken }, { table: "T", neighbor: `N${source}`, vocabulary: "V", gap: "∅" }[kind]);
  }

  function word(place, live) {
    const token = tokenAt(place);
    const masked = isMask(token);
    const attributes = { class: masked ? "word mask" : "word" };
    if (live) {
      Object.assign(attributes, {
        tabindex: "0",
        "aria-label": `${masked ? "masked word" : written(token)}, from ${label(place)}, step ${place.step + 1}`,
        role: "note",
        onmouseenter: () => tell(place, element),
        onfocus: () => tell(place, element),
        onmouseleave: untell,
        onblur: untell,
      });
    }
    const element = make("span", attributes, masked ? "▁▁" : written(token));
    return element;
  }

  // One canvas: what stays, what the step struck out, and what it laid, with its source's tag.
  function canvas(step, live) {
    const places = shown.canvases[step];
    const splice = shown.steps[step - 1].splice;
    const [start, stop, source, begin, end] = splice;
    const laid = start + end - begin;
    const spaces = shown.steps[step - 1].spaces;
    const nodes = [];
    let run = null;
    const struck = shown.canvases[step - 1].slice(start, stop).filter((place) => !hidden(tokenAt(place)));
    places.forEach((place, n) => {
      if (n === start && struck.length) {
        const old = make("s", { "aria-label": "replaced" });
        struck.forEach((gone, m) => old.append(m ? " " : "", word(gone, false)));
        nodes.push(nodes.length ? " " : "", old, " ");
        run = null;
      }
      if (hidden(tokenAt(place))) return;
      const fresh = n >= start && n < laid;
      const spaced = spaces[n] === "1" && !(n === start && struck.length);
      if (!run || run.step !== place.step || run.fresh !== fresh) {
        if (run && run.fresh) nodes.push(tag(source));
        if (spaced) nodes.push(" ");
        if (fresh && !struck.length && step > 1) nodes.push(make("span", { class: `caret ${kindOf(source)}`, "aria-hidden": "true" }, "‸"));
        const kind = kindOf(place.source);
        run = { step: place.step, fresh, element: make("span", { class: `run ${kind}${fresh ? " new" : ""}` }) };
        nodes.push(run.element);
      } else if (spaced) run.element.append(" ");
      run.element.append(word(place, live));
    });
    if (run && run.fresh) nodes.push(tag(source));
    if (!nodes.length) nodes.push(make("span", { class: "empty" }, "only begin and end"));
    return nodes;
  }

  // Where spans meet as in no text of the store.
  function seam() {
    return make("b", { class: "seam", role: "img", "aria-label": "unattested seam", title: "unattested seam" }, "¦");
  }

  // The finished text: every run of words with the tag of its source.
  function finished(live) {
    const nodes = [];
    let run = null;
    let n = 0;
    shown.canvases[shown.steps.length].forEach((place) => {
      if (hidden(tokenAt(place))) return;
      const torn = shown.unattested.includes(n) ? seam() : "";
      const spaced = shown.spaces[n++] === "1";
      const one = run && kindOf(run.source) === "gap" && kindOf(place.source) === "gap"; // adjacent words are one gap
      if (!one && (!run || run.source !== place.source || run.step !== place.step)) {
        if (run) nodes.push(tag(run.source));
        if (spaced) nodes.push(" ");
        nodes.push(torn);
        run = { source: place.source, step: place.step, element: make("span", { class: `run ${kindOf(place.source)}` }) };
        nodes.push(run.element);
      } else run.element.append(spaced ? " " : "", torn);
      run.element.append(word(place, live));
    });
    if (run) nodes.push(tag(run.source));
    if (shown.unattested.includes(n)) nodes.push(seam());
    if (!nodes.length) nodes.push(make("span", { class: "empty" }, `no text: ${shown.reason || shown.status}`));
    return nodes;
  }

  // A step in words, with masked words as boxes.
  function sentence(text) {
    return text.split("▁▁").flatMap((part, n) => (n ? [make("span", { class: "mask" }, "▁▁"), part] : [part]));
  }

  function sourceWords(source) {
    const nodes = [];
    shown.sources[source].tokens.forEach((token, position) => {
      if (hidden(token)) return;
      if (nodes.length && isSpaced(token)) nodes.push(" ");
      const element = word({ source, position, step: 0 }, false);
      element.dataset.place = `${source}:${position}`;
      nodes.push(element);
    });
    return nodes;
  }

  function tell(place, element) {
    untell();
    element.classList.add("lit");
    parts.about.replaceChildren(...inContext(place, place.position, place.position + 1));
    const spot = home.querySelector(`[data-place="${place.source}:${place.position}"]`);
    if (spot) {
      spot.classList.add("lit");
      thread(element, spot, kindOf(place.source));
    }
  }

  function untell() {
    for (const lit of home.querySelectorAll(".lit")) lit.classList.remove("lit");
    const step = shown.steps[at - 1];
    if (step) {
      const [, , source, begin, end] = step.splice;
      parts.about.replaceChildren(...inContext({ source, position: begin, step: at - 1 }, begin, end));
    } else parts.about.textContent = "Point at a word, or reach it with Tab, to see where it comes from.";
    threadOfStep();
  }

  // `Step 2, from neighbor 1 (id): “… the words around it …”`, with the span marked.
  function inContext(place, begin, end) {
    const { tokens, id } = shown.sources[place.source];
    const quote = make("q", { dir: "auto" });
    let mark = null;
    tokens.forEach((token, position) => {
      if (hidden(token)) return;
      const inside = position >= begin && position < end;
      const space = quote.childNodes.length && isSpaced(token) ? " " : "";
      if (inside && !mark) quote.append(space, (mark = make("mark", {})));
      else (inside ? mark : quote).append(space);
      (inside ? mark : quote).append(isMask(token) ? make("span", { class: "mask" }, "▁▁") : written(token));
    });
    return [make("b", {}, `Step ${place.step + 1}`), `, from ${label(place)}${id ? ` (${id})` : ""}: `, quote];
  }

  // The colored line of the paper's figure, from the span that was copied to where it was laid.
  function thread(from, to, kind) {
    const svg = parts.thread;
    svg.replaceChildren();
    const frame = parts.board.getBoundingClientRect();
    const [a, b] = [from.getClientRects()[0], to.getClientRects()[0]];
    if (!a || !b) return;
    const [x1, y1] = [a.left + Math.min(a.width / 2, 40) - frame.left, a.bottom - frame.top + 1];
    const [x2, y2] = [b.left + Math.min(b.width / 2, 40) - frame.left, b.top - frame.top - 1];
    const bend = Math.max(30, Math.abs(y2 - y1) * 0.45);
    const draw = (name, attributes) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      svg.append(element);
    };
    draw("path", { class: kind, d: `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}` });
    draw("circle", { class: kind, cx: x1, cy: y1, r: 3 });
    draw("circle", { class: kind, cx: x2, cy: y2, r: 3 });
  }

  function threadOfStep() {
    parts.thread.replaceChildren();
    if (at < 1 || at > shown.steps.length) return;
    const [, , source, begin, end] = shown.steps[at - 1].splice;
    const from = parts.canvas.querySelector(".new .word");
    for (let position = begin; position < end; position++) {
      const to = home.querySelector(`[data-place="${source}:${position}"]`);
      if (from && to) return thread(from, to, kindOf(source));
    }
  }

  function say(step) {
    if (step === 0) return ["The canvas is empty."];
    if (step > shown.steps.length) return [make("b", {}, "Finished"), ` after ${shown.steps.length} splice${shown.steps.length === 1 ? "" : "s"}.`];
    return [make("b", {}, `Step ${step} of ${shown.steps.length}`), " ", ...sentence(shown.steps[step - 1].sentence), "."];
  }

  function go(step) {
    const last = shown.steps.length + 1;
    at = Math.max(0, Math.min(last, step));
    parts.scrubber.value = at;
    parts.scrubber.setAttribute("aria-valuetext", say(at).map((part) => part.textContent ?? part).join(""));
    parts.said.replaceChildren(...say(at));
    parts.canvas.className = at === last ? "canvas done" : "canvas";
    const empty = make("span", { class: "empty" }, "an empty canvas ‸");
    parts.canvas.replaceChildren(...(at === 0 ? [empty] : at === last ? finished(true) : canvas(at, true)));
    parts.first.disabled = parts.back.disabled = at === 0;
    parts.next.disabled = parts.last.disabled = at === last;
    markSources(shown.canvases[Math.min(at, shown.steps.length)]);
    parts.steps.querySelectorAll("button").forEach((button, n) => {
      if (n + 1 === at) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    untell();
  }

  // Which words of the sources stand on the canvas now, which the step copied, and which cells are said.
  function markSources(places) {
    const standing = new Set(places.map((place) => `${place.source}:${place.position}`));
    const canvas = folded(places.map(tokenAt));
    const [, , source, begin, end] = at >= 1 && at <= shown.steps.length ? shown.steps[at - 1].splice : [0, 0, -1, 0, 0];
    for (const element of home.querySelectorAll("[data-place]")) {
      const [from, position] = element.dataset.place.split(":").map(Number);
      const fresh = from === source && position >= begin && position < end;
      const kind = kindOf(from);
      element.className = `word${isMask(tokenAt({ source: from, position })) ? " mask" : ""}`;
      if (fresh) element.classList.add("new", kind);
      else if (standing.has(element.dataset.place)) element.classList.add("spent", kind);
    }
    for (const row of parts.cells.querySelectorAll("tr[data-start]")) {
      const value = folded(shown.sources[0].tokens.slice(Number(row.dataset.start), Number(row.dataset.stop)));
      const said = value.length > 0 && canvas.some((_, at) => value.every((token, n) => canvas[at + n] === token));
      // Of the finished text, the checker knows more.
      const checked = at >= shown.steps.length && row.dataset.sign;
      const [sign, told] = checked ? [row.dataset.sign, row.dataset.told] : said ? ["✓", "said"] : ["·", "not said yet"];
      row.classList.toggle("ticked", sign === "✓");
      row.classList.toggle("crossed", sign === "✗");
      row.querySelector(".tick").replaceChildren(sign);
      row.querySelector(".tick").setAttribute("aria-label", told);
      row.querySelector(".tick").title = checked ? told : "";
    }
  }

  function play() {
    if (timer) return pause();
    if (at > shown.steps.length) go(0);
    parts.play.textContent = "❚❚";
    parts.play.setAttribute("aria-label", "Pause");
    timer = setInterval(() => (at > shown.steps.length ? pause() : go(at + 1)), 1400);
  }

  function pause() {
    clearInterval(timer);
    timer = 0;
    parts.play.textContent = "▶";
    parts.play.setAttribute("aria-label", "Play");
  }

  function open(derivation) {
    if (timer) pause();
    shown = { ...derivation, canvases: replay(derivation), sources: sourcesOf(derivation) };
    parts.facts.replaceChildren(...facts());
    parts.coverage.textContent = shown.coverage;
    parts.tableCard.hidden = !shown.cells.length;
    parts.scrubber.max = shown.steps.length + 1;
    parts.cells.replaceChildren(...shown.cells.map(cellRow));
    parts.sources.replaceChildren(...sourceCards());
    parts.steps.replaceChildren(...shown.steps.map(stepItem));
    parts.final.replaceChildren(...finished(false));
    parts.stepsCard.hidden = !shown.steps.length;
    go(shown.steps.length + 1);
    for (const button of home.querySelectorAll(".examples button")) {
      button.setAttribute("aria-current", button.dataset.number === String(derivations.indexOf(derivation)));
    }
  }

  function facts() {
    const used = new Set(shown.steps.map((step) => step.splice[2]));
    const neighbors = [...used].filter((source) => kindOf(source) === "neighbor").length;
    const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
    const items = [make("b", {}, shown.id), count(shown.steps.length, "splice"), count(neighbors, "neighbor"), shown.policy];
    if (shown.score !== null) items.push(`score ${shown.score.toFixed(3)}`);
    if (shown.attribution === "most-probable") items.push("likeliest source named");
    if (shown.seams) items.push(shown.unattested.length ? make("span", { class: "bad" }, shown.seams) : shown.seams);
    items.push(...shown.rules);
    if (shown.status !== "ok") items.push(make("span", { class: "bad" }, `${shown.status}${shown.reason ? `: ${shown.reason}` : ""}`));
    if (shown.note) items.push(make("span", { class: "bad" }, shown.note));
    return items.filter((item) => item !== "").map((item) => make("span", {}, item));
  }

  function cellRow(cell) {
    const value = make("td", {});
    if (cell.stop > cell.start) {
      for (let n = cell.start; n < cell.stop; n++) {
        const element = word({ source: 0, position: n, step: 0 }, false);
        element.dataset.place = `0:${n}`;
        value.append(n > cell.start && isSpaced(shown.table[n]) ? " " : "", element);
      }
    } else value.append(cell.value || "—");
    const range = cell.value || cell.mark ? { "data-start": cell.start, "data-stop": cell.stop } : {};
    if (cell.mark) [range["data-sign"], range["data-told"]] = cell.mark;
    return make("tr", range, make("td", { class: "tick", role: "img", "aria-label": "not said" }, "·"), make("th", { scope: "row" }, cell.field), value);
  }

  function sourceCards() {
    const used = new Set(shown.steps.map((step) => step.splice[2]));
    const card = (source) => {
      const { id, text } = shown.sources[source];
      return make("div", { class: used.has(source) ? "source" : "source unused" },
        make("div", {}, tag(source), " ", make("span", { class: "id" }, id)),
        make("p", { dir: "auto" }, ...sourceWords(source)),
        used.has(source) ? make("p", { class: "written", dir: "auto" }, "as written: ", text) : null);
    };
    const all = Object.keys(shown.sources).map(Number);
    const neighbors = all.filter((source) => kindOf(source) === "neighbor");
    const idle = neighbors.filter((source) => !used.has(source));
    const nodes = neighbors.filter((source) => used.has(source)).map(card);
    const words = all.filter((source) => ["vocabulary", "gap"].includes(kindOf(source)));
    if (words.length) {
      const line = make("p", {});
      words.forEach((source, n) => line.append(n ? " · " : "", ...sourceWords(source)));
      nodes.push(make("div", { class: "source" }, make("div", {}, tag(words[0]), " ", make("span", { class: "id" }, shown.coverage ? "stands in no source" : "vocabulary")), line));
    }
    if (idle.length) {
      nodes.push(make("details", { class: "unused", open: idle.length <= 2 }, make("summary", {}, `${idle.length} offered and not used`), ...idle.map(card)));
    }
    if (!nodes.length) nodes.push(make("p", { class: "about" }, "No neighbors were offered."));
    return nodes;
  }

  function stepItem(step, n) {
    const kind = kindOf(step.splice[2]);
    return make("li", {},
      make("button", { type: "button", onclick: () => go(n + 1) }, make("span", { class: `number ${kind}` }, String(n + 1)), make("span", {}, ...sentence(step.sentence))),
      make("p", { class: "canvas", dir: "auto" }, ...(isLong() ? [] : canvas(n + 1, false)))); // on paper only
  }

  // All canvases of a long text together would make the page slow: they are drawn when it is printed.
  const isLong = () => shown.canvases.reduce((sum, places) => sum + places.length, 0) > 20000;

  function drawForPaper() {
    if (!shown || !isLong()) return;
    parts.steps.querySelectorAll(".canvas").forEach((element, n) => element.replaceChildren(...canvas(n + 1, false)));
  }

  function exampleItem(derivation, number) {
    const note = derivation.note ? make("span", { class: "bad", title: derivation.note }, derivation.note) : null;
    return make("li", {}, make("button", { type: "button", "data-number": number, onclick: () => open(derivation) },
      make("span", { class: "id" }, derivation.id), note,
      make("span", { class: "line", dir: "auto" }, derivation.text || `(${derivation.status})`)));
  }

  function filter(query) {
    const wanted = query.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    derivations.forEach((derivation, n) => {
      const text = [derivation.id, derivation.text, derivation.note, ...derivation.cells.flatMap((c) => [c.field, c.value])].join(" ").toLocaleLowerCase();
      const match = wanted.every((part) => text.includes(part));
      parts.list.children[n].hidden = !match;
      count += match;
    });
    parts.count.textContent = `${count} of ${derivations.length} examples`;
  }

  function moveInList(event) {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const buttons = [...parts.list.querySelectorAll("li:not([hidden]) button")];
    const next = buttons[buttons.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1)];
    if (next) next.focus();
    event.preventDefault();
  }

  function onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || !shown) return;
    const typing = event.target instanceof HTMLInputElement;
    if (typing) return; // the scrubber's own keys do the same; a filter needs its arrows
    const step = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: shown.steps.length + 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    go(step);
  }

  function build() {
    const button = (name, text, action, extra) => (parts[name] = make("button", { type: "button", "aria-label": action[0], title: action[0], onclick: action[1], ...extra }, text));
    parts.thread = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    parts.thread.setAttribute("class", "thread");
    parts.thread.setAttribute("aria-hidden", "true");
    parts.facts = make("div", { class: "facts" });
    parts.coverage = make("p", { class: "coverage" });
    parts.said = make("p", { class: "said", role: "status" });
    parts.canvas = make("p", { class: "canvas", role: "group", "aria-label": "Canvas", dir: "auto" });
    parts.about = make("p", { class: "about", role: "status" });
    parts.scrubber = make("input", { type: "range", min: 0, max: 1, step: 1, "aria-label": "Step", oninput: () => go(Number(parts.scrubber.value)) });
    const controls = make("div", { class: "controls", role: "group", "aria-label": "Steps" },
      button("play", "▶", ["Play", play], { class: "play" }),
      button("first", "⇤", ["First step", () => go(0)], { class: "ends" }), button("back", "←", ["Previous step", () => go(at - 1)]),
      parts.scrubber,
      button("next", "→", ["Next step", () => go(at + 1)]), button("last", "⇥", ["Last step", () => go(shown.steps.length + 1)], { class: "ends" }));
    parts.cells = make("tbody", {});
    parts.tableCard = make("section", { class: "card", "aria-label": "Table" }, make("h2", { class: "name" }, "Table"), make("table", { class: "cells" }, parts.cells));
    parts.sources = make("div", {});
    parts.steps = make("ol", { class: "steps" });
    parts.final = make("p", { class: "canvas done final", dir: "auto" }); // on paper only
    parts.stepsCard = make("section", { class: "card list", "aria-label": "Steps in words" }, make("h2", { class: "name" }, "Steps"), parts.steps, parts.final);
    const keys = make("p", { class: "keys" }, make("kbd", {}, "←"), " ", make("kbd", {}, "→"), " step   ", make("kbd", {}, "Home"), " ", make("kbd", {}, "End"), " first and last");
    parts.board = make("div", { class: "board" },
      make("section", { class: "card stage", "aria-label": "Canvas and its steps" }, parts.facts, parts.coverage, controls, parts.said, parts.canvas, parts.about, keys),
      make("div", { class: "panels" },
        make("div", { class: "column" },
          parts.tableCard,
          parts.stepsCard),
        make("div", { class: "column" },
          make("section", { class: "card", "aria-label": "Neighbors" }, make("h2", { class: "name" }, "Neighbors"), parts.sources))),
      parts.thread);
    if (derivations.length > 1) home.append(examples());
    home.classList.toggle("many", derivations.length > 1);
    home.append(parts.board);
  }

  function examples() {
    parts.list = make("ol", { onkeydown: moveInList, "aria-label": "Examples" }, ...derivations.map(exampleItem));
    parts.count = make("p", { class: "count", role: "status" }, `${derivations.length} of ${derivations.length} examples`);
    const input = make("input", { type: "search", placeholder: "Filter: words, ids, values", "aria-label": "Filter examples", oninput: () => filter(input.value) });
    const wide = window.matchMedia("(min-width: 900px)");
    const details = make("details", { open: wide.matches }, make("summary", {}, "Examples"), input, parts.count, parts.list);
    wide.addEventListener("change", () => (details.open = wide.matches));
    return make("nav", { class: "examples", "aria-label": "Examples" }, details);
  }

  function theme() {
    const button = document.getElementById("theme");
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    const current = () => document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
    const mark = () => button.setAttribute("aria-pressed", String(current() === "dark"));
    button.addEventListener("click", () => {
      document.documentElement.dataset.theme = current() === "dark" ? "light" : "dark";
      mark();
    });
    dark.addEventListener("change", mark);
    mark();
  }

  theme();
  if (!derivations.length) {
    home.append(make("p", { class: "card" }, "There are no derivations to show."));
    return;
  }
  build();
  open(derivations[0]);
  document.addEventListener("keydown", onKey);
  window.addEventListener("resize", threadOfStep);
  window.addEventListener("beforeprint", drawForPaper);
  for (const link of document.querySelectorAll("[data-open]")) {
    link.addEventListener("click", () => {
      const found = derivations.find((derivation) => derivation.id === link.dataset.open);
      if (found) open(found);
    });
  }
})();
