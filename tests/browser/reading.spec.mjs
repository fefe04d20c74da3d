// Reading it: by keyboard alone, by name, in every width and in the dark.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { QUESTION, answerWith, ask, begin, ending, key, page, picture, record, signIn } from "./harness.mjs";

beforeEach(() => begin());

const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.textContent.trim().slice(0, 40));

test("asking works by keyboard", async () => {
  assert.equal(await focused(), "question", "the question has the focus at the start");
  await page.keyboard.type("first line");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("second line");
  assert.equal(await page.inputValue("#question"), "first line\nsecond line");
  const sent = await answerWith(record({ answer: "Yes.", sql: "SELECT 1" }));
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "baseline");
  const outline = await page.evaluate(() => getComputedStyle(document.querySelector(".track")).outlineStyle);
  assert.equal(outline, "solid", "the focus can be seen");
  await page.keyboard.press("Space");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await ending(), "answered");
  assert.equal(sent[0].question, "first line\nsecond line");
  assert.equal(sent[0].mode, "baseline");
  assert.equal(await focused(), "send", "the focus is where it was");
});

test("every control is reached by Tab in the order of the page, and is seen when it has the focus", async () => {
  await ask(QUESTION);
  await ending();
  await page.focus(".skip");
  const places = [];
  for (let at = 0; at < 80; at += 1) {
    await page.keyboard.press("Tab");
    const place = await page.evaluate(() => {
      const node = document.activeElement;
      if (!node || node === document.body) return null;
      const shown = node.id === "baseline" ? document.querySelector(".track") : node;
      const style = getComputedStyle(shown);
      const box = node.getBoundingClientRect();
      return { name: node.id || node.textContent.trim().slice(0, 30), seen: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0, onScreen: box.bottom > 0 && box.top < innerHeight };
    });
    if (place === null) break;
    places.push(place);
  }
  const names = places.map((place) => place.name);
  for (const name of ["nav-ask", "nav-knowledge", "nav-health", "question", "baseline", "send", "Edit and run", "Copy", "Download CSV", "schema-search"]) assert.ok(names.includes(name), `${name} of ${names}`);
  const order = ["nav-ask", "question", "send", "Edit and run", "Download CSV", "schema-search"].map((name) => names.indexOf(name));
  assert.deepEqual(order, [...order].sort((one, other) => one - other), names.join(", "));
  assert.deepEqual(places.filter((place) => !place.seen || !place.onScreen), []);
});

test("what is drawn anew keeps the keyboard where it was", async () => {
  await ask(QUESTION);
  await ending();
  await page.locator("#history-list button").first().focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector('#history-list [aria-current="true"]');
  assert.equal(await page.evaluate(() => document.activeElement.closest("ol")?.id), "history-list");
  await page.click("#nav-knowledge");
  await page.waitForSelector("#filter-order");
  await page.focus("#filter-order");
  await page.selectOption("#filter-order", "oldest");
  await page.waitForFunction(() => location.hash.includes("order=oldest"));
  assert.equal(await focused(), "filter-order");
});

test("the first Tab offers a way past the links, in any view", async () => {
  await page.click("#nav-evals");
  await page.waitForSelector("#evals-body > *");
  await page.focus(".skip");
  await page.keyboard.press("Enter");
  assert.equal(await focused(), "main");
  assert.equal(await page.isVisible("#view-evals"), true);
});

test("the dialogs keep the keyboard, give it back, and Escape closes them", { skip: key ? false : "AIRLOCK_KEY is not set" }, async () => {
  await page.focus("#who");
  await page.keyboard.press("Enter");
  assert.equal(await focused(), "key");
  await page.keyboard.press("Escape");
  assert.equal(await focused(), "who");
});

/** What a reader with a screen reader would miss: names, labels, languages, identities used twice. */
const faults = () => page.evaluate(() => {
  const found = [];
  const seen = (node) => node.getClientRects().length > 0;
  const nameOf = (node) => node.getAttribute("aria-label") || [...(node.labels ?? [])].map((label) => label.textContent).join(" ") ||
    (node.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent ?? "").join("") || node.textContent.trim() || node.getAttribute("title");
  for (const node of document.querySelectorAll("button, a, input, select, textarea, summary, [role=region], [tabindex='0'], dialog, aside, nav")) {
    if ((seen(node) || node.tagName === "DIALOG") && !nameOf(node)) found.push(`no name: ${node.outerHTML.slice(0, 80)}`);
  }
  for (const node of document.querySelectorAll("[aria-describedby], [aria-labelledby]")) {
    for (const id of `${node.getAttribute("aria-describedby") ?? ""} ${node.getAttribute("aria-labelledby") ?? ""}`.split(" ").filter(Boolean)) {
      if (!document.getElementById(id)) found.push(`nothing has the id ${id}`);
    }
  }
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  for (const id of new Set(ids.filter((one, at) => ids.indexOf(one) !== at))) found.push(`the id ${id} is there twice`);
  for (const node of document.querySelectorAll("th")) if (!node.getAttribute("scope")) found.push(`a heading without a scope: ${node.textContent}`);
  if (document.querySelectorAll("main").length !== 1 || document.documentElement.lang !== "en") found.push("main or lang");
  return found;
});

