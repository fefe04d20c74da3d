// The chart that a result suggests.

import {
    DATE_TYPE, IDENTITY_NAME, LABEL_TYPE, NUMBER_TYPE, ORDINAL_NAME, compact, cut, el, grouped, list, svg, text,
} from "./dom.js";

const CHART_ROWS = { least: 2, most: 60 };
const DATE_TEXT = /^\d{4}-\d{2}(-\d{2})?([ T][\d:.]+)?(Z|[+-]\d{2}(:?\d{2})?)?$/;

/** The chart a result suggests: one label or date beside one number, few enough rows to read; otherwise none. */
export function chartOf(record) {
  const columns = list(record.columns);
  const rows = list(record.rows);
  if (columns.length !== 2 || rows.length < CHART_ROWS.least || rows.length > CHART_ROWS.most || record.truncated) return null;
  const isNumber = columns.map((column) => NUMBER_TYPE.test(text(column.type)));
  let across;
  if (isNumber[0] !== isNumber[1]) across = isNumber[0] ? 1 : 0;
  else if (isNumber[0] && ORDINAL_NAME.test(text(columns[0].name))) across = 0;
  else if (isNumber[0] && ORDINAL_NAME.test(text(columns[1].name))) across = 1;
  else return null;
  const [label, number] = [columns[across], columns[1 - across]];
  if (IDENTITY_NAME.test(text(number.name)) && !/(^|_)(no|num|number)_?of/i.test(text(number.name))) return null;
  const points = rows.map((row) => {
    const raw = list(row)[1 - across];
    return { label: list(row)[across], raw, value: raw === null ? null : Number(raw) };
  });
  if (points.some((point) => point.value !== null && !Number.isFinite(point.value))) return null;
  if (points.filter((point) => point.value !== null).length < 2 || points.every((point) => !point.value)) return null;
  const type = text(label.type);
  const dated = points.every((point) => DATE_TEXT.test(text(point.label)));
  if ((DATE_TYPE.test(type) || LABEL_TYPE.test(type)) && dated) {
    for (const point of points) point.at = Date.parse(isoOf(point.label));
  } else if (NUMBER_TYPE.test(type)) {
    for (const point of points) point.at = point.label === null ? NaN : Number(point.label);
  } else if (!LABEL_TYPE.test(type) && /[[\](]|json|bytea|range|interval/.test(type)) {
    return null;
  }
  if (points.every((point) => Number.isFinite(point.at)) && new Set(points.map((point) => point.at)).size === points.length) {
    points.sort((one, other) => one.at - other.at);
    return { kind: "line", points, label, number };
  }
  return DATE_TYPE.test(type) ? null : { kind: "bar", points, label, number };
}

/** Dates of PostgreSQL in the form every browser reads. */
function isoOf(label) {
  const parts = text(label).replace(" ", "T");
  return /[+-]\d{2}$/.test(parts.slice(10)) ? `${parts}:00` : parts;
}

/** What a reader calls a point: NULL and the empty text are told apart here too. */
function pointLabel(label) {
  if (label === null || label === undefined) return "NULL";
  if (label === "") return "''";
  return text(label).replace(/[T ]00:00(:00(\.0+)?)?(Z|[+-]\d{2}(:?\d{2})?)?$/, "");
}

/** Round steps from `low` to `high`. */
function ticksOf(low, high, wanted) {
  const rough = (high - low) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough);
  const ticks = [];
  for (let at = Math.floor(low / step); at <= Math.ceil(high / step - 1e-9); at += 1) ticks.push(Number((at * step).toPrecision(12)));
  return ticks;
}

const describePoint = (point) =>
  `${pointLabel(point.label)}: ${point.raw === null ? "NULL" : grouped(text(point.raw))}`;

function barChart({ points, label, number }, width) {
  const step = points.length > 24 ? 20 : 26;
  const valueOf = (point) => (point.raw === null ? "NULL" : width < 480 ? compact(point.value) : grouped(text(point.raw)));
  const widthOf = (some) => Math.max(0, ...some.map((point) => valueOf(point).length)) * 7.2 + 10;
  const longest = Math.max(...points.map((point) => [...pointLabel(point.label)].length));
  const left = Math.min(longest * 7.2 + 14, width * 0.36);
  const after = widthOf(points.filter((point) => !(point.value < 0)));
  const low = Math.min(0, ...points.map((point) => point.value ?? 0));
  const high = Math.max(0, ...points.map((point) => point.value ?? 0));
  const before = low < 0 ? widthOf(points.filter((point) => point.value < 0)) : 0;
  const room = Math.max(width - left - before - after, 40);
  const origin = left + before;
  const x = (value) => origin + ((value - low) / (high - low)) * room;
  const head = 22;
  const height = points.length * step + head + 4;
  return svg(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, class: "chart" },
    svg("text", { x: left - 8, y: 9, "text-anchor": "end", class: "chart-title" }, cut(text(label.name), Math.max(Math.floor((left - 10) / 6.5), 3))),
    svg("text", { x: x(0), y: 9, "text-anchor": x(0) > width / 2 ? "end" : "start", class: "chart-title" }, cut(text(number.name), 40)),
    points.map((point, index) => {
      const middle = head + index * step + step / 2 + 2;
      const value = point.value ?? 0;
      const [from, to] = [Math.min(x(0), x(value)), Math.max(x(0), x(value))];
      const below = value < 0;
      return svg(
        "g",
        {},
        svg("title", {}, describePoint(point)),
        svg("text", { x: left - 8, y: middle, "text-anchor": "end", class: point.label === null || point.label === "" ? "chart-null" : "chart-label" },
          cut(pointLabel(point.label), Math.max(Math.floor((left - 10) / 7), 3))),
        svg("rect", { x: from, y: middle - step * 0.34, width: Math.max(to - from, value === 0 ? 0 : 1), height: step * 0.68, rx: 1.5, class: below ? "chart-bar below" : "chart-bar" }),
        svg("text", { x: below ? from - 6 : to + 6, y: middle, "text-anchor": below ? "end" : "start", class: "chart-value" },
          valueOf(point)),
      );
    }),
    svg("line", { x1: x(0), x2: x(0), y1: head, y2: height, class: "chart-axis" }),
  );
}

