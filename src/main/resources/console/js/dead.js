import * as api from "./api.js";
import { activityLink, body } from "./activity.js";
import { openBulk } from "./bulk.js";
import { chip, field, h, problem, select, show, table } from "./dom.js";
import { count, time, tone } from "./format.js";

const REASONS = [["", "any reason"], ["poison_message", "poison_message"], ["permanent_failure", "permanent_failure"], ["retries_exhausted", "retries_exhausted"]];
const STATES = [["open", "open"], ["redriven", "redriven"], ["discarded", "discarded"], ["all", "all"]];
const FILTER = ["consumer", "type", "reason", "since", "until", "search"];

function detail(row) {
  const bodyBox = h("div", {});
  const loadAll = async () => {
    try {
      show(bodyBox, body(await api.get(`/api/v1/dead-letters/${row.id}`)));
    } catch (error) {
      show(bodyBox, problem(error));
    }
  };
  show(bodyBox, body(row, loadAll));
  const pairs = (title, object) =>
    object && Object.keys(object).length > 0 && h("div", {}, h("h3", {}, title), h("dl", { class: "pairs mono" }, Object.entries(object).map(([k, v]) => h("div", {}, h("dt", {}, k), h("dd", {}, typeof v === "string" ? v : JSON.stringify(v))))));
  return h(
    "div",
    { class: "detail-box" },
    h("p", { class: "error-text" }, h("b", { class: "mono" }, row.error_class ?? ""), row.error_class && row.error_message ? ": " : "", row.error_message ?? ""),
    row.error_cause && h("p", { class: "muted error-text" }, "caused by ", row.error_cause),
    h("p", { class: "muted" }, "published to ", h("code", {}, row.exchange || "(default exchange)"), " with ", h("code", {}, row.routing_key || "(no key)"), `, generation ${count(row.generation)}, `, h("a", { href: activityLink(row).href ?? activityLink(row).getAttribute("href") }, "history of the event")),
    h("div", { class: "split even" }, h("div", {}, pairs("Headers", row.headers), pairs("Properties", row.properties)), h("div", {}, h("h3", {}, "Body"), bodyBox)),
  );
}

export function open(main) {
  const chosen = new Set();
  const results = h("div", {});
  const bar = h("div", { class: "actions", role: "group", "aria-label": "Actions" });
  const form = h(
    "form",
    { class: "filters", onsubmit: (event) => { event.preventDefault(); search(null); } },
    field("Search", h("input", { name: "search", type: "search", autocomplete: "off", placeholder: "event id or error" })),
    field("Consumer", h("input", { name: "consumer", autocomplete: "off" })),
    field("Type", h("input", { name: "type", autocomplete: "off" })),
    field("Reason", select("reason", REASONS, "")),
    field("Since", h("input", { name: "since", autocomplete: "off", placeholder: "2h" }), "2h, or a time (UTC)"),
    field("Until", h("input", { name: "until", autocomplete: "off" })),
    field("State", select("state", STATES, "open")),
    h("button", { type: "submit", class: "primary" }, "Find"),
  );

  const filter = () => {
    const given = Object.fromEntries(new FormData(form));
    return Object.fromEntries(FILTER.filter((name) => given[name]).map((name) => [name, given[name]]));
  };
  const bulk = (action) => {
    const request = chosen.size > 0 ? { ids: [...chosen] } : filter();
    openBulk(action, request, () => search(null));
  };
  const drawBar = () => {
    const which = chosen.size > 0 ? `${count(chosen.size)} selected` : "all that match";
    show(bar, h("button", { type: "button", onclick: () => bulk("redrive") }, `Redrive ${which}…`), h("button", { type: "button", class: "quiet", onclick: () => bulk("discard") }, `Discard ${which}…`), h("small", { class: "muted" }, "a dry run first"));
  };

  async function search(after) {
    chosen.clear();
    drawBar();
    try {
      const page = await api.get("/api/v1/dead-letters", { ...filter(), state: new FormData(form).get("state"), after, limit: 50 });
      show(
        results,
        table("Dead letters", columns(), page.items, "No dead letter passes this filter."),
        page.next && h("p", { class: "more" }, h("button", { type: "button", onclick: () => search(page.next) }, "Older")),
      );
    } catch (error) {
      show(results, problem(error));
    }
  }

  const pick = (row) =>
    row.state === "open" && h("input", { type: "checkbox", "aria-label": `Select ${row.id}`, onchange: (e) => { if (e.target.checked) chosen.add(row.id); else chosen.delete(row.id); drawBar(); } });

  function toggle(row, button) {
    const line = button.closest("tr");
    const opened = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!opened));
    if (opened) line.nextElementSibling.remove();
    else line.after(h("tr", { class: "expanded" }, h("td", { colspan: columns().length }, detail(row))));
  }

  const columns = () => [
    { head: "", label: "Select", class: "pick", cell: pick },
    { head: "Id", class: "num", cell: (r) => { const b = h("button", { type: "button", class: "link", "aria-expanded": "false", onclick: () => toggle(r, b) }, String(r.id)); return b; } },
    { head: "Event", cell: activityLink },
    { head: "Consumer", class: "mono", cell: (r) => r.consumer },
    { head: "Type", class: "mono", cell: (r) => r.type ?? "–" },
    { head: "Reason", cell: (r) => chip(r.reason, tone(r.reason), r.reason) },
    { head: "Attempts", class: "num", cell: (r) => count(r.attempts) },
    { head: "Error", class: "cut", cell: (r) => h("span", { title: r.error_message }, r.error_message ?? "–") },
    { head: "Died", cell: (r) => time(r.dead_at) },
    { head: "State", cell: (r) => chip(r.state, tone(r.state)) },
  ];

  show(main, h("h1", {}, "Dead letters"), form, bar, results);
  search(null);
}
