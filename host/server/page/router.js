// Which view the address names: `#/ask`, `#/knowledge/lessons/ID?state=proposed`, ...

import { byId } from "./dom.js";

const views = new Map();
let current = null;

/** Registers a view: its section is `view-NAME`, its link `nav-NAME`. */
export function view(name, title, show) {
  views.set(name, { title, show });
}

/** The address taken apart. */
export function route() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const [name, ...rest] = path.split("/").map((part) => {
    try { return decodeURIComponent(part); } catch { return part; }
  });
  return { name: views.has(name) ? name : "ask", rest: rest.filter(Boolean), query: new URLSearchParams(query) };
}

/** An address of a view. */
export function hashOf(name, rest = [], query = {}) {
  const parameters = new URLSearchParams(Object.entries(query).filter(([, value]) => value));
  return `#/${[name, ...rest].map(encodeURIComponent).join("/")}${parameters.size > 0 ? `?${parameters}` : ""}`;
}

export const visible = (name) => current === name;

/** Shows what the address names. A reader who moved by a link is put at the top of the new view. */
export function draw() {
  const to = route();
  const moved = current !== null && current !== to.name;
  current = to.name;
  for (const [name, { title }] of views) {
    byId(`view-${name}`).hidden = name !== to.name;
    const link = byId(`nav-${name}`);
    if (name === to.name) {
      link.setAttribute("aria-current", "page");
      document.title = name === "ask" ? "airlock" : `${title} – airlock`;
    } else {
      link.removeAttribute("aria-current");
    }
  }
  if (moved) {
    window.scrollTo(0, 0);
    const heading = byId(to.name === "ask" ? "question" : `title-${to.name}`);
    heading.focus({ preventScroll: true });
  }
  views.get(to.name).show(to);
}

export function go(hash) {
  if (location.hash === hash) draw();
  else location.hash = hash;
}

/** Changes the address of the same view without a step in the browser's history. */
export function replace(hash) {
  history.replaceState(null, "", hash);
}

export function begin() {
  addEventListener("hashchange", draw);
  draw();
}
