// One's own questions, kept by the server.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { address, answerWith, ask, begin, ending, page, record } from "./harness.mjs";

beforeEach(() => begin());

test("the history is there after a reload, and its SQL runs again", async () => {
  const question = "How many bills were raised in February 2025?";
  await ask(question);
  assert.equal(await ending(), "answered");
  await page.waitForFunction(() => location.hash.length > 10);
  await page.reload();
  const line = page.locator("#history-list button", { hasText: question }).first();
  await line.waitFor();
  await line.click();
  assert.equal(await ending(), "answered");
  assert.match(await page.innerText("#result"), /keeps the SQL and not the rows/);
  await page.click('button:text-is("Run it")');
  await page.waitForSelector(".editor-out tbody tr");
});

test("an address leads to an ask", async () => {
  await ask("How many bills were raised in January 2025?");
  assert.equal(await ending(), "answered");
  const hash = await page.evaluate(() => location.hash);
  assert.match(hash, /^#\/ask\/[0-9a-f-]{36}$/);
  await page.goto(`${address}/?again${hash}`);
  await page.waitForSelector("#result:not([hidden]) .asked:has-text('January 2025')");
});

test("an address of somebody else's ask shows nothing of it", async () => {
  await begin({}, "#/ask/0198c0de-0000-7000-8000-000000000000");
  await page.waitForSelector("#result .note:has-text('no such question')");
});

test("a link's question is put in the box and not asked", async () => {
  await begin({}, "#/ask?question=How%20many%3F");
  assert.equal(await page.inputValue("#question"), "How many?");
  assert.equal(await page.isHidden("#result"), true);
});

test("where there are several domains one is chosen, and everything is of it", async () => {
  await begin({}, "", async (opened) => {
    const domain = (name) => ({ domain: name, title: name.toUpperCase(), description: "", tables: 1, examples: [`A question of ${name}`] });
    await opened.route("**/api/domains", (route) => route.fulfill({ json: { domains: [domain("one"), domain("two")] } }));
    await opened.route("**/api/schema?*", (route) => {
      const name = new URL(route.request().url()).searchParams.get("domain");
      return route.fulfill({ json: { domain: name, tables: [{ schema: "public", name: `table_of_${name}`, columns: [], joins: [] }] } });
    });
  });
  await page.waitForSelector("details.table:has-text('table_of_one')");
  await page.selectOption("#domain", "two");
  await page.waitForSelector("details.table:has-text('table_of_two')");
  assert.equal(await page.textContent("#examples button"), "A question of two");
  const sent = await answerWith(record({ answer: "x" }));
  await ask("x");
  assert.equal(await ending(), "answered");
  assert.equal(sent[0].domain, "two");
});
