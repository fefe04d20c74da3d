// What the page knows at the moment, shared by its parts.

import { byId } from "./dom.js";

export const page = {
  domain: null,
  several: false,
  /** Description, examples and the like of each domain, by name. */
  domains: new Map(),
  schemas: new Map(),
  /** Questions asked in this tab and those the server remembers, newest first. */
  entries: [],
  shown: null,
  running: null,
  follows: null,
  /** A question with its SQL on the way to the form of examples. */
  draft: null,
};

/** Says something to those who listen to the page instead of looking at it. */
export function announce(message) {
  byId("status").textContent = message;
}
