// Words for events and refusals.

const refusals = new Map([
  [7008, "That was too fast for the server. Try again in a moment."],
  [8501, "A group ID has 1 to 48 visible characters and does not begin with @TGS#."],
  [8502, "The group name is missing or too long."],
  [8508, "A Work group is joined by invitation only."],
  [8511, "That was too often. Try again in a moment."],
  [10002, "The server cannot do this just now. Nothing was changed."],
  [10007, "That is not allowed to you in this group."],
  [10009, "The owner cannot leave this group, only disband it."],
  [10010, "There is no such group."],
  [10013, "You are a member already."],
  [10014, "The group is full."],
  [10015, "A group ID has 1 to 48 visible characters."],
  [10016, "The application that runs this server has refused that."],
  [10017, "You cannot write now: you are muted, or the whole group is."],
  [10021, "This group ID is taken."],
  [10023, "The group gets more messages than it may. Try again in a moment."],
  [10024, "Somebody else has decided already."],
  [10025, "You have a group with this ID already."],
  [10030, "This message is gone."],
  [10031, "It is too late for that with this message."],
  [10032, "This message is not yours to change."],
  [10033, "Nothing is kept here that could be changed."],
  [10037, "You are in as many groups as this server allows."],
  [10058, "Somebody else was quicker."],
  [10059, "That is somebody else’s."],
  [10055, "This message has as many different reactions as it may."],
  [10056, "This group has as many pinned messages as it may."],
  [80002, "The message is too long."],
]);

/** Why a request failed, for people; codes without a sentence of their own keep the server's. */
function inWords(error) {
  if (!(error instanceof ThrongError)) return error.message;
  if (error.code === ErrorCode.refusedByApplication && error.field) return "There are words in it that this server does not take.";
  if (error.field === "nickName") return "A display name has at most 100 bytes, and no line ends.";
  return refusals.get(error.code) ?? `${plainText(error.serverMessage)} (${error.code}).`;
}

/** Up to three names, as a part of words. */
function namesOf(members) {
  const names = members.slice(0, 3).map((member) => chosenText(nameOf(member)));
  if (members.length > 3) names.push(`${members.length - 3} more`);
  if (names.length < 2) return names[0] ?? "Somebody";
  const separator = (index) => (index === names.length - 1 ? " and " : ", ");
  return names.flatMap((name, index) => (index === 0 ? [name] : [separator(index), name]));
}

/** The kinds of tips that events tell of. */
const tipTypes = {
  onMemberEnter: "Join", onMemberInvited: "Invite", onMemberLeave: "Quit", onMemberKicked: "Kicked",
  onGrantAdministrator: "SetAdmin", onRevokeAdministrator: "CancelAdmin",
  onGroupInfoChanged: "GroupInfoChange", onGroupMemberInfoChanged: "MemberInfoChange",
};

/** A tip, or an event as one, in a sentence for each thing that it tells. */
function tipWords(group, type, { opUser, memberList = [], changeInfoList = [] }) {
  const actor = chosenText(nameOf(opUser));
  const members = namesOf(memberList);
  switch (type) {
    case "Join": return [phrase`${members} joined`];
    case "Quit": return [phrase`${members} left`];
    case "Invite": return [phrase`${actor} brought in ${members}`];
    case "Kicked": return [phrase`${actor} removed ${members}`];
    case "SetAdmin": return [phrase`${actor} made ${members} admin`];
    case "CancelAdmin": return [phrase`${members} ${memberList.length > 1 ? "are" : "is"} no longer admin`];
    case "GroupInfoChange": return changeInfoList.flatMap((change) => infoWords(group, opUser, change));
    case "MemberInfoChange": return changeInfoList.flatMap((change) => memberWords(group, opUser, change));
    case "Create": return [phrase`${actor} made the group`];
    default: return [];
  }
}

/** The sentences of a tip, one behind the other. */
function sentences(group, type, tips) {
  const all = tipWords(group, type, tips).flatMap((sentence, index) => (index === 0 ? [sentence] : [". ", sentence]));
  return all.length > 0 ? all : ["Something about the group changed"];
}

function infoWords(group, opUser, { type, key, value }) {
  const actor = chosenText(nameOf(opUser));
  switch (type) {
    case "GroupName": return [phrase`${actor} named the group “${chosenText(value)}”`];
    case "Notification":
      return [value ? phrase`${actor} announced: ${chosenText(value)}` : phrase`${actor} took the announcement back`];
    case "Introduction": return [phrase`${actor} changed the introduction`];
    case "Owner": return [phrase`${chosenText(nameIn(group, value))} is the owner now`];
    case "Mute":
      if (value.mode === "None") return [phrase`${actor} lets the group speak again`];
      return [phrase`${actor} muted the group (${muteWords(value)})`];
    case "joinMode": {
      const whom = { Any: "lets anybody join", Auth: "is asked before somebody joins" }[value] ?? "lets nobody join";
      return [phrase`${actor} ${whom}`];
    }
    case "slowMode":
      return [value > 0 ? phrase`${actor} lets members write once in ${duration(value)}` : phrase`${actor} ended slow mode`];
    // Told by Mute, which is always beside it.
    case "AllMuted": return [];
    default: return [phrase`${actor} changed ${key ?? type}`];
  }
}

/** Whom a group silences and until when. */
function muteWords({ mode, roles, muteUntil }) {
  const whom = { Ordinary: "ordinary members", All: "everybody" }[mode] ?? (roles ?? []).join(", ");
  return muteUntil ? `${whom}, until ${clock(muteUntil)}` : whom;
}

function memberWords(group, opUser, { userID, muteTime, nameCard, role }) {
  const actor = chosenText(nameOf(opUser));
  // With the name card of before, which the change may have taken away.
  const member = () => chosenText(nameOf({ userID }));
  return [
    muteTime > 0 && phrase`${actor} muted ${chosenText(nameIn(group, userID))} for ${duration(muteTime)}`,
    muteTime === 0 && phrase`${chosenText(nameIn(group, userID))} may speak again`,
    nameCard && phrase`${member()} is now called ${chosenText(nameCard)}`,
    role && phrase`${chosenText(nameIn(group, userID))} has the role ${role}`,
  ].filter(Boolean);
}
