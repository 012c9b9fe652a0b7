// Makes elements. Text is only ever set as text: nothing that a page of the web says becomes markup here.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children; strings and numbers become text, null and undefined nothing. */
export function el(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined).map(node));
  return element;
}

function node(child) {
  return child instanceof Node ? child : document.createTextNode(String(child));
}

/** Text of a page, kept from turning the direction of what stands around it. */
export function foreign(text) {
  return el("bdi", { dir: "auto" }, text);
}

/** A link to the page's dossier. */
export function dossier(url, text) {
  return el("a", { href: `/page?url=${encodeURIComponent(url)}`, title: url }, foreign(text ?? short(url)));
}

/** A link out; only http and https can be followed. */
export function outward(url, text) {
  const safe = /^https?:\/\//i.test(url);
  return el("a", { href: safe ? url : null, rel: "noopener noreferrer", target: "_blank" }, foreign(text ?? url));
}

export function short(url) {
  return url.replace(/^https?:\/\//, "");
}

export function section(title, note, ...children) {
  return el("section", {}, el("h2", {}, title), note ? el("p", { class: "note" }, note) : null, ...children);
}

export function empty(text) {
  return el("p", { class: "empty" }, text);
}

// Numbers and times, as people say them.

export function count(value) {
  return value === null || value === undefined ? "–" : value.toLocaleString("en");
}

export function span(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 172800 ? `${(seconds / 3600).toFixed(1)} h` : `${(seconds / 86400).toFixed(1)} d`;
}

export function moment(time) {
  if (time === null || time === undefined) return "–";
  const date = new Date(time * 1000);
  return isNaN(date) ? "–" : date.toISOString().slice(0, 19).replace("T", " ");
}

export function hour(time) {
  return moment(time).slice(11, 16);
}

export function bytes(value) {
  if (value < 1e6) return `${(value / 1e3).toFixed(0)} kB`;
  return value < 1e9 ? `${(value / 1e6).toFixed(1)} MB` : `${(value / 1e9).toFixed(2)} GB`;
}

export function percent(part, whole) {
  return whole ? `${Math.round((100 * part) / whole)}%` : "–";
}

/** Asks the API; with content, tells it something. */
export async function ask(path, telling) {
  const headers = { Accept: "application/json", ...(telling ? { "Content-Type": "application/json" } : {}) };
  const response = await fetch(path, telling ? { method: "POST", headers, body: JSON.stringify(telling) } : { headers });
  const content = await response.json();
  if (!response.ok) throw new Error(content.error ?? `status ${response.status}`);
  return content;
}