function lineChart({ points, label, number }, width) {
  const height = 270;
  const values = points.map((point) => point.value).filter((value) => value !== null);
  let [low, high] = [Math.min(...values), Math.max(...values)];
  // Nothing is exaggerated: the axis starts at zero unless that would flatten all there is to see.
  if (high - low >= 0.25 * Math.max(Math.abs(low), Math.abs(high)) || high === low) [low, high] = [Math.min(0, low), Math.max(0, high)];
  const ticks = ticksOf(low, high, 4);
  [low, high] = [ticks[0], ticks.at(-1)];
  const left = Math.max(...ticks.map((tick) => compact(tick).length)) * 7.2 + 14;
  const [right, top, bottom] = [24, 26, 46];
  const [first, last] = [points[0].at, points.at(-1).at];
  const x = (at) => left + ((at - first) / (last - first)) * (width - left - right);
  const y = (value) => height - bottom - ((value - low) / (high - low)) * (height - top - bottom);
  const runs = [[]];
  for (const point of points) point.value === null ? runs.push([]) : runs.at(-1).push(point);
  const months = points.every((point) => /^\d{4}-\d{2}-01$/.test(pointLabel(point.label)));
  const nameOf = (point) => (months ? pointLabel(point.label).slice(0, 7) : pointLabel(point.label));
  const labelWidth = Math.max(...points.map((point) => nameOf(point).length)) * 7.2 + 16;
  // Every point is named, or every second, or third: as many as there is room for.
  const roomy = (some) => some.every((point, at) => at === 0 || x(point.at) - x(some[at - 1].at) >= labelWidth - 8);
  const every = points.map((_, at) => at + 1).find((step) => roomy(points.filter((_, at) => at % step === 0)));
  const labels = points.filter((_, at) => at % every === 0);
  return svg(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, class: "chart" },
    ticks.map((tick) => [
      svg("line", { x1: left, x2: width - right, y1: y(tick), y2: y(tick), class: tick === 0 ? "chart-axis" : "chart-grid" }),
      svg("text", { x: left - 8, y: y(tick), "text-anchor": "end", class: "chart-value" }, compact(tick)),
    ]),
    labels.map((point) => svg("text", {
      x: Math.min(Math.max(x(point.at), labelWidth / 2 - 8), width - labelWidth / 2 + 8), y: height - 30, "text-anchor": "middle", class: "chart-label",
    }, nameOf(point))),
    svg("text", { x: left, y: 8, class: "chart-title" }, cut(text(number.name), 60)),
    svg("text", { x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle", class: "chart-title" }, cut(text(label.name), 60)),
    runs.map((run) => svg("polyline", { points: run.map((point) => `${x(point.at)},${y(point.value)}`).join(" "), class: "chart-line" })),
    points.filter((point) => point.value !== null).map((point) =>
      svg("g", { class: "chart-point" },
        svg("title", {}, describePoint(point)),
        svg("circle", { cx: x(point.at), cy: y(point.value), r: 11, class: "chart-hit" }),
        svg("circle", { cx: x(point.at), cy: y(point.value), r: points.length > 40 ? 2 : 3, class: "chart-dot" }))),
  );
}

export function chartBlock(chart) {
  const name = `${text(chart.number.name)} by ${text(chart.label.name)}`;
  const canvas = el("div", { class: "canvas", role: "img", "aria-label": `Chart of ${name}; the table below holds the same values` });
  let drawn = 0;
  const draw = () => {
    const width = Math.floor(canvas.clientWidth);
    if (width < 80 || width === drawn) return;
    drawn = width;
    canvas.replaceChildren((chart.kind === "line" ? lineChart : barChart)(chart, width));
  };
  new ResizeObserver(draw).observe(canvas);
  return el("section", { class: "block", "aria-label": `Chart: ${name}` },
    el("div", { class: "block-head" }, el("h3", {}, name)), canvas);
}