/** Text whose colour is too near to what it stands on: less than 4.5 to 1, or 3 to 1 when it is large. */
const faint = () => page.evaluate(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const read = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    return { rgb: [red, green, blue], alpha: alpha / 255 };
  };
  const light = (rgb) => rgb.map((part) => part / 255).map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)).reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const { rgb, alpha } = read(getComputedStyle(at).backgroundColor);
      if (alpha > 0.99) return rgb;
    }
    return [255, 255, 255];
  };
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || node.getClientRects().length === 0 || node.closest(".sr-only, :disabled, noscript, svg")) continue;
    const style = getComputedStyle(node);
    const [one, other] = [light(read(style.color).rgb), light(ground(node))].sort((a, b) => b - a);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    const ratio = (one + 0.05) / (other + 0.05);
    if (ratio < (large ? 3 : 4.5)) found.add(`${ratio.toFixed(2)} ${node.className || node.tagName}: ${walker.currentNode.textContent.trim().slice(0, 30)}`);
  }
  return [...found];
});

test("everything has a name, and every text can be read, in every view, light and dark", async () => {
  for (const colorScheme of ["light", "dark"]) {
    await begin({ colorScheme });
    await ask(QUESTION);
    await ending();
    await page.click("text=Edit and run");
    for (const view of ["ask", "knowledge", "evals", "components", "health"]) {
      await page.click(`#nav-${view}`);
      await page.waitForFunction((name) => !document.getElementById(`view-${name}`).hidden, view);
      await page.waitForLoadState("networkidle");
      assert.deepEqual(await faults(), [], `${view} ${colorScheme}`);
      assert.deepEqual(await faint(), [], `${view} ${colorScheme}`);
    }
  }
});

test("the same holds where decisions are made", { skip: key ? false : "AIRLOCK_KEY is not set" }, async () => {
  for (const colorScheme of ["light", "dark"]) {
    await begin({ colorScheme });
    await signIn(page);
    await page.click("#who");
    assert.deepEqual([await faults(), await faint()], [[], []], "the session");
    await page.click("#session-close");
    await ask(QUESTION);
    await ending();
    await page.click("text=Keep as an example");
    assert.equal(await page.inputValue("#author-question"), QUESTION);
    assert.deepEqual([await faults(), await faint()], [[], []], "writing an example");
    await page.fill("#author-question", `${QUESTION} (${colorScheme}, ${Date.now()})`);
    await page.fill("#author-sql", `SELECT ${Date.now()} AS n FROM bills`);
    await page.click("text=Add the example");
    await page.waitForSelector('.decide button:text-is("Edit")');
    await page.click('.decide button:text-is("Edit")');
    await page.fill("#edit-question", "Another question?");
    assert.deepEqual([await faults(), await faint()], [[], []], "editing");
    await picture(page, `item-${colorScheme}`);
    await page.click("#nav-components");
    await page.click("text=Put another component in service");
    assert.deepEqual([await faults(), await faint()], [[], []], "components");
    await page.click('button[aria-label="Roll back planner"]');
    assert.deepEqual([await faults(), await faint()], [[], []], "a question before a change");
    await page.click("#confirm-no");
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
    ["light", 1600, (value) => value > 200],
    ["dark", 1600, (value) => value < 60],
  ]) {
    await begin({ colorScheme, viewport: { width, height: 800 } });
    assert.ok(isRight(await brightness()), colorScheme);
    await ask(QUESTION);
    await ending();
    for (const view of ["ask", "knowledge", "evals", "components", "health"]) {
      await page.click(`#nav-${view}`);
      await page.waitForFunction((name) => !document.getElementById(`view-${name}`).hidden, view);
      await page.waitForLoadState("networkidle");
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(over <= 0, `${view} at ${width} px: ${over} px too wide`);
      await picture(page, `${view}-${width}-${colorScheme}`);
    }
  }
});

test("nothing moves for those who want no motion", async () => {
  await begin({ reducedMotion: "reduce" });
  await page.route("**/api/ask", () => {});
  await ask("x");
  await page.waitForSelector("#working:not([hidden])");
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector(".progress span")).animationName), "none");
});
