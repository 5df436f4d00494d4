/* The token lives in this tab's session only and goes nowhere but into the header. */

const KEY = "fencepost-token";

export class Problem extends Error {
  constructor(status, body) {
    super(body.detail ?? `HTTP ${status}`);
    this.status = status;
    this.detail = body.detail ?? this.message;
  }
}

export const hasToken = () => sessionStorage.getItem(KEY) !== null;
export const signIn = (token) => sessionStorage.setItem(KEY, token);
export const signOut = () => sessionStorage.removeItem(KEY);

async function call(path, options = {}) {
  const headers = { Accept: "application/json", ...options.headers };
  const token = sessionStorage.getItem(KEY);
  if (token) headers.Authorization = `Bearer ${token}`;
  let response;
  try {
    response = await fetch(path, {
      ...options,
      headers,
      cache: "no-store",
      credentials: "omit",
      signal: AbortSignal.timeout(40000),
    });
  } catch (cause) {
    throw new Problem(0, { detail: `Fencepost does not answer (${cause.message})` });
  }
  const body = await response.json().catch(() => ({}));
  if (!response.ok && !(options.accept ?? []).includes(response.status)) {
    throw new Problem(response.status, body);
  }
  return body;
}

export function get(path, query = {}) {
  const filled = Object.entries(query).filter(([, v]) => v !== null && v !== undefined && v !== "");
  const text = new URLSearchParams(filled).toString();
  return call(path + (text ? `?${text}` : ""));
}

export const post = (path, body) =>
  call(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

export const ready = () => call("/health/ready", { accept: [503] });

export const eventPath = (kind, consumer, eventId) =>
  `/api/v1/${kind}/${encodeURIComponent(consumer)}/${encodeURIComponent(eventId)}`;

/** Who decides, remembered on this machine. */
export const operator = {
  get: () => localStorage.getItem("fencepost-operator") ?? "",
  set: (name) => localStorage.setItem("fencepost-operator", name),
};
