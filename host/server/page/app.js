// The page: parts wired together.

import { ask, clearFieldError, drawHistory, endFollowing, grow, page, stop, submit } from "./asking.js";
import { byId } from "./dom.js";
import { HEALTH_EVERY, drawHealth, health, refreshHealth } from "./health.js";
import { drawSchema, loadDomains, loadSchema } from "./schema.js";

byId("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
byId("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    submit();
  }
});
byId("question").addEventListener("input", () => {
  grow();
  clearFieldError();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && page.running && !byId("health-dialog").open) stop();
});
byId("stop").addEventListener("click", stop);
byId("following-end").addEventListener("click", () => {
  endFollowing();
  byId("question").focus();
});
byId("domain").addEventListener("change", (event) => {
  page.domain = event.target.value;
  byId("schema-search").value = "";
  endFollowing();
  loadSchema();
});
byId("schema-search").addEventListener("input", drawSchema);
byId("health").addEventListener("click", () => {
  drawHealth();
  byId("health-dialog").showModal();
  refreshHealth();
});
byId("health-close").addEventListener("click", () => byId("health-dialog").close());

// Beside the question on a wide screen, folded below it on a narrow one.
const narrow = matchMedia("(max-width: 61.99rem)");
const foldPanels = () => { for (const id of ["schema", "history"]) byId(id).open = !narrow.matches; };
narrow.addEventListener("change", foldPanels);
foldPanels();

drawHistory();
loadDomains();
refreshHealth();
setInterval(() => { if (!document.hidden) refreshHealth(); }, HEALTH_EVERY);
