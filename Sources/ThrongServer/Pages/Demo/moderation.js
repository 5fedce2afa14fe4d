// Slow mode, and reports of messages to those who run the server.

const slowModes = [["0", "Off"], ["10", "10 seconds"], ["30", "30 seconds"], ["60", "1 minute"], ["300", "5 minutes"], ["3600", "1 hour"]];
let slowTimer = 0;

/** How long the user has to wait before the next message, in milliseconds; managers do not wait. */
function slowRest(group) {
  if (rankOf(group.info.selfInfo.role) > 0) return 0;
  return Math.max(0, group.mayWriteAt - Date.now(), chat.client.mayWriteAt(group.id) - Date.now());
}

/** An own message was taken: the next one waits. */
function noteSent(group, state) {
  const { slowMode = 0 } = group.info;
  if (["stored", "delivered", "queued"].includes(state)) group.mayWriteAt = Math.max(group.mayWriteAt, Date.now() + slowMode * 1000);
}

/** Counts down to the next message that the group takes. */
function renderSlow(group) {
  clearTimeout(slowTimer);
  // The end of slow mode ends the wait.
  if (!group.info.slowMode) group.mayWriteAt = 0;
  const rest = slowRest(group);
  const left = Math.ceil(rest / 1000);
  const beginning = group.info.slowMode ? "Slow mode: you" : "You";
  say("slow", left > 0 ? `${beginning} can write again in ${duration(left)}.` : "");
  if (rest > 0) slowTimer = setTimeout(render, rest - (left - 1) * 1000 + 1);
  byID("slow-mode").hidden = !group.may("editPolicy") || group.info.slowMode === undefined;
  byID("slow-mode").setAttribute("aria-pressed", Boolean(group.info.slowMode));
}

function askSlowMode(group) {
  const known = slowModes.some(([value]) => value === String(group.info.slowMode));
  const own = [String(group.info.slowMode), duration(group.info.slowMode)];
  return decideInDialog({
    title: "Slow mode", action: "Apply", text: "Members wait so long from one message to their next; managers do not.",
    fields: [{ name: "slowMode", label: "Wait", options: known ? slowModes : [own, ...slowModes], value: String(group.info.slowMode) }],
    run: ({ slowMode }) => call("setGroupInfo", { groupID: group.id, slowMode: Number(slowMode) }),
  });
}

// MARK: Reports

const reportCategories = [["spam", "Spam"], ["abuse", "Insult or threat"], ["other", "Something else"]];

/** Whether a message may be reported: somebody else's, where the server has it. */
function mayReport(group, { isOwn, sender, seq, msgID, isRevoked }) {
  const isThere = group.isKept ? seq !== undefined : group.isRemembered && (seq !== undefined || msgID !== undefined);
  return isThere && !isOwn && !isRevoked && sender !== undefined && sender !== "administrator";
}

function report(group, item) {
  const name = chosenText(senderOf(item));
  return decideInDialog({
    title: phrase`Report the message of ${name}?`, action: "Report",
    text: "Those who run this server read the message as it is now, and your words. Nobody in the group is told.",
    fields: [
      { name: "category", label: "It is", options: reportCategories, value: "spam" },
      { name: "text", label: "Your words", lines: 3, placeholder: "none" },
    ],
    run: async ({ category, text }) => {
      const target = item.seq === undefined ? { msgID: item.msgID } : { seq: item.seq };
      const words = text.trim() ? { text: text.trim() } : {};
      await call("reportMessage", { groupID: group.id, ...target, category, ...words });
      addItem(group, { time: serverNow(), words: () => phrase`You have reported a message of ${chosenText(senderOf(item))}.` });
    },
  });
}
