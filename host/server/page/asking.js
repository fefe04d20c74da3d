// Asking: one question at a time, and no way out of it that leaves the page waiting.

import { byId, cut, duration, el, fill, list, text } from "./dom.js";
import { ENDINGS, endingOf, resultNodes, tagOf } from "./endings.js";
import { refreshHealth } from "./health.js";

export const page = {
  domain: null,
  several: false,
  schemas: new Map(),
  entries: [],
  shown: null,
  running: null,
  follows: null,
};

const PROBE_AFTER = 8000;
const PROBE_EVERY = 5000;
const PROBES_LOST = 3;

export function announce(message) {
  byId("status").textContent = message;
}

/** While an ask is under way: shows the time, and asks whether the server still lives, so that a dead line ends the wait. */
function watch(run) {
  const tick = setInterval(() => { byId("elapsed").textContent = duration(performance.now() - run.begun); }, 200);
  let lost = 0;
  let probing = false;
  const probe = setInterval(async () => {
    if (probing || performance.now() - run.begun < PROBE_AFTER) return;
    probing = true;
    try {
      await fetch("/livez", { cache: "no-store", signal: AbortSignal.timeout(PROBE_EVERY) });
      lost = 0;
    } catch {
      lost += 1;
    }
    probing = false;
    if (page.running !== run) return;
    byId("working-note").textContent = lost > 0 ? "The server does not answer at the moment." : "";
    if (lost >= PROBES_LOST) {
      run.why = "gone";
      run.controller.abort();
    }
  }, PROBE_EVERY);
  return () => {
    clearInterval(tick);
    clearInterval(probe);
  };
}

function showWorking(run) {
  const working = run !== null;
  byId("working").hidden = !working;
  byId("stop").hidden = !working;
  byId("send").disabled = working;
  byId("elapsed").textContent = "";
  byId("working-note").textContent = "";
  if (!working) return;
  byId("working-question").textContent = run.request.question;
  byId("result").hidden = true;
  byId("examples").hidden = true;
  announce("Working.");
}

async function send(run) {
  const response = await fetch("/api/ask", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(run.request),
    signal: run.controller.signal,
    cache: "no-store",
  });
  return endingOf(response, await response.text());
}

/** One ask from beginning to end. Every way out of it leaves an ending on the screen. */
export async function ask(request) {
  if (page.running) return;
  const run = { request, controller: new AbortController(), begun: performance.now(), why: null, focused: document.activeElement };
  page.running = run;
  clearFieldError();
  showWorking(run);
  const unwatch = watch(run);
  let ending;
  try {
    ending = await send(run);
  } catch (error) {
    if (run.why === "stopped") {
      ending = { kind: "stopped", sentence: "You stopped this question. The server was told, and cancels its query.", record: {} };
    } else {
      ending = { kind: "gone", sentence: "The connection to the server was lost before it answered. Is it still running?", record: {} };
      if (run.why === null && error?.name !== "TypeError") console.error(error);
    }
  } finally {
    unwatch();
    page.running = null;
  }
  const left = [byId("stop"), document.body, null].includes(document.activeElement);
  showWorking(null);
  const entry = { request, ending, elapsed: performance.now() - run.begun, at: new Date() };
  page.entries.unshift(entry);
  show(entry);
  if (left) focusAfter(run);
  announce(`${ENDINGS[ending.kind].word}. ${cut(ending.sentence, 400)}`);
  if (ending.kind === "problem" && ending.field === "question") fieldError(ending.sentence);
  if (ending.code === "unknown-ask") endFollowing();
  if (ending.kind === "answered" && document.activeElement === byId("question") && byId("question").value.trim() === request.question) byId("question").select();
  if (ending.kind === "gone" || ending.kind === "failed") refreshHealth();
}

/** Gives the keyboard back where it was: a button that is gone or was disabled meanwhile has lost it. */
function focusAfter(run) {
  const origin = run.focused;
  const usable = origin && origin !== document.body && origin.isConnected && origin !== byId("stop") && !origin.closest("[hidden]");
  (usable ? origin : byId("result")).focus({ preventScroll: !usable });
}

export function stop() {
  if (!page.running) return;
  page.running.why = "stopped";
  page.running.controller.abort();
}

/** Shows an entry; if even that fails, says so instead of leaving the page as it was. */
export function show(entry) {
  page.shown = entry;
  const result = byId("result");
  let nodes;
  try {
    nodes = resultNodes(entry);
  } catch (error) {
    console.error(error);
    nodes = [tagOf("failed"), el("p", { class: "sentence other" }, "The record came back in a form this page cannot show."),
      el("details", { class: "fold", open: true }, el("summary", {}, "The record as it came"), el("pre", { tabindex: "0" }, cut(JSON.stringify(entry.ending.record, null, 2), 20000)))];
  }
  // Not replaceChildren(...nodes): nodes hold nested lists and absent parts.
  result.replaceChildren();
  fill(result, {}, nodes);
  result.hidden = false;
  byId("examples").hidden = true;
  drawHistory();
}

export function submit() {
  const question = byId("question").value.trim();
  if (page.running) return;
  if (question === "") {
    fieldError("Write what you want to know.");
    byId("question").focus();
    return;
  }
  const request = { question, mode: byId("baseline").checked ? "baseline" : "agent" };
  if (page.domain) request.domain = page.domain;
  if (page.follows) request.follow_up_of = page.follows.ending.record.ask_id;
  ask(request);
}

function fieldError(message) {
  const node = byId("question-error");
  node.textContent = message;
  node.hidden = false;
  byId("question").setAttribute("aria-invalid", "true");
}

export function clearFieldError() {
  byId("question-error").hidden = true;
  byId("question").removeAttribute("aria-invalid");
}

export function follow(entry) {
  page.follows = entry;
  byId("following-text").textContent = cut(entry.request.choice ?? entry.request.question, 120);
  byId("following").hidden = false;
  byId("question").value = "";
  byId("question").focus();
}

export function endFollowing() {
  page.follows = null;
  byId("following").hidden = true;
}

export function edit(entry) {
  byId("question").value = entry.request.question;
  grow();
  byId("question").focus();
}

export function grow() {
  const area = byId("question");
  area.rows = Math.min(Math.max(area.value.split("\n").length, Math.ceil(area.value.length / 90), 2), 10);
}

export function drawHistory() {
  byId("history-count").textContent = text(page.entries.length);
  byId("history-empty").hidden = page.entries.length > 0;
  byId("history-list").replaceChildren(...page.entries.map((entry) =>
    el("li", {}, el("button", { type: "button", "aria-current": entry === page.shown ? "true" : null, click: () => open(entry) },
      el("span", { class: "history-question" }, cut(entry.request.choice ?? entry.request.question, 140)),
      el("span", { class: "history-line" }, tagOf(entry.ending.kind), page.several && el("span", {}, text(entry.request.domain)),
        el("span", {}, duration(entry.elapsed)), el("time", { datetime: entry.at.toISOString() }, entry.at.toLocaleTimeString()))))));
}

export function open(entry) {
  if (page.running) return;
  show(entry);
  byId("result").scrollIntoView({ block: "nearest" });
  announce(`Shown again: ${cut(entry.request.question, 120)}`);
}
