import * as api from "./api.js";
import { activityLink } from "./activity.js";
import { chip, field, h, problem, select, show, table } from "./dom.js";
import { count, time, tone } from "./format.js";

const ACTIONS = [["", "anything"], ...["review_resolved", "redrive", "discard", "outbox_retry", "outbox_skip", "outbox_redirect", "outbox_replay", "outbox_replay_done", "takeover", "probe", "manual_review", "late_result", "lease_lost", "awaiting_message", "stalled"].map((a) => [a, a])];

/** What was done with a row of the outbox has no consumer, and so no history of its own. */
const event = (line) =>
  line.event_id === null ? "–" : line.consumer === null ? h("span", { class: "mono" }, line.event_id) : activityLink(line);

export function open(main) {
  const results = h("div", {});
  const form = h(
    "form",
    { class: "filters", onsubmit: (submitted) => { submitted.preventDefault(); search(null); } },
    field("Who", h("input", { name: "actor", autocomplete: "off" })),
    field("What", select("action", ACTIONS, "")),
    field("Event id", h("input", { name: "event_id", autocomplete: "off", class: "mono" })),
    field("Consumer", h("input", { name: "consumer", autocomplete: "off" })),
    field("Since", h("input", { name: "since", autocomplete: "off", placeholder: "12h" }), "12h, or a time (UTC)"),
    field("Until", h("input", { name: "until", autocomplete: "off" })),
    h("button", { type: "submit", class: "primary" }, "Find"),
  );

  async function search(after) {
    try {
      const page = await api.get("/api/v1/audit", { ...Object.fromEntries(new FormData(form)), after, limit: 50 });
      show(
        results,
        table(
          "Audit log, the newest line first",
          [
            { head: "When", cell: (l) => time(l.at) },
            { head: "Who", class: "mono", cell: (l) => l.actor },
            { head: "What", class: "alone", cell: (l) => chip(l.action, tone(l.action)) },
            { head: "Event", cell: event },
            { head: "Consumer", class: "mono", cell: (l) => l.consumer ?? "–" },
            { head: "Fence", class: "num alone", cell: (l) => count(l.fence) },
            { head: "Why", class: "long", cell: (l) => l.evidence ?? "–" },
            { head: "Detail", class: "mono long", cell: (l) => l.detail ?? "–" },
          ],
          page.items,
          "No line of the audit log passes this filter.",
        ),
        page.next && h("p", { class: "more" }, h("button", { type: "button", onclick: () => search(page.next) }, "Older")),
      );
    } catch (error) {
      show(results, problem(error));
    }
  }

  show(main, h("h1", {}, "Audit log"), h("p", { class: "lead" }, "What people decided and why, and what processes took over. Nothing deletes it."), form, results);
  search(null);
}
