// Those who ask to join the group that is shown: whoever may decide lets them in or declines.

/** Reads the open applications to join. */
async function loadApplications(group) {
  if (!group.may("decideApplications") || group.info.joinMode !== "Auth") return;
  const { applicationList } = await call("getGroupApplicationList");
  const open = applicationList.filter(({ groupID, type, handleStatus }) =>
    groupID === group.id && type === "Join" && handleStatus === "Unhandled");
  // The newest comes first there, and last here: those that are shown stay where they are.
  const found = new Map(open.reverse().map(({ applicationID, fromUser }) => [applicationID, { userID: fromUser }]));
  const shown = [...group.applications.keys()].filter((applicationID) => found.has(applicationID));
  group.applications = new Map([...shown, ...found.keys()].map((id) => [id, found.get(id)]));
  await loadNames(open.map(({ fromUser }) => fromUser));
}

/** What has become of an application. Its line stays while others are open: none of them moves under the pointer. */
function settleApplication(group, applicationID, outcome) {
  const application = group.applications.get(applicationID);
  if (!application) return;
  application.outcome ??= outcome;
  if ([...group.applications.values()].every(({ outcome: end }) => end)) group.applications.clear();
}

/** The open applications of users who are members now. */
function settleApplicationsOf(group, members) {
  for (const [applicationID, { userID }] of [...group.applications]) {
    if (members.some((member) => member.userID === userID)) settleApplication(group, applicationID, "is in");
  }
}

function renderApplications(group) {
  const rows = [...group.applications].map(([applicationID, application]) => applicationRow(applicationID, application));
  const place = byID("applications");
  const hadFocus = place.contains(document.activeElement);
  keepingFocus(place, () => renew(place, rows));
  if (hadFocus && !place.contains(document.activeElement)) (place.querySelector("button") ?? byID("text")).focus();
}

function applicationRow(applicationID, { userID, outcome }) {
  const name = nameOf({ userID });
  const button = (words, label, method, kind) => element("button", {
    type: "button", class: `small ${kind}`, "data-key": method, "data-method": method, "aria-label": `${label} ${plainText(name)}`,
  }, words);
  return element("li", { "data-id": applicationID },
    element("span", { class: "wrap", title: userID }, chosenText(name), outcome ? ` ${outcome}` : " asks to join"),
    !outcome && button("Let in", "Let in", "acceptGroupApplication", "primary"),
    !outcome && button("Decline", "Decline", "refuseGroupApplication", ""));
}

async function decide(group, applicationID, method) {
  try {
    await call(method, { applicationID });
    settleApplication(group, applicationID, method === "acceptGroupApplication" ? "is let in" : "is declined");
  } catch (error) {
    if (error.code !== ErrorCode.applicationHandled) return sayRefusal(error);
    settleApplication(group, applicationID, "was decided by somebody else");
  }
  render();
}

byID("applications").addEventListener("click", ({ target }) => {
  const button = target.closest("[data-method]");
  if (button) decide(chat.current, button.closest("[data-id]").dataset.id, button.dataset.method);
});
