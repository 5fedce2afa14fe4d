// Words for events and refusals.

const refusals = new Map([
  [7008, "That was too fast for the server. Try again in a moment."],
  [8501, "A group ID has 1 to 48 visible characters and does not begin with @TGS#."],
  [8502, "The group name is missing or too long."],
  [8506, "The display name is too long."],
  [8508, "A Work group is joined by invitation only."],
  [8511, "That was too often. Try again in a moment."],
  [10002, "The server cannot do this just now. Nothing was changed."],
  [10007, "That is not allowed to you in this group."],
  [10009, "The owner cannot leave this group, only disband it."],
  [10010, "There is no such group."],
  [10013, "You are a member already."],
  [10014, "The group is full."],
  [10015, "A group ID has 1 to 48 visible characters."],
  [10017, "You cannot write now: you are muted, or the whole group is."],
  [10021, "This group ID is taken."],
  [10023, "The group gets more messages than it may. Try again in a moment."],
  [10024, "Somebody else has decided already."],
  [10025, "You have a group with this ID already."],
  [10030, "This message is gone."],
  [10031, "It is too late for that with this message."],
  [10037, "You are in as many groups as this server allows."],
  [10055, "This message has as many different reactions as it may."],
  [10056, "This group has as many pinned messages as it may."],
  [80002, "The message is too long."],
]);

/** Why a request failed, for people; codes without a sentence of their own keep the server's. */
function inWords(error) {
  if (!(error instanceof ThrongError)) return error.message;
  return refusals.get(error.code) ?? `${error.message} (${error.code}).`;
}

/** The name of a member. */
function nameOf(member) {
  if (!member) return "Somebody";
  return member.userID === "administrator" ? "An administrator" : member.nameCard || member.userID;
}

function namesOf(members) {
  const names = members.slice(0, 3).map(nameOf);
  if (members.length > 3) names.push(`${members.length - 3} more`);
  return names.length < 2 ? (names[0] ?? "Somebody") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** The kinds of tips that events tell of. */
const tipTypes = {
  onMemberEnter: "Join", onMemberInvited: "Invite", onMemberLeave: "Quit", onMemberKicked: "Kicked",
  onGrantAdministrator: "SetAdmin", onRevokeAdministrator: "CancelAdmin",
  onGroupInfoChanged: "GroupInfoChange", onGroupMemberInfoChanged: "MemberInfoChange",
};

/** A tip, or an event as one, in a sentence for each thing that it tells. */
function tipWords(type, { opUser, memberList = [], changeInfoList = [] }) {
  const actor = nameOf(opUser);
  const members = namesOf(memberList);
  switch (type) {
    case "Join": return [`${members} joined`];
    case "Quit": return [`${members} left`];
    case "Invite": return [`${actor} brought in ${members}`];
    case "Kicked": return [`${actor} removed ${members}`];
    case "SetAdmin": return [`${actor} made ${members} admin`];
    case "CancelAdmin": return [`${members} is no longer admin`];
    case "GroupInfoChange": return infoWords(actor, changeInfoList);
    case "MemberInfoChange": return changeInfoList.flatMap((change) => memberWords(actor, change));
    default: return [];
  }
}

function infoWords(actor, changes) {
  return changes.flatMap(({ type, key, value }) => {
    switch (type) {
      case "GroupName": return [`${actor} named the group “${value}”`];
      case "Notification": return [value ? `${actor} announced: ${value}` : `${actor} took the announcement back`];
      case "Introduction": return [`${actor} changed the introduction`];
      case "Owner": return [`${value} is the owner now`];
      case "Mute":
        if (value.mode === "None") return [`${actor} lets the group speak again`];
        return [`${actor} muted the group (${muteWords(value)})`];
      case "joinMode":
        return [{ Any: `${actor} lets anybody join`, Auth: `${actor} is asked before somebody joins` }[value] ?? `${actor} lets nobody join`];
      // Told by Mute, which is always beside it.
      case "AllMuted": return [];
      default: return [`${actor} changed ${key ?? type}`];
    }
  });
}

/** Whom a group silences and until when. */
function muteWords({ mode, roles, muteUntil }) {
  const whom = { Ordinary: "ordinary members", All: "everybody" }[mode] ?? (roles ?? []).join(", ");
  return muteUntil ? `${whom}, until ${clock(muteUntil)}` : whom;
}

function memberWords(actor, change) {
  const words = [];
  if (change.muteTime > 0) words.push(`${actor} muted ${change.userID} for ${duration(change.muteTime)}`);
  if (change.muteTime === 0) words.push(`${change.userID} may speak again`);
  if (change.nameCard) words.push(`${change.userID} is now called ${change.nameCard}`);
  if (change.role) words.push(`${change.userID} has the role ${change.role}`);
  return words;
}
