// What serves each stage, by digest; putting another in its place and going back.

import { call, withQuery } from "./api.js";
import { digest } from "./attempts.js";
import { byId, el, fill, grouped, list, text } from "./dom.js";
import { may } from "./session.js";
import { announce, page } from "./state.js";

const EVENTS = {
  swapped: "put in service", refused: "refused, because golden cases got worse", rolled_back: "rolled back", quarantined: "quarantined", shadowed: "ran beside what serves",
};

const named = (served) => (served ? [el("strong", {}, text(served.component)), " ", digest(served.digest)] : el("span", { class: "help" }, "nothing"));
const domainsWord = (domains) => (domains === "*" ? "every domain" : text(domains));

/** A dialog that says what is about to happen and waits for a yes. */
function confirmed(title, nodes, words) {
  const dialog = byId("confirm-dialog");
  byId("confirm-title").textContent = title;
  const body = byId("confirm-body");
  body.replaceChildren();
  fill(body, {}, nodes);
  byId("confirm-yes").textContent = words;
  return new Promise((resolve) => {
    let answer = false;
    byId("confirm-yes").onclick = () => { answer = true; dialog.close(); };
    byId("confirm-no").onclick = () => dialog.close();
    dialog.onclose = () => resolve(answer);
    dialog.showModal();
    byId("confirm-no").focus();
  });
}

/** Tells what a change did, or why nothing changed; golden cases that got worse are named. */
function told(answer, problem) {
  const said = answer ?? {};
  const verified = said.verified ?? problem?.body?.now?.verified;
  const box = byId("components-said");
  box.replaceChildren();
  fill(box, {}, [el("div", { class: problem ? "note bad-note" : "note good-note", role: problem ? "alert" : "status" },
    problem
      ? el("p", {}, el("strong", {}, "Nothing was changed. "), problem.message)
      : el("p", {}, el("strong", {}, "Done. "), named(said.from), " → ", named(said.to)),
    said.unwritten && el("p", {}, `This is not on disk: ${said.unwritten}`),
    list(said.grant).length > 0 && el("p", { class: "help" }, "Grant: ", el("code", {}, list(said.grant).join("  "))),
    verified && el("p", {}, `Golden cases: ${verified.right_before} of ${verified.cases} right before, ${verified.right_after} after.`),
    list(verified?.regressions).length > 0 && el("ul", { class: "plain-list" }, verified.regressions.map((one) => el("li", {}, `${text(one.domain)}: ${text(one.case)}`))))]);
  if (!problem) announce("Done.");
}

async function change(path, body) {
  for (const button of document.querySelectorAll("#view-components button")) button.disabled = true;
  byId("components-said").replaceChildren(el("p", { class: "help", role: "status" }, body.verify ? "Replaying golden cases on both; this takes a while." : "Changing."));
  try {
    told(await call(path, { method: "POST", body, patience: 600000 }));
  } catch (problem) {
    told(null, problem);
  }
  await showComponents();
  byId("components-said").focus();
}

async function rollBack({ stage, domains }, component) {
  const yes = await confirmed("Go back?", [
    el("p", {}, "The component that served ", el("strong", {}, text(stage)), ` in ${domainsWord(domains)} before this one will serve again. Asks under way keep what they began with.`),
    el("p", {}, "It is ", named(component), " that will no longer serve."),
  ], "Roll back");
  if (yes) await change("/api/plugins/rollback", { stage, ...(domains !== "*" && { domain: domains }) });
}

async function swapIn({ stage, domain, component, verify }) {
  const yes = await confirmed("Put it in service?", [
    el("p", {}, el("code", {}, component), " will serve ", el("strong", {}, stage), ` in ${domainsWord(domain ?? "*")} from the next ask on.`),
    el("p", { class: "help" }, verify ? "Golden cases are replayed first on both; if one gets worse, nothing changes." : "No golden case is replayed first."),
  ], "Swap");
  if (yes) await change("/api/plugins/swap", { stage, ...(domain && { domain }), component, verify });
}

function servingTable(components) {
  const places = components.flatMap((component) => (list(component.serves).length > 0 ? component.serves : component.stage ? [component] : []).map((where) => ({ where, component })));
  const operate = may("operate");
  // Health tells names and digests only.
  const whole = places.every(({ component }) => Number.isFinite(component.bytes));
  return el("section", { class: "block", "aria-label": "What serves" }, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "What serves" }, el("table", { class: "components" },
    el("thead", {}, el("tr", {}, ["Stage", "Domains", "Component", "Digest", ...(whole ? ["Calls", "Model", "Size"] : [])].map((name) => el("th", { scope: "col", class: name === "Size" && "number" }, name)),
      operate && el("th", { scope: "col" }, el("span", { class: "sr-only" }, "Change")))),
    el("tbody", {}, places.map(({ where, component }) => el("tr", {},
      el("th", { scope: "row" }, text(where.stage)), el("td", {}, domainsWord(where.domains)), el("td", {}, text(component.component)), el("td", {}, digest(component.digest)),
      whole && [el("td", {}, list(component.imports).join(", ")), el("td", {}, list(component.model_roles).join(", ") || "–"),
        el("td", { class: "number" }, `${grouped(text(Math.round(component.bytes / 1024)))} KiB`)],
      operate && el("td", {}, el("button", { type: "button", class: "quiet", "aria-label": `Roll back ${where.stage}`, click: () => rollBack(where, component) }, "Roll back"))))))));
}

