// The messages of the group that is shown.

async function showMessages(info) {
  if (["AVChatRoom", "BChatRoom"].includes(info.groupType)) {
    byID("messages").replaceChildren(element("p", { class: "empty" }, `${info.groupType} keeps no messages.`));
    return;
  }
  const { groupID } = info;
  await showPages(byID("messages"), "None", async (fromSeq) => {
    const page = await rpc("getGroupHistoryMessageList", given({ groupID, count: 20, fromSeq }));
    const last = page.messageList.at(-1);
    return { rows: page.messageList.map((message) => messageRow(groupID, message)), next: page.isFinished ? undefined : last?.seq };
  });
}

function messageRow(groupID, message) {
  const isContent = !message.isRevoked && message.type !== "GroupTips";
  return element("tr", {},
    element("td", { class: "numeric stamp" }, element("span", { class: "sub" }, `#${message.seq}`), element("span", { class: "sub" }, moment(message.timestamp))),
    element("td", {}, element("span", { class: "sub" }, message.nameCard ? `${message.nameCard} · ${message.sender}` : message.sender),
      element("span", { class: isContent ? "message-text" : "quiet" }, contentWords(message))),
    element("td", { class: "end" }, isContent && element("div", { class: "acts" }, smallButton("Recall", () => recallMessage(groupID, message), "danger"))));
}

function contentWords({ type, text, data, tips, isRevoked }) {
  if (isRevoked) return "recalled";
  if (type !== "GroupTips") return text ?? data;
  const members = tips.memberList?.map(({ userID }) => userID) ?? [];
  const changes = tips.changeInfoList?.map(({ type: what, userID, ...change }) => [what ?? userID, JSON.stringify(change.value ?? change)].join(" ")) ?? [];
  return [tips.type, ...members, ...changes].join(" · ");
}

function recallMessage(groupID, { seq, sender }) {
  return changeGroup(groupID, {
    title: `Recall message #${seq}?`, text: `The message of ${sender} loses its content for everybody.`, action: "Recall", danger: true,
    run: () => act("revokeGroupMessage", { groupID, seq }),
  });
}

function sendMessage(info) {
  const priorities = ["Normal", "High", "Low", "Lowest"].map((name) => [name, name]);
  return changeGroup(info.groupID, {
    title: `Send to ${info.groupName}`, text: "Members see it from “administrator”.", action: "Send",
    fields: [{ name: "text", label: "Text", lines: 4, required: true }, { name: "priority", label: "Priority", options: priorities }],
    run: ({ text, priority }) => act("sendGroupTextMessage", { groupID: info.groupID, text, priority }),
  });
}
