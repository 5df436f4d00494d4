import * as api from "./api.js";
import { field, h, problem, show, table, toast } from "./dom.js";
import { facts, timeline } from "./activity.js";
import { count, time } from "./format.js";

const DECISIONS = [
  ["succeeded", "It happened", "A receipt is recorded; the activity is completed and never runs again."],
  ["failed", "It failed for good", "It becomes a dead letter; the event is not run again unless you redrive it."],
  ["retry", "It did not happen", "It may start once more, even at the limit. Choose this only when you know that nothing was done."],
];

const reviewPath = (r) => `#/reviews/${encodeURIComponent(r.consumer)}/${encodeURIComponent(r.event_id)}`;

async function list(main) {
  const results = h("div", {}, h("p", { class: "empty" }, "Asking…"));
  show(
    main,
    h("h1", {}, "Reviews"),
    h("p", { class: "lead" }, "What may have happened and must not be repeated by a machine. Find out what really happened, then say so. ", h("a", { href: "/triage#manual_review", target: "_blank", rel: "noopener" }, "How to decide")),
    results,
  );
  const page = async (after) => {
    try {
      const found = await api.get("/api/v1/reviews", { after, limit: 50 });
      show(
        results,
        table(
          "Activities in review",
          [
            { head: "Event", cell: (r) => h("a", { class: "mono", href: reviewPath(r) }, r.event_id) },
            { head: "Consumer", class: "mono", cell: (r) => r.consumer },
            { head: "Type", class: "mono", cell: (r) => r.type ?? "–" },
            { head: "Kind", cell: (r) => r.kind ?? "–" },
            { head: "Attempts", class: "num", cell: (r) => count(r.attempts) },
            { head: "Last phase", cell: (r) => r.phase ?? "–" },
            { head: "First seen", cell: (r) => time(r.first_seen_at) },
          ],
          found.items,
          "Nothing waits for a decision.",
        ),
        found.next && h("p", { class: "more" }, h("button", { type: "button", onclick: () => page(found.next) }, "Next page")),
      );
    } catch (error) {
      show(results, problem(error));
    }
  };
  page(null);
}

function decisionForm(found) {
  const refused = h("div", {});
  const form = h(
    "form",
    { class: "card decision" },
    h("h2", {}, "Decide"),
    h(
      "fieldset",
      {},
      h("legend", { class: "hidden" }, "What happened"),
      DECISIONS.map(([value, title, meaning]) =>
        h("label", { class: "choice" }, h("input", { type: "radio", name: "as", value, required: true }), h("span", {}, h("b", {}, title), " ", h("code", {}, value), h("small", {}, meaning))),
      ),
    ),
    field("Evidence", h("textarea", { name: "evidence", rows: 4, required: true, maxlength: 10000 }), "How you know: a reference, a query and its answer, who said so. It is kept for good."),
    field("Operator", h("input", { name: "operator", required: true, maxlength: 200, value: api.operator.get(), autocomplete: "name" })),
    refused,
    h("div", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Record the decision"), h("small", { class: "muted" }, `decided on fence ${count(found.fence)}: refused when it has changed meanwhile`)),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(form));
    const button = form.querySelector("button");
    button.disabled = true;
    api.operator.set(given.operator);
    try {
      const done = await api.post(`${api.eventPath("reviews", found.consumer, found.event_id)}/decision`, { ...given, fence: found.fence });
      toast(`${found.event_id} is ${done.state} now`);
      location.hash = "#/reviews";
    } catch (error) {
      show(refused, problem(error));
      button.disabled = false;
    }
  });
  return form;
}

async function one(main, consumer, eventId) {
  show(main, h("p", { class: "empty" }, "Asking…"));
  const crumbs = h("p", { class: "crumbs" }, h("a", { href: "#/reviews" }, "Reviews"), " / ", h("span", { class: "mono" }, consumer));
  try {
    const found = await api.get(api.eventPath("reviews", consumer, eventId));
    show(
      main,
      crumbs,
      h("h1", {}, h("span", { class: "mono" }, eventId), " ", h("small", {}, found.type ?? "")),
      facts(found),
      h(
        "div",
        { class: "split" },
        h("section", {}, h("h2", {}, "Evidence so far"), timeline(found)),
        found.state === "manual_review" ? decisionForm(found) : h("p", { class: "card" }, "It is not in review any more."),
      ),
    );
  } catch (error) {
    show(main, crumbs, problem(error));
  }
}

export function open(main, [consumer, eventId]) {
  if (consumer && eventId) one(main, consumer, eventId);
  else list(main);
}
