import { chip, h, show, svg, table } from "./dom.js";
import { atLeast, count, rate, secondsSince, span, tone } from "./format.js";

const KEPT = 90;
const points = [];
let last;
let container;

/** Samples of this process by name, each with its labels. */
function samples(status) {
  const byName = new Map();
  for (const sample of status.live?.samples ?? []) {
    if (!byName.has(sample.name)) byName.set(sample.name, []);
    byName.get(sample.name).push(sample);
  }
  return byName;
}

const total = (byName, name, where = {}) => {
  const found = (byName.get(name) ?? []).filter((s) =>
    Object.entries(where).every(([label, value]) => s.labels[label] === value),
  );
  return found.every((s) => s.value === null) ? null : found.reduce((sum, s) => sum + (s.value ?? 0), 0);
};

/** What changed in a second since the answer before; null until there are two. */
function perSecond(now, before, name, where) {
  const a = total(now.byName, name, where);
  const b = before && total(before.byName, name, where);
  const seconds = before ? (now.at - before.at) / 1000 : 0;
  return a === null || b === null || b === undefined || seconds <= 0 || a < b ? null : (a - b) / seconds;
}

/** Mean of a timer over the last interval, or over its life where nothing ran. */
function mean(now, before, name, where) {
  const n = total(now.byName, `${name}_count`, where);
  const t = total(now.byName, `${name}_sum`, where);
  const n0 = (before && total(before.byName, `${name}_count`, where)) ?? 0;
  const t0 = (before && total(before.byName, `${name}_sum`, where)) ?? 0;
  if (!n) return null;
  return n > n0 && n0 > 0 ? (t - t0) / (n - n0) : t / n;
}

export function record(status) {
  const now = { at: Date.parse(status.live?.at ?? new Date().toISOString()), byName: samples(status), status };
  const before = last?.now;
  const ages = status.lanes.map((lane) => secondsSince(lane.oldest_unpublished_at, now.at) ?? 0);
  points.push({
    age: Math.max(0, ...ages),
    published: perSecond(now, before, "fencepost_relay_published_total"),
    confirm: mean(now, before, "fencepost_relay_confirm_seconds"),
    inFlight: status.queues.reduce((sum, q) => sum + q.in_flight, 0),
    settled: perSecond(now, before, "fencepost_worker_activities_total"),
  });
  if (points.length > KEPT) points.shift();
  last = { now, before };
}

