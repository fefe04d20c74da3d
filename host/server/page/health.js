// The health dot, and what stands behind it.

import { call } from "./api.js";
import { digest } from "./attempts.js";
import { byId, el, fill, list, text } from "./dom.js";
import { visible } from "./router.js";
import { loadDomains } from "./schema.js";
import { page } from "./state.js";
import { drawStats } from "./stats.js";

// Health tries every claim anew, so a page asks seldom; it asks at once when it is opened and after a lost connection.
export const HEALTH_EVERY = 60000;
let health = null;

export async function refreshHealth() {
  try {
    health = { ...(await call("/api/health", { also: [503] })), reached: true };
    // A 503 of something in front of the server is no report.
    if (typeof health.ok !== "boolean") health = { reached: false };
  } catch (problem) {
    health = problem.status === 401 || problem.status === 403 ? { reached: true, hidden: true } : { reached: false };
  }
  const [tone, word] = !health.reached ? ["bad", "No connection"] : health.hidden ? ["", "Not signed in"] : !health.ok ? ["bad", "Needs attention"]
    : health.trend?.state === "alert" ? ["warn", "Answers got harder"] : ["good", "Healthy"];
  byId("nav-health").dataset.tone = tone;
  byId("health-word").textContent = word;
  if (visible("health")) drawHealth();
  if (health.reached && !health.hidden && !page.domain) loadDomains();
}

const isDigest = (value) => /^(sha256:)?[0-9a-f]{64}$/.test(text(value));

/** One thing of a health report in a line, whatever its shape. */
function describe(value) {
  if (value === null || typeof value !== "object") return isDigest(value) ? digest(value) : value === true ? "yes" : value === false ? "no" : text(value);
  if (Array.isArray(value)) return value.map((item, at) => [at > 0 && ", ", describe(item)]);
  return Object.entries(value).filter(([, item]) => item !== null).map(([name, item], at) => [
    at > 0 && " · ", ["name", "component", "stage", "domain", "model"].includes(name) ? "" : el("span", { class: "help" }, `${name.replaceAll("_", " ")} `), describe(item),
  ]);
}

/** Ways a check ends, the worst first. */
const CHECK_TONES = { failed: "bad", skipped: "calm", passed: "good" };

function checkNode(check) {
  return el("li", {}, el("span", { class: `tag ${CHECK_TONES[check.outcome] ?? "warn"}` }, text(check.outcome)),
    el("div", {}, el("strong", {}, text(check.name).replaceAll("-", " ")), check.domain && page.several && el("span", { class: "help" }, ` ${check.domain}`),
      check.tried && el("p", { class: "help" }, `Tried: ${check.tried}`),
      check.found && el("p", { class: "help" }, `Found: ${check.found}`),
      check.remedy && el("p", {}, el("strong", {}, "Remedy: "), check.remedy)));
}

/** Parts that have a place of their own; everything else a report holds is shown as it comes. */
const PLACED = ["ok", "version", "checks", "reached", "components", "domains", "trend"];

function partNode(name, value) {
  const items = Array.isArray(value) ? value : [value];
  if (value === null || value === undefined || items.length === 0) return null;
  return el("section", { class: "block", "aria-label": name }, el("div", { class: "block-head" }, el("h3", {}, name.replaceAll("_", " "))),
    el("ul", { class: "plain-list pad" }, items.map((item) => el("li", {}, [describe(item)].flat(Infinity)))));
}

function drawHealth() {
  const box = byId("health-body");
  box.replaceChildren();
  if (!health?.reached || health.hidden) {
    fill(box, {}, [el("p", { class: "note" }, health === null ? "Checking." : health.hidden ? "Health is shown to those who may read: sign in." : "The server cannot be reached from this page.")]);
    return;
  }
  const checks = list(health.checks);
  const failed = checks.filter((check) => check.outcome === "failed");
  const others = Object.keys(CHECK_TONES).slice(1).flatMap((outcome) => checks.filter((check) => check.outcome === outcome));
  fill(box, {}, [
    el("p", { class: "verdict" }, el("span", { class: `tag ${health.ok ? "good" : "bad"}` }, health.ok ? "Healthy" : "Needs attention"),
      health.ok ? ` Nothing that was tried failed (${checks.length} checks).` : ` ${failed.length || "Some"} of ${checks.length} checks failed.`,
      health.version && el("span", { class: "help" }, ` airlock ${health.version}`)),
    failed.length > 0 && el("ul", { class: "checks" }, failed.map(checkNode)),
    el("details", { class: "fold", open: false }, el("summary", {}, "Every check ", el("span", { class: "count" }, `${others.length} that did not fail`)),
      el("ul", { class: "checks" }, others.map(checkNode))),
    el("div", { class: "parts" }, Object.entries(health).filter(([name]) => !PLACED.includes(name)).map(([name, value]) => partNode(name, value))),
  ]);
}

export function showHealth() {
  const domain = byId("stats-domain");
  byId("stats-domain-part").hidden = !page.several;
  domain.replaceChildren(el("option", { value: "" }, "All"), ...[...page.domains.keys()].map((name) => el("option", { value: name, selected: name === domain.value }, name)));
  drawHealth();
  refreshHealth();
  drawStats();
}

export function wireHealth() {
  byId("stats-days").addEventListener("change", drawStats);
  byId("stats-domain").addEventListener("change", drawStats);
}
