// Asking: stages as they come, stopping, choices, follow-ups.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { ASK, ASK_ID, QUESTION, answerWith, ask, begin, cell, ending, page, record, streamed, tell } from "./harness.mjs";

beforeEach(() => begin());

test("a question gets its sentence, its SQL and its rows", async () => {
  await ask(QUESTION);
  assert.equal(await ending(), "answered");
  assert.match(await page.textContent("#result .sentence"), /\d/);
  assert.match(await page.textContent(".sql pre"), /select[\s\S]+from/i);
  assert.ok((await page.locator(".sql-keyword").count()) >= 2, "the SQL is highlighted");
  assert.equal(await page.locator("#result .scroll tbody tr").count(), 1);
  assert.match(await cell(1, 1).textContent(), /^\d+$/);
  assert.match(await page.textContent("#status"), /^Answered\./, "the ending is announced");
  assert.match(await page.textContent(".meta"), /trace/);
  // The server told its stages on the way, and they are kept.
  await page.click("summary:has-text('Steps')");
  assert.match(await page.innerText(".fold .steps"), /Understanding the question[\s\S]+Attempt 1[\s\S]+Running attempt 1[\s\S]+1 row/);
});

test("what asks for a change is refused, with the reason", async () => {
  await ask("Delete all the bills of March 2025");
  assert.equal(await ending(), "refused");
  assert.ok((await page.textContent("#result .sentence")).length > 10);
  assert.equal(await page.locator("#result .scroll").count(), 0, "no result is shown");
});

test("stages are shown as they come, each with its time, and the answer ends them", async () => {
  await begin({}, "", streamed);
  await ask("how many");
  await tell.event("stage", { stage: "planner" });
  await page.waitForSelector(".step.now:has-text('Understanding the question')");
  assert.equal(await page.locator("#steps li").count(), 1);
  await tell.event("asking", { purpose: "write-sql", model: "a-model" });
  // Pieces come as the network cuts them, inside of a line or of a line break too.
  await tell.text('event: lin');
  await tell.text('ked\r');
  await tell.text('\ndata: {"event":"linked","tables":["public.bills"]}\r\n\r\n: working\n\n');
  await tell.event("drafted", { attempt: 1, origin: "model", sql: "SELECT x" });
  await tell.event("failed", { attempt: 1, error_type: "unknown_column", message: "no column x" });
  await tell.event("something_new", {});
  await page.waitForSelector("#steps li:has-text('something new')");
  const steps = await page.innerText("#steps");
  for (const said of ["a-model is asked: write sql; bills", "Attempt 1, by the model", "SELECT x", "unknown_column", "no column x"]) assert.ok(steps.includes(said), said);
  assert.match(await page.innerText("#steps li:first-child .step-time"), /^[\d.]+ (ms|s)$/);
  assert.equal(await page.locator("#steps .now").count(), 1, "one thing goes on");
  assert.equal(await page.isVisible("#stop"), true);
  await tell.event("ended", { outcome: "answered" });
  await tell.last("answer", record({ answer: "212.", sql: "SELECT 212" }));
  assert.equal(await ending(), "answered");
  assert.equal(await page.textContent("#result .sentence"), "212.");
});

test("an empty question is not sent", async () => {
  const sent = await answerWith(record({}));
  await ask("   ");
  await page.waitForSelector("#question-error:not([hidden])");
  assert.equal(sent.length, 0);
});

test("stop ends the wait at once and lets go of the request", async () => {
  await page.route(ASK, () => {}); // Never answered.
  for (const stop of [() => page.click("#stop"), () => page.keyboard.press("Escape")]) {
    const gone = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/api/ask"));
    await ask("a question that takes for ever");
    await page.waitForSelector("#working:not([hidden])");
    await page.waitForFunction(() => document.querySelector("#elapsed").textContent !== "");
    await stop();
    await gone;
    assert.equal(await ending(), "stopped");
  }
});

test("stop ends a stream, too", async () => {
  await begin({}, "", streamed);
  await ask("for ever");
  await tell.event("stage", { stage: "planner" });
  await page.waitForSelector(".step.now");
  await page.click("#stop");
  assert.equal(await ending(), "stopped");
  assert.equal(await page.evaluate(() => window.asks.aborted), true);
});

test("a choice is asked again with the option", async () => {
  const sent = await answerWith(record({ outcome: "clarification", reason: "Which is meant?", options: ["Bills by value", "Bills by number"] }));
  await ask("best bills");
  assert.equal(await ending(), "clarification");
  await page.click("text=Bills by number");
  await page.waitForSelector("#result .choice");
  assert.equal(sent[1].question, "best bills");
  assert.equal(sent[1].choice, "Bills by number");
});

test("what means more than one thing is asked back, and the choice is answered", async () => {
  await ask("Who are our best customers?");
  assert.equal(await ending(), "clarification");
  const option = page.locator(".option").first();
  const words = await option.textContent();
  await option.focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector("#result .choice");
  assert.equal(await ending(), "answered");
  assert.ok((await page.textContent("#result .asked")).includes(words));
  assert.ok((await page.locator("#result .scroll tbody tr").count()) > 0);
});

test("a follow-up names what it follows", async () => {
  const sent = await answerWith(record({ answer: "212.", sql: "SELECT 212" }));
  await ask("how many");
  assert.equal(await ending(), "answered");
  await page.click("text=Ask a follow-up");
  await ask("and in April?");
  await page.waitForFunction(() => document.querySelector("#result .asked").textContent === "and in April?");
  assert.equal(sent[0].follow_up_of, undefined);
  assert.equal(sent[1].follow_up_of, ASK_ID);
});

test("the schema stands beside the question and can be searched", async () => {
  const all = await page.locator("details.table").count();
  assert.ok(all > 1);
  await page.fill("#schema-search", "bill");
  const some = await page.locator("details.table").count();
  assert.ok(some > 0 && some <= all);
  await page.fill("#schema-search", "no such column anywhere");
  assert.equal(await page.locator("details.table").count(), 0);
});
