// The sessions of one user.

async function showUser(userID) {
  byID("user-id").value = userID;
  if (!userID) return byID("sessions").replaceChildren();
  await showPages(byID("sessions"), `${userID} is not signed in.`, async () => {
    const { sessionList } = await rpc("listSessions", { userID });
    return { rows: sessionList.map(sessionRow) };
  });
  const table = byID("sessions").querySelector("table");
  // Meanwhile somebody else may have been asked for.
  if (!table || byID("user-id").value !== userID) return;
  const button = element("button", { type: "button", class: "danger", onclick: () => kick(userID) }, "End all sessions");
  const traced = element("a", { class: "back", href: `#trace/user%2F${encodeURIComponent(userID)}` }, "Trace this user");
  const card = element("article", { class: "card" }, element("h3", {}, `Sessions of ${userID}`), table);
  byID("sessions").replaceChildren(card, element("div", { class: "row" }, button, traced));
}

function sessionRow({ sessionID, platform, deviceID, address, loginTime }) {
  return element("tr", {},
    element("td", {}, platform, deviceID && styled("sub", deviceID)),
    element("td", { "data-label": "from" }, address),
    element("td", { "data-label": "since" }, moment(loginTime)),
    element("td", {}, element("code", { class: "quiet" }, sessionID)));
}

async function kick(userID) {
  const isDone = await ask({
    title: `Sign ${userID} out?`, action: "End sessions", danger: true,
    text: "All sessions of the user are closed; the token stays valid.",
    fields: [{ name: "reason", label: "Reason", placeholder: "none", hint: "The user is told." }],
    run: ({ reason }) => act("kickUser", given({ userID, reason })),
  });
  if (isDone) await showUser(userID);
}
