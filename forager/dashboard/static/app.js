// Chooses the page, keeps the line to the crawl open, and brings the page up to date.

import { moment } from "./dom.js";
import * as now from "./now.js";
import * as fleet from "./fleet.js";
import * as sites from "./sites.js";
import * as recrawl from "./recrawl.js";
import * as page from "./page.js";

const PAGES = { "/": now, "/fleet": fleet, "/sites": sites, "/recrawl": recrawl, "/page": page };
const AGAIN = 2000; // milliseconds between two refreshes, at least

const here = PAGES[location.pathname] ?? now;
const main = document.getElementById("page");
const state = document.getElementById("link");
const clock = document.getElementById("clock");
const name = document.getElementById("name");
let asked = 0, busy = false, line = null;

for (const link of document.querySelectorAll("nav a")) {
  if (link.pathname === location.pathname) link.setAttribute("aria-current", "page");
}

function say(kind, text) {
  if (state.textContent === text) return;
  state.className = kind;
  state.textContent = text;
}

async function refresh(force) {
  if (busy || document.hidden || (!force && performance.now() - asked < AGAIN)) return;
  busy = true;
  try {
    await here.refresh();
    asked = performance.now();
  } catch (trouble) {
    here.failed?.(trouble);
  } finally {
    busy = false;
  }
}

function listen() {
  line?.close();
  line = new EventSource("/api/stream");
  line.addEventListener("open", () => {
    say("live", "live");
    refresh(true);
  });
  line.addEventListener("tick", (event) => {
    const tick = JSON.parse(event.data);
    clock.textContent = `${moment(tick.now)} UTC${tick.speed > 1.5 ? ` · ${Math.round(tick.speed)}×` : ""}`;
    name.textContent = tick.name;
    here.tick?.(tick);
    refresh(false);
  });
  line.addEventListener("error", () => {
    say("lost", "not connected, trying again");
    if (line.readyState === EventSource.CLOSED) setTimeout(listen, 3000); // a browser gives up only on a wrong answer
  });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select")) return;
  const link = document.querySelectorAll("nav a")[Number(event.key) - 1];
  const filter = document.querySelector("input[type=search]");
  if (event.key === "/" && filter) {
    event.preventDefault();
    filter.focus();
  } else if (link) {
    location.href = link.href;
  }
});
document.addEventListener("visibilitychange", () => refresh(true));
window.addEventListener("pagehide", () => line.close());
window.addEventListener("pageshow", (event) => event.persisted && listen());

main.replaceChildren(...here.build());
refresh(true);
listen();
