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
  const response = await post({ jsonrpc: "2.0", id: 1, method, params });
  if (response.status === 401) {
    const isOfUser = response.headers.get("WWW-Authenticate")?.includes("insufficient_scope");
    const message = isOfUser
      ? "This token is good, but a user’s: throng token NAME --admin makes one for the console"
      : "The credential was not accepted";
    signOut(`${message}.`);
    throw new Refused({ code: 401, message });
  }
  if (!response.ok) throw new Refused({ code: response.status, message: "The server answered with an HTTP error" });
  const { result, error } = await response.json();
  if (error) throw new Refused(error);
  return result;
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
