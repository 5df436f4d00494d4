import * as api from "./api.js";
import { chip, field, h, problem, show, table } from "./dom.js";
import { count, tone } from "./format.js";

const VERBS = {
  redrive: { name: "Redrive", done: "redriven", what: "Each event starts anew, with a fresh budget of attempts, from the body kept here." },
  discard: { name: "Discard", done: "discarded", what: "Each event is given up. Its dead letter and its body stay on record." },
};

function groups(items) {
  const by = new Map();
  for (const item of items) {
    const key = JSON.stringify([item.consumer, item.type, item.reason]);
    by.set(key, (by.get(key) ?? 0) + 1);
  }
  return [...by].map(([key, n]) => {
    const [consumer, type, reason] = JSON.parse(key);
    return { consumer, type, reason, n };
  });
}

/** Looks first (a dry run), then does exactly what was shown, in portions, and says what came of each. */
export function openBulk(action, request, onDone) {
  const verb = VERBS[action];
  const content = h("div", {}, h("p", { class: "empty" }, "Looking…"));
  const dialog = h("dialog", { "aria-label": verb.name, onclose: () => { dialog.remove(); onDone(); } }, content);
  document.body.append(dialog);
  dialog.showModal();
  look();

  async function look() {
    try {
      const dry = await api.post(`/api/v1/dead-letters/${action}`, { ...request, dry_run: true, limit: 1000 });
      const open = dry.items.filter((item) => item.outcome.startsWith("would_"));
      show(content, h("h2", {}, `${verb.name} ${count(open.length)}${dry.more ? " of more" : ""}`), h("p", {}, verb.what), preview(open), open.length > 0 ? form(open) : close("Close"));
    } catch (error) {
      show(content, h("h2", {}, verb.name), problem(error), close("Close"));
    }
  }

  function preview(open) {
    return table(
      "What would be done",
      [
        { head: "Consumer", class: "mono", cell: (g) => g.consumer },
        { head: "Type", class: "mono", cell: (g) => g.type ?? "–" },
        { head: "Reason", cell: (g) => chip(g.reason, tone(g.reason)) },
        { head: "Dead letters", class: "num", cell: (g) => count(g.n) },
      ],
      groups(open),
      "No open dead letter is meant: nothing to do.",
    );
  }

  const close = (text) => h("div", { class: "actions" }, h("button", { type: "button", onclick: () => dialog.close() }, text));

  function form(open) {
    const element = h(
      "form",
      { class: "bulk" },
      field("Operator", h("input", { name: "operator", required: true, maxlength: 200, value: api.operator.get(), autocomplete: "name" })),
      field("Note", h("input", { name: "note", maxlength: 1000 }), "for the audit log"),
      field("At most per second", h("input", { name: "rate", type: "number", min: 1, max: 1000, value: 50 })),
      h("div", { class: "actions" }, h("button", { type: "submit", class: action === "discard" ? "danger" : "primary" }, `${verb.name} ${count(open.length)}`), h("button", { type: "button", onclick: () => dialog.close() }, "Cancel")),
    );
    element.addEventListener("submit", (event) => {
      event.preventDefault();
      const given = Object.fromEntries(new FormData(element));
      api.operator.set(given.operator);
      run(open.map((item) => item.id), { operator: given.operator, note: given.note || null, rate: Number(given.rate) || 50 });
    });
    return element;
  }

  async function run(ids, options) {
    const bar = h("progress", { max: ids.length, value: 0 });
    const said = h("p", { role: "status" }, "");
    show(content, h("h2", {}, `${verb.name}…`), bar, said);
    const results = [];
    const portion = Math.max(1, Math.min(500, options.rate * 5));
    try {
      for (let at = 0; at < ids.length && dialog.open; at += portion) {
        const done = await api.post(`/api/v1/dead-letters/${action}`, { ...options, ids: ids.slice(at, at + portion), limit: portion });
        results.push(...done.items);
        bar.value = results.length;
        said.textContent = `${count(results.length)} of ${count(ids.length)}`;
        if (done.stopped) throw new Error(done.stopped);
      }
      report(results, ids.length, null);
    } catch (error) {
      report(results, ids.length, error);
    }
  }

  function report(results, wanted, error) {
    const failed = results.filter((r) => r.outcome === "failed" || r.outcome === "not_found");
    const unchanged = results.filter((r) => r.outcome === "unchanged").length;
    const changed = results.length - failed.length - unchanged;
    show(
      content,
      h("h2", {}, `${count(changed)} ${verb.done}`),
      h("p", { role: "status" }, [`${count(failed.length)} failed`, unchanged && `${count(unchanged)} had been settled before`, results.length < wanted && `${count(wanted - results.length)} not tried`].filter(Boolean).join(", ") + "."),
      error && problem(error),
      failed.length > 0 &&
        table(
          "What failed",
          [
            { head: "Id", class: "num", cell: (r) => String(r.id) },
            { head: "Event", class: "mono", cell: (r) => r.event_id ?? "–" },
            { head: "Why", cell: (r) => r.detail ?? r.outcome },
          ],
          failed,
          "",
        ),
      close("Close"),
    );
  }
}
