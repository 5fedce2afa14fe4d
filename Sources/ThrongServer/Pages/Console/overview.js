// The server's present work: charts, the busiest groups, and what administrators have done.

let isReadingOverview = false;

/** Reads everything of the overview once. */
async function refreshOverview() {
  if (isReadingOverview) return;
  isReadingOverview = true;
  try {
    await readMetrics();
    showCharts();
    await refreshNodes();
    const { groupList } = await rpc("listActiveGroups", { count: 10 });
    // The reader has signed out meanwhile.
    if (!credential) return;
    byID("active-groups").replaceChildren(activeGroups(groupList));
    say("overview-fault", "");
  } catch (error) {
    say("overview-fault", error.message);
  } finally {
    isReadingOverview = false;
  }
}

function activeGroups(list) {
  if (list.length === 0) return element("p", { class: "empty" }, "Nothing has happened in the last second.");
  const head = element("thead", {}, element("tr", {},
    element("th", {}, "Group"), ...["Events", "Connections", "Deliveries"].map((name) => element("th", { class: "end" }, name))));
  const cell = (label, value) => element("td", { class: "end", "data-label": label }, value.toLocaleString("en-US"));
  const rows = list.map(({ groupID, events, connections, deliveries }) => element("tr", {},
    element("td", {}, element("a", { href: groupAddress(groupID) }, groupID)),
    cell("Events", events), cell("Connections", connections), cell("Deliveries", deliveries)));
  return element("table", {}, head, element("tbody", {}, rows));
}

/** Shows the overview; it goes on by itself. */
async function showOverview() {
  showCharts();
  await Promise.all([refreshOverview(), showActions()]);
}

async function showActions() {
  await showPages(byID("actions"), "None since the server's start.", async (nextSeq) => {
    const page = await rpc("listAdministratorActions", given({ nextSeq, count: 20 }));
    return { rows: page.actionList.map(actionRow), next: page.nextSeq || undefined };
  });
}

function actionRow({ time, method, by, code, groupID, userID, applicationID, asUser, userIDList = [], userCount, reason }) {
  const linked = (user) => element("a", { href: userAddress(user) }, user);
  const listed = userIDList.slice(0, 10);
  const about = [
    groupID && element("a", { href: groupAddress(groupID) }, groupID), userID && linked(userID), ...listed.map(linked),
    userCount > listed.length && styled("quiet", `and ${userCount - listed.length} more`),
    applicationID && element("code", {}, applicationID), asUser && styled("quiet", `as ${asUser}`),
    reason && styled("quiet", `“${reason}”`),
  ].filter(Boolean).flatMap((one, index) => (index === 0 ? [one] : [" ", one]));
  return element("tr", {},
    element("td", { class: "stamp" }, moment(time)),
    element("td", { class: "words" }, method, " ", styled(code === 0 ? "badge accent" : "badge warning", code === 0 ? "done" : code)),
    element("td", {}, about),
    element("td", { class: "quiet", "data-label": "by" }, by));
}
