/* Elements are built, never parsed: nothing that a message says can become markup. */

const SVG = "http://www.w3.org/2000/svg";

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}

export const h = (tag, props = {}, ...children) => fill(document.createElement(tag), props, children);

export const svg = (tag, props = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), props, children);

export const byId = (id) => document.getElementById(id);

export function show(container, ...children) {
  container.replaceChildren(...children.flat(Infinity).filter(Boolean));
}

/**
 * A table whose cells know their column, so that a phone can stack them; or, where some columns are
 * `wide`, a table there too, without those.
 */
export function table(caption, columns, rows, empty) {
  if (rows.length === 0) return h("p", { class: "empty" }, empty);
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { class: columns.some((c) => /\bwide\b/.test(c.class)) ? null : "stack" },
      h("caption", { class: "hidden" }, caption),
      h("thead", {}, h("tr", {}, columns.map((c) => h("th", { scope: "col", class: c.class }, c.head)))),
      h(
        "tbody",
        {},
        rows.map((row) =>
          h(
            "tr",
            { class: row.tone },
            columns.map((c) => h("td", { class: c.class, "data-label": c.label ?? c.head }, c.cell(row))),
          ),
        ),
      ),
    ),
  );
}

export function field(label, input, hint) {
  return h("label", { class: "field" }, h("span", {}, label), input, hint && h("small", {}, hint));
}

export const select = (name, values, value) =>
  h(
    "select",
    { name },
    values.map(([v, text]) => h("option", { value: v, selected: v === value }, text)),
  );

/** A chip that links to what its word means. */
export const chip = (word, tone, anchor) =>
  anchor
    ? h("a", { class: `chip ${tone}`, href: `/triage#${anchor}`, target: "_blank", rel: "noopener", title: "What this means" }, word)
    : h("span", { class: `chip ${tone}` }, word);

let hideToast;
export function toast(text) {
  const element = byId("toast");
  element.textContent = text;
  element.hidden = false;
  clearTimeout(hideToast);
  hideToast = setTimeout(() => (element.hidden = true), 6000);
}

export const problem = (error) =>
  h("p", { class: "problem", role: "alert" }, error.detail ?? error.message ?? String(error));
