// Calls of the server, with a credential that only this page's memory holds.

let credential = "";

/** A refusal by the server or HTTP: the code stands before the message. */
class Refused extends Error {
  constructor({ code, message }) {
    super(`${code} · ${message}`);
    this.code = code;
  }
}

/** The result of a method; throws `Refused`. */
async function rpc(method, params = {}) {
  const used = credential;
  const response = await post({ jsonrpc: "2.0", id: 1, method, params });
  if (response.status === 401) {
    const message = `The credential was not accepted: ${await sentenceOf(response)}`;
    // Of several calls the first signs out; nobody else may have signed in meanwhile.
    if (used !== "" && used === credential) signOut(`${message}.`);
    throw new Refused({ code: 401, message });
  }
  if (!response.ok) throw new Refused({ code: response.status, message: "The server answered with an HTTP error" });
  const { result, error } = await response.json();
  if (error) throw new Refused(error);
  return result;
}

/** Why a credential was refused, as the answer says it behind its status. */
async function sentenceOf(response) {
  // A proxy may answer with a page of its own.
  const [, sentence] = /^401: ([^\n<]+)$/.exec((await response.text()).trim()) ?? [];
  return sentence ?? "the answer gives no reason";
}

async function post(request) {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${credential}` };
  try {
    return await fetch("/rpc", { method: "POST", headers, body: JSON.stringify(request), cache: "no-store" });
  } catch {
    // The browser says no more than that there was no answer.
    throw new Refused({ code: "HTTP", message: "The server cannot be reached" });
  }
}

/** Parameters without the fields that were left empty. */
function given(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== "" && value !== undefined));
}

/** A number of minutes in seconds; nothing for an empty field. */
function seconds(minutes) {
  return minutes === "" ? undefined : Math.round(Number(minutes) * 60);
}
