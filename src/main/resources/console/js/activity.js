import * as api from "./api.js";
import { chip, field, h, problem, select, show, table } from "./dom.js";
import { bytes, count, hexDump, secondsSince, span, time, tone } from "./format.js";

const STATES = [["", "any state"], ...["running", "retry_scheduled", "blocked", "manual_review", "unresolved", "completed", "dead"].map((s) => [s, s])];

export const activityLink = (row) =>
  h("a", { class: "mono", href: `#/activities/${encodeURIComponent(row.consumer)}/${encodeURIComponent(row.event_id)}` }, row.event_id);

const fact = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));

function lease(a) {
  if (!a.lease_owner) return "nobody";
  const left = (Date.parse(a.lease_until) - Date.now()) / 1000;
  return [h("span", { class: "mono" }, a.lease_owner), left > 0 ? `, ${span(left)} left` : `, expired ${span(-left)} ago`];
}

export function facts(a) {
  return h(
    "dl",
    { class: "facts" },
    fact("State", a.state ? chip(a.state, tone(a.state), a.state) : "no activity: only a dead letter"),
    fact("Kind", a.kind ?? "–"),
    fact("Attempts", count(a.attempts)),
    fact("Retries", a.max_retries === null || a.max_retries === undefined ? count(a.retries) : `${count(a.retries)} of ${count(a.max_retries)}`),
    fact("Redeliveries", count(a.redeliveries)),
    fact("Fence", count(a.fence)),
    fact("Generation", count(a.generation)),
    fact("Lease", lease(a)),
    a.next_attempt_at && fact("Next attempt", time(a.next_attempt_at)),
    a.phase && fact("Progress", `${a.phase} (${count(a.progress_seq)}), ${span(secondsSince(a.progress_at))} ago`),
    a.awaiting_message && fact("Waits for", "its message, which the broker has not sent again"),
  );
}

const word = (what) => what.replace(/^(attempt|receipt|dead letter) /, "");

const dayOf = (iso) => new Date(iso).toLocaleDateString("en-CA");

export function timeline(found) {
  let day = new Date().toLocaleDateString("en-CA");
  return h(
    "ol",
    { class: "timeline" },
    found.timeline.map((m, i) => {
      const later = i > 0 ? (Date.parse(m.at) - Date.parse(found.timeline[i - 1].at)) / 1000 : 0;
      const newDay = dayOf(m.at) !== day;
      day = dayOf(m.at);
      return [
        newDay && h("li", { class: "day" }, day),
        h(
          "li",
          { class: tone(word(m.what)) },
          h("time", { class: "when", datetime: m.at, title: m.at }, new Date(m.at).toLocaleTimeString("en-GB")),
          h("span", { class: "later" }, later >= 0.001 ? `+${span(later)}` : ""),
          h("span", { class: "what" }, m.what.replaceAll("_", " ")),
          h("span", { class: "detail mono" }, m.detail),
        ),
      ];
    }),
  );
}

/** A body is shown as text, or in hex where it is none; never as anything else. */
export function body(row, loadAll) {
  if (row.body === null || row.body === undefined) return h("p", { class: "muted" }, "There is no body.");
  const binary = row.body_encoding === "base64";
  const pre = h("pre", { class: "body", tabindex: "0", "aria-label": "Body" }, binary ? hexDump(row.body) : row.body);
  const size = row.body_size ?? row.body.length;
  const json = !binary && /^\s*[[{]/.test(row.body);
  return h(
    "div",
    {},
    h(
      "p",
      { class: "body-head muted" },
      `${bytes(size)}, ${binary ? "binary" : "text"}${row.body_truncated ? ", the beginning" : ""} `,
      row.body_truncated && loadAll && h("button", { type: "button", class: "quiet", onclick: loadAll }, "Load all"),
      json && !row.body_truncated && h("label", { class: "inline" }, h("input", { type: "checkbox", onchange: (e) => (pre.textContent = e.target.checked ? pretty(row.body) : row.body) }), "indented"),
    ),
    pre,
  );
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

async function details(main, consumer, eventId) {
  show(main, h("p", { class: "empty" }, "Asking…"));
  try {
    const found = await api.get(api.eventPath("activities", consumer, eventId));
    show(
      main,
      h("p", { class: "crumbs" }, h("a", { href: "#/activities" }, "Activities"), " / ", h("span", { class: "mono" }, consumer)),
      h("h1", {}, h("span", { class: "mono" }, eventId), " ", h("small", {}, found.type ?? "")),
      facts(found),
      found.state === "manual_review" && h("p", {}, h("a", { class: "button primary", href: `#/reviews/${encodeURIComponent(consumer)}/${encodeURIComponent(eventId)}` }, "Decide this review")),
      h("h2", {}, "What happened"),
      timeline(found),
    );
  } catch (error) {
    show(main, h("p", { class: "crumbs" }, h("a", { href: "#/activities" }, "Activities")), problem(error));
  }
}

function list(main) {
  const results = h("div", {});
  const form = h(
    "form",
    { class: "filters", onsubmit: (event) => { event.preventDefault(); search(null); } },
    field("Consumer", h("input", { name: "consumer", autocomplete: "off" })),
    field("Event id", h("input", { name: "event_id", autocomplete: "off", class: "mono" }), "with the consumer: shows it at once"),
    field("Type", h("input", { name: "type", autocomplete: "off" })),
    field("State", select("state", STATES, "")),
    h("button", { type: "submit", class: "primary" }, "Find"),
  );
  async function search(after) {
    const q = Object.fromEntries(new FormData(form));
    if (q.consumer && q.event_id) {
      location.hash = `#/activities/${encodeURIComponent(q.consumer)}/${encodeURIComponent(q.event_id)}`;
      return;
    }
    try {
      const page = await api.get("/api/v1/activities", { consumer: q.consumer, type: q.type, state: q.state, after, limit: 50 });
      show(
        results,
        table(
          "Activities",
          [
            { head: "Consumer", class: "mono", cell: (a) => a.consumer },
            { head: "Event", cell: activityLink },
            { head: "Type", class: "mono", cell: (a) => a.type ?? "–" },
            { head: "State", cell: (a) => chip(a.state, tone(a.state), a.state) },
            { head: "Attempts", class: "num", cell: (a) => count(a.attempts) },
            { head: "Retries", class: "num", cell: (a) => count(a.retries) },
            { head: "Fence", class: "num", cell: (a) => count(a.fence) },
            { head: "First seen", cell: (a) => time(a.first_seen_at) },
          ],
          page.items,
          "No activity passes this filter.",
        ),
        page.next && h("p", { class: "more" }, h("button", { type: "button", onclick: () => search(page.next) }, "Next page")),
      );
    } catch (error) {
      show(results, problem(error));
    }
  }
  show(main, h("h1", {}, "Activities"), form, results);
  search(null);
}

export function open(main, [consumer, eventId]) {
  if (consumer && eventId) details(main, consumer, eventId);
  else list(main);
}
