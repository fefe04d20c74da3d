// Small charts of numbers by day, with the same numbers as a table beside them.

import { compact, el, svg, text } from "./dom.js";

const HEIGHT = 120;
const MARGIN = { right: 10, top: 10, bottom: 22 };

/** A round number at or above a value. */
function ceiling(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= value * 0.999);
}

/** Stacked columns or lines over days: `series` are `{name, className, values}`, one value a day, null where there is none. */
export function drawDays({ days, series, kind, show = compact }, width) {
  const count = days.length;
  const top = kind === "bars"
    ? Math.max(0, ...days.map((_, at) => series.reduce((sum, one) => sum + (one.values[at] ?? 0), 0)))
    : Math.max(0, ...series.flatMap((one) => one.values.map((value) => value ?? 0)));
  const high = ceiling(top);
  const ticks = [0, high / 2, high];
  const room = { ...MARGIN, left: Math.max(...ticks.map((tick) => show(tick).length)) * 7.2 + 12 };
  const step = (width - room.left - room.right) / count;
  const bar = Math.min(Math.max(step * 0.72, 1), 48);
  const x = (at) => room.left + step * (at + 0.5);
  const y = (value) => HEIGHT - room.bottom - (value / high) * (HEIGHT - room.top - room.bottom);
  const marks = [];
  if (kind === "bars") {
    for (const at of days.keys()) {
      let base = 0;
      for (const one of series) {
        const value = one.values[at] ?? 0;
        if (value > 0) {
          marks.push(svg("rect", { x: x(at) - bar / 2, width: bar, y: y(base + value), height: Math.max(y(base) - y(base + value), 0.5), class: one.className },
            svg("title", {}, `${days[at]}, ${one.name}: ${show(value)}`)));
        }
        base += value;
      }
    }
  } else {
    for (const one of series) {
      const runs = [[]];
      for (const [at, value] of one.values.entries()) value === null ? runs.push([]) : runs.at(-1).push([at, value]);
      marks.push(runs.map((run) => svg("polyline", { class: `plot-line ${one.className}`, points: run.map(([at, value]) => `${x(at)},${y(value)}`).join(" ") })));
      marks.push(runs.flat().map(([at, value]) => svg("circle", { class: `plot-dot ${one.className}`, cx: x(at), cy: y(value), r: 2.5 },
        svg("title", {}, `${days[at]}, ${one.name}: ${show(value)}`))));
    }
  }
  const labelled = count < 2 ? [0] : [0, count - 1];
  return svg("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, class: "chart plot" },
    ticks.map((tick) => [
      svg("line", { x1: room.left, x2: width - room.right, y1: y(tick), y2: y(tick), class: tick === 0 ? "chart-axis" : "chart-grid" }),
      svg("text", { x: room.left - 6, y: y(tick), "text-anchor": "end", class: "chart-value" }, show(tick)),
    ]),
    marks,
    labelled.map((at) => svg("text", { x: at === 0 && count > 1 ? room.left : at === 0 ? x(0) : width - room.right, y: HEIGHT - 8, "text-anchor": count < 2 ? "middle" : at === 0 ? "start" : "end", class: "chart-label" }, text(days[at]).slice(5))));
}

/** A titled small chart with its legend. */
export function plotBlock(title, spec) {
  const canvas = el("div", { class: "canvas plot-canvas", role: "img", "aria-label": `${title} by day; the table below holds the same numbers` });
  let drawn = 0;
  new ResizeObserver(() => {
    const width = Math.floor(canvas.clientWidth - 24);
    if (width < 80 || width === drawn) return;
    drawn = width;
    canvas.replaceChildren(drawDays(spec, width));
  }).observe(canvas);
  return el("section", { class: "block plot-block", "aria-label": title },
    el("div", { class: "block-head" }, el("h3", {}, title),
      el("span", { class: "legend" }, spec.series.length > 1 && spec.series.map((one) => el("span", {}, el("span", { class: `key ${one.className}`, "aria-hidden": "true" }), one.name)))),
    canvas);
}
