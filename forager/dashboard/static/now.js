// Now: stories as they come, how soon and at what cost.

import { bars, coverage, delays, legend, meter } from "./chart.js";
import { ask, bytes, count, dossier, el, foreign, hour, moment, percent, section, span } from "./dom.js";
import { Table } from "./table.js";

const tiles = el("dl", { class: "tiles" });
const delayChart = el("div", { class: "plot" });
const countChart = el("div", { class: "plot" });
const coverChart = el("div", { class: "plot" });
const coverNote = el("p", { class: "note" }, "What appeared, and what of it was found.");
const countNote = el("p", { class: "note" }, "Bars: requests; line: stories so far.");
let stories = [], covered = null;

const storyTable = new Table([
  { name: "Found", value: (row) => row.at, cell: (row) => el("span", { title: moment(row.at) }, hour(row.at)), time: true },
  { name: "Delay", value: (row) => row.delay, cell: (row) => span(row.delay), numeric: true },
  { name: "Story", value: (row) => row.title, cell: (row) => [dossier(row.url, row.title), el("span", { class: "sub" }, `${row.site} · ${row.via}`), about(row)], wide: true },
  { name: "Site", value: (row) => row.site, minor: true },
  { name: "Channel", value: (row) => row.via, cell: (row) => el("span", { class: "tag" }, row.via), minor: true },
  { name: "Date from", value: (row) => row.published_source, minor: true },
  { name: "Found by", value: (row) => row.by, minor: true },
], { key: (row) => row.number, label: "stories", sort: "Found", descending: true, flash: true,
  empty: "No story yet. The crawl is finding its way; the first ones usually come within a minute." });

const hostTable = new Table([
  { name: "Host", value: (row) => row.host },
  { name: "Last hour", value: (row) => row.used, cell: (row) => budget(row), numeric: true },
  { name: "Used", value: (row) => row.used / (row.allowed || 1), cell: (row) => meter(row.used, row.allowed, percent(row.used, row.allowed)) },
  { name: "Delay in force", value: (row) => row.delay, cell: (row) => span(row.delay), numeric: true },
  { name: "Free in", value: (row) => row.next_in, cell: (row) => span(row.next_in), numeric: true, minor: true },
], { key: (row) => row.host, label: "hosts", cards: true, filter: false, most: 100, empty: "No host has been asked yet." });

const requestTable = new Table([
  { name: "At", value: (row) => row.at, cell: (row) => el("span", { title: moment(row.at) }, moment(row.at).slice(11)), time: true },
  { name: "Page", value: (row) => row.url, cell: (row) => dossier(row.url), wide: true },
  { name: "Outcome", value: (row) => row.outcome, cell: (row) => outcome(row) },
  { name: "New links", value: (row) => row.new_links, numeric: true, minor: true },
  { name: "For", value: (row) => row.by, minor: true },
], { key: (row) => `${row.at} ${row.url}`, label: "requests", most: 30, filter: false, empty: "Nothing has been asked for yet." });

/** Authors, section, length and language of a story, its lead at hand. */
function about(row) {
  const facts = [row.authors.join(", "), row.section, row.word_count ? `${count(row.word_count)} words` : "", row.language, row.paywalled ? "paywalled" : ""].filter(Boolean);
  return facts.length ? el("span", { class: "sub", title: row.lead || null }, foreign(facts.join(" · "))) : null;
}

export function outcome(row) {
  const bad = row.trouble ? "bad" : row.changed ? "good" : "";
  return el("span", { class: `tag ${bad}`, title: row.error || null }, row.changed ? "changed" : row.outcome, row.trouble === "status" ? ` ${row.status}` : "");
}

function budget(row) {
  return row.allowed === null ? count(row.used) : `${count(row.used)} of ${count(row.allowed)}`;
}

export function build() {
  document.title = "Now – Forager";
  show({ stories: 0, requests: 0, known: 0, alive: 0, errors: 0, wire_bytes: 0, not_modified: 0 });
  return [
    el("h1", { class: "hidden" }, "Now"), tiles,
    el("div", { class: "trio" },
      section("Delay", "From publication to fetch; line: running median.", delayChart),
      section("Coverage", null, coverNote, coverChart),
      section("Stories and requests", null, countNote, countChart)),
    section("Stories", null, storyTable.element),
    el("div", { class: "pair" },
      section("Budgets", "Requests of the last hour against what politeness allows.", hostTable.element),
      section("Latest requests", null, requestTable.element)),
  ];
}

function show(figures) {
  const rate = figures.requests_per_second;
  const all = [
    ["Stories", count(figures.stories), null],
    ["Median delay", span(figures.delay_median_s), figures.delay_p90_s ? `nine in ten within ${span(figures.delay_p90_s)}` : null],
    ["Coverage", covered?.share === null || covered === null ? "–" : percent(covered.share, 1), "found of what appeared"],
    ["Cost", figures.requests_per_story ?? "–", "requests per story"],
    ...(figures.on_topic || figures.off_topic || figures.cannot_tell
      ? [["On topic", count(figures.on_topic), `${count(figures.off_topic)} off topic, not told; of ${count(figures.cannot_tell)} it cannot tell yet`]] : []),
    ["Requests", count(figures.requests), rate === null || rate === undefined ? null : `${rate < 10 ? rate : count(Math.round(rate))} per second`],
    ["Unchanged", percent(figures.not_modified, figures.requests), `of requests; ${bytes(figures.wire_bytes)} in`],
    ["Foragers", count(figures.alive), figures.born ? `${figures.born} born, ${figures.deleted} deleted` : null],
    ["Errors", count(figures.errors), figures.refused ? `${count(figures.refused)} refused by rules` : `${count(figures.known)} URLs known`],
  ];
  tiles.replaceChildren(...all.map(([name, value, note]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, value), note ? el("dd", { class: "note" }, note) : null)));
}

function take(more) {
  const known = new Set(stories.map((story) => story.number));
  stories = [...more.filter((story) => !known.has(story.number)), ...stories].slice(0, 500);
  storyTable.update(stories);
}

export function tick(news) {
  show(news);
  if (news.new.length) take(news.new);
}

export async function refresh() {
  const facts = await ask("/api/now");
  covered = facts.coverage;
  show(facts.figures);
  take(facts.stories);
  coverNote.textContent = `Bars of ${span(covered.width)}: found (green) of ${covered.of}.`;
  countNote.textContent = `Bars of ${span(facts.timeline.width)}: requests; line: stories so far.`;
  coverChart.replaceChildren(...plot(covered.start, () => [coverage(coverChart, covered, "Stories that appeared and that were found, over time")]));
  hostTable.update(facts.hosts);
  requestTable.update(facts.requests);
  const sites = [...new Set(facts.delays.map((point) => point[2]))].sort();
  delayChart.replaceChildren(...plot(facts.delays.length, () => [delays(delayChart, facts.delays, sites, "Delay of each story over time"), legend(sites)]));
  countChart.replaceChildren(...plot(facts.timeline.start, () => [bars(countChart, facts.timeline, "requests", "stories", "Requests and stories over time")]));
}

function plot(any, draw) {
  return any ? draw() : [el("p", { class: "empty" }, "Nothing to draw yet.")];
}