function sparkline(name) {
  const values = points.map((p) => p[name] ?? 0);
  const top = Math.max(...values, 1e-9);
  const step = 120 / (KEPT - 1);
  const from = 120 - (values.length - 1) * step;
  const line = values.map((v, i) => `${(from + i * step).toFixed(1)},${(27 - (v / top) * 24).toFixed(1)}`);
  return svg(
    "svg",
    { class: "spark", viewBox: "0 0 120 28", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("polygon", { points: `${from.toFixed(1)},28 ${line.join(" ")} 120,28` }),
    svg("polyline", { points: line.join(" ") }),
  );
}

function stat(label, value, spark, hint, toneName = "") {
  return h(
    "div",
    { class: `stat ${toneName}` },
    h("dt", {}, label),
    h("dd", {}, value),
    spark && sparkline(spark),
    h("small", {}, hint),
  );
}

const perSec = (n) => (n === null ? "–" : [rate(n), h("i", {}, "/s")]);

function summary({ now }) {
  const point = points[points.length - 1];
  const worst = [...now.status.lanes].sort((a, b) => laneAge(b) - laneAge(a))[0];
  const why = worst && laneAge(worst) > 0 ? `lane ${worst.lane}: ${worst.lag_cause === "none" ? "on its way" : worst.lag_cause}` : "nothing waits";
  return h(
    "dl",
    { class: "stats" },
    stat("Backlog age", span(point.age), "age", why, point.age > 30 ? "warn" : ""),
    stat("Published", perSec(point.published), "published", `${count(total(now.byName, "fencepost_relay_unconfirmed"))} unconfirmed`),
    stat("Confirm", span(point.confirm), "confirm", "mean, from the write to the confirm"),
    stat("Settled", perSec(point.settled), "settled", "activities, however they ended"),
    stat("In flight", count(point.inFlight), "inFlight", "runs that hold a lease, fleet-wide"),
  );
}

const laneAge = (lane) => secondsSince(lane.oldest_unpublished_at) ?? 0;

function ageBar(lane, top) {
  const width = top > 0 ? Math.max(1, (laneAge(lane) / top) * 60) : 0;
  return h(
    "span",
    { class: "age" },
    svg("svg", { class: "meter", viewBox: "0 0 60 6", "aria-hidden": "true" }, svg("rect", { class: "track", width: 60, height: 6, rx: 3 }), laneAge(lane) > 0 && svg("rect", { width, height: 6, rx: 3 })),
    h("span", {}, span(laneAge(lane))),
  );
}

function lanes({ now, before }) {
  const top = Math.max(...now.status.lanes.map(laneAge), 1);
  return table(
    "Lanes of the relay",
    [
      { head: "Lane", class: "num", cell: (l) => count(l.lane) },
      { head: "Oldest unpublished", cell: (l) => ageBar(l, top) },
      { head: "Why", cell: (l) => (l.lag_cause && l.lag_cause !== "none" ? chip(l.lag_cause, tone(l.lag_cause), l.lag_cause) : h("span", { class: "muted" }, "–")) },
      { head: "Backlog ≈", class: "num wide", cell: (l) => count(l.backlog) },
      { head: "Published/s", class: "num wide", cell: (l) => rate(perSecond(now, before, "fencepost_relay_published_total", { lane: String(l.lane) })) },
      { head: "Parked", class: "num", cell: (l) => (l.parked ? h("a", { href: "#/parked" }, count(l.parked)) : "0") },
      { head: "Owner", class: "mono owner wide", cell: (l) => l.owner ?? h("span", { class: "muted" }, "nobody") },
      { head: "Fence", class: "num wide", cell: (l) => count(l.fence) },
    ],
    now.status.lanes.map((l) => ({ ...l, tone: tone(l.lag_cause) === "bad" ? "row-bad" : "" })),
    "There are no lanes: the schema has not been migrated.",
  );
}

const link = (href, text, n) => (n > 0 ? h("a", { href }, text) : text);

function queues({ now }) {
  return table(
    "Queues",
    [
      { head: "Queue", class: "mono", cell: (q) => q.consumer },
      { head: "In flight", class: "num", cell: (q) => atLeast(q, "in_flight") },
      { head: "Retries due", class: "num", cell: (q) => atLeast(q, "due_retries") },
      { head: "Retries later", class: "num wide", cell: (q) => atLeast(q, "scheduled_retries") },
      { head: "Blocked", class: "num wide", cell: (q) => link("#/activities", atLeast(q, "blocked"), q.blocked) },
      { head: "Unresolved", class: "num wide", cell: (q) => link("#/activities", atLeast(q, "unresolved"), q.unresolved) },
      { head: "Reviews", class: "num", cell: (q) => link("#/reviews", atLeast(q, "reviews"), q.reviews) },
      { head: "Dead letters", class: "num", cell: (q) => link("#/dead-letters", atLeast(q, "dead_letters"), q.dead_letters) },
    ],
    now.status.queues,
    "No queue is configured and none has work in the database.",
  );
}

function types({ now }) {
  const seen = new Map();
  for (const [name, list] of now.byName) {
    if (!name.startsWith("fencepost_worker_")) continue;
    for (const { labels } of list) {
      if (labels.queue && labels.type) seen.set(`${labels.queue}\u0000${labels.type}`, { queue: labels.queue, type: labels.type });
    }
  }
  return [...seen.values()].sort((a, b) => a.queue.localeCompare(b.queue) || a.type.localeCompare(b.type));
}

function running({ now, before }) {
  const value = (t, name) => total(now.byName, `fencepost_worker_${name}`, t);
  const speed = (t, name) => perSecond(now, before, `fencepost_worker_${name}`, t);
  const alarm = (n, anchor) => (n > 0 ? chip(count(n), "bad", anchor) : count(n ?? 0));
  return table(
    "Activity types of this process",
    [
      { head: "Queue", class: "mono", cell: (t) => t.queue },
      { head: "Type", class: "mono", cell: (t) => t.type },
      { head: "In flight", class: "num", cell: (t) => count(value(t, "in_flight") ?? 0) },
      { head: "Runs/s", class: "num", cell: (t) => rate(speed(t, "run_seconds_count")) },
      { head: "Run time", class: "num", cell: (t) => span(mean(now, before, "fencepost_worker_run_seconds", t)) },
      { head: "longest", label: "Longest run", class: "num", cell: (t) => span(value(t, "run_seconds_max")) },
      { head: "Retries/s", class: "num", cell: (t) => rate(speed(t, "retries_total")) },
      { head: "Amplification", class: "num", cell: (t) => { const a = value(t, "amplification"); return a === null ? "–" : `${a.toFixed(2)}×`; } },
      { head: "Leaked slots", class: "num", cell: (t) => alarm(value(t, "leaked_slots"), "fencepost_worker_leaked_slots") },
      { head: "Stalled", class: "num", cell: (t) => alarm(value(t, "stalled"), "fencepost_worker_stalled") },
    ],
    types({ now }).map((t) => ({ queue: t.queue, type: t.type })),
    "Nothing has run in this process yet.",
  );
}

function draw() {
  if (!container) return;
  if (!last) return show(container, h("p", { class: "empty" }, "Asking…"));
  show(
    container,
    h("h1", { class: "hidden" }, "Flow"),
    summary(last),
    h("section", {}, h("h2", {}, "Relay ", h("small", {}, "lanes, from the outbox to the broker")), lanes(last)),
    h("section", {}, h("h2", {}, "Worker ", h("small", {}, "queues, the whole fleet by the database")), queues(last)),
    h("section", {}, h("h2", {}, "Running here ", h("small", {}, "activity types, this process only")), running(last)),
  );
}

export function open(main) {
  container = main;
  draw();
}

export const refresh = draw;

export const leave = () => (container = null);
