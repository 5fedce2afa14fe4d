// Signing in and out, and which part is shown.

const statsInterval = 10_000;

async function showStats() {
  const { sessions, users, groups, groupsByType, uptime, version } = await rpc("getStats");
  const present = Object.entries(groupsByType).filter(([, count]) => count > 0);
  const types = present.map(([type, count]) => `${count} ${type}`).join(", ");
  const rows = [
    ["Sessions", sessions], ["Known users", users], ["Uptime", duration(uptime)], ["Version", version], ["Groups", groups, types],
  ];
  byID("stats").replaceChildren(...rows.map(([name, value, more]) => element("div", {},
    element("dt", {}, name), element("dd", {}, value, more && element("small", {}, more)))));
}

/** Shows what the address names; it never holds a credential. */
async function route() {
  if (!credential) return;
  const [part, rest = ""] = location.hash.slice(1).split("/");
  const name = decode(rest);
  const view = ["groups", "group", "users", "trace"].includes(part) ? part : "overview";
  for (const section of ["overview", "groups", "group", "users", "trace"]) byID(section).hidden = section !== view;
  for (const link of document.querySelectorAll(".top nav a")) {
    if (link.hash === (view === "group" ? "#groups" : `#${view}`)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  try {
    if (view === "overview") await showOverview();
    else if (view === "trace") await showTrace(name);
    else if (view === "users") await showUser(name);
    else if (view === "group") await showGroup(name);
    else await showGroups();
  } catch (error) {
    if (view === "group") say("group-fault", error.message);
    else note(view, error.message, true);
  }
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    // Typed by hand: as it stands.
    return text;
  }
}

async function signIn(text) {
  // Other characters cannot stand in a header.
  if (!/^[\x21-\x7e]+$/.test(text)) throw new Error("A credential has visible ASCII characters only.");
  credential = text;
  try {
    await showStats();
  } catch (error) {
    credential = "";
    throw error;
  }
  byID("sign-in").hidden = true;
  byID("console").hidden = false;
  await route();
}

/** Forgets the credential and everything that was shown. */
function signOut(words = "") {
  credential = "";
  byID("sign-in").hidden = false;
  byID("console").hidden = true;
  const shown = [
    "stats", "charts", "nodes-list", "active-groups", "actions", "trace-state", "members", "muted", "bans", "counters", "pins", "messages", "info", "sessions", "entries", "group-acts",
  ];
  for (const id of shown) byID(id).replaceChildren();
  for (const table of ["groups-table", "trace-entries"]) byID(table).tBodies[0].replaceChildren();
  [trace, lastMetrics, series] = [undefined, undefined, new Map()];
  showTraceState();
  byID("nodes").hidden = true;
  byID("latest").textContent = "Nothing done yet";
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  say("sign-in-fault", words);
  byID("credential").focus();
}

byID("sign-in-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = byID("credential").value.trim();
  byID("credential").value = "";
  say("sign-in-fault", "");
  try {
    await signIn(text);
  } catch (error) {
    say("sign-in-fault", error.message);
  }
});
byID("sign-out").addEventListener("click", () => signOut());
byID("create").addEventListener("click", createGroup);
byID("type-filter").addEventListener("change", () => showGroups());
byID("open-form").addEventListener("submit", (event) => {
  event.preventDefault();
  location.hash = groupAddress(byID("open-id").value.trim());
});
byID("user-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const address = userAddress(byID("user-id").value.trim());
  if (location.hash === address) await route();
  else location.hash = address;
});
byID("trace-form").addEventListener("submit", beginTrace);
byID("trace-end").addEventListener("click", endTrace);
addEventListener("hashchange", async () => {
  await route();
  const title = document.querySelector("main > section:not([hidden]) h2");
  if (document.activeElement === document.body) title?.focus();
});
setInterval(async () => {
  if (!credential || document.visibilityState !== "visible") return;
  try {
    await showStats();
  } catch (error) {
    note("getStats", error.message, true);
  }
}, statsInterval);
setInterval(async () => {
  if (!credential || document.visibilityState !== "visible") return;
  if (!byID("overview").hidden) await refreshOverview();
  await refreshTrace();
}, metricsInterval);
