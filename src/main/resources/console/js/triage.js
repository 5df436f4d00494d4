import { byId, h, show } from "./dom.js";

/* The page is docs/triage.md itself; this reads as much of Markdown as that page uses. */

export const anchor = (text) =>
  text.toLowerCase().replace(/[^\p{L}\p{N}_\- ]/gu, "").trim().replaceAll(" ", "-");

function inline(text) {
  const parts = [];
  const pattern = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|\[([^\]]+)\]\(([^)\s]+)\)/g;
  let at = 0;
  for (const m of text.matchAll(pattern)) {
    parts.push(text.slice(at, m.index));
    if (m[1]) parts.push(h("code", {}, m[1]));
    else if (m[2]) parts.push(h("b", {}, inline(m[2])));
    else if (m[3]) parts.push(h("em", {}, inline(m[3])));
    else parts.push(/^(#|https?:)/.test(m[5]) ? h("a", { href: m[5], rel: "noopener" }, inline(m[4])) : h("span", {}, inline(m[4])));
    at = m.index + m[0].length;
  }
  parts.push(text.slice(at));
  return parts;
}

const cells = (line) => line.replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((c) => c.trim().replaceAll("\\|", "|"));

function tableOf(lines) {
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, cells(lines[0]).map((c) => h("th", { scope: "col" }, inline(c))))),
      h("tbody", {}, lines.slice(2).map((line) => h("tr", {}, cells(line).map((c) => h("td", {}, inline(c)))))),
    ),
  );
}

function listOf(lines) {
  const items = [];
  for (const line of lines) {
    const m = /^(?:[-*]|\d+\.) (.*)$/.exec(line);
    if (m) items.push(m[1]);
    else items[items.length - 1] += ` ${line.trim()}`;
  }
  return h(/^\d/.test(lines[0]) ? "ol" : "ul", {}, items.map((item) => h("li", {}, inline(item))));
}

function block(lines) {
  const heading = /^(#{1,3}) (.*)$/.exec(lines[0]);
  if (heading) return h(`h${heading[1].length}`, { id: anchor(heading[2]) }, inline(heading[2]));
  if (lines[0].startsWith("|")) return tableOf(lines);
  if (/^([-*]|\d+\.) /.test(lines[0])) return listOf(lines);
  return h("p", {}, inline(lines.join(" ")));
}

export function render(markdown) {
  const blocks = [];
  let open = [];
  let code = null;
  const close = () => {
    if (open.length > 0) blocks.push(block(open));
    open = [];
  };
  for (const line of markdown.split("\n")) {
    if (line.startsWith("```")) {
      close();
      if (code) blocks.push(h("pre", {}, h("code", {}, code.join("\n"))));
      code = code ? null : [];
    } else if (code) code.push(line);
    else if (line.trim() === "") close();
    else {
      if (line.startsWith("#")) close();
      open.push(line);
      if (line.startsWith("#")) close();
    }
  }
  close();
  return blocks;
}

const response = await fetch("/console/triage.md");
show(byId("main"), render(await response.text()));
if (location.hash) {
  const id = decodeURIComponent(location.hash.slice(1));
  byId(id)?.scrollIntoView();
  location.replace(`#${id}`);
}
