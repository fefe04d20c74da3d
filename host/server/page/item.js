// One item of knowledge: what it says, who vouches for it, what was decided, and deciding.

import { call } from "./api.js";
import { digest } from "./attempts.js";
import { contentDiff } from "./diff.js";
import { byId, el, fill, list, plural, text } from "./dom.js";
import { headline, stateTag } from "./knowledge.js";
import { hashOf, route } from "./router.js";
import { may } from "./session.js";
import { sqlPanel } from "./editor.js";
import { announce, page } from "./state.js";

/** What can be decided about an item: the verb of the route, the button, how it looks, from which states. */
const ACTIONS = [
  { path: "approve", words: "Approve", states: ["proposed", "needs_evidence"], primary: true },
  { path: "reject", words: "Reject", states: ["proposed", "needs_evidence"] },
  { path: "set-back", words: "Set back to proposed", states: ["rejected", "duplicate", "active"] },
  { path: "demote", words: "Take out of service", states: ["active", "stale"] },
  { path: "restore", words: "Restore", states: ["stale", "superseded", "withdrawn"], primary: true },
];

/** Whether this caller may decide so; the server has the last word. */
function mayDecide(kind, item, verb) {
  if (kind === "golden") return may(verb === "reject" ? "curate" : "admin");
  const proposed = kind === "examples" && item.shelf === "candidate" && item.origin === "agent" && ["approve", "reject"].includes(verb);
  return may("curate") || (proposed && may("examples:author"));
}

const fieldNode = (name, value, item) => {
  if (value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0)) return null;
  if (name === "sql") return sqlPanel(text(value), { title: "SQL", domain: text(item.domain) || page.domain });
  if (name === "accepted_sql") return list(value).map((sql, at) => sqlPanel(text(sql), { title: `SQL that is right too (${at + 1})`, domain: text(item.domain) || page.domain }));
  return el("div", { class: "field" }, el("h4", {}, name.replaceAll("_", " ")),
    el("p", { class: "said" }, Array.isArray(value) ? value.join(", ") : typeof value === "object" ? JSON.stringify(value) : text(value)));
};

/** Decisions, the newest first; an edit names the content before and after. */
function decisionsBlock(decisions) {
  if (decisions.length === 0) return el("p", { class: "about" }, "Nothing was decided about it yet.");
  return el("ol", { class: "decisions" }, decisions.map((one) =>
    el("li", {},
      el("p", {}, el("strong", {}, text(one.verdict).replaceAll("_", " ")), ` by ${text(one.who)}`, one.mode && one.mode !== "person" && ` (${one.mode})`,
        one.at && [" ", el("time", { class: "help", datetime: one.at }, new Date(one.at).toLocaleString())]),
      one.why && el("p", { class: "said" }, text(one.why)),
      el("p", { class: "help" }, one.hash_before && one.hash_before !== one.hash ? ["content ", digest(one.hash_before), " → ", digest(one.hash)] : ["content ", digest(one.hash)]),
      one.mode === "replay" && one.evidence && el("p", { class: "help" }, JSON.stringify(one.evidence)))));
}

/** Somebody else was faster: what it says now beside what was decided on. */
function changedMeanwhile(box, seen, problem, again) {
  const now = problem.body.now?.content;
  box.replaceChildren();
  fill(box, {}, [
    el("div", { class: "note", role: "alert" },
      el("p", {}, el("strong", {}, "Changed meanwhile. "), "Nothing was decided: somebody changed or decided on this item after you opened it."),
      el("p", { class: "help" }, text(problem.message)),
      now && (contentDiff(seen.content, now) ?? el("p", {}, "It says the same; its state is another.")),
      el("button", { type: "button", class: "quiet strong", click: again }, "Look at it as it is now")),
  ]);
  box.querySelector("button").focus();
}

