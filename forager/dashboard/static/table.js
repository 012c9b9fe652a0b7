// A table that can be sorted by any column and filtered by words, and keeps its rows when it is brought up to date.

import { el } from "./dom.js";

const FEW = 6; // rows that nobody needs to filter

export class Table {
  /**
   * columns: {name, value: row => what to sort and filter by, cell: row => what to show (default: value),
   *           numeric, time, wide: how it is set; minor: hidden on narrow screens}
   * options: {key: row => what identifies it, sort: column name, descending, most: rows shown, empty: text, filter,
   *           short: scrolls by itself, cards: on narrow screens every row is a card, flash: marks new rows}
   */
  constructor(columns, options) {
    this.columns = columns;
    this.options = { most: 200, filter: true, empty: "Nothing yet.", ...options };
    this.sort = { name: this.options.sort ?? null, descending: this.options.descending ?? false };
    this.rows = [];
    this.shown = new Map();
    this.words = [];
    this.body = el("tbody");
    this.heads = columns.map((column) => this.head(column));
    this.note = el("p", { class: "more", hidden: true });
    this.nothing = el("p", { class: "empty" }, this.options.empty);
    this.scroller = el("div", { class: ["scroll", this.options.short ? "short" : "", this.options.cards ? "cards" : ""].join(" ").trim(), tabindex: "0", role: "region", "aria-label": this.options.label },
      el("table", {}, el("thead", {}, el("tr", {}, this.heads)), this.body));
    this.element = el("div", { class: "table" }, this.options.filter ? this.filter() : null,
      this.scroller, this.nothing, this.note);
    this.draw();
  }

  head(column) {
    const button = el("button", { type: "button", click: () => this.order(column) }, column.name);
    return el("th", { scope: "col", class: classes(column) }, button);
  }

  filter() {
    this.input = el("input", {
      type: "search", placeholder: "Filter", "aria-label": `Filter ${this.options.label}`, maxlength: "100",
      input: () => {
        this.words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
        this.draw();
      },
    });
    return el("div", { class: "filter" }, this.input);
  }

  order(column) {
    const again = this.sort.name === column.name;
    this.sort = { name: column.name, descending: again ? !this.sort.descending : Boolean(column.numeric || column.time) };
    this.draw();
  }

  update(rows) {
    this.rows = rows;
    this.draw();
  }

  chosen() {
    const matches = (row) => {
      const text = this.columns.map((column) => String(column.value(row) ?? "")).join(" ").toLowerCase();
      return this.words.every((word) => text.includes(word));
    };
    const rows = this.words.length ? this.rows.filter(matches) : [...this.rows];
    const column = this.columns.find((one) => one.name === this.sort.name);
    if (column) {
      const turn = this.sort.descending ? -1 : 1;
      rows.sort((a, b) => turn * compare(column.value(a), column.value(b)));
    }
    return rows;
  }

  draw() {
    const rows = this.chosen();
    this.columns.forEach((column, place) => {
      const on = column.name === this.sort.name;
      this.heads[place].setAttribute("aria-sort", on ? (this.sort.descending ? "descending" : "ascending") : "none");
    });
    const kept = new Map();
    let before = null;
    for (const row of rows.slice(0, this.options.most)) {
      const key = String(this.options.key(row));
      const element = this.row(key, row);
      kept.set(key, element);
      const next = before ? before.nextSibling : this.body.firstChild;
      if (next !== element.node) this.body.insertBefore(element.node, next);
      before = element.node;
    }
    while (before ? before.nextSibling : this.body.firstChild) (before ? before.nextSibling : this.body.firstChild).remove();
    this.shown = kept;
    if (this.input) this.input.parentNode.hidden = this.rows.length < FEW && !this.words.length;
    this.scroller.hidden = !rows.length;
    this.nothing.hidden = rows.length > 0;
    this.nothing.textContent = this.rows.length ? "Nothing matches the filter." : this.options.empty;
    this.note.hidden = rows.length <= this.options.most;
    this.note.textContent = `${this.options.most} of ${rows.length.toLocaleString("en")} rows`;
  }

  /** The row's element: the old one if nothing changed in it. */
  row(key, row) {
    const state = JSON.stringify(row);
    const old = this.shown.get(key);
    if (old && old.state === state) return old;
    const cells = this.columns.map((column) => {
      return el("td", { class: classes(column), "data-name": column.name }, (column.cell ?? column.value)(row) ?? "–");
    });
    const fresh = !old && this.shown.size > 0 && this.options.flash;
    return { state, node: el("tr", { class: fresh ? "new" : null }, cells) };
  }
}

function classes(column) {
  const names = { number: column.numeric, time: column.time, minor: column.minor, wide: column.wide };
  return Object.keys(names).filter((name) => names[name]).join(" ") || null;
}

function compare(a, b) {
  const none = (value) => value === null || value === undefined || value === "";
  if (none(a) || none(b)) return none(a) - none(b);
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}
