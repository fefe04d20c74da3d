// Every ending, and no way that leaves the page waiting.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { ASK, answerWith, ask, begin, ending, page, record, streamed, tell } from "./harness.mjs";

beforeEach(() => begin());

test("each ending is shown for what it is", async () => {
  const attempt = { sql: "SELECT x FROM t", origin: "model", error_type: "unknown_column", message: "column x does not exist", hint: "Try y.", sqlstate: "42703", duration_ms: 0, row_count: null };
  for (const [name, status, body, want, shown] of [
    ["gave up", 200, record({ outcome: "gave_up", reason: "Every attempt failed.", history: [attempt] }), "gave_up", "unknown_column"],
    ["failed", 503, { ...record({ outcome: "failed", history: [attempt] }), title: "Service Unavailable", code: "model-unavailable", detail: "The model is down." }, "failed", "The model is down."],
    ["a field", 422, { title: "Unprocessable", code: "bad-field", detail: "question: it is too long", field: "question" }, "problem", "question: it is too long"],
    ["no record", 502, "<h1>Bad gateway</h1>", "failed", "502"],
    ["an outcome of a later server", 200, record({ outcome: "deferred" }), "failed", "deferred"],
    ["knowledge", 200, record({ kind: "knowledge", answer: "A bill is an invoice." }), "answered", "A bill is an invoice."],
  ]) {
    await page.unroute(ASK);
    await answerWith(body, status);
    await ask(name);
    await page.waitForFunction((text) => document.querySelector("#result .asked")?.textContent === text && document.querySelector("#working").hidden, name);
    assert.equal(await ending(), want, name);
    assert.ok((await page.innerText("#result")).includes(shown), `${name}: ${shown}`);
  }
  await page.unroute(ASK);
  await page.route(ASK, (route) => route.abort("connectionreset"));
  await ask("nobody there");
  await page.waitForSelector('#result [data-ending="gone"]');
  assert.equal(await ending(), "gone");
});

test("a stream that ends without an answer, or breaks, or tells of a problem, is an ending with a way to try again", async () => {
  for (const [name, finish, want, shown] of [
    ["ends", () => tell.end(), "cut", "stopped or restarted"],
    ["breaks", () => tell.breaks(), "gone", "connection to the server was lost"],
    ["fails", () => tell.last("problem", { status: 503, code: "model-unavailable", title: "Service Unavailable", detail: "The model is down.", ...record({ outcome: "failed", reason: "The model is down." }) }), "failed", "The model is down."],
    ["field", () => tell.last("problem", { status: 422, code: "bad-field", title: "Unprocessable", detail: "question: too long", field: "question" }), "problem", "question: too long"],
    ["nonsense", () => tell.text("event: answer\ndata: <html>\n\n"), "failed", "not a record"],
  ]) {
    await begin({}, "", streamed);
    await ask(name);
    await tell.event("stage", { stage: "planner" });
    await page.waitForSelector(".step.now");
    await finish();
    assert.equal(await ending(), want, name);
    assert.ok((await page.innerText("#result")).includes(shown), `${name}: ${shown}`);
    assert.equal(await page.locator("#result .actions >> text=Try again").count(), 1, `${name} can be tried again`);
    assert.match(await page.innerText("#result"), /1 step/, "what was done until then is kept");
  }
});

test("a server that falls silent is not waited for, one that only says that it works is", async () => {
  await begin({}, "", async (opened) => {
    await opened.clock.install();
    await streamed(opened);
    // The server lives, and says so at once: no real time passes here.
    await opened.addInitScript(() => {
      const before = window.fetch;
      window.fetch = (input, options) => (input === "/livez" ? Promise.resolve(new Response("ok")) : before(input, options));
    });
  });
  await ask("silence");
  await page.waitForSelector("#working:not([hidden])");
  for (let round = 0; round < 4; round += 1) {
    await page.clock.runFor(20000);
    await tell.text(": working\n\n");
  }
  assert.equal(await page.isVisible("#working"), true, "comments keep the line open");
  for (let round = 0; round < 13; round += 1) await page.clock.runFor(5000);
  assert.equal(await ending(), "silent");
  assert.match(await page.innerText("#result"), /no longer waits/);
});

test("a server that is gone is noticed although the line stays open", async () => {
  await begin({}, "", async (opened) => {
    await opened.clock.install();
    await streamed(opened);
    await opened.route("**/livez", (route) => route.abort("connectionrefused"));
  });
  await ask("gone");
  await page.waitForSelector("#working:not([hidden])");
  for (let round = 0; round < 8 && (await page.isVisible("#working")); round += 1) await page.clock.runFor(5000);
  assert.equal(await ending(), "gone");
});
