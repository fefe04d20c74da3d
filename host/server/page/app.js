// The page: parts wired together.

import { clearFieldError, endFollowing, grow, stop, submit } from "./asking.js";
import { showComponents } from "./components.js";
import { byId } from "./dom.js";
import { showEvals } from "./evals.js";
import { HEALTH_EVERY, refreshHealth, showHealth, wireHealth } from "./health.js";
import { drawHistory, forgetHistory, openById, refreshHistory, wireHistory } from "./history.js";
import { forgetKnowledge, showKnowledge } from "./knowledge.js";
import { begin, draw, view, visible } from "./router.js";
import { drawExamples, drawSchema, loadDomains, loadSchema } from "./schema.js";
import { openSignIn, whenSomebodyElse, whoAmI, wireSession } from "./session.js";
import { page } from "./state.js";

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
  if (event.key === "Escape" && page.running && !document.querySelector("dialog[open]")) stop();
});
// An address of the page itself names a view, so this link does not go by its address.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});
byId("stop").addEventListener("click", stop);
byId("following-end").addEventListener("click", () => {
  endFollowing();
  byId("question").focus();
});
byId("domain").addEventListener("change", async (event) => {
  page.domain = event.target.value;
  byId("schema-search").value = "";
  endFollowing();
  forgetKnowledge();
  await loadSchema();
  if (!visible("ask")) draw();
});
byId("schema-search").addEventListener("input", drawSchema);
wireSession();
wireHistory();
wireHealth();

// Beside the question on a wide screen, folded below it on a narrow one.
const narrow = matchMedia("(max-width: 61.99rem)");
const foldPanels = () => { for (const id of ["schema", "history"]) byId(id).open = !narrow.matches; };
narrow.addEventListener("change", foldPanels);
foldPanels();

/** The question that a link carries is put into the box; it is asked by whoever reads it, not by the link. */
function showAsk({ rest: [id], query }) {
  const question = query.get("question");
  if (question && byId("question").value === "") {
    byId("question").value = question.slice(0, 4000);
    grow();
  }
  openById(id);
}

view("ask", "Ask", showAsk);
view("knowledge", "Knowledge", showKnowledge);
view("evals", "Evaluation", showEvals);
view("components", "Components", showComponents);
view("health", "Health", showHealth);

/** Everything that depends on who asks. */
async function readAll() {
  await loadDomains();
  await refreshHistory();
  drawExamples();
  draw();
}

whenSomebodyElse(() => {
  page.domain = null;
  page.schemas.clear();
  forgetKnowledge();
  forgetHistory();
  refreshHealth();
  return readAll();
});

drawHistory();
setInterval(() => { if (!document.hidden) refreshHealth(); }, HEALTH_EVERY);
const known = await whoAmI();
begin();
refreshHealth();
if (known) await readAll();
else openSignIn();
