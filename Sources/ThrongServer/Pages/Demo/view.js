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
    else if (chat.client) watchListed(null);
    byID("members").hidden = !chat.current || !areMembersOpen;
  });
}

function renderGroups() {
  const groups = ordered(chat.groups.values());
  keepingFocus(byID("group-list"), () => renew(byID("group-list"), groups.filter(isListed).map(groupRow)));
  renderHidden(groups);
  const unread = groups.reduce((sum, group) => sum + shownUnread(group), 0);
  const name = chat.current ? `${plainText(chat.current.info.groupName)} · Throng` : "Throng";
  document.title = (unread > 0 ? `(${unread}) ` : "") + name;
}

function groupRow(group) {
  const last = group.timeline.last;
  const who = last && (last.isOwn ? "You" : chosenText(senderOf(last)));
  const words = last ? phrase`${who}: ${chosenText(textOf(last))}` : group.info.groupType;
  const unread = shownUnread(group);
  // Not every group counts; what is new is told all the same.
  const isNew = group.hasNews && !group.type.countsUnread && !isSeen(group);
  const isUnread = unread > 0 || isNew || group.isMarkedUnread;
  const count = unread > 0
    ? element("span", { class: "count numeric", "aria-label": `${unread} unread` }, String(unread))
    : isNew ? element("span", { class: "count new", "aria-label": "something new" }, "new")
    : isUnread && element("span", { class: "count new", "aria-label": "marked unread" }, "unread");
  const button = element("button", {
    type: "button", class: isUnread && "unread", "data-key": "open", "aria-current": group === chat.current ? "true" : null,
  }, styled("name", group.isPinned && element("span", { class: "pinned", role: "img", "aria-label": "Pinned: " }, "★ "),
    chosenText(group.info.groupName)), count, styled("last", words));
  return element("li", { "data-id": group.id }, button);
}

byID("group-list").addEventListener("click", ({ target }) => {
  const group = chat.groups.get(target.closest("[data-id]")?.dataset.id);
  if (group) openGroup(group);
});

function renderConversation(group) {
  const { info } = group;
  say("title", chosenText(info.groupName));
  say("subtitle", [info.groupType, info.groupID].join(" · "));
  say("to-members", `Members ${info.memberCount}`);
  byID("to-members").setAttribute("aria-expanded", areMembersOpen);
  say("leave", group.isDisbandable ? "Disband" : "Leave");
  byID("older").hidden = !group.hasOlder;
  say("beginning", beginningWords(group));
  byID("like-place").hidden = group.isKept;
  say("likes", group.likes.toLocaleString("en"));
  renderConversationButtons(group);
  renderAnswered(group);
  renderPins(group);
  renderStage(group);
  say("announcement", info.notification && chosenText(info.notification));
  renderMute(group);
  renderSlow(group);
  renderTyping(group);
  renderApplications(group);
  renderMembers(group);
}

/** What stands above the first message, where that needs words. */
function beginningWords(group) {
  const { lastSeq, firstSeq } = group.info;
  const invitation = "Copy the link, open it in another tab or send it to somebody.";
  if (group.isRemembered) {
    if (group.timeline.isEmpty) return `Nothing is remembered of what was said here. ${invitation}`;
    return group.hasOlder ? "" : "Earlier messages are not kept: a live room remembers its last ones.";
  }
  if (!group.isKept) {
    const now = group.timeline.isEmpty ? ` ${invitation}` : "";
    return `Earlier messages are not kept in a live room: you see what is said from now on.${now}`;
  }
  if (!group.timeline.isEmpty || !group.isHistoryKnown) return "";
  if (group.isCleared) return "You have cleared what was said before.";
  if (lastSeq > 0 && firstSeq > lastSeq) return "Earlier messages are not kept any more.";
  return lastSeq > 0 ? "Earlier messages are not shown to you." : `Nothing has been said here yet. ${invitation}`;
}

/** What a mute forbids, as long as it does. */
function renderMute(group) {
  if (mutedGroup !== null && (mutedGroup !== group || !group.isMuted)) composerFault("");
  if (mutedGroup) say("composer-fault", `You cannot write now. ${group.muteNotice}`);
  say("mute", mutedGroup ? "" : group.muteNotice);
  if (!group.isMuted) for (const fault of document.querySelectorAll("dialog .fault[data-about=mute]")) fault.hidden = true;
  clearTimeout(muteTimer);
  if (group.muteRest < 86_400_000) muteTimer = setTimeout(render, group.muteRest + 1);
}

// MARK: Which part is seen

function show(view) {
  document.body.dataset.view = view;
  byID("conversation").hidden = !chat.current;
  byID("lobby").hidden = chat.current !== null;
  render();
}

