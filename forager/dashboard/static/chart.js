// Small charts, drawn as SVG; colours come from the style sheet.

import { el, hour, moment, span, svg } from "./dom.js";

const HEIGHT = 220, LEFT = 48, RIGHT = 34, TOP = 10, BOTTOM = 26, DOWN = HEIGHT - TOP - BOTTOM;

/** Delays that have a line, of which the first four always show. */
const DELAYS = [10, 60, 600, 3600, 21600, 86400, 604800];

/** An empty drawing as wide as its place, so that letters keep their size; `across` is the width of the plot. */
function frame(place, label, height = HEIGHT) {
  const width = Math.max(280, place.clientWidth);
  const chart = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  return { chart, across: width - LEFT - RIGHT, right: width - RIGHT, height };
}

function timeAxis({ chart, across, height }, from, to) {
  const long = to - from > 86400, steps = across < 360 ? 2 : 4;
  for (let step = 0; step <= steps; step++) {
    const time = from + ((to - from) * step) / steps;
    const text = long ? moment(time).slice(5, 16) : to - from < 600 ? moment(time).slice(11, 19) : hour(time);
    chart.append(svg("text", { class: "axis", x: LEFT + (across * step) / steps, y: height - 8, "text-anchor": "middle" }, text));
  }
}

function line({ chart, right }, y, text) {
  chart.append(svg("line", { class: "grid", x1: LEFT, x2: right, y1: y, y2: y }),
    svg("text", { class: "axis", x: LEFT - 6, y: y + 4, "text-anchor": "end" }, text));
}

/** The top of an axis of counts, so that its middle is a count as well. */
function nice(most) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, most)));
  return [1, 2, 4, 6, 8, 10].map((step) => step * power).find((step) => step >= Math.max(2, most));
}

/** Bars of one series with a line of the running total of another. */
export function bars(place, series, name, total, label) {
  const plot = frame(place, label), { chart, across, right } = plot;
  const counts = series.counts[name], sums = running(series.counts[total]);
  const top = nice(Math.max(1, ...counts)), high = nice(Math.max(1, ...sums)), step = across / counts.length;
  for (const share of [0, 0.5, 1]) line(plot, TOP + DOWN * (1 - share), compact(top * share));
  counts.forEach((value, index) => {
    const height = (DOWN * value) / top;
    if (value) chart.append(svg("rect", { class: "amount", x: LEFT + index * step, y: TOP + DOWN - height,
      width: Math.max(0.5, step - 0.5), height }));
  });
  const points = sums.map((value, index) => `${LEFT + (index + 0.5) * step},${TOP + DOWN * (1 - value / high)}`);
  chart.append(svg("polyline", { class: "sum", points: points.join(" ") }));
  const last = sums.at(-1) ?? 0;
  chart.append(svg("text", { class: "sum-label", x: right, y: Math.max(TOP + 12, TOP + DOWN * (1 - last / high) - 6),
    "text-anchor": "end" }, `${last.toLocaleString("en")} ${total}`));
  timeAxis(plot, series.start, series.start + series.width * counts.length);
  return chart;
}

/** What appeared over time, and on it what of that was found. */
export function coverage(place, series, label) {
  const plot = frame(place, label), { chart, across } = plot;
  const top = nice(Math.max(1, ...series.appeared)), step = across / series.appeared.length, gap = Math.min(2, step / 6);
  for (const share of [0, 0.5, 1]) line(plot, TOP + DOWN * (1 - share), compact(top * share));
  series.appeared.forEach((appeared, index) => {
    const bar = (name, value) => svg("rect", { class: name, x: LEFT + index * step, y: TOP + DOWN * (1 - value / top),
      width: Math.max(0.5, step - gap), height: (DOWN * value) / top });
    chart.append(svg("g", {}, svg("title", {}, `${hour(series.start + index * series.width)}: ${series.found[index]} of ${appeared} found`),
      bar("amount", appeared), bar("got", series.found[index])));
  });
  timeAxis(plot, series.start, series.start + series.width * series.appeared.length);
  return chart;
}

function running(counts = []) {
  let sum = 0;
  return counts.map((value) => (sum += value));
}