function swapForm(components, files) {
  if (!may("operate")) return el("p", { class: "help" }, "Swapping and rolling back need the scope operate: sign in with a key that has it.");
  const stages = [...new Set(components.flatMap((component) => [...list(component.stages), ...list(component.serves).map((where) => where.stage), component.stage].filter(Boolean)))];
  const domains = [...new Set(["*", ...page.domains.keys(), ...components.flatMap((component) => list(component.serves).map((where) => text(where.domains)))])];
  const stage = el("select", { id: "swap-stage" }, stages.map((name) => el("option", { value: name }, name)));
  const scope = el("select", { id: "swap-domains" }, domains.map((name) => el("option", { value: name }, domainsWord(name))));
  const file = el("select", { id: "swap-file" }, files.map((name) => el("option", { value: name }, name)));
  // Most are named after the stage that they are for.
  const suggest = () => { file.value = files.find((name) => name.startsWith(stage.value)) ?? files[0] ?? ""; };
  stage.addEventListener("change", suggest);
  suggest();
  if (files.length === 0) return el("p", { class: "help" }, "There is no other component in the folder of components.");
  const verify = el("input", { id: "swap-verify", type: "checkbox", checked: true });
  return el("details", { class: "fold" }, el("summary", {}, "Put another component in service"),
    el("form", { class: "swap-form", novalidate: true, submit: (event) => {
      event.preventDefault();
      return swapIn({ stage: stage.value, domain: scope.value === "*" ? null : scope.value, component: file.value, verify: verify.checked });
    } },
    el("div", { class: "filter" }, el("label", { for: "swap-stage" }, "Stage"), stage),
    el("div", { class: "filter" }, el("label", { for: "swap-domains" }, "Domains"), scope),
    el("div", { class: "filter wide" }, el("label", { for: "swap-file" }, "Its file in the folder of components"), file),
    el("label", { class: "check" }, verify, " Replay golden cases first; change nothing if one gets worse"),
    el("button", { type: "submit", class: "primary small-button" }, "Swap")));
}

const historyNode = (entry) => el("li", {},
  el("p", {}, el("time", { class: "help", datetime: entry.at }, new Date(entry.at).toLocaleString()), " ", el("strong", {}, text(entry.stage)), ` in ${domainsWord(entry.domains)}: `,
    EVENTS[entry.event] ?? text(entry.event).replaceAll("_", " "), entry.forced && [" ", el("span", { class: "tag warn" }, "forced")], el("span", { class: "help" }, ` by ${text(entry.by)}`)),
  el("p", {}, entry.event === "quarantined" ? [named(entry.quarantined), ` ${text(entry.quarantined?.reason)}`]
    : entry.event === "shadowed" ? [named(entry.report), `: ${entry.report?.same} the same, ${entry.report?.different} different`]
      : [named(entry.from), " → ", named(entry.to)]));

export async function showComponents() {
  const box = byId("components-body");
  let status;
  let entries = [];
  try {
    // Those who only read see what serves as health tells it.
    status = may("operate") ? await call("/api/plugins") : await call("/api/health", { also: [503] });
    if (may("operate")) entries = list((await call(withQuery("/api/plugins/history", { limit: 50 }))).items);
  } catch (problem) {
    if (!status) {
      box.replaceChildren(el("p", { class: "note" }, problem.absent ? "This server does not show its components." : problem.message));
      return;
    }
  }
  const components = list(status.components);
  box.replaceChildren();
  fill(box, {}, [
    list(status.quarantined).map((one) => el("div", { class: "note bad-note" }, el("p", {}, el("strong", {}, "Quarantined: "), named(one), ` on ${text(one.stage)} in ${domainsWord(one.domains)}. `, text(one.reason)))),
    list(status.shadows).map((one) => el("p", { class: "note" }, el("strong", {}, "Running beside what serves: "), named(one), ` for ${text(one.stage)}: ${one.ran} of ${one.wanted} runs, ${one.same} the same, ${one.different} different, ${one.failed} failed`)),
    servingTable(components),
    swapForm(components, list(status.files).map(text)),
    may("operate") && el("h3", { class: "item-title" }, "What was changed"),
    may("operate") && (entries.length > 0 ? el("ol", { class: "decisions" }, entries.map(historyNode)) : el("p", { class: "about" }, "Nothing yet.")),
  ]);
}
