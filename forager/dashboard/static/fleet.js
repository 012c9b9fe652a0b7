// Fleet: who forages, whose child it is, and what each has earned.

import { family, scores, sparkline } from "./chart.js";
import { ask, count, dossier, el, empty, moment, section } from "./dom.js";
import { Table } from "./table.js";

const headline = el("p", { class: "lead" });
const tree = el("div", { class: "plot" });
const credit = el("div", { class: "plot" });
const detail = el("div", { id: "forager", tabindex: "-1" });
let chosen = null;

const table = new Table([
  { name: "Forager", value: (row) => row.id, cell: (row) => el("button", { type: "button", class: "link", click: () => choose(row.id) }, `№ ${row.id}`), time: true },
  { name: "State", value: (row) => (row.deleted === null ? "alive" : "deleted"), cell: (row) => el("span", { class: row.deleted === null ? "tag good" : "tag" }, row.deleted === null ? "alive" : "deleted") },
  { name: "Kind", value: (row) => row.kind, minor: true },
  { name: "Parent", value: (row) => row.parent, cell: (row) => (row.parent === null ? "–" : `№ ${row.parent}`), time: true, minor: true },
  { name: "Score", value: (row) => row.score, cell: (row) => row.score.toFixed(1), numeric: true },
  { name: "Over time", value: (row) => row.scores.length, cell: (row) => sparkline(row.scores, `Score of forager ${row.id} over time`), minor: true },
  { name: "Stories", value: (row) => row.relevant, numeric: true },
  { name: "Sent", value: (row) => row.sent, numeric: true, minor: true },
  { name: "Downloads", value: (row) => row.downloads, numeric: true },
  { name: "Earned", value: (row) => (row.rewards ?? 0) + (row.penalties ?? 0), cell: (row) => (row.rewards === null ? "–" : ((row.rewards ?? 0) + row.penalties).toFixed(1)), numeric: true, minor: true },
  { name: "Parameters", value: (row) => Object.keys(row.parameters).length, cell: (row) => parameters(row.parameters), minor: true },
  { name: "Born", value: (row) => row.born, cell: (row) => moment(row.born), minor: true },
], { key: (row) => row.id, label: "foragers", sort: "Score", descending: true, empty: "No forager is out yet." });

function parameters(own) {
  const told = Object.entries(own).map(([name, value]) => `${name} ${Number(value.toPrecision(3))}`);
  return el("span", { class: "note", title: told.join("\n") }, told.length ? `${told.length} of its own` : "as set");
}

export function build() {
  document.title = "Fleet – Forager";
  return [el("h1", {}, "Fleet"), headline,
    el("div", { class: "pair" },
      section("Family tree", "A line is a life; it hangs on its parent's line, and a cross ends it.", tree),
      section("Scores", "Credit with the reinforcing agent; at the dashed line a forager multiplies.", credit)),
    section("Foragers", "A number shows the forager's path and weblog.", table.element), detail];
}

async function choose(id) {
  chosen = id;
  await show();
  detail.focus();
  detail.scrollIntoView({ block: "nearest" });
}

async function show() {
  if (chosen === null) return;
  const one = await ask(`/api/forager?id=${chosen}`);
  const list = (rows, value) => el("ol", { class: "urls" }, rows.map((row) => el("li", {}, dossier(row.url), el("span", { class: "value" }, value(row)))));
  detail.replaceChildren(section(`Forager № ${one.id}`, one.deleted === null
    ? `On its path number ${count(one.paths)}, with ${count(one.open_links)} open links; ${one.weblog_size} pages in its weblog.`
    : `Deleted at ${moment(one.deleted)}.`,
    Object.keys(one.parameters).length ? el("p", {}, `Its own parameters: ${Object.entries(one.parameters).map(([name, value]) => `${name} ${Number(value.toPrecision(3))}`).join(", ")}.`) : null,
    one.deleted === null ? el("div", { class: "pair" },
      el("div", {}, el("h3", {}, "Path"), one.path.length ? list(one.path, (row) => row.earned) : empty("Between two paths.")),
      el("div", {}, el("h3", {}, "Weblog"), list(one.weblog, (row) => row.value))) : null));
}

export async function refresh() {
  const facts = await ask("/api/fleet");
  headline.textContent = `${facts.alive} alive, ${facts.born} born, ${facts.deleted} deleted. ` +
    `A forager multiplies at a score of ${facts.multiply_at} and is deleted below ${facts.delete_below}` +
    (facts.beyond_chance ? "; after many downloads it takes more, as chance alone gives more." : ".");
  table.update(facts.foragers);
  tree.replaceChildren(facts.foragers.length ? family(tree, facts.foragers, facts.now, "Lives of the foragers over time") : empty("No forager is out yet."));
  const drawn = facts.foragers.filter((one) => one.scores.length > 1);
  credit.replaceChildren(drawn.length ? scores(credit, drawn, facts.now, facts.multiply_at, "Scores of the foragers over time") : empty("Nobody has earned anything yet."));
  await show();
}