function compact(value) {
  return value >= 10000 ? `${value / 1000}k` : String(value);
}

/** Each story as a dot: when it came and how late, on a logarithmic scale, coloured by site. */
export function delays(place, points, sites, label) {
  const plot = frame(place, label), { chart, across } = plot;
  const from = points[0][0], to = Math.max(points.at(-1)[0], from + 60);
  const longest = Math.max(...points.map((point) => point[1]));
  const marks = DELAYS.filter((_, place) => place < 4 || DELAYS[place - 1] < longest), lowest = marks[0], highest = marks.at(-1);
  const y = (delay) => TOP + DOWN * (1 - Math.log(Math.min(highest, Math.max(lowest, delay)) / lowest) / Math.log(highest / lowest));
  for (const mark of marks) line(plot, y(mark), span(mark));
  for (const [at, delay, site] of points) {
    chart.append(svg("circle", { class: `dot site${sites.indexOf(site) % 8}`, cx: LEFT + (across * (at - from)) / (to - from),
      cy: y(delay), r: 2.6 }));
  }
  const medians = windows(points, 24).map(([at, delay]) => `${LEFT + (across * (at - from)) / (to - from)},${y(delay)}`);
  if (medians.length > 1) chart.append(svg("polyline", { class: "median", points: medians.join(" ") }));
  timeAxis(plot, from, to);
  return chart;
}

/** The median delay of each run of so many stories. */
function windows(points, size) {
  const found = [];
  for (let start = 0; start + size <= points.length; start += size / 2) {
    const run = points.slice(start, start + size), sorted = run.map((point) => point[1]).sort((a, b) => a - b);
    found.push([run[size / 2][0], sorted[size / 2]]);
  }
  return found;
}

export function legend(sites) {
  return el("ul", { class: "legend" },
    sites.slice(0, 8).map((site, place) => el("li", {}, svg("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" },
      svg("circle", { class: `dot site${place % 8}`, cx: 5, cy: 5, r: 4 })), site)),
    sites.length > 8 ? el("li", {}, `and ${sites.length - 8} more`) : null);
}

/** A value over time, without axes. */
export function sparkline(points, label) {
  const chart = svg("svg", { class: "spark", viewBox: "0 0 120 24", role: "img", "aria-label": label });
  if (points.length < 2) return chart;
  const times = points.map((point) => point[0]), values = points.map((point) => point[1]);
  const from = times[0], width = Math.max(1e-9, times.at(-1) - from);
  const low = Math.min(...values), height = Math.max(1e-9, Math.max(...values) - low);
  const drawn = points.map(([at, value]) => `${(118 * (at - from)) / width + 1},${22 - (20 * (value - low)) / height}`);
  chart.append(svg("polyline", { points: drawn.join(" ") }));
  return chart;
}

/** The lives of foragers as lines over time; a birth hangs on the parent's line, a cross ends a life. */
export function family(place, foragers, now, label) {
  const shown = foragers.slice(-60), row = 18;
  const plot = frame(place, label, shown.length * row + BOTTOM + TOP), { chart, across } = plot;
  const from = Math.min(...shown.map((one) => one.born)), to = Math.max(now, from + 60);
  const x = (time) => LEFT + (across * (time - from)) / (to - from);
  const order = descent(shown), rows = new Map(order.map((one, index) => [one.id, TOP + index * row + row / 2]));
  for (const one of order) {
    const y = rows.get(one.id), gone = one.deleted !== null;
    if (rows.has(one.parent)) {
      chart.append(svg("line", { class: "birth", x1: x(one.born), x2: x(one.born), y1: rows.get(one.parent), y2: y }));
    }
    const title = `Forager ${one.id}: score ${one.score}, ${one.relevant} stories`;
    chart.append(svg("g", {}, svg("title", {}, title),
      svg("line", { class: gone ? "life gone" : "life", x1: x(one.born), x2: Math.max(x(one.born) + 2, x(one.deleted ?? to)), y1: y, y2: y }),
      svg("circle", { class: "birth-dot", cx: x(one.born), cy: y, r: 3.2 }),
      svg("text", { class: "axis", x: LEFT - 6, y: y + 4, "text-anchor": "end" }, `№ ${one.id}`)));
    if (gone) chart.append(svg("text", { class: "death", x: x(one.deleted), y: y + 4, "text-anchor": "middle" }, "×"));
  }
  timeAxis(plot, from, to);
  return chart;
}

