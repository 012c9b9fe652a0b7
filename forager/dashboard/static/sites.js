// Sites: how soon each is read, what brings its stories, what it costs, and what goes wrong.

import { ask, bytes, count, dossier, el, foreign, moment, percent, section, span } from "./dom.js";
import { Table } from "./table.js";

const tags = (counts) => Object.entries(counts).map(([name, number]) => el("span", { class: "tag" }, `${name} ${count(number)}`));
const sum = (counts) => Object.values(counts).reduce((a, b) => a + b, 0);

const table = new Table([
  { name: "Site", value: (row) => row.site },
  { name: "Stories", value: (row) => row.stories, numeric: true },
  { name: "Median delay", value: (row) => row.delay_median_s, cell: (row) => span(row.delay_median_s), numeric: true },
  { name: "p90", value: (row) => row.delay_p90_s, cell: (row) => span(row.delay_p90_s), numeric: true },
  { name: "Found first by", value: (row) => sum(row.channels), cell: (row) => tags(row.channels) },
  { name: "Requests", value: (row) => row.requests, cell: (row) => count(row.requests), numeric: true },
  { name: "Per story", value: (row) => (row.stories ? row.requests / row.stories : null), cell: (row) => (row.stories ? (row.requests / row.stories).toFixed(1) : "–"), numeric: true },
  { name: "Unchanged", value: (row) => row.not_modified / (row.requests || 1), cell: (row) => percent(row.not_modified, row.requests), numeric: true, minor: true },
  { name: "Received", value: (row) => row.wire_bytes, cell: (row) => bytes(row.wire_bytes), numeric: true, minor: true },
  { name: "Errors", value: (row) => sum(row.errors), cell: (row) => (sum(row.errors) ? el("span", { title: row.last_error }, tags(row.errors)) : "none") },
], { key: (row) => row.site, label: "sites", cards: true, sort: "Stories", descending: true, empty: "No site has been asked yet." });

const errorTable = new Table([
  { name: "At", value: (row) => row.at, cell: (row) => moment(row.at), time: true },
  { name: "Page", value: (row) => row.url, cell: (row) => dossier(row.url), wide: true },
  { name: "Kind", value: (row) => (row.trouble === "status" ? `status ${row.status}` : row.trouble), cell: (row) => el("span", { class: "tag bad" }, row.trouble === "status" ? `status ${row.status}` : row.trouble) },
  { name: "What happened", value: (row) => row.error, cell: (row) => foreign(row.error || "–") },
], { key: (row) => `${row.at} ${row.url}`, label: "errors", cards: true, most: 100, empty: "No errors so far." });

const hostTable = new Table([
  { name: "Host", value: (row) => row.host },
  { name: "robots.txt", value: (row) => robots(row.robots), cell: (row) => [el("span", { title: row.robots ? `read ${moment(row.robots.read)} UTC from ${row.robots.source}` : null },
    row.robots && !row.robots.allowed ? el("span", { class: "tag bad" }, "all refused") : null, foreign(robots(row.robots))),
    ...Object.entries(row.refusals).map(([rule, number]) => el("div", { class: "note" }, foreign(rule), ` refused ${count(number)}`))], wide: true },
  { name: "Crawl-delay", value: (row) => row.robots?.crawl_delay || null, cell: (row) => (row.robots?.crawl_delay ? span(row.robots.crawl_delay) : "none"), numeric: true, minor: true },
  { name: "Delay in force", value: (row) => row.delay, cell: (row) => span(row.delay), numeric: true },
  { name: "Last hour", value: (row) => row.used, cell: (row) => (row.allowed === null ? count(row.used) : `${count(row.used)} of ${count(row.allowed)}`), numeric: true },
  { name: "Free in", value: (row) => row.next_in, cell: (row) => span(row.next_in), numeric: true, minor: true },
], { key: (row) => row.host, label: "hosts", cards: true, sort: "Host", most: 100, empty: "No host has been asked yet." });

/** What robots.txt says of the home page, in words. */
function robots(verdict) {
  if (!verdict) return "not read";
  const group = verdict.group ? `, group ${verdict.group}` : "";
  return `home page ${verdict.allowed ? "allowed" : "refused"}: ${verdict.rule}${verdict.line ? `, line ${verdict.line}` : ""}${group}`;
}

const skippedTable = new Table([
  { name: "Reason", value: (row) => row.reason },
  { name: "Host", value: (row) => row.host },
  { name: "Links", value: (row) => row.count, cell: (row) => count(row.count), numeric: true },
  { name: "Example", value: (row) => row.example, cell: (row) => foreign(row.example), wide: true },
], { key: (row) => `${row.reason} ${row.host}`, label: "skipped URLs", cards: true, sort: "Links", descending: true, most: 100, empty: "Nothing has been left out so far." });

export function build() {
  document.title = "Sites – Forager";
  return [el("h1", {}, "Sites"), section("By site", null, table.element),
    section("By host", "The rules in force: robots.txt, the delay between two requests, and the budget of the last hour.", hostTable.element), section("Latest errors", null, errorTable.element),
    section("Left out", "URLs that were not asked for or never entered the crawl, by the reason why; a link counts each time it is met.", skippedTable.element)];
}

export async function refresh() {
  const facts = await ask("/api/sites");
  const refusals = (host) => facts.sites.find((row) => host === row.site || host.endsWith(`.${row.site}`))?.refusals ?? {};
  table.update(facts.sites);
  hostTable.update(facts.hosts.map((row) => ({ ...row, refusals: refusals(row.host) })));
  errorTable.update(facts.errors);
  skippedTable.update(facts.skipped);
}
