// The messages of the group that is shown.

/** Live types store no messages. */
const keepsNothing = (groupType) => ["AVChatRoom", "BChatRoom"].includes(groupType);

/** A live room that remembers its last messages: alone among groups it has no `firstSeq`. */
const remembers = ({ groupType, epoch, firstSeq }) => groupType === "AVChatRoom" && epoch !== undefined && firstSeq === undefined;

async function showMessages(info) {
  byID("group-search-link").hidden = searchesMessages === false || keepsNothing(info.groupType);
  byID("group-search-link").href = `#search/${encodeURIComponent(info.groupID)}`;
  if (keepsNothing(info.groupType) && !remembers(info)) {
    byID("messages").replaceChildren(element("p", { class: "empty" }, `${info.groupType} keeps no messages.`));
    return;
  }
  const { groupID } = info;
  await showPages(byID("messages"), "None", async (fromSeq) => {
    const page = await rpc("getGroupHistoryMessageList", given({ groupID, count: 20, fromSeq }));
    const rows = page.messageList.map((message) => {
      const isContent = !message.isRevoked && message.type !== "GroupTips";
      const recall = () => smallButton("Recall", () => recallMessage(groupID, message), "danger");
      const acts = keepsNothing(info.groupType) ? [recall()] : [pinButton(groupID, message), recall()];
      return messageRow(message, isContent ? acts : []);
    });
    return { rows, next: page.isFinished ? undefined : page.messageList.at(-1)?.seq };
  });
}

/** A message with its marks, and buttons for it. */
function messageRow(message, acts) {
  const { seq, timestamp, editTime, isPinned, isRevoked } = message;
  const isContent = !isRevoked && message.type !== "GroupTips";
  const marks = [
    isContent && editTime && element("span", { class: "badge", title: `Edited ${moment(editTime)}` }, "edited"),
    isPinned && styled("badge accent", "pinned"),
  ].filter(Boolean);
  return element("tr", {},
    element("td", { class: "numeric stamp" }, styled("sub", `#${seq}`), styled("sub", moment(timestamp))),
    element("td", {}, element("div", { class: "sender" }, senderName(message)),
      styled(isContent ? "message-text" : "quiet", ...contentWords(message)), marks.flatMap((mark) => [" ", mark])),
    element("td", { class: "end" }, element("div", { class: "acts" }, acts)));
}

/** The sender by the name card, else the nickname; an administrator is no user. */
function senderName({ sender, nickName, nameCard }) {
  return sender === "administrator" ? [sender] : userName({ userID: sender, nickName, nameCard });
}

/** What a message says, as children of an element. */
function contentWords({ type, text, data, tips, isRevoked }) {
  if (isRevoked) return ["recalled"];
  if (type !== "GroupTips") return [chosenText(text ?? data)];
  const members = (tips.memberList ?? []).map(({ userID, nickName }) => (nickName ? [chosenText(nickName), ` (${userID})`] : [userID]));
  const changes = (tips.changeInfoList ?? []).map(({ type: what, userID, ...change }) =>
    [`${what ?? userID} `, chosenText(JSON.stringify(change.value ?? change))]);
  return [tips.type, ...[...members, ...changes].flatMap((part) => [" · ", ...part])];
}

function recallMessage(groupID, { seq, sender }) {
  return changeGroup({
    title: `Recall message #${seq}?`, action: "Recall", danger: true,
    text: `The message of ${sender} loses its content for everybody.`,
    run: () => act("revokeGroupMessage", { groupID, seq }),
  });
}

function sendMessage(info) {
  const priorities = ["Normal", "High", "Low", "Lowest"].map((name) => [name, name]);
  return changeGroup({
    title: ["Send to ", chosenText(info.groupName)], text: "Members see it from “administrator”.", action: "Send",
    fields: [
      { name: "text", label: "Text", lines: 4, required: true }, { name: "priority", label: "Priority", options: priorities },
    ],
    run: ({ text, priority }) => act("sendGroupTextMessage", { groupID: info.groupID, text, priority }),
  });
}
