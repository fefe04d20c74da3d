// The page in Chromium, against a server that serves the demo domain: what every file of tests shares.
//
//   AIRLOCK_URL=http://127.0.0.1:8080 npm test      (CHROMIUM: the browser, /usr/bin/chromium when left out)
//
// What the server decides is asked of the server. What only a server in trouble would answer is answered in its place
// (`answerWith`, `stream`), so that every ending is seen whatever models and data the server has. AIRLOCK_KEY is a key with
// every scope and AIRLOCK_RUN the name of an evaluation run; without them the tests that need one are skipped. SHOTS is a folder for pictures; without it none is taken.

import assert from "node:assert/strict";
import { after, afterEach, before } from "node:test";
import { chromium } from "playwright-core";

export const address = process.env.AIRLOCK_URL;
export const key = process.env.AIRLOCK_KEY;
if (!address) {
  console.error("AIRLOCK_URL is not set: start `airlock demo` and give its address, such as http://127.0.0.1:8080");
  process.exit(2);
}

export const QUESTION = "How many bills were raised in March 2025?";
export const ASK = "**/api/ask";

let browser;
let complaints = [];
const contexts = [];

/** How long something that must be seen may take; it says nothing about how long it should take. */
const PATIENCE = 180000;

/** The page under test; `begin` opens a fresh one before each test. */
export let page;

before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"], timeout: PATIENCE });
});
after(() => browser?.close());
afterEach(async () => {
  await Promise.all(contexts.splice(0).map((context) => context.close()));
  assert.deepEqual(complaints, [], "the page ran without an error and within its content security policy");
});

/** A page of its own context, with its own cookies. */
export async function openAnother(options = {}, hash = "", prepare = async () => {}) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, acceptDownloads: true, ...options });
  context.setDefaultTimeout(PATIENCE);
  contexts.push(context);
  const opened = await context.newPage();
  opened.on("pageerror", (error) => complaints.push(error.message));
  opened.on("console", (message) => {
    // A failed request is logged by the browser itself; those are endings that the tests look at.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) complaints.push(message.text());
  });
  await prepare(opened);
  await opened.goto(`${address}/${hash}`);
  await opened.waitForSelector("details.table", { state: "attached" });
  return opened;
}

export async function begin(options = {}, hash = "", prepare = undefined) {
  complaints = [];
  page = await openAnother(options, hash, prepare);
  return page;
}

export async function ask(question) {
  await page.fill("#question", question);
  await page.press("#question", "Enter");
}

/** The ending that is shown, once the work is over. */
export async function ending() {
  await page.waitForSelector("#result:not([hidden]) [data-ending]");
  assert.equal(await page.isHidden("#working"), true, "nothing is shown as under way any more");
  assert.equal(await page.isEnabled("#send"), true, "the next question can be asked");
  return page.getAttribute("#result [data-ending]", "data-ending");
}

export const ASK_ID = "0198c0de-0000-7000-8000-000000000000";

export const record = (more) => ({
  ask_id: ASK_ID, question: "q", domain: "d", outcome: "answered", reason: null, kind: "data",
  answer: null, sql: null, columns: [], rows: [], row_count: 0, truncated: false, assumptions: [], warnings: [], tables_used: [],
  attempts: 1, history: [], refused: false, gave_up: false, lessons: [], examples: [], components: [], context: [],
  tokens: { input: 0, output: 0 }, cost: 0, latency_ms: 1, trace_id: "0", ...more,
});

/** Answers the next asks in the server's place, in one piece, and keeps what was sent. */
export async function answerWith(body, status = 200) {
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

/** Before the page is opened: its next asks are answered by a stream that the test feeds with `tell`. */
export const streamed = (opened) => opened.addInitScript(() => {
  const real = window.fetch;
  window.fetch = (input, options) => {
    if (input !== "/api/ask") return real(input, options);
    const body = new ReadableStream({
      start(controller) {
        window.asks = { controller, aborted: false };
        options.signal.addEventListener("abort", () => {
          window.asks.aborted = true;
          try { controller.error(options.signal.reason); } catch { /* It is over already. */ }
        });
      },
    });
    return Promise.resolve(new Response(body, { status: 200, headers: { "content-type": "text/event-stream" } }));
  };
});

/** Feeds a stream: text as it is, an event with its data, the end, or a broken line. */
export const tell = {
  text: (said) => page.evaluate((text) => window.asks.controller.enqueue(new TextEncoder().encode(text)), said),
  event: (event, data) => tell.text(`event: ${event}\ndata: ${JSON.stringify({ event, ...data })}\n\n`),
  last: (event, data) => tell.text(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
  end: () => page.evaluate(() => window.asks.controller.close()),
  breaks: () => page.evaluate(() => window.asks.controller.error(new TypeError("network error"))),
};

export const cell = (row, column) => page.locator(`#result .scroll tbody tr:nth-child(${row}) td:nth-child(${column})`);

/** Signs a page in with the key that may do everything. */
export async function signIn(opened) {
  await opened.click("#who");
  await opened.fill("#key", key);
  await opened.press("#key", "Enter");
  await opened.waitForSelector("#who.signed-in");
}

/** A picture, where pictures are wanted. */
export async function picture(opened, name) {
  if (process.env.SHOTS) await opened.screenshot({ path: `${process.env.SHOTS}/${name}.png`, fullPage: true });
}
