// Recrawl: by which rule known pages are looked at again, how well that goes, and which come next.

import { rates } from "./chart.js";
import { ask, count, dossier, el, empty, moment, percent, section, span } from "./dom.js";
import { Table } from "./table.js";

const lead = el("p", { class: "lead" });
const plot = el("div", { class: "plot" });

const next = new Table([
  { name: "Rank", value: (row) => row.rank, numeric: true },
  { name: "Page", value: (row) => row.url, cell: (row) => dossier(row.url), wide: true },
  { name: "Worth", value: (row) => row.worth, cell: (row) => row.worth.toFixed(3), numeric: true },
  { name: "Why", value: (row) => (row.fresh ? "new link" : `${row.rate} news per hour`), cell: (row) => (row.fresh ? el("span", { class: "tag good" }, "new link") : el("span", { class: "tag" }, `${row.rate.toFixed(2)} news per hour`)) },
  { name: "Kind", value: (row) => row.kind, minor: true },
  { name: "Visits", value: (row) => row.visits, numeric: true },
  { name: "Changes", value: (row) => row.changes, numeric: true, minor: true },
  { name: "Last visit", value: (row) => row.last_visit, cell: (row) => moment(row.last_visit), numeric: true, minor: true },
], { key: (row) => row.url, label: "next pages", sort: "Rank", empty: "No page is known yet." });

const cycles = new Table([
  { name: "At", value: (row) => row.at, cell: (row) => moment(row.at), numeric: true },
  { name: "Policy", value: (row) => row.policy },
  { name: "Known", value: (row) => row.known, cell: (row) => count(row.known), numeric: true },
  { name: "Worth a look", value: (row) => row.chosen, cell: (row) => count(row.chosen), numeric: true },
  { name: "Visited", value: (row) => row.visited, cell: (row) => count(row.visited), numeric: true },
  { name: "ChangeRate", value: (row) => row.change_rate, cell: (row) => percent(row.changed, row.visited), numeric: true },
], { key: (row) => row.at, label: "cycles", sort: "At", descending: true, most: 50, filter: false, empty: "No cycle has begun yet." });

export function build() {
  document.title = "Recrawl – Forager";
  return [el("h1", {}, "Recrawl"), lead, section("Next pages", "As the cycle would rank them now.", next.element),
    el("div", { class: "pair" }, section("ChangeRate", "Share of a cycle's visits that saw a change.", plot), section("Cycles", null, cycles.element))];
}

export async function refresh() {
  const facts = await ask("/api/recrawl");
  lead.replaceChildren("By ", el("strong", {}, facts.policy), `: ${facts.meaning}. A cycle lasts up to ${span(facts.cycle)}. ` +
    `Pages that promise less than ${facts.least_worth} get at most ${percent(facts.explore, 1)} of the downloads. ` +
    `So far the cycle has had ${count(facts.turns.recrawl)} turns, the fleet ${count(facts.turns.fleet)}.`);
  next.update(facts.next);
  cycles.update(facts.cycles);
  const points = facts.cycles.filter((cycle) => cycle.change_rate !== null).map((cycle) => [cycle.at, cycle.change_rate]);
  plot.replaceChildren(points.length ? rates(plot, points, "ChangeRate over cycles") : empty("Nothing to draw yet."));
}
