import { h } from "./dom.js";

const whole = new Intl.NumberFormat("en");

export const count = (n) => (n === null || n === undefined ? "–" : whole.format(Math.round(n)));

export const atLeast = (row, name) =>
  count(row[name]) + ((row.at_least ?? []).includes(name) ? "+" : "");

export function rate(n) {
  if (n === null || n === undefined || !Number.isFinite(n)) return "–";
  if (n === 0) return "0";
  return n < 10 ? n.toFixed(1) : whole.format(Math.round(n));
}

/** A span of time in two units at most. */
export function span(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  const s = Math.max(0, seconds);
  if (s === 0) return "0 s";
  if (s < 0.01) return `${(s * 1000).toFixed(1)} ms`;
  if (s < 1) return `${Math.round(s * 1000)} ms`;
  if (s < 60) return `${s < 10 ? s.toFixed(1) : Math.round(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} m ${Math.round(s % 60)} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} m`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

export const secondsSince = (iso, now = Date.now()) =>
  iso ? Math.max(0, (now - Date.parse(iso)) / 1000) : null;

export function time(iso) {
  if (!iso) return "–";
  const at = new Date(iso);
  const today = new Date().toDateString() === at.toDateString();
  const clock = at.toLocaleTimeString("en-GB");
  const text = today ? clock : `${at.toLocaleDateString("en-CA")} ${clock}`;
  return h("time", { datetime: iso, title: `${iso} · ${span(secondsSince(iso))} ago` }, text);
}

export const bytes = (n) =>
  n === null || n === undefined
    ? "–"
    : n < 1024
      ? `${n} B`
      : n < 1048576
        ? `${(n / 1024).toFixed(1)} KiB`
        : `${(n / 1048576).toFixed(1)} MiB`;

/** Offsets, bytes and what of them is printable, sixteen to a line. */
export function hexDump(base64, limit = 4096) {
  const binary = atob(base64.slice(0, Math.ceil((limit * 4) / 3 / 4) * 4));
  const lines = [];
  for (let at = 0; at < Math.min(binary.length, limit); at += 16) {
    const part = [...binary.slice(at, at + 16)].map((c) => c.charCodeAt(0));
    const hex = part.map((b) => b.toString(16).padStart(2, "0")).join(" ");
    const text = part.map((b) => (b > 31 && b < 127 ? String.fromCharCode(b) : "·")).join("");
    lines.push(`${at.toString(16).padStart(6, "0")}  ${hex.padEnd(47)}  ${text}`);
  }
  return lines.join("\n");
}

const TONES = {
  ok: ["succeeded", "completed", "none", "redriven", "success"],
  warn: ["manual_review", "retry_scheduled", "blocked", "unresolved", "unknown", "timed_out", "lease_lost", "transient_failure", "transaction_invisible", "behind_key", "takeover", "stalled", "stale_result"],
  bad: ["dead", "permanent_failure", "retries_exhausted", "poison_message", "failed_permanent", "key_parked", "broker_blocked", "broker_down", "no_owner", "parked_full", "exhausted"],
};

export function tone(word) {
  for (const [name, words] of Object.entries(TONES)) {
    if (words.includes(word)) return name;
  }
  return "plain";
}
