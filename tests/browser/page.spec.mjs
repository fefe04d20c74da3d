// The page in Chromium, against a server that serves the demo domain.
//
//   AIRLOCK_URL=http://127.0.0.1:8080 node page.spec.mjs      (CHROMIUM: the browser, /usr/bin/chromium when left out)
//
// What the server decides is asked of the server. What only a server in trouble would answer is answered in its place
// (`answerWith`), so that every ending is seen whatever models and data the server has.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { chromium } from "playwright-core";

const address = process.env.AIRLOCK_URL;
if (!address) {
  console.error("AIRLOCK_URL is not set: start `airlock demo` and give its address, such as http://127.0.0.1:8080");
  process.exit(2);
}

const QUESTION = "How many bills were raised in March 2025?";
const ASK = "**/api/ask";

let browser;
let context;
let page;
let complaints;

before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
});
after(() => browser?.close());

async function open(options = {}) {
  await context?.close();
  context = await browser.newContext({ viewport: { width: 1360, height: 900 }, acceptDownloads: true, ...options });
  page = await context.newPage();
  complaints = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // A failed request is logged by the browser itself; those are endings that the tests look at.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) complaints.push(message.text());
  });
  await page.goto(address);
  await page.waitForSelector("details.table", { state: "attached" });
}

beforeEach(() => open());
afterEach(() => assert.deepEqual(complaints, [], "the page ran without an error and within its content security policy"));

async function ask(question) {
  await page.fill("#question", question);
  await page.press("#question", "Enter");
}

/** The ending that is shown, once the work is over. */
async function ending() {
  await page.waitForSelector("#result:not([hidden]) [data-ending]");
  assert.equal(await page.isHidden("#working"), true, "nothing is shown as under way any more");
  assert.equal(await page.isEnabled("#send"), true, "the next question can be asked");
  return page.getAttribute("#result [data-ending]", "data-ending");
}

const record = (more) => ({
  ask_id: "0198c0de-0000-7000-8000-000000000000", question: "q", domain: "d", outcome: "answered", reason: null, kind: "data",
  answer: null, sql: null, columns: [], rows: [], row_count: 0, truncated: false, assumptions: [], warnings: [], tables_used: [],
  attempts: 1, history: [], refused: false, gave_up: false, lessons: [], examples: [], components: [], context: [],
  tokens: { input: 0, output: 0 }, cost: 0, latency_ms: 1, trace_id: "0", ...more,
});

