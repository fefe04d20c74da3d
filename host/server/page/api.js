// Calls of the API: JSON in, JSON out, and problems as errors that say what to do.

import { text } from "./dom.js";

/** How long an answer that is not an ask may take. */
const PATIENCE = 30000;

let csrf = null;
let lockedOut = () => {};

/** The token that a session's changes carry. */
export const setCsrf = (token) => { csrf = token ?? null; };

/** What to do when the server no longer knows who asks. */
export const whenLockedOut = (listener) => { lockedOut = listener; };

export const changeHeaders = () => (csrf ? { "x-csrf-token": csrf } : {});

/** What went wrong with a call, in the server's words where it had any. */
export class Problem extends Error {
  constructor(status, body, retry = null) {
    super(text(body?.detail) || text(body?.title) || (status === 0 ? "The server could not be reached. Is it still running?" : `The server answered with HTTP ${status}.`));
    this.status = status;
    this.body = body ?? {};
    this.code = text(body?.code);
    this.field = text(body?.field);
    this.retry = retry;
  }

  /** Whether this server has no such route at all, rather than no such thing. */
  get absent() {
    return (this.status === 404 && (this.code === "" || this.code === "not-found")) || this.status === 405;
  }
}

export const retryOf = (response) => {
  const seconds = Number(response.headers.get("retry-after"));
  return Number.isFinite(seconds) && seconds > 0 ? seconds : null;
};

/** Calls a route and gives what it answered; statuses in `also` are answers too. */
export async function call(path, { method = "GET", body, signal, also = [], patience = PATIENCE } = {}) {
  const headers = { accept: "application/json", ...(method === "GET" ? {} : changeHeaders()) };
  if (body !== undefined) headers["content-type"] = "application/json";
  const limit = AbortSignal.timeout(patience);
  let response;
  let said;
  try {
    response = await fetch(path, {
      method, headers, cache: "no-store", credentials: "same-origin",
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    });
    said = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(0, error?.name === "TimeoutError" ? { detail: "The server did not answer in time. It may still be at work; try again." } : null);
  }
  let parsed = null;
  try {
    parsed = said === "" ? {} : JSON.parse(said);
  } catch {
    if (response.ok) throw new Problem(response.status, { detail: "The server answered with something that is not JSON." });
  }
  if (response.ok || also.includes(response.status)) return parsed;
  // Another tab may have signed out, or in, since.
  if ([401, 403].includes(response.status) && path !== "/api/session") lockedOut();
  throw new Problem(response.status, parsed, retryOf(response));
}

/** A path with the parameters that say something. */
export function withQuery(path, parameters) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== ""));
  return query.size > 0 ? `${path}?${query}` : path;
}
