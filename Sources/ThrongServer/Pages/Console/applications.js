// Requests to join that wait for somebody's decision, of all groups, and those that were decided lately.

async function showApplications() {
  say("applications-fault", "");
  await showPages(byID("applications-list"), "Nobody has asked to join.", async (nextSeq = 0) => {
    const page = await rpc("getGroupApplicationList", { nextSeq, count: 50 });
    const names = await nickNames(page.applicationList.map(({ fromUser }) => fromUser));
    return { rows: page.applicationList.map((one) => applicationRow(one, names)), next: page.nextSeq || undefined };
  });
}

function applicationRow(application, names) {
  const { groupID, fromUser, addTime, requestMsg, handleStatus, handleResult, handledBy, handledMsg } = application;
  const decided = handleStatus !== "Unhandled" && [
    styled(handleResult === "Agree" ? "badge accent" : "badge warning", handleResult === "Agree" ? "accepted" : "refused"),
    styled("sub", `by ${handledBy}`, handledMsg && [": ", chosenText(handledMsg)]),
  ];
  return element("tr", {},
    element("td", { class: "stamp" }, moment(addTime), element("a", { class: "sub", href: groupAddress(groupID) }, groupID)),
    element("td", {}, userName({ userID: fromUser, nickName: names.get(fromUser) })),
    element("td", { "data-label": "says" }, requestMsg && chosenText(requestMsg)),
    element("td", { class: "end" }, decided || element("div", { class: "acts" },
      smallButton("Accept", () => decide(application, "accept")), smallButton("Refuse", () => decide(application, "refuse"), "danger"))));
}

function decide({ applicationID, groupID, fromUser }, verb) {
  const isAccepted = verb === "accept";
  return changeGroup({
    title: isAccepted ? `Let ${fromUser} into ${groupID}?` : `Refuse ${fromUser}?`, action: isAccepted ? "Accept" : "Refuse",
    danger: !isAccepted, fields: [{ name: "reason", label: "Reason", placeholder: "none", hint: "The applicant is told." }],
    run: ({ reason }) => act(isAccepted ? "acceptGroupApplication" : "refuseGroupApplication", given({ applicationID, reason })),
  });
}
