// Recrawl: by which rule known pages are looked at again, how well that goes, and which come next.

import { legend, rates } from "./chart.js";
import { ask, count, dossier, el, empty, moment, percent, section, span } from "./dom.js";
import { Table } from "./table.js";

const RATES = ["ChangeRate", "NDCG"];

const rule = el("dl", { class: "facts" });
const plot = el("div", { class: "plot" });
const figure = (value) => (value === null || value === undefined ? "–" : value.toFixed(3));

const next = new Table([
  { name: "Rank", value: (row) => row.rank, numeric: true },
  { name: "Page", value: (row) => row.url, cell: (row) => dossier(row.url), wide: true },
  { name: "Worth", value: (row) => row.score ?? row.worth, cell: (row) => figure(row.score ?? row.worth), numeric: true },
  { name: "Why", value: (row) => row.why, cell: (row) => [row.fresh ? el("span", { class: "tag good" }, "new link") : null, row.why] },
  { name: "Kind", value: (row) => row.kind, minor: true },
  { name: "Visits", value: (row) => row.visits, numeric: true, minor: true },
  { name: "Changes", value: (row) => row.changes, numeric: true, minor: true },
], { key: (row) => row.url, label: "next pages", cards: true, sort: "Rank", empty: "No page is known yet." });

const cycles = new Table([
  { name: "Began", value: (row) => row.at, cell: (row) => el("span", { title: `${moment(row.at)}, by ${row.policy}` }, moment(row.at).slice(5, 16)), time: true },
  { name: "Known", value: (row) => row.known, cell: (row) => count(row.known), numeric: true, minor: true },
  { name: "Worth a look", value: (row) => row.chosen, cell: (row) => count(row.chosen), numeric: true, minor: true },
  { name: "Visits", value: (row) => row.visited, cell: (row) => count(row.visited), numeric: true },
  { name: "ChangeRate", value: (row) => row.change_rate, cell: (row) => figure(row.change_rate), numeric: true },
  { name: "NDCG", value: (row) => row.ndcg, cell: (row) => figure(row.ndcg), numeric: true },
], { key: (row) => row.at, label: "cycles", sort: "Began", descending: true, most: 100, filter: false, short: true, empty: "No cycle has begun yet." });

const learned = new Table([
  { name: "At", value: (row) => row.at, cell: (row) => moment(row.at), time: true },
  { name: "Function", value: (row) => row.formula, cell: (row) => el("code", {}, row.formula), wide: true },
  { name: "For", value: (row) => row.kind || "all pages" },
  { name: "Measure", value: (row) => row.fitness },
  { name: "New", value: (row) => row.new, cell: (row) => figure(row.new), numeric: true },
  { name: "In use", value: (row) => row.old, cell: (row) => figure(row.old), numeric: true },
  { name: "Then", value: (row) => row.verdict, cell: (row) => el("span", { class: row.replaced ? "tag good" : "tag" }, row.verdict) },
], { key: (row) => row.at, label: "learned functions", cards: true, sort: "At", descending: true, most: 20, filter: false,
  empty: "None was learned during this run (crawl.policy and recrawl.retrain in the settings)." });

export function build() {
  document.title = "Recrawl – Forager";
  return [el("h1", {}, "Recrawl"), section("Rule in force", null, rule),
    el("div", { class: "pair" },
      section("ChangeRate and NDCG", "Of each cycle: the share of visits that found a change, and whether changed pages came first (1 is best).", plot),
      section("Cycles", null, cycles.element)),
    section("Schedule", "The pages that the cycle would look at first, were it to begin now.", next.element),
    section("Learned functions", "Judged where they had not learned: in a later time, or on other pages.", learned.element)];
}

export async function refresh() {
  const facts = await ask("/api/recrawl");
  const best = facts.fitness;
  rule.replaceChildren(...[
    ["Policy", el("strong", {}, facts.policy)],
    ["Formula", el("code", {}, facts.formula)],
    ["From", facts.from === "forager/functions" ? "Forager itself (forager/functions)" : facts.from ?? "–"],
    ["In words", facts.meaning],
    ["Lessons", best ? `${best.fitness} ${figure(best.new)} where it had not learned, from ${count(best.visits)} visits at ${moment(best.at)}; the one before had ${figure(best.old)}`
      : facts.learned.length ? `${facts.learned.length} in this run, none clearly better: the function stays` : "none in this run so far"],
    ["Share", `${percent(facts.share, 1)} of the requests to each host; ${count(facts.turns.recrawl)} so far, the fleet ${count(facts.turns.fleet)}`],
    ["Thrift", `pages that promise less than ${facts.least_worth} new documents get at most ${percent(facts.explore, 1)} of the downloads`],
    ["Cycle", span(facts.cycle)],
  ].flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]));
  next.update(facts.next);
  cycles.update(facts.cycles);
  learned.update(facts.learned);
  const points = ["change_rate", "ndcg"].map((name) => facts.cycles.filter((cycle) => cycle[name] !== null).map((cycle) => [cycle.at, cycle[name]]));
  plot.replaceChildren(...(points.some((one) => one.length) ? [rates(plot, points, "ChangeRate and NDCG over cycles"), legend(RATES)] : [empty("Nothing to draw yet.")]));
}
