// Who is asking, what they may do, signing in and out.

import { Problem, call, setCsrf, whenLockedOut } from "./api.js";
import { byId, el, fill, list, text } from "./dom.js";
import { announce } from "./state.js";

/** What anybody may do on a server that does not say who is who. */
const OPEN = { name: "", scopes: new Set(["ask", "query", "read", "feedback"]), domains: [], session: false, known: false };

export let me = OPEN;
let changed = () => {};

export const may = (scope) => me.scopes.has(scope) || me.scopes.has("admin");

/** What to draw again when somebody else is asking. */
export const whenSomebodyElse = (listener) => { changed = listener; };

/** Asks the server who this is. Gives false when it wants a key first. */
export async function whoAmI() {
  let locked = false;
  try {
    let said = await call("/api/me", { also: [401] });
    if (said.code === "session-ended") {
      // The cookie went with that answer; without it one may be somebody here all the same.
      announce("Your session has ended.");
      said = await call("/api/me", { also: [401] });
    }
    if (!Array.isArray(said.scopes)) {
      locked = true;
      me = { ...OPEN, scopes: new Set(), known: true };
    } else {
      me = { name: text(said.name), scopes: new Set(said.scopes.map(text)), domains: list(said.domains), session: Boolean(said.csrf), known: true };
    }
    setCsrf(said.csrf);
  } catch (problem) {
    if (problem instanceof Problem && problem.absent) me = OPEN;
  }
  drawWho(locked);
  return !locked;
}

function drawWho(locked) {
  byId("who").hidden = !me.known;
  byId("who").textContent = me.session ? me.name : "Sign in";
  byId("who").classList.toggle("signed-in", me.session);
  byId("locked").hidden = !locked;
  document.body.classList.toggle("locked", locked);
  for (const node of document.querySelectorAll("[data-scope]")) node.hidden = !may(node.dataset.scope);
}

/** The server no longer knows this caller: a session ended, or there never was one. */
export function lockOut() {
  if (byId("locked").hidden === false) return;
  whoAmI().then((known) => {
    if (known) return;
    announce("This server wants a key: sign in.");
    openSignIn();
  });
}
whenLockedOut(lockOut);

async function signIn() {
  const key = byId("key").value.trim();
  if (key === "") return complain("Give the key that an operator made for you.");
  const button = byId("sign-in");
  button.disabled = true;
  complain("");
  try {
    const said = await call("/api/session", { method: "POST", body: { key } });
    setCsrf(said.csrf);
  } catch (problem) {
    complain(problem.absent ? "This server has no keys." : problem.message);
    byId("key").select();
    return undefined;
  } finally {
    button.disabled = false;
  }
  byId("key").value = "";
  byId("session-dialog").close();
  await whoAmI();
  announce(`Signed in as ${me.name}.`);
  return changed();
}

async function signOut() {
  try {
    await call("/api/session", { method: "DELETE" });
  } catch (problem) {
    return complain(problem.message);
  }
  setCsrf(null);
  byId("session-dialog").close();
  await whoAmI();
  announce("Signed out.");
  return changed();
}

function complain(message) {
  byId("key-error").textContent = message;
  byId("key-error").hidden = message === "";
}

export function openSignIn() {
  complain("");
  const body = byId("session-body");
  body.replaceChildren();
  byId("sign-in-form").hidden = me.session;
  byId("sign-out").hidden = !me.session;
  fill(body, {}, [
    me.known && me.name && el("p", {}, me.session ? "Signed in as " : "You are ", el("strong", {}, me.name), "."),
    me.scopes.size > 0 && el("dl", { class: "pairs" },
      el("dt", {}, "May"), el("dd", {}, [...me.scopes].map((scope) => [el("code", { class: "tag" }, scope), " "])),
      el("dt", {}, "In"), el("dd", {}, me.domains.length > 0 ? me.domains.join(", ") : "every domain")),
    !me.session && el("p", { class: "help" }, "A key is made by an operator: ", el("code", {}, "airlock key create NAME --scope read --scope curate"), ". It is sent once, and this browser keeps a session cookie and not the key."),
  ]);
  if (!byId("session-dialog").open) byId("session-dialog").showModal();
  (me.session ? byId("sign-out") : byId("key")).focus();
}

export function wireSession() {
  byId("who").addEventListener("click", openSignIn);
  byId("locked-sign-in").addEventListener("click", openSignIn);
  byId("sign-in-form").addEventListener("submit", (event) => {
    event.preventDefault();
    signIn();
  });
  byId("sign-out").addEventListener("click", signOut);
  byId("session-close").addEventListener("click", () => byId("session-dialog").close());
}
