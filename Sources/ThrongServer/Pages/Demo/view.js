// Drawing the page, but for its messages.

const wide = matchMedia("(min-width: 1000px)");
let isRenderDue = false;
let muteTimer = 0;
let areMembersOpen = wide.matches;

// A window that becomes narrow has room for one thing: the conversation.
wide.addEventListener("change", () => {
  areMembersOpen &&= wide.matches;
  render();
});

/** Draws what is not a message, once for everything that happened together. */
function render() {
  if (isRenderDue) return;
  isRenderDue = true;
  queueMicrotask(() => {
    isRenderDue = false;
    renderGroups();
    if (chat.current) renderConversation(chat.current);
    byID("members").hidden = !chat.current || !areMembersOpen;
  });
}

function renderGroups() {
  const groups = [...chat.groups.values()];
  byID("group-list").replaceChildren(...groups.map(groupRow));
  const unread = groups.reduce((sum, group) => sum + group.unread, 0);
  document.title = (unread > 0 ? `(${unread}) ` : "") + (chat.current ? `${chat.current.info.groupName} · Throng` : "Throng");
}

function groupRow(group) {
  const last = group.timeline.last;
  const words = last ? `${last.isOwn ? "You" : last.nameCard || last.sender}: ${last.text ?? "data"}` : group.info.groupType;
  const isUnread = group.unread > 0;
  const count = isUnread && element("span", { class: "count numeric", "aria-label": `${group.unread} unread` }, group.unread);
  const button = element("button", {
    type: "button", class: isUnread && "unread", "aria-current": group === chat.current ? "true" : null,
    onclick: () => openGroup(group),
  }, styled("name", group.info.groupName), count, styled("last", words));
  return element("li", {}, button);
}

function renderConversation(group) {
  const { info } = group;
  byID("title").textContent = info.groupName;
  byID("subtitle").textContent = [info.groupType, info.groupID].join(" · ");
  byID("to-members").textContent = `Members ${info.memberCount}`;
  byID("to-members").setAttribute("aria-expanded", areMembersOpen);
  byID("leave").textContent = group.isDisbandable ? "Disband" : "Leave";
  byID("older").hidden = !group.hasOlder;
  byID("like-place").hidden = group.isKept;
  byID("likes").textContent = group.likes.toLocaleString("en");
  renderPins(group);
  renderStage(group);
  say("announcement", info.notification);
  say("mute", group.muteNotice);
  clearTimeout(muteTimer);
  if (group.muteRest < 86_400_000) muteTimer = setTimeout(render, group.muteRest + 100);
  byID("applications").replaceChildren(...[...group.applications].map(([id, user]) => applicationRow(group, id, user)));
  renderMembers(group);
}

function applicationRow(group, applicationID, user) {
  const decide = async (method) => {
    try {
      await call(method, { applicationID });
    } catch (error) {
      if (error.code !== 10024) return composerFault(inWords(error));
    }
    group.applications.delete(applicationID);
    render();
  };
  const button = (words, method, kind) =>
    element("button", { type: "button", class: `small ${kind}`, onclick: () => decide(method) }, words);
  return element("li", {}, styled("wrap", `${user} asks to join`),
    button("Let in", "acceptGroupApplication", "primary"), button("Decline", "refuseGroupApplication", ""));
}

function renderMembers(group) {
  const rank = ({ role }) => roleRanks[role] ?? roleRanks.Member;
  const members = [...group.members.values()].sort((a, b) => rank(b) - rank(a));
  byID("member-count").textContent = group.areMembersHidden ? "are not shown here" : group.info.memberCount;
  byID("more-members").hidden = group.nextMember === 0;
  byID("member-list").replaceChildren(...members.map((member) => memberRow(member, rank(member) > 0)));
}

function memberRow(member, hasRank) {
  const isMe = member.userID === chat.me;
  const online = isMe || member.isOnline ? "online" : "offline";
  return element("li", {},
    element("span", { class: `dot ${online}`, title: online }),
    element("span", { class: "who", title: member.userID }, styled("name", nameOf(member)), isMe && styled("quiet", "(you)")),
    hasRank && styled("badge", member.role));
}

// MARK: Which part is seen

function show(view) {
  document.body.dataset.view = view;
  byID("conversation").hidden = !chat.current;
  byID("lobby").hidden = chat.current !== null;
  render();
}

function openGroup(group) {
  chat.current = group;
  history.replaceState(null, "", linkTo(group.id));
  areMembersOpen = wide.matches && areMembersOpen;
  composerFault("");
  byID("timeline").replaceWith(group.timeline.list);
  show("conversation");
  scrollToEnd();
  markRead(group);
  if (!group.arePinsKnown) loadPins(group).catch((error) => error instanceof ClientError || composerFault(inWords(error)));
  // Where there is little room, the focus would bring up a keyboard over the messages.
  if (wide.matches) byID("text").focus();
}

function openLobby(notice = "", view = "lobby") {
  chat.current = null;
  history.replaceState(null, "", location.pathname);
  lobbyNotice(notice);
  show(view);
}

/** The address of this page with a group in it. */
function linkTo(groupID) {
  return `${location.pathname}#${encodeURIComponent(groupID)}`;
}

/** Whether the user sees what comes to this group. */
function isLookedAt(group) {
  return group === chat.current && document.visibilityState === "visible";
}

// MARK: The end of the conversation

const scroller = byID("scroller");
let isAtEnd = true;

function scrollToEnd() {
  scroller.scrollTop = scroller.scrollHeight;
  isAtEnd = true;
  byID("newer").hidden = true;
}

scroller.addEventListener("scroll", () => {
  isAtEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 80;
  if (isAtEnd) byID("newer").hidden = true;
});
// The end stays in sight when the window, or the protocol's part of it, changes its height.
new ResizeObserver(() => isAtEnd && scrollToEnd()).observe(scroller);

/** Adds to a timeline, and follows its end where the reader is there; else says that there is something new. */
function following(group, change, isOwn) {
  const wasAtEnd = isAtEnd;
  change();
  if (group !== chat.current) return;
  if (wasAtEnd || isOwn) scrollToEnd();
  else byID("newer").hidden = false;
}

/** Changes what stands in a timeline: its end stays in sight where the reader is there. */
function keepEnd(group, change) {
  const wasAtEnd = isAtEnd;
  change();
  if (group === chat.current && wasAtEnd) scrollToEnd();
}

/** Changes what is above the reader's place, and keeps the place. */
function keepPlace(group, change) {
  if (group !== chat.current) return change();
  const fromEnd = scroller.scrollHeight - scroller.scrollTop;
  change();
  scroller.scrollTop = scroller.scrollHeight - fromEnd;
  byID("newer").hidden = true;
}

// MARK: Words about what went wrong

/** Says something above everything else, until the connection changes. */
function warn(words) {
  say("banner-words", words);
  byID("retry").hidden = true;
  byID("banner").hidden = false;
}

const composerFault = (words) => say("composer-fault", words);
const lobbyNotice = (words) => say("lobby-notice", words);