function openGroup(group) {
  openMember = null;
  chat.current?.timeline.close();
  chat.current = group;
  history.replaceState(null, "", linkTo(group.id));
  areMembersOpen = wide.matches && areMembersOpen;
  composerFault("");
  byID("timeline").replaceWith(group.timeline.list);
  show("conversation");
  scrollToEnd();
  markRead(group);
  if (!group.arePinsKnown) loadPins(group).catch((error) => error instanceof ClientError || sayRefusal(error));
  // Where there is little room, the focus in a field would bring up a keyboard over the messages.
  byID(wide.matches ? "text" : "title").focus();
}

/** The group that was left is asked for its unread messages: what came last may not have been marked. */
function openLobby(notice = "", view = "lobby") {
  const left = chat.current;
  left?.timeline.close();
  chat.current = null;
  if (left && chat.groups.has(left.id)) askUnread(left);
  history.replaceState(null, "", location.pathname);
  lobbyNotice(notice);
  show(view);
  const place = view === "groups" ? byID("group-list").querySelector("button") ?? byID("to-lobby") : byID("lobby-title");
  if (!document.activeElement?.checkVisibility() || document.activeElement === document.body) place.focus();
}

/** The address of this page with a group in it. */
function linkTo(groupID) {
  return `${location.pathname}#${encodeURIComponent(groupID)}`;
}

/** Whether the user sees what comes to this group. */
function isLookedAt(group) {
  return group === chat.current && document.visibilityState === "visible";
}

/** Whether what comes to this group is in view. */
function isSeen(group) {
  return isLookedAt(group) && isAtEnd;
}

// MARK: The end of the conversation

const scroller = byID("scroller");
let isAtEnd = true;
let lastTop = 0;

/** How far the reader is from the end. */
let fromEnd = 0;

function scrollToEnd() {
  scroller.scrollTop = scroller.scrollHeight;
  isAtEnd = true;
  byID("newer").hidden = true;
  seeEnd();
}

function noteFromEnd() {
  fromEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
  isAtEnd = fromEnd < 80;
}

scroller.addEventListener("scroll", () => {
  const wasAtEnd = isAtEnd;
  const isUp = scroller.scrollTop < lastTop;
  lastTop = scroller.scrollTop;
  noteFromEnd();
  // What has come since the last frame is below the window still: that is no wish to leave the end.
  isAtEnd ||= wasAtEnd && !isUp;
  if (isAtEnd) byID("newer").hidden = true;
  if (isAtEnd === wasAtEnd) return;
  seeEnd();
  render();
});
// Once for all that has changed in a frame. The end stays in sight of those who look at it; where notices above the messages
// come and go, or the window changes its height, no message moves under the pointer.
const sizes = new ResizeObserver((entries) => {
  if (isAtEnd) {
    scroller.scrollTop = scroller.scrollHeight;
  } else if (entries.some(({ target }) => target === scroller)) {
    scroller.scrollTop = scroller.scrollHeight - scroller.clientHeight - fromEnd;
  }
});
for (const place of [scroller, byID("content")]) sizes.observe(place);

/** Adds to a timeline, whose end is followed where the reader is there; else says that there is something new. */
function following(group, change, isOwn) {
  const wasAtEnd = isAtEnd;
  change();
  if (group !== chat.current) return;
  if (isOwn && !wasAtEnd) return scrollToEnd();
  // An open menu stays where it is.
  const keepsPlace = !isOwn && group.timeline.isMenuOpen;
  if (wasAtEnd && !keepsPlace) return;
  noteFromEnd();
  isAtEnd &&= !keepsPlace;
  byID("newer").hidden = isAtEnd;
}

/** Changes what is above the reader's place, and keeps the place. */
function keepPlace(group, change) {
  if (group !== chat.current) return change();
  const below = scroller.scrollHeight - scroller.scrollTop;
  change();
  scroller.scrollTop = scroller.scrollHeight - below;
  byID("newer").hidden = true;
}

// MARK: Words about what went wrong

/** Says something beside the state, until the connection changes. */
function warn(words) {
  byID("retry").hidden = true;
  sayBanner(words);
}

/** The group of whose mute the words above the composer speak. */
let mutedGroup = null;

function composerFault(words) {
  mutedGroup = null;
  say("composer-fault", words);
}

/** Says above the composer why something was refused. A mute is told as long as it lasts. */
async function sayRefusal(error) {
  const group = chat.current;
  composerFault(inWords(error));
  if (error.code !== ErrorCode.muted || !group) return;
  try {
    // The event of this mute is still to come, or there is none.
    if (!group.isMuted) await refresh([group]);
  } catch (other) {
    if (!(other instanceof ClientError || other instanceof ThrongError)) throw other;
    // What was refused is told already.
    return;
  }
  mutedGroup = group;
  render();
}

const lobbyNotice = (words) => say("lobby-notice", words);
