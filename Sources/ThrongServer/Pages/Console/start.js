// Signing in and out, and which part is shown.

const views = ["overview", "groups", "group", "users", "search", "applications", "reports", "webhooks", "trace", "call", "server"];

/** Shows what the address names; it never holds a credential. */
async function route() {
  if (!credential) return;
  const [part, rest = ""] = location.hash.slice(1).split("/");
  const name = decode(rest);
  const view = views.includes(part) ? part : "overview";
  for (const section of views) byID(section).hidden = section !== view;
  for (const link of document.querySelectorAll(".top nav a")) {
    if (link.hash === (view === "group" ? "#groups" : `#${view}`)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  try {
    if (view === "overview") await showOverview();
    else if (view === "trace") await showTrace(name);
    else if (view === "users") await showUsers(name);
    else if (view === "search") await showSearch(name);
    else if (view === "applications") await showApplications();
    else if (view === "reports") await showReports();
    else if (view === "call") await showCall(name);
    else if (view === "server") await showServer();
    else if (view === "webhooks") await showWebhooks();
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
  numbersReadAt = performance.now();
  await learnWhetherMessagesAreSearched();
  // The credential may have come to its end in between.
  if (credential !== text) return;
  byID("sign-in").hidden = true;
  byID("console").hidden = false;
  await route();
}

/** Forgets the credential and everything that was shown. */
function signOut(words = "") {
  credential = "";
  byID("sign-in").hidden = false;
  byID("console").hidden = true;
  // What is still on its way must not be shown any more.
  turns.clear();
  [groupListReads, groupReads, userReads] = [groupListReads + 1, groupReads + 1, userReads + 1];
  [shownGroupID, searchesMessages, methods] = [undefined, undefined, undefined];
  const shown = [
    "stats", "charts", "nodes-list", "active-groups", "actions", "trace-state", "groups-total", "group-title", "group-badges",
    "group-acts", "members", "muted", "bans", "counters", "pins", "messages", "info", "users-found", "user-title", "user-acts",
    "profile", "user-groups", "sessions", "messages-found", "reports-list", "failures", "entries", "blocked", "applications-list",
    "call-method", "call-about", "call-result", "server-version", "limits", "types",
  ];
  for (const id of shown) byID(id).replaceChildren();
  for (const id of ["numbers-fault", "groups-state", "users-state", "user-state", "search-state", "reports-fault", "webhooks-state", "call-summary", "call-fault"]) {
    say(id, "");
  }
  for (const form of document.querySelectorAll("#console form")) form.reset();
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
byID("group-search-form").addEventListener("submit", (event) => {
  event.preventDefault();
  showGroups();
});
// The cross in the field, or the last letter that is taken away, brings all groups back.
byID("group-words").addEventListener("input", () => {
  if (byID("group-words").value === "") showGroups();
});
byID("user-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const words = byID("user-words").value.trim();
  if (!words) return;
  if (location.hash !== "#users") location.hash = "#users";
  findUsers(words);
});
byID("search-form").addEventListener("submit", (event) => {
  event.preventDefault();
  findMessages();
});
byID("reports-state-filter").addEventListener("change", ({ target }) => {
  shownReports = target.value;
  showReports();
});
byID("retry").addEventListener("click", retryWebhooks);
byID("call-method").addEventListener("change", () => showMethod());
byID("call-form").addEventListener("submit", (event) => {
  event.preventDefault();
  callMethod();
});
byID("trace-form").addEventListener("submit", beginTrace);
byID("trace-end").addEventListener("click", endTrace);
addEventListener("hashchange", async () => {
  await route();
  focusTitle();
});
// Whoever comes back to the tab does not wait for the next turn.
document.addEventListener("visibilitychange", () => {
  if (isLookedAt()) refreshNumbers();
});
setInterval(async () => {
  if (!isLookedAt()) return;
  tellOldNumbers();
  if (!byID("overview").hidden) await refreshOverview();
  await refreshTrace();
}, metricsInterval);
