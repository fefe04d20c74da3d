// How it is going: asks by day, what became of them, what they took, and whether that got worse.

import { call, withQuery } from "./api.js";
import { dollars } from "./attempts.js";
import { byId, compact, duration, el, fill, grouped, list, plural, text } from "./dom.js";
import { plotBlock } from "./plot.js";
import { page } from "./state.js";

const OUTCOMES = ["answered", "clarification", "refused", "gave_up", "failed"];
const percent = (value) => (typeof value === "number" ? `${(value * 100).toFixed(value > 0 && value < 0.1 ? 1 : 0)}%` : "–");
const number = (value, digits = 2) => (typeof value === "number" ? value.toFixed(digits) : "–");
const time = (value) => (typeof value === "number" ? duration(value) : "–");

const RISES = { attempts_per_success: ["attempts of an answer", (value) => number(value)], give_up_rate: ["share given up", percent] };

/** The drift signal in a sentence, loud when it rose. */
function trendNode(trend) {
  if (!trend) return null;
  const how = list(trend.rises).map((rise) => {
    const [name, show] = RISES[rise.what] ?? [text(rise.what).replaceAll("_", " "), number];
    return `${name}: ${show(rise.recent)} in the last days, ${show(rise.before)} before`;
  });
  const title = text(trend.rule);
  if (trend.state === "alert") {
    return el("div", { class: "note alert", role: "alert", title },
      el("p", {}, el("strong", {}, "Answers got harder to find. "), `${how.join("; ")}. Something in the database or the model may have changed: `, el("code", {}, "airlock drift"), " compares the schema."));
  }
  const mean = typeof trend.attempts_per_success === "number" ? ` An answer takes ${number(trend.attempts_per_success)} attempts on average` +
    (typeof trend.attempts_per_success_before === "number" ? `, ${number(trend.attempts_per_success_before)} before.` : ".") : "";
  return el("p", { class: "help", title },
    trend.state === "steady" ? el("span", { class: "tag good" }, "Steady") : el("span", { class: "tag" }, "Too few asks to tell"), mean);
}

function tile(name, value, about) {
  return el("div", { class: "tile", title: about }, el("dt", {}, name), el("dd", {}, value));
}

const tiles = (all) => el("dl", { class: "tiles" },
  tile("Asks", grouped(text(all.asks))),
  tile("Answered", `${percent(all.asks > 0 ? all.answered / all.asks : null)}`),
  tile("Repaired", percent(all.repair_rate), "Answers that took more than one attempt"),
  tile("Gave up", percent(all.give_up_rate)),
  tile("Refused", percent(all.refusal_rate)),
  tile("Empty", percent(all.empty_rate), "Answers without a row"),
  tile("Attempts of an answer", number(all.attempts_per_success)),
  tile("Median time", time(all.latency_p50_ms)),
  tile("95 in 100 within", time(all.latency_p95_ms)),
  tile("Tokens", compact((all.tokens?.input ?? 0) + (all.tokens?.output ?? 0))),
  tile("Cost", dollars(all.cost_usd), all.unpriced > 0 ? `${all.unpriced} asks without a known price` : null));

function charts(days) {
  const names = days.map((day) => text(day.of));
  const values = (of) => days.map((day) => (typeof of(day) === "number" ? of(day) : null));
  return el("div", { class: "plots" },
    plotBlock("Asks by ending", { days: names, kind: "bars", series: OUTCOMES.map((outcome) => ({ name: outcome.replace("_", " "), className: `tone-${outcome}`, values: values((day) => day[outcome]) })) }),
    plotBlock("Attempts of an answer", { days: names, kind: "lines", show: (value) => String(Number(value.toFixed(2))), series: [{ name: "attempts", className: "tone-a", values: values((day) => day.attempts_per_success) }] }),
    plotBlock("Time of an ask", { days: names, kind: "lines", show: duration, series: [
      { name: "median", className: "tone-a", values: values((day) => day.latency_p50_ms) }, { name: "95 in 100", className: "tone-b", values: values((day) => day.latency_p95_ms) }] }),
    plotBlock("Cost", { days: names, kind: "bars", show: (value) => `$${Number(value.toPrecision(3))}`, series: [{ name: "dollars", className: "tone-a", values: values((day) => day.cost_usd) }] }));
}

const COLUMNS = [
  ["Day", (day) => text(day.of)], ["Asks", (day) => grouped(text(day.asks))], ["Answered", (day) => text(day.answered)],
  ["Choice", (day) => text(day.clarification)], ["Refused", (day) => text(day.refused)], ["Gave up", (day) => text(day.gave_up)],
  ["Failed", (day) => text(day.failed)], ["Empty", (day) => text(day.empty)], ["Repaired", (day) => text(day.repaired)],
  ["Attempts", (day) => number(day.attempts_per_success)], ["Median", (day) => time(day.latency_p50_ms)],
  ["95 in 100", (day) => time(day.latency_p95_ms)], ["Cost", (day) => dollars(day.cost_usd)],
];

const dayTable = (days) => el("details", { class: "fold" }, el("summary", {}, "The same as a table"),
  el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Numbers by day" },
    el("table", {}, el("thead", {}, el("tr", {}, COLUMNS.map(([name], at) => el("th", { scope: "col", class: at > 0 && "number" }, name)))),
      el("tbody", {}, days.map((day) => el("tr", {}, COLUMNS.map(([, of], at) => el("td", { class: at > 0 && "number" }, of(day)))))))));

const topList = (title, items) => list(items).length > 0 && el("section", { class: "block" },
  el("div", { class: "block-head" }, el("h3", {}, title)),
  el("ul", { class: "plain-list pad" }, list(items).slice(0, 8).map((item) => el("li", {}, el("code", {}, text(item.name)), el("span", { class: "help" }, ` ${plural(item.count, "time")}`)))));

export async function drawStats() {
  const box = byId("stats-body");
  const days = byId("stats-days").value;
  let said;
  try {
    said = await call(withQuery("/api/stats", { days, domain: page.several ? byId("stats-domain").value : page.domain }));
  } catch (problem) {
    box.replaceChildren(el("p", { class: "note" }, problem.absent ? "This server keeps no statistics." : problem.message,
      !problem.absent && el("button", { type: "button", class: "quiet", click: drawStats }, "Try again")));
    return;
  }
  const stats = said.stats ?? {};
  const order = [...list(stats.days)].sort((one, other) => (text(one.of) < text(other.of) ? -1 : 1));
  const all = stats.all ?? {};
  box.replaceChildren();
  fill(box, {}, [
    said.logged === false && el("p", { class: "note" }, el("strong", {}, "Nothing is logged. "), "The log is off in this server's configuration, so no new ask is counted here."),
    trendNode(stats.trend),
    tiles(all),
    all.asks > 0 ? [charts(order), dayTable(order)] : el("p", { class: "about" }, "Nothing was asked in these days."),
    el("div", { class: "plots" }, topList("What failed on the way", stats.error_types), topList("Lessons that took part", stats.lessons), topList("Examples that took part", stats.examples)),
  ]);
}
