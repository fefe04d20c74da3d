"use strict";
const asks = [...document.querySelectorAll(".ask")];
const words = document.getElementById("words");
const failures = document.getElementById("failures");
const choices = [...document.querySelectorAll("select[data-filter]")];
function show() {
  const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const ask of asks) {
    const text = ask.textContent.toLowerCase();
    const fits = wanted.every((word) => text.includes(word))
      && choices.every((choice) => !choice.value || ask.dataset[choice.dataset.filter] === choice.value)
      && !(failures.checked && ask.classList.contains("right"));
    ask.hidden = !fits;
    shown += fits ? 1 : 0;
  }
  document.getElementById("count").value = `${shown} of ${asks.length}`;
}
document.getElementById("filters").addEventListener("input", show);
show();
