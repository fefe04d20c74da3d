// Asking: one question at a time, and no way out of it that leaves the page waiting.

import { changeHeaders } from "./api.js";
import { byId, cut, duration, el, fill } from "./dom.js";
import { ENDINGS, endingOf, resultNodes, tagOf } from "./endings.js";
import { refreshHealth } from "./health.js";
import { drawHistory, refreshHistory } from "./history.js";
import { hashOf, replace, visible } from "./router.js";
import { lockOut } from "./session.js";
import { announce, page } from "./state.js";
import { Steps, drawSteps } from "./steps.js";
import { eventsOf } from "./stream.js";

const PROBE_AFTER = 8000;
const PROBE_EVERY = 5000;
const PROBES_LOST = 3;
/** A server that lives but says nothing about this ask for so long has lost it: on a stream, which it keeps open by comments, and without one. */
const SILENCE = { stream: 60000, whole: 300000 };

const SENTENCES = {
  stopped: "You stopped this question. The server was told, and cancels its query.",
  gone: "The connection to the server was lost before it answered. Is it still running?",
  silent: "The server lives, but has said nothing about this question for a long time. The page no longer waits.",
  cut: "The server ended its report before the answer came: it was stopped or restarted. Nothing is lost; ask again.",
};

const without = (kind) => ({ kind: kind in ENDINGS ? kind : "gone", sentence: SENTENCES[kind], record: {} });

/** While an ask is under way: shows the time, and asks whether the server still lives, so that a dead line ends the wait. */
function watch(run) {
  const give = (why) => {
    run.why ??= why;
    run.controller.abort();
  };
  const tick = setInterval(() => {
    const now = performance.now();
    byId("elapsed").textContent = duration(now - run.begun);
    if (now - run.heard > (run.streamed ? SILENCE.stream : SILENCE.whole)) give("silent");
  }, 200);
  let lost = 0;
  let probing = false;
  const probe = setInterval(async () => {
    if (probing || performance.now() - run.heard < PROBE_AFTER) return;
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
    if (lost >= PROBES_LOST) give("gone");
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
  byId("steps").replaceChildren();
  if (!working) return;
  byId("working-question").textContent = run.request.choice ?? run.request.question;
  byId("result").hidden = true;
  byId("examples").hidden = true;
  announce("Working.");
}

/** Reads the stages as they come, then the one event that ends them. */
async function followStages(run, response) {
  for await (const { event, data } of eventsOf(response, () => { run.heard = performance.now(); })) {
    if (event === "answer") return endingOf(response, data);
    if (event === "problem") return endingOf(response, data, true);
    let said;
    try { said = JSON.parse(data); } catch { continue; }
    const line = run.steps.take(event, said ?? {}, performance.now() - run.begun);
    drawSteps(run.steps, byId("steps"));
    if (line) announce(line.code ? `${line.word}: ${line.code.replaceAll("_", " ")}` : line.word);
  }
  return without("cut");
}

async function send(run) {
  const response = await fetch("/api/ask", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream, application/json;q=0.5", ...changeHeaders() },
    body: JSON.stringify(run.request),
    signal: run.controller.signal,
    cache: "no-store",
    credentials: "same-origin",
  });
  run.heard = performance.now();
  if (response.status === 401) lockOut();
  const streamed = response.ok && /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
  run.streamed = streamed;
  return streamed ? followStages(run, response) : endingOf(response, await response.text());
}

/** One ask from beginning to end. Every way out of it leaves an ending on the screen. */
export async function ask(request) {
  if (page.running) return;
  const begun = performance.now();
  const run = { request, controller: new AbortController(), begun, heard: begun, why: null, streamed: false, steps: new Steps(), focused: document.activeElement };
  page.running = run;
  clearFieldError();
  showWorking(run);
  const unwatch = watch(run);
  let ending;
  try {
    ending = await send(run);
  } catch (error) {
    ending = without(run.why ?? "gone");
    if (run.why === null && error?.name !== "TypeError") console.error(error);
  } finally {
    unwatch();
    page.running = null;
  }
  // What is left open of the stream, such as after its last event, is let go of.
  run.controller.abort();
  const elapsed = performance.now() - begun;
  run.steps.end(elapsed);
  const left = [byId("stop"), document.body, null].includes(document.activeElement);
  showWorking(null);
  const entry = { request, ending, elapsed, at: new Date(), steps: run.steps };
  page.entries.unshift(entry);
  show(entry);
  if (left) focusAfter(run);
  announce(`${ENDINGS[ending.kind].word}. ${cut(ending.sentence, 400)}`);
  if (ending.kind === "problem" && ending.field === "question") fieldError(ending.sentence);
  if (ending.code === "unknown-ask") endFollowing();
  if (ending.kind === "answered" && document.activeElement === byId("question") && byId("question").value.trim() === request.question) byId("question").select();
  if (ending.kind === "gone" || ending.kind === "failed") refreshHealth();
  else refreshHistory();
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
  const id = entry.ending.record.ask_id;
  if (visible("ask")) replace(hashOf("ask", id ? [id] : []));
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
