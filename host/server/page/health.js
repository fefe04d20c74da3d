// The health dot and what stands behind it.

import { page } from "./asking.js";
import { byId, el, fill, list, text } from "./dom.js";
import { digest } from "./endings.js";
import { loadDomains } from "./schema.js";

// Health tries every claim anew, so a page asks seldom; it asks at once when it is opened and after a lost connection.
export const HEALTH_EVERY = 60000;
export let health = null;

export async function refreshHealth() {
  try {
    const response = await fetch("/api/health", { cache: "no-store", signal: AbortSignal.timeout(15000) });
    health = { ...(await response.json()), reached: true };
  } catch {
    health = { reached: false };
  }
  const [tone, word] = !health.reached ? ["bad", "No connection"] : health.ok ? ["good", "Healthy"] : ["warn", "Needs attention"];
  byId("health").dataset.tone = tone;
  byId("health-word").textContent = word;
  if (byId("health-dialog").open) drawHealth();
  if (health.reached && !page.domain) loadDomains();
}

/** One thing of a health report in a line, whatever its shape. */
function describe(value) {
  if (value === null || typeof value !== "object") return /^(sha256:)?[0-9a-f]{64}$/.test(text(value)) ? digest(value) : text(value);
  if (Array.isArray(value)) return value.map((item, at) => [at > 0 && ", ", describe(item)]);
  return Object.entries(value).filter(([, item]) => item !== null).map(([name, item], at) => [
    at > 0 && " · ", name === "name" || name === "component" || name === "stage" ? "" : el("span", { class: "help" }, `${name.replaceAll("_", " ")} `), describe(item),
  ]);
}

/** Ways a check ends, the worst first. */
const CHECK_TONES = { failed: "bad", skipped: "calm", passed: "good" };

function checkNode(check) {
  return el("li", {}, el("span", { class: `tag ${CHECK_TONES[check.outcome] }` }, text(check.outcome)),
    el("div", {}, el("strong", {}, text(check.name).replaceAll("-", " ")), page.several && check.domain && el("span", { class: "help" }, ` ${check.domain}`),
      check.tried && el("p", { class: "help" }, `Tried: ${check.tried}`),
      check.found && el("p", { class: "help" }, `Found: ${check.found}`),
      check.remedy && el("p", {}, `Remedy: ${check.remedy}`)));
}

export function drawHealth() {
  const parts = !health?.reached
    ? [el("p", { class: "note" }, "The server cannot be reached from this page.")]
    : [
      el("p", {}, health.ok ? "Nothing that was tried failed." : "Something that must hold does not.",
        health.version && el("span", { class: "help" }, ` airlock ${health.version}`)),
      el("ul", { class: "checks" }, Object.keys(CHECK_TONES).flatMap((outcome) => list(health.checks).filter((check) => check.outcome === outcome)).map(checkNode)),
      ["models", "components", "domains"].filter((name) => list(health[name]).length > 0).map((name) => [
        el("h3", {}, name[0].toUpperCase() + name.slice(1)),
        el("ul", { class: "plain-list" }, list(health[name]).map((item) => el("li", {}, [describe(item)].flat(Infinity)))),
      ]),
    ];
  const body = byId("health-body");
  body.replaceChildren();
  fill(body, {}, parts);
}
