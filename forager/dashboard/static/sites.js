// Sites: how soon each is read, what brings its stories, what it costs, and what goes wrong.

import { ask, bytes, count, dossier, el, foreign, moment, percent, section, span } from "./dom.js";
import { Table } from "./table.js";

const tags = (counts) => Object.entries(counts).map(([name, number]) => el("span", { class: "tag" }, `${name} ${count(number)}`));
const sum = (counts) => Object.values(counts).reduce((a, b) => a + b, 0);

const table = new Table([
  { name: "Site", value: (row) => row.site },
  { name: "Stories", value: (row) => row.stories, numeric: true },
  { name: "Median delay", value: (row) => row.delay_median, cell: (row) => span(row.delay_median), numeric: true },
  { name: "p90", value: (row) => row.delay_p90, cell: (row) => span(row.delay_p90), numeric: true },
  { name: "Found first by", value: (row) => sum(row.channels), cell: (row) => tags(row.channels) },
  { name: "Requests", value: (row) => row.requests, cell: (row) => count(row.requests), numeric: true },
  { name: "Per story", value: (row) => (row.stories ? row.requests / row.stories : null), cell: (row) => (row.stories ? (row.requests / row.stories).toFixed(1) : "–"), numeric: true },
  { name: "Unchanged", value: (row) => row.unchanged / (row.requests || 1), cell: (row) => percent(row.unchanged, row.requests), numeric: true, minor: true },
  { name: "Received", value: (row) => row.wire_bytes, cell: (row) => bytes(row.wire_bytes), numeric: true, minor: true },
  { name: "Delay in force", value: (row) => row.delay, cell: (row) => span(row.delay), numeric: true, minor: true },
  { name: "Errors", value: (row) => sum(row.errors), cell: (row) => (sum(row.errors) ? el("span", { title: row.last_error }, tags(row.errors)) : "none") },
], { key: (row) => row.site, label: "sites", sort: "Stories", descending: true, empty: "No site has been asked yet." });

const errorTable = new Table([
  { name: "At", value: (row) => row.at, cell: (row) => moment(row.at), numeric: true },
  { name: "Page", value: (row) => row.url, cell: (row) => dossier(row.url), wide: true },
  { name: "Kind", value: (row) => (row.trouble === "status" ? `status ${row.status}` : row.trouble), cell: (row) => el("span", { class: "tag bad" }, row.trouble === "status" ? `status ${row.status}` : row.trouble) },
  { name: "What happened", value: (row) => row.error, cell: (row) => foreign(row.error || "–") },
], { key: (row) => `${row.at} ${row.url}`, label: "errors", most: 100, empty: "No errors so far." });

const skipped = el("p", { class: "skipped" });

export function build() {
  document.title = "Sites – Forager";
  return [el("h1", {}, "Sites"), section("By site", null, table.element), section("Latest errors", null, errorTable.element),
    section("Links that stayed out", "By the reason why.", skipped)];
}

export async function refresh() {
  const facts = await ask("/api/sites");
  const inForce = new Map(facts.hosts.map((row) => [row.host, row.delay]));
  table.update(facts.sites.map((row) => ({ ...row, delay: inForce.get(row.site) ?? inForce.get(`www.${row.site}`) ?? null })));
  errorTable.update(facts.errors);
  skipped.replaceChildren(...(sum(facts.skipped) ? tags(facts.skipped) : ["None so far."]));
}
