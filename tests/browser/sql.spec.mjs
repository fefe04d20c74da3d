// SQL of one's own: edited, checked, run, refused with the place.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { QUESTION, ask, begin, ending, page } from "./harness.mjs";

beforeEach(async () => {
  await begin();
  await ask(QUESTION);
  assert.equal(await ending(), "answered");
});

async function write(sql) {
  if (await page.isHidden(".editor")) await page.click("text=Edit and run");
  await page.fill(".sql-area", sql);
}

test("the SQL of an answer is edited and run again by keyboard", async () => {
  await page.focus("text=Edit and run");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.className), "sql-area", "the text has the focus");
  assert.match(await page.inputValue(".sql-area"), /select/i);
  await write("SELECT status, count(*) AS bills FROM bills GROUP BY status ORDER BY 2 DESC");
  await page.keyboard.press("Control+Enter");
  await page.waitForSelector(".editor-out tbody tr");
  assert.ok((await page.locator(".editor-out tbody tr").count()) >= 2);
  assert.match(await page.innerText(".editor-said"), /Ran in .+: \d+ rows/);
  // A chart is drawn of it, too.
  await page.waitForSelector(".editor-out .chart-bar");
  await page.focus(".sql-area");
  await page.keyboard.press("Escape");
  assert.equal(await page.isHidden(".editor"), true);
  assert.equal(await page.locator(".editor-out tbody").count(), 0);
});

test("a refused text has its place marked and led to", async () => {
  await write("SELECT bill_no,\n  nope FROM bills");
  await page.click('.editor button:text-is("Run")');
  await page.waitForSelector(".refusal mark");
  assert.equal(await page.textContent(".refusal mark"), "nope");
  assert.match(await page.innerText(".refusal"), /unknown_column[\s\S]*Line 2, column 3/);
  await page.click("text=Go to the place");
  const selected = await page.evaluate(() => { const { value, selectionStart, selectionEnd } = document.activeElement; return value.slice(selectionStart, selectionEnd); });
  assert.equal(selected, "nope");
});

test("what would change data is refused, what fails while it runs is told, a check runs nothing", async () => {
  for (const [sql, button, shown] of [
    ["DELETE FROM bills", "Run", /forbidden/],
    ["SELECT 1; SELECT 2", "Run", /one (statement )?(is allowed|at a time)/i],
    ["SELECT 1 / (SELECT 0)", "Run", /division_by_zero/],
    ["SELECT nope FROM bills", "Check only", /unknown-column/],
    ["SELECT count(*) FROM bills", "Check only", /lets it through[\s\S]*bills/],
  ]) {
    await write(sql);
    await page.click(`.editor button:text-is("${button}")`);
    await page.waitForFunction((source) => new RegExp(source, "i").test(document.querySelector(".editor-said").innerText), shown.source);
    assert.equal(await page.locator(".editor-out table").count(), 0, sql);
  }
});

test("a query that takes for ever can be stopped", async () => {
  await page.route("**/api/query", () => {}); // Never answered.
  await write("SELECT 1");
  await page.click('.editor button:text-is("Run")');
  await page.click('.editor button:text-is("Stop")');
  await page.waitForSelector(".editor-said:has-text('Stopped')");
  assert.equal(await page.isEnabled('.editor button:text-is("Run")'), true);
});