/** The buttons, and the form in which a decision gets its reason. */
function decideBlock(kind, item, redraw) {
  const possible = ACTIONS.filter((one) => one.states.includes(item.state) && mayDecide(kind, item, one.path));
  const editable = !["promoted", "superseded"].includes(item.state) && mayDecide(kind, item, "edit");
  if (possible.length === 0 && !editable) {
    return el("p", { class: "help" }, kind === "golden" ? "Deciding on golden cases needs the scope admin." : "Deciding needs the scope curate: sign in with a key that has it.");
  }
  const said = el("div", { role: "status" });
  const why = el("textarea", { id: "why", rows: "2", maxlength: "2000", required: true });
  const confirm = el("button", { type: "button", class: "primary small-button" });
  const form = el("div", { class: "decide-form", hidden: true }, el("label", { for: "why" }, "Why"), why,
    el("div", { class: "editor-row" }, el("button", { type: "button", class: "quiet", click: () => close() }, "Cancel"), confirm));
  const fields = el("div", { class: "edit-fields" });
  form.prepend(fields);
  let opener = null;
  let act = async () => {};
  const close = () => {
    form.hidden = true;
    opener?.focus();
  };
  const open = (button, words, doing) => {
    opener = button;
    fields.replaceChildren();
    said.replaceChildren();
    confirm.textContent = words;
    form.hidden = false;
    act = doing;
    why.focus();
  };
  confirm.addEventListener("click", async () => {
    if (why.value.trim() === "") {
      said.replaceChildren(el("p", { class: "field-error" }, "Say why: it stands in the history of this item."));
      why.focus();
      return;
    }
    confirm.disabled = true;
    try {
      await act(why.value.trim());
      announce(`${confirm.textContent}: done.`);
      await redraw();
    } catch (problem) {
      if (problem.status === 409) {
        form.hidden = true;
        changedMeanwhile(said, item, problem, redraw);
      } else {
        said.replaceChildren(el("p", { class: "field-error", role: "alert" }, problem.message));
      }
    } finally {
      confirm.disabled = false;
    }
  });
  form.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
  const post = (path, body) => call(`/api/${kind}/${encodeURIComponent(item.id)}/${path}`, { method: "POST", body: { hash: item.hash, ...body } });
  const decisions = possible.map((one) => {
    const button = el("button", { type: "button", class: one.primary ? "primary small-button" : "quiet strong", click: () => open(button, one.words, (reason) => post(one.path, { why: reason })) }, one.words);
    return button;
  });
  const edit = el("button", { type: "button", class: "quiet strong", click: () => {
    const areas = editFields(item.content);
    open(edit, "Save the change", (reason) => post("edit", { why: reason, content: edited(item.content, areas) }));
    const preview = el("div", { class: "preview", "aria-label": "What the edit changes", role: "group" });
    const redraw = () => preview.replaceChildren(contentDiff(item.content, edited(item.content, areas)) ?? el("p", { class: "help" }, "Nothing is changed yet."));
    fields.addEventListener("input", redraw);
    fill(fields, {}, [[...areas.values()].map(({ label, area }) => [label, area]), preview]);
    redraw();
    areas.values().next().value?.area.focus();
  } }, "Edit");
  return el("div", { class: "decide" }, el("div", { class: "actions" }, decisions, editable && edit), form, said);
}

/** A field for each part of the content that is text or a list of words. */
function editFields(content) {
  const fields = new Map();
  for (const [name, value] of Object.entries(content ?? {})) {
    const words = Array.isArray(value) && value.every((one) => typeof one === "string");
    if (typeof value !== "string" && !words) continue;
    const id = `edit-${name}`;
    const area = el("textarea", { id, rows: name === "sql" ? "6" : "2", class: name.includes("sql") && "sql-area", spellcheck: name.includes("sql") ? "false" : "true" });
    area.value = words ? value.join("\n") : value;
    fields.set(name, { area, words, label: el("label", { for: id }, `${name.replaceAll("_", " ")}${words ? ", one a line" : ""}`) });
  }
  return fields;
}

function edited(content, fields) {
  const changed = { ...content };
  for (const [name, { area, words }] of fields) {
    changed[name] = words ? area.value.split("\n").map((line) => line.trim()).filter(Boolean) : area.value.trim();
  }
  return changed;
}

/** Draws the item that the address names, or nothing. */
export async function drawItem(kind, id, listAgain) {
  const box = byId("knowledge-item");
  box.hidden = !id;
  box.replaceChildren();
  if (!id) return;
  const back = el("a", { class: "back", href: hashOf("knowledge", [kind], Object.fromEntries(route().query)) }, "← All of them");
  let item;
  try {
    item = await call(`/api/${kind}/${encodeURIComponent(id)}`);
  } catch (problem) {
    fill(box, {}, [back, el("p", { class: "note" }, problem.message)]);
    return;
  }
  if (route().rest[1] !== id) return;
  const redraw = async () => {
    await listAgain();
    await drawItem(kind, id, listAgain);
    box.focus();
  };
  const content = item.content ?? {};
  box.replaceChildren();
  fill(box, {}, [
    back,
    el("header", { class: "result-head" }, stateTag(item), el("span", { class: "tag" }, item.shelf === "curated" ? "trusted" : "not trusted"),
      el("span", { class: "help" }, `by ${[text(item.origin), text(item.made_by)].filter(Boolean).join(", ")}`),
      item.seen > 1 && el("span", { class: "help" }, `seen ${item.seen} times`)),
    el("h3", { class: "item-title" }, headline(item)),
    Object.entries(content).filter(([name, value]) => !["question", "text"].includes(name) && value !== false).map(([name, value]) => fieldNode(name, value, item)),
    el("p", { class: "help" }, "content ", digest(item.hash), " · id ", el("code", {}, text(item.id))),
    item.evidence && Object.keys(item.evidence).length > 0 && el("details", { class: "fold" }, el("summary", {}, "Evidence"),
      el("pre", { tabindex: "0" }, JSON.stringify(item.evidence, null, 2))),
    item.uses?.hits > 0 && el("p", { class: "help" }, `Took part in ${plural(item.uses.hits, "ask")}: ${item.uses.succeeded} went well, ${item.uses.failed} did not.`),
    text(item.curated) && el("p", {}, "It became ", el("a", { href: hashOf("knowledge", [kind, item.curated]) }, "what is trusted now"), "."),
    decideBlock(kind, item, redraw),
    el("h3", {}, "Decisions"),
    decisionsBlock(list(item.history)),
  ]);
  // A reader who chose it in the list goes on reading here.
  if (byId("knowledge-list").contains(document.activeElement)) box.focus({ preventScroll: true });
}
