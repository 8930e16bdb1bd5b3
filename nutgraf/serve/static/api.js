// Requests to the server, with its key if it has one. The key is kept until the tab is closed.

const KEY = "nutgraf key";
let key = sessionStorage.getItem(KEY) || "";

export const hasKey = () => Boolean(key);

export function useKey(entered) {
  key = entered;
  sessionStorage.setItem(KEY, key);
}

// Return the JSON of an answer. An Error has the server's message and, where the server answered, `status` and `code`.
export async function fetchJson(path, body, signal) {
  const headers = key ? { Authorization: `Bearer ${key}` } : {};
  const request = body
    ? { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(body) }
    : { headers };
  let response;
  try {
    response = await fetch(path, { ...request, signal });
  } catch {
    throw new Error("The server did not answer. Is it still running?");
  }
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  const { message = `The server answered ${response.status}.`, code } = answer.error || {};
  throw Object.assign(new Error(message), { status: response.status, code });
}
