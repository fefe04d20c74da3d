// Results: values, charts, attempts, CSV.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { beforeEach, test } from "node:test";
import { ASK, answerWith, ask, begin, cell, ending, page, record } from "./harness.mjs";

beforeEach(() => begin());

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

test("a chart names its axes and is told in words, the table holds its values", async () => {
  await answerWith(record({ answer: "x", columns: [{ name: "month", type: "date" }, { name: "revenue", type: "numeric" }], rows: [["2025-01-01", "2"], ["2025-02-01", "3"]], row_count: 2 }));
  await ask("x");
  await page.waitForSelector(".chart-dot");
  assert.deepEqual(await page.locator("#result .chart-title").allTextContents(), ["revenue", "month"]);
  assert.match(await page.getAttribute("#result .canvas", "aria-label"), /revenue by month; the table below/);
});

test("failed attempts are folded, with type, wait and time; a wide table scrolls in its own place", async () => {
  const attempt = { sql: "SELECT x", origin: "model", error_type: "timeout", message: "canceled", hint: "Narrow it.", sqlstate: "57014", duration_ms: 2000, wait_ms: 41, row_count: null };
  const columns = Array.from({ length: 40 }, (_, at) => ({ name: `column_${at}`, type: "integer" }));
  await answerWith(record({ answer: "x", sql: "SELECT 1", attempts: 2, history: [attempt], columns, rows: [columns.map((_, at) => at)], row_count: 1,
    assumptions: ["2025 is the calendar year", "times in Asia/Kolkata"], warnings: ["Two currencies are added."] }));
  await ask("x");
  assert.equal(await ending(), "answered");
  assert.equal(await page.isVisible(".attempt"), false, "folded");
  await page.click(".attempts summary");
  const said = await page.innerText(".attempt");
  for (const part of ["timeout", "SQLSTATE 57014", "waited 41 ms", "ran 2.0 s", "Hint: Narrow it."]) assert.ok(said.includes(part), part);
  assert.equal(await page.innerText(".assumptions"), "Assumes 2025 is the calendar year · times in Asia/Kolkata");
  assert.match(await page.innerText("#result .note"), /Two currencies/);
  assert.ok(await page.evaluate(() => document.querySelector("#result .scroll").scrollWidth > document.querySelector("#result .scroll").clientWidth));
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)) <= 0);
});
