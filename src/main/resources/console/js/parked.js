import * as api from "./api.js";
import { chip, field, h, problem, select, show, table, toast } from "./dom.js";
import { count, time, tone } from "./format.js";

const REASONS = [["", "any reason"], ...["unroutable", "exchange_missing", "access_refused", "rejected", "too_large", "invalid_property", "behind_key"].map((r) => [r, r])];

const ACTIONS = {
  retry: ["Retry now", "The lane's owner publishes it at once instead of waiting for its backoff."],
  skip: ["Skip", "It is never published. What waits behind it goes on. Its consumers will not see this event."],
  redirect: ["Redirect", "It is published elsewhere, and so are the rows behind it of the same key and destination."],
};

function ask(action, row, onDone) {
  const [title, meaning] = ACTIONS[action];
  const refused = h("div", {});
  const form = h(
    "form",
    {},
    h("h2", {}, title),
    h("p", {}, h("span", { class: "mono" }, row.event_id), row.key ? [" of key ", h("span", { class: "mono" }, row.key)] : "", ` (seq ${row.seq})`),
    h("p", { class: "muted" }, meaning),
    action === "redirect" && field("Exchange", h("input", { name: "exchange", required: true, maxlength: 127, value: row.exchange })),
    action === "redirect" && field("Routing key", h("input", { name: "routing_key", value: row.routing_key })),
    field("Operator", h("input", { name: "operator", required: true, maxlength: 200, value: api.operator.get(), autocomplete: "name" })),
    field("Why", h("input", { name: "note", maxlength: 2000, autocomplete: "off", required: action === "skip" })),
    refused,
    h("div", { class: "actions" }, h("button", { type: "submit", class: action === "skip" ? "danger" : "primary" }, title), h("button", { type: "button", onclick: () => dialog.close() }, "Cancel")),
  );
  const dialog = h("dialog", { "aria-label": title, onclose: () => { dialog.remove(); onDone(); } }, form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(form));
    api.operator.set(given.operator);
    const which = action === "redirect" && row.key ? { key: row.key } : { seq: row.seq };
    try {
      const done = await api.post(`/api/v1/parked/${action}`, { ...which, ...given });
      toast(`Asked the owner of lane ${row.lane} for ${count(done.changed)} ${done.changed === 1 ? "row" : "rows"}`);
      dialog.close();
    } catch (error) {
      show(refused, problem(error));
    }
  });
  document.body.append(dialog);
  dialog.showModal();
}

export function open(main) {
  const results = h("div", {});
  const form = h(
    "form",
    { class: "filters", onsubmit: (event) => { event.preventDefault(); search(null); } },
    field("Key", h("input", { name: "key", autocomplete: "off" })),
    field("Exchange", h("input", { name: "exchange", autocomplete: "off" })),
    field("Reason", select("reason", REASONS, "")),
    h("button", { type: "submit", class: "primary" }, "Find"),
  );
  const actions = (row) =>
    row.reason === "behind_key"
      ? h("span", { class: "muted" }, "follows its key")
      : h("span", { class: "row-actions" }, Object.entries(ACTIONS).map(([name, [title]]) => h("button", { type: "button", class: "quiet", onclick: () => ask(name, row, () => search(null)) }, title)));

  async function search(after) {
    try {
      const page = await api.get("/api/v1/parked", { ...Object.fromEntries(new FormData(form)), after, limit: 50 });
      show(
        results,
        table(
          "Parked rows",
          [
            { head: "Lane", class: "num", cell: (r) => count(r.lane) },
            { head: "Seq", class: "num", cell: (r) => String(r.seq) },
            { head: "Event", class: "mono", cell: (r) => r.event_id },
            { head: "Key", class: "mono", cell: (r) => r.key ?? "–" },
            { head: "Exchange", class: "mono", cell: (r) => r.exchange || "(default)" },
            { head: "Routing key", class: "mono", cell: (r) => r.routing_key },
            { head: "Reason", cell: (r) => chip(r.reason, tone(r.reason) === "plain" ? "bad" : tone(r.reason), r.reason) },
            { head: "Attempts", class: "num", cell: (r) => count(r.attempts) },
            { head: "Next try", cell: (r) => time(r.next_attempt_at) },
            { head: "Parked", cell: (r) => time(r.parked_at) },
            { head: "", label: "Do", cell: actions },
          ],
          page.items,
          "Nothing is parked: the broker took everything.",
        ),
        page.next && h("p", { class: "more" }, h("button", { type: "button", onclick: () => search(page.next) }, "Next page")),
      );
    } catch (error) {
      show(results, problem(error));
    }
  }

  show(main, h("h1", {}, "Parked rows"), h("p", { class: "lead" }, "Rows of the outbox that the broker refused, and those of their key that wait behind them. They are tried again by themselves."), form, results);
  search(null);
}
