// The events that the server pushes.

/** Handlers of events about a group that this page has. */
const groupEvents = {
  onRecvNewMessage(group, { message }) {
    learnSenders([message]);
    addMessage(group, message);
    // A backend sends in the name of users who need not be there.
    if (message.platform !== "RESTful API") markOnline(group, message.sender);
    group.typing.delete(message.sender);
    if (isSeen(group)) return void markRead(group);
    if (message.sender !== chat.me) group.hasNews = true;
    askUnread(group);
  },
  // Another session of the user has read it, or has pinned, hidden, marked or cleared the group; or a message has
  // ended that it is hidden.
  onConversationRead: (group) => askUnread(group),
  onConversationChanged: takeConversation,
  ...changeEvents,
  onRecvMessageReadReceipts(group, { receiptList }) {
    group.timeline.count(receiptList);
  },
  onGroupSignal: takeSignal,
  onMemberEnter: enter,
  onMemberInvited: enter,
  onMemberLeave: depart,
  onMemberKicked(group, params, name) {
    if (!params.memberList.some(({ userID }) => userID === chat.me)) return depart(group, params, name);
    leaveBehind(group.id, params.reason ? phrase`you were removed: ${chosenText(params.reason)}` : "you were removed.");
  },
  onGroupMemberInfoChanged(group, params, name) {
    addTip(group, name, params);
    for (const change of params.changeInfoList) changeMember(group, change, params.opTime);
  },
  onGrantAdministrator: changeRoles,
  onRevokeAdministrator: changeRoles,
  onGroupInfoChanged(group, params, name) {
    addTip(group, name, params);
    for (const change of params.changeInfoList) changeInfo(group, change);
  },
  onReceiveJoinApplication(group, { applicationID, member: { userID } }) {
    group.applications.set(applicationID, { userID });
  },
  onGroupApplicationListChanged(group, { application: { applicationID, handleStatus, handleResult } }) {
    if (handleStatus === "Unhandled") return;
    settleApplication(group, applicationID, handleResult === "Agree" ? "is let in" : "is declined");
  },
  onGroupAttributeChanged: (group, { groupAttributeMap }) => takeSeating(group, groupAttributeMap),
  onGroupCounterChanged: (group, { counters }) => changeLikes(group, counters),
  onGroupDismissed: (group) => leaveBehind(group.id, "the group was disbanded."),
  onGroupRecycled: (group) => leaveBehind(group.id, "the group was closed by an administrator."),
  onQuitFromGroup: (group) => leaveBehind(group.id),
  onReceiveRESTCustomData(group, { customData, opTime }) {
    addItem(group, { time: opTime, words: () => phrase`The application says: ${chosenText(customData)}` });
  },
};

function handleEvent(name, params) {
  learnNames([params.opUser, params.member, ...(params.memberList ?? [])].filter(Boolean));
  if (name === "onSelfInfoUpdated" && params.nickName !== undefined) {
    learnNames([{ userID: chat.me, nickName: params.nickName }]);
    showOwnName();
  }
  if (name === "onKickedOffline") chat.farewell = params.message ?? "";
  if (name === "onServerDraining") {
    sayState("waiting", "Server stops");
    warn("The server is about to stop. It closes this connection soon; the page connects again by itself.");
  }
  if (name === "onUserSigExpired") warn(`This sign-in ends at ${clock(params.expiresAt)}.`);
  if (name === "onApplicationProcessed" && !params.isAgreeJoin && chat.knocking.delete(params.groupID)) {
    lobbyNotice(`You were not let into ${params.groupID}.`);
  }
  const group = chat.groups.get(params.groupID);
  if (group) handleGroupEvent(group, name, params);
  else if (bringsIn(name, params)) welcome(params.groupID);
  render();
}

function handleGroupEvent(group, name, params) {
  groupEvents[name]?.(group, params, name);
  const changeSeq = params.changeSeq ?? params.message?.changeSeq ?? 0;
  group.changeSeq = Math.max(group.changeSeq, changeSeq);
}

/** Whether an event says that this user is a member of a group that the page does not have yet. */
function bringsIn(name, { memberList = [] }) {
  const isNamed = memberList.some(({ userID }) => userID === chat.me);
  return name === "onGroupCreated" || (isNamed && (name === "onMemberEnter" || name === "onMemberInvited"));
}

async function welcome(groupID) {
  const wasKnocking = chat.knocking.has(groupID);
  try {
    const group = await admit(groupID);
    if (wasKnocking) openGroup(group);
  } catch (error) {
    if (!(error instanceof ClientError)) lobbyNotice(inWords(error));
  }
}

function enter(group, params, name) {
  addTip(group, name, params);
  group.info.memberCount = params.memberCount;
  for (const member of params.memberList) {
    const known = group.members.get(member.userID);
    const isOnline = name === "onMemberEnter" || (known?.isOnline ?? true);
    group.members.set(member.userID, { ...known, ...member, isOnline });
  }
  settleApplicationsOf(group, params.memberList);
}

function depart(group, params, name) {
  addTip(group, name, params);
  group.info.memberCount = params.memberCount;
  for (const { userID } of params.memberList) {
    group.members.delete(userID);
    group.typing.delete(userID);
  }
}

function changeMember(group, { userID, muteTime, ...change }, opTime) {
  if (muteTime !== undefined) change.muteUntil = muteTime > 0 ? opTime + muteTime * 1000 : 0;
  const member = group.members.get(userID);
  if (member) Object.assign(member, change);
  group.timeline.redrawMenu();
  if (userID !== chat.me) return;
  Object.assign(group.info.selfInfo, change);
  // Other messages have menus now, and menus other choices.
  if (change.role !== undefined) group.timeline.redraw();
}

function changeRoles(group, params, name) {
  addTip(group, name, params);
  const role = name === "onGrantAdministrator" ? "Admin" : "Member";
  for (const { userID } of params.memberList) changeMember(group, { userID, role });
}

function changeInfo(group, { type, key, value }) {
  const { info } = group;
  if (type === "CustomInfo") info.customInfo = { ...info.customInfo, [key]: value };
  else info[type[0].toLowerCase() + type.slice(1)] = value;
  if (type !== "Owner") return;
  for (const { userID, role } of group.members.values()) if (role === "Owner") changeMember(group, { userID, role: "Member" });
  changeMember(group, { userID: value, role: "Owner" });
}