/** Answers the next asks in the server's place and keeps what was sent. */
async function answerWith(body, status = 200) {
  const sent = [];
  await page.route(ASK, (route) => {
    sent.push(route.request().postDataJSON());
    return route.fulfill({
      status,
      contentType: status === 200 ? "application/json" : "application/problem+json",
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  });
  return sent;
}

const cell = (row, column) => page.locator(`.scroll tbody tr:nth-child(${row}) td:nth-child(${column})`);

test("a question gets its sentence, its SQL and its rows", async () => {
  await ask(QUESTION);
  assert.equal(await ending(), "answered");
  assert.match(await page.textContent("#result .sentence"), /\d/);
  assert.match(await page.textContent(".sql pre"), /select[\s\S]+from/i);
  assert.ok((await page.locator(".sql-keyword").count()) >= 2, "the SQL is highlighted");
  assert.equal(await page.locator(".scroll tbody tr").count(), 1);
  assert.match(await cell(1, 1).textContent(), /^\d+$/);
  assert.match(await page.textContent("#status"), /^Answered\./, "the ending is announced");
  assert.match(await page.textContent(".meta"), /trace/);
  assert.equal(await page.locator("#history-list li").count(), 1);
});

test("what asks for a change is refused, with the reason", async () => {
  await ask("Delete all the bills of March 2025");
  assert.equal(await ending(), "refused");
  assert.ok((await page.textContent("#result .sentence")).length > 10);
  assert.equal(await page.locator(".scroll").count(), 0, "no result is shown");
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

test("health says what was tried", async () => {
  await page.waitForSelector("#health[data-tone]");
  await page.click("#health");
  await page.waitForSelector("#health-dialog[open] .checks li");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#health-dialog[open]").count(), 0);
});

test("everything works by keyboard", async () => {
  assert.equal(await page.evaluate(() => document.activeElement.id), "question", "the question has the focus at the start");
  await page.keyboard.type("first line");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("second line");
  assert.equal(await page.inputValue("#question"), "first line\nsecond line");
  const sent = await answerWith(record({ answer: "Yes.", sql: "SELECT 1" }));
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.id), "baseline");
  const outline = await page.evaluate(() => getComputedStyle(document.querySelector(".track")).outlineStyle);
  assert.equal(outline, "solid", "the focus can be seen");
  await page.keyboard.press("Space");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await ending(), "answered");
  assert.equal(sent[0].question, "first line\nsecond line");
  assert.equal(sent[0].mode, "baseline");
  assert.equal(await page.evaluate(() => document.activeElement.id), "send", "the focus is where it was");
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
  assert.equal(await page.locator("#history-list li").count(), 2);
});

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

test("a choice is asked again with the option", async () => {
  const sent = await answerWith(record({ outcome: "clarification", reason: "Which is meant?", options: ["Bills by value", "Bills by number"] }));
  await ask("best bills");
  assert.equal(await ending(), "clarification");
  await page.click("text=Bills by number");
  await page.waitForFunction(() => document.querySelectorAll("#history-list li").length === 2);
  assert.equal(sent[1].question, "best bills");
  assert.equal(sent[1].choice, "Bills by number");
});

test("a follow-up names what it follows", async () => {
  const sent = await answerWith(record({ answer: "212.", sql: "SELECT 212" }));
  await ask("how many");
  assert.equal(await ending(), "answered");
  await page.click("text=Ask a follow-up");
  await ask("and in April?");
  await page.waitForFunction(() => document.querySelectorAll("#history-list li").length === 2);
  assert.equal(sent[0].follow_up_of, undefined);
  assert.equal(sent[1].follow_up_of, "0198c0de-0000-7000-8000-000000000000");
});

test("values are told apart, shown digit for digit, never read as markup, and saved as they are", async () => {
  await answerWith(record({
    question: "values",
    answer: "<img src=x onerror=alert(1)>",
    sql: "SELECT '<b>'",
    columns: [{ name: "name", type: "text" }, { name: "amount", type: "numeric" }, { name: "bill_id", type: "integer" }],
    rows: [[null, "1234567890123456789.50", 1234567], ["", "-0.10", 2], ["<b>\"x\"</b>", null, 3], ["=1+1", "7.00", 4]],
    row_count: 4,
    truncated: true,
  }));
  await ask("values");
  assert.equal(await ending(), "answered");
  assert.equal(await page.locator("#result img, #result b").count(), 0);
  assert.equal(await cell(1, 1).locator(".null").count(), 1);
  assert.equal(await cell(2, 1).locator(".empty").count(), 1);
  assert.equal(await cell(2, 1).textContent(), "");
  assert.equal(await cell(1, 2).textContent(), "1234567890123456789.50", "separators are drawn, not written");
  assert.equal(await cell(1, 2).locator(".group").count(), 6);
  assert.equal(await cell(1, 3).locator(".group").count(), 0, "identities are not quantities");
  assert.equal(await cell(1, 2).evaluate((node) => getComputedStyle(node).textAlign), "right");
  assert.match(await page.textContent("#result .block-head .tag"), /More rows/);
  const download = page.waitForEvent("download");
  await page.click("text=Download CSV");
  const csv = await readFile(await (await download).path(), "utf8");
  assert.equal(csv, 'name,amount,bill_id\r\n,1234567890123456789.50,1234567\r\n"",-0.10,2\r\n"<b>""x""</b>",,3\r\n\'=1+1,7.00,4\r\n');
});

test("a chart is drawn where the shape suggests one", async () => {
  const number = { name: "revenue", type: "numeric" };
  for (const [name, columns, rows, mark, count] of [
    ["months", [{ name: "month", type: "date" }, number], [["2025-02-01", "2"], ["2025-01-01", "1.5"], ["2025-03-01", null]], ".chart-dot", 2],
    ["labels", [{ name: "category", type: "text" }, number], [["a", "2"], [null, "-1"], ["", "0"]], ".chart-bar", 3],
    ["years", [{ name: "year", type: "integer" }, number], [[2024, "2"], [2025, "1"]], ".chart-dot", 2],
    ["one row", [{ name: "category", type: "text" }, number], [["a", "2"]], ".chart", 0],
    ["two numbers", [{ name: "price", type: "integer" }, number], [[1, "2"], [2, "1"]], ".chart", 0],
    ["not a number", [{ name: "category", type: "text" }, number], [["a", "NaN"], ["b", "1"], ["c", "2"]], ".chart", 0],
  ]) {
    await page.unroute(ASK);
    await answerWith(record({ answer: name, columns, rows, row_count: rows.length }));
    await ask(name);
    await page.waitForFunction((text) => document.querySelector("#result .sentence")?.textContent === text, name);
    if (count > 0) await page.waitForSelector(mark);
    assert.equal(await page.locator(mark).count(), count, name);
  }
});

test("dark when the reader prefers dark, light otherwise, and never wider than the screen", async () => {
  const brightness = () => page.evaluate(() => {
    const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number);
    return (red + green + blue) / 3;
  });
  for (const [colorScheme, width, isRight] of [
    ["light", 360, (value) => value > 200],
    ["dark", 360, (value) => value < 60],
    ["dark", 1920, (value) => value < 60],
  ]) {
    await open({ colorScheme, viewport: { width, height: 800 } });
    assert.ok(isRight(await brightness()), colorScheme);
    await ask(QUESTION);
    await ending();
    const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(over <= 0, `${width} px: ${over} px too wide`);
  }
});
