import * as api from "./api.js";
import { byId, field, h, show } from "./dom.js";
import { count } from "./format.js";
import * as flow from "./flow.js";
import * as reviews from "./reviews.js";
import * as dead from "./dead.js";
import * as parked from "./parked.js";
import * as activity from "./activity.js";
import * as audit from "./audit.js";

const VIEWS = {
  flow: { view: flow, title: "Flow" },
  reviews: { view: reviews, title: "Reviews" },
  "dead-letters": { view: dead, title: "Dead letters" },
  parked: { view: parked, title: "Parked" },
  activities: { view: activity, title: "Activities" },
  audit: { view: audit, title: "Audit log" },
};
const PACE = 2000;

let timer;
let current;
let seenAt;

function notice(text) {
  const element = byId("notice");
  element.textContent = text;
  element.hidden = !text;
}

function badge(id, total, more) {
  const element = byId(id);
  element.textContent = count(total) + (more ? "+" : "");
  element.hidden = total === 0;
}

function sum(rows, name) {
  return rows.reduce((total, row) => total + (Number(row[name]) || 0), 0);
}

async function poll() {
  clearTimeout(timer);
  if (document.hidden) return;
  // Apart: where the database is away there is no status, and health says why.
  const [status, health] = await Promise.allSettled([api.get("/api/v1/status"), api.ready()]);
  if (byId("nav").hidden) return;
  if (status.reason?.status === 401) return askForToken(api.hasToken() ? status.reason.detail : "");
  tell(status, health);
  if (status.value) {
    seenAt = new Date();
    badges(status.value);
    flow.record(status.value);
    current?.view.refresh?.();
  }
  timer = setTimeout(poll, PACE);
}

/** How the process stands, or that nobody knows. */
function tell(status, health) {
  const reasons = (health.value?.reasons ?? []).map((r) => `${r.part}: ${r.reason}`);
  const unanswered = [health, status].find((asked) => asked.reason)?.reason;
  const state = reasons.length > 0 ? "Not ready" : unanswered ? "No answer" : "Ready";
  byId("ready").textContent = state;
  byId("ready").className = `ready ${state === "Ready" ? "up" : "down"}`;
  const why = reasons.length > 0 ? `Not ready — ${reasons.join("; ")}` : unanswered ? unanswered.detail ?? unanswered.message : "";
  notice(status.reason && seenAt ? `${why} (all else is as it was at ${seenAt.toLocaleTimeString("en-GB")})` : why);
}

function badges(status) {
  badge("count-reviews", sum(status.queues, "reviews"), any(status.queues, "reviews"));
  badge("count-dead", sum(status.queues, "dead_letters"), any(status.queues, "dead_letters"));
  badge("count-parked", sum(status.lanes, "parked"), false);
}

const any = (rows, name) => rows.some((row) => (row.at_least ?? []).includes(name));

function askForToken(refused) {
  api.signOut();
  byId("nav").hidden = true;
  byId("sign-out").hidden = true;
  notice("");
  byId("ready").textContent = "";
  const input = h("input", { type: "password", name: "token", required: true, autocomplete: "current-password" });
  show(
    byId("main"),
    h(
      "form",
      {
        class: "card sign-in",
        onsubmit: (event) => {
          event.preventDefault();
          api.signIn(input.value.trim());
          start();
        },
      },
      h("h1", {}, "Sign in"),
      h("p", { class: "muted" }, "The token is ", h("code", {}, "admin.token"), " of the configuration. It stays in this tab until you close it."),
      field("Token", input),
      refused && h("p", { class: "problem", role: "alert" }, refused),
      h("button", { type: "submit", class: "primary" }, "Sign in"),
    ),
  );
  input.focus();
}

function route() {
  const [name, ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  const next = VIEWS[name] ?? VIEWS.flow;
  for (const link of byId("nav").querySelectorAll("a")) {
    const here = link.hash === `#/${name || "flow"}`;
    if (here) {
      link.setAttribute("aria-current", "page");
      link.scrollIntoView({ block: "nearest", inline: "nearest" });
    } else link.removeAttribute("aria-current");
  }
  current?.view.leave?.();
  current = next;
  document.title = `${next.title} · Fencepost`;
  next.view.open(byId("main"), rest.map(decodeURIComponent));
}

async function start() {
  try {
    await api.get("/api/v1/status");
  } catch (error) {
    if (error.status === 401 || error.status === 429) {
      return askForToken(api.hasToken() ? error.detail : "");
    }
  }
  byId("nav").hidden = false;
  byId("sign-out").hidden = !api.hasToken();
  route();
  poll();
}

byId("sign-out").addEventListener("click", () => {
  clearTimeout(timer);
  current?.view.leave?.();
  current = null;
  askForToken("");
});
window.addEventListener("hashchange", () => {
  if (!byId("nav").hidden) {
    route();
    byId("main").focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && !byId("nav").hidden) poll();
});
start();