/** The scores of foragers over time, each in its colour; a dashed line marks where they multiply, if one is near it. */
export function scores(place, foragers, now, limit, label) {
  const plot = frame(place, label), { chart, across, right } = plot;
  const points = foragers.flatMap((one) => one.scores), values = points.map((point) => point[1]);
  const from = Math.min(...points.map((point) => point[0])), to = Math.max(now, from + 60);
  const low = Math.min(...values), most = Math.max(...values), near = most + 0.6 * (most - low) >= limit, high = near ? Math.max(most, limit) : most;
  const y = (value) => TOP + DOWN * (1 - (value - low) / Math.max(1e-9, high - low));
  for (const share of [0, 0.5, 1]) {
    const value = low + (high - low) * share;
    line(plot, y(value), value.toFixed(high - low < 10 ? 1 : 0).replace(/^-(?=[0.]+$)/, ""));
  }
  if (near) chart.append(svg("line", { class: "limit", x1: LEFT, x2: right, y1: y(limit), y2: y(limit) }));
  for (const one of foragers) {
    const drawn = [...one.scores, [one.deleted ?? to, one.scores.at(-1)[1]]].map(([at, value]) => `${LEFT + (across * (at - from)) / (to - from)},${y(value)}`);
    chart.append(svg("g", {}, svg("title", {}, `Forager ${one.id}`), svg("polyline", { class: `curve line${one.id % 8}`, points: drawn.join(" ") })));
  }
  timeAxis(plot, from, to);
  return chart;
}

/** Children right below their parents. */
function descent(foragers) {
  const known = new Set(foragers.map((one) => one.id)), order = [];
  const enter = (one) => {
    order.push(one);
    foragers.filter((child) => child.parent === one.id && child.id !== one.id).forEach(enter);
  };
  foragers.filter((one) => !known.has(one.parent)).forEach(enter);
  return order;
}

/** Means of neighbours, so that at most so many points are left. */
function thinned(points, most) {
  const size = Math.ceil(points.length / most), mean = (run, which) => run.reduce((sum, point) => sum + point[which], 0) / run.length;
  return Array.from({ length: Math.ceil(points.length / size) || 0 }, (_, place) => points.slice(place * size, (place + 1) * size))
    .map((run) => [mean(run, 0), mean(run, 1)]);
}

/** Rates in [0, 1] over time: for each name its points, in the colours of `legend`; where there are many, means of several. */
export function rates(place, all, label) {
  const plot = frame(place, label), { chart, across } = plot, series = all.map((points) => thinned(points, 48));
  const times = series.flatMap((points) => points.map((point) => point[0]));
  const from = Math.min(...times), to = Math.max(...times, from + 60);
  for (const share of [0, 0.25, 0.5, 0.75, 1]) line(plot, TOP + DOWN * (1 - share), share === 0.25 || share === 0.75 ? "" : String(share));
  series.forEach((points, place) => {
    const drawn = points.map(([at, value]) => [LEFT + (across * (at - from)) / (to - from), TOP + DOWN * (1 - value)]);
    chart.append(svg("polyline", { class: `curve line${place}`, points: drawn.map((point) => point.join(",")).join(" ") }));
    for (const [cx, cy] of drawn) chart.append(svg("circle", { class: `dot site${place}`, cx, cy, r: 2.2 }));
  });
  timeAxis(plot, from, to);
  return chart;
}

/** A part of a whole as a bar. */
export function meter(part, whole, label) {
  const share = whole ? Math.min(1, part / whole) : 0;
  return svg("svg", { class: "meter", viewBox: "0 0 100 8", preserveAspectRatio: "none", role: "img", "aria-label": label },
    svg("rect", { class: "track", width: 100, height: 8, rx: 3 }),
    svg("rect", { class: share > 0.9 ? "full" : "part", width: 100 * share, height: 8, rx: 3 }));
}
