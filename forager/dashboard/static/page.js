// Story or page: all that is known of one URL.

import { ask, count, dossier, el, empty, foreign, moment, outward, section, short, span } from "./dom.js";

const url = new URLSearchParams(location.search).get("url") ?? "";
const body = el("div");
let drawn = "";

export function build() {
  document.title = "Page – Forager";
  body.append(el("h1", {}, "Page"), empty(url ? "Looking it up…" : "Which page? Follow a link from another page, or give ?url=…"));
  return [body];
}

export function failed(trouble) {
  if (!drawn) body.replaceChildren(el("h1", {}, "Page"), el("p", {}, outward(url)), empty(`${trouble.message}.`));
}

export async function refresh() {
  if (!url) return;
  const facts = await ask(`/api/page?url=${encodeURIComponent(url)}`);
  const state = JSON.stringify([facts.visits, facts.versions, facts.stories, facts.copies, facts.topic]);
  if (state === drawn) return;
  drawn = state;
  document.title = `${facts.title || facts.url} – Forager`;
  body.replaceChildren(...[
    el("h1", {}, foreign(facts.title || short(facts.url))),
    el("p", { class: "address" }, outward(facts.url)),
    el("dl", { class: "facts" }, ...answers(facts)),
    facts.topic && facts.versions ? marks() : null,
    section("Versions", `${count(facts.versions)} stored; what changed is marked against the one before.`,
      facts.editions.length ? facts.editions.map(edition) : empty("None yet.")),
    section("How it was found", null, el("ol", { class: "trail" }, facts.found.map(step))),
    section("Copies", null, facts.copies.length ? el("ul", { class: "urls" }, facts.copies.map(copy)) : empty("No other page is known to have this text.")),
    section("Latest visits", null, facts.latest_visits.length ? visits(facts.latest_visits) : empty("Never visited.")),
  ].filter(Boolean));
}

function answers(facts) {
  const told = facts.stories.map((story) => `Told ${moment(story.at)} by ${story.by}, ${span(story.delay)} after publication (${moment(story.published)} by ${story.published_source}).`);
  return [
    ["A story?", [facts.story, ...told].join(" ")],
    facts.topic ? ["On topic?", facts.topic] : null,
    ["Why visited or not", facts.visiting],
    facts.recrawl ? ["Recrawl", facts.recrawl] : null,
    facts.territory ? ["Territory", facts.territory] : null,
    facts.announced ? ["Announced", `a feed or news sitemap says ${moment(facts.announced)}`] : null,
    facts.robots ? ["robots.txt", facts.robots] : null,
    facts.host ? ["At its host", facts.host] : null,
  ].filter(Boolean).flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, foreign(text))]);
}

/** Buttons that teach the focus what this page is. */
function marks() {
  const said = el("span", { class: "note", role: "status" });
  const mark = (on_topic) => async () => {
    try {
      await ask("/api/mark", { url, on_topic });
      said.textContent = ` Marked as ${on_topic ? "on" : "off"} topic; the crawl learns from it within seconds.`;
    } catch (trouble) {
      said.textContent = ` ${trouble.message}.`;
    }
  };
  return el("p", { class: "marks" }, el("button", { type: "button", click: mark(true) }, "On topic"), " ",
    el("button", { type: "button", click: mark(false) }, "Off topic"), said);
}

function edition(one) {
  const date = (name, dated) => (dated ? `${name} ${dated.exact ? moment(dated.time) : moment(dated.time).slice(0, 10)} (${dated.source})` : null);
  const facts = [`seen ${moment(one.at)}`, one.kind, one.authors.join(", "), one.section, `${count(one.words)} words`, one.lang, date("published", one.published), date("modified", one.modified)].filter(Boolean);
  return el("article", { class: "edition" }, el("h3", {}, foreign(one.title || "Without a title")), el("p", { class: "note" }, facts.join(" · ")),
    one.title_changes.length ? el("p", { class: "diff title-diff" }, pieces(one.title_changes)) : null,
    one.text_changes.length ? el("div", { class: "diff text-diff" }, pieces(one.text_changes))
      : one.opening ? el("p", { class: "opening" }, foreign(one.opening)) : null);
}

function pieces(changes) {
  const names = { "+": "ins", "-": "del", "=": "span" };
  return changes.map((piece) => el(names[piece.mark], { dir: "auto" }, piece.mark === "=" ? middle(piece.text) : piece.text));
}

/** Long runs that stayed are cut in the middle. */
function middle(text) {
  return text.length > 600 ? `${text.slice(0, 250)} […] ${text.slice(-250)}` : text;
}

function step(one, place, all) {
  const from = all[place + 1];
  const how = one.channel === "seed" ? "a seed" : `by ${one.channel}${from ? " on the page below" : ""}${from && one.by ? `, which ${one.by} visited` : ""}`;
  return el("li", {}, dossier(one.url), el("span", { class: "value" }, `${how}, ${moment(one.at)}`));
}

function copy(one) {
  return el("li", {}, dossier(one.url), el("span", { class: "value" }, `${one.site}, ${moment(one.published)}${one.is_first ? ", the first print" : ""}`));
}

function visits(looks) {
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "visits" }, el("table", {},
    el("thead", {}, el("tr", {}, ["At", "Outcome", "By", "Took", "Note"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, looks.map((one) => el("tr", {}, el("td", { class: "number" }, moment(one.at)),
      el("td", {}, el("span", { class: `tag ${one.trouble ? "bad" : one.changed ? "good" : ""}` }, one.changed ? "changed" : one.outcome, one.status ? ` ${one.status}` : "")),
      el("td", {}, one.by), el("td", { class: "number" }, `${one.seconds.toFixed(2)} s`), el("td", {}, foreign(one.error || "–")))))));
}
