// How one item of a timeline looks, and the buttons beside it.

/** The reactions that this page offers, with their names for those who hear them. */
const offeredReactions = new Map([
  ["👍", "thumbs up"], ["❤️", "heart"], ["😂", "laughing"], ["😮", "surprised"], ["😢", "sad"], ["🎉", "celebration"],
]);

/** The content of an item's place in the list. `acts` are those of the timeline. */
function itemContent(item, acts) {
  if (item.words !== undefined) return element("p", { class: "tip" }, item.words());
  const isLost = item.state === "failed" || item.state === "dropped";
  const kinds = ["message", item.isOwn && "own", item.isRevoked && "gone", isLost && "failed"];
  const text = element("p", { class: "text", dir: "auto" }, withLinks(textOf(item)));
  return element("div", { class: kinds.filter(Boolean).join(" ") },
    styled("sender", chosenText(senderOf(item))), element("div", { class: "bubble" }, quoteOf(item, acts), text, metaOf(item)),
    buttonsBeside(item, acts), reactionChips(item, acts), item.isOpen && actionMenu(item, acts));
}

const senderOf = ({ sender, nameCard }) => nameOf({ userID: sender, nameCard });

function textOf(item) {
  return item.isRevoked ? "Message recalled" : item.text ?? "Data of an application";
}

/** Addresses in a text, without the punctuation behind them. */
const address = /https?:\/\/[^\s<>"]*[^\s<>".,;:!?'’)\]}]/g;

/** A text whose addresses are links. They open another tab, which learns nothing of this one. */
function withLinks(text) {
  const parts = [];
  let end = 0;
  for (const { 0: href, index } of text.matchAll(address)) {
    parts.push(text.slice(end, index), element("a", { href, target: "_blank", rel: "noopener noreferrer" }, href));
    end = index + href.length;
  }
  return [...parts, text.slice(end)];
}

/** When, and what else is to be known of a message, in a line. */
function metaOf(item) {
  const isThere = !item.isRevoked;
  const edited = isThere && item.editTime && element("span", { title: `Edited ${moment(item.editTime)}` }, "edited");
  const words = [clock(item.time), edited, isThere && item.isPinned && "pinned", stateWords(item), receiptWords(item)];
  // Only messages are read aloud as they come, not what becomes of them.
  return element("span", { class: "meta numeric", "aria-live": "off" }, words.filter(Boolean).flatMap((word, index) => (index === 0 ? [word] : [" · ", word])));
}

/** A button of a message; `key` finds it again when the message is drawn anew. */
function messageButton(key, attributes, content, act) {
  return element("button", { type: "button", "data-key": key, onclick: act, ...attributes }, content);
}

function buttonsBeside(item, acts) {
  const button = hasMenu(item, acts) ? menuButton(item, acts) : sendAgainButton(item, acts);
  return button && element("div", { class: "acts", "aria-live": "off" }, button);
}

/** Whether a message stands in the group's history, with its content. */
const isLasting = (item) => item.seq !== undefined && !item.isRevoked;

/** Whether there is something to do: also with the sender of a message of which nothing is kept. */
function hasMenu(item, acts) {
  if (item.isRevoked) return false;
  const person = acts.person(item);
  const isChangeable = (isLasting(item) && acts.isKept()) || acts.mayReply(item) || acts.mayRecall(item) || acts.mayReport(item);
  return isChangeable || Boolean(person.mayMute || person.mayRemove);
}

function menuButton(item, acts) {
  const message = item.isOwn ? "your message" : `the message of ${plainText(senderOf(item))}`;
  const label = `Actions on ${message}, ${clock(item.time)}`;
  const attributes = { class: "plain small menu-button", "aria-label": label, "aria-expanded": String(Boolean(item.isOpen)) };
  return messageButton("menu", attributes, "⋯", () => acts.toggle(item));
}

function sendAgainButton(item, acts) {
  if (item.state !== "failed" && item.state !== "dropped") return null;
  return messageButton("again", { class: "plain small" }, "Send again", () => acts.again(item));
}

/** The reactions to pick from, and what else this user may do with the message. */
function actionMenu(item, acts) {
  const choose = (act) => async () => {
    acts.toggle(item);
    await act();
    // The element that had the focus before a dialog may be gone.
    if (document.activeElement === document.body) (item.node.querySelector(".menu-button") ?? byID("scroller")).focus();
  };
  const faces = [...offeredReactions].map(([reaction, name]) => {
    const isMine = item.mine.has(reaction);
    const attributes = { class: "plain face", "aria-label": name, title: name, "aria-pressed": String(isMine) };
    return messageButton(`pick ${reaction}`, attributes, reaction, choose(() => acts.react(item, reaction, !isMine)));
  });
  const person = acts.person(item);
  const name = plainText(senderOf(item));
  const button = (words, label, act, kind = "") =>
    messageButton(words, { class: `plain small ${kind}`, "aria-label": label }, words, choose(act));
  const buttons = [
    acts.mayReply(item) && button("Reply", item.isOwn ? "Reply to your message" : `Reply to ${name}`, () => acts.reply(item)),
    acts.mayEdit(item) && button("Edit", "Edit your message", () => acts.edit(item)),
    acts.mayPin() && button(item.isPinned ? "Unpin" : "Pin", null, () => acts.pin(item)),
    receiptWords(item) && button("Readers", "Who has read it", () => acts.readers(item)),
    person.mayMute && (person.isMuted
      ? button("Unmute", `Let ${name} speak again`, () => acts.unmute(item.sender))
      : button("Mute", `Mute ${name}`, () => acts.mute(item.sender))),
    person.mayRemove && button("Remove", `Remove ${name} from the group`, () => acts.remove(item.sender), "danger"),
    acts.mayReport(item) && button("Report", `Report the message of ${name}`, () => acts.report(item)),
    acts.mayRecall(item) && button("Recall", "Recall this message", () => acts.recall(item), "danger"),
  ];
  return element("div", { class: "menu", role: "group", "aria-label": "Actions", "aria-live": "off", "data-arrows": "button" },
    isLasting(item) && acts.isKept() && element("div", { class: "faces", role: "group", "aria-label": "React" }, faces),
    buttons.some(Boolean) && element("div", { class: "choices" }, buttons));
}

/** The reactions of a message with their counts; a click gives one too, or takes the own one back. */
function reactionChips(item, acts) {
  if (item.isRevoked || !item.reactions?.length) return null;
  const chip = ({ reaction, count }) => {
    const isMine = item.mine.has(reaction);
    const name = offeredReactions.get(reaction) ?? plainText(reaction);
    const attributes = {
      class: "chip", "aria-pressed": String(isMine), "aria-label": `${name}, ${count}${isMine ? ", yours too" : ""}`,
      title: isMine ? "Take your reaction back" : "React so too",
    };
    const kind = /\p{Extended_Pictographic}/u.test(reaction) ? "face" : "words";
    const content = [styled(kind, chosenText(reaction)), styled("numeric", count)];
    return element("li", {}, messageButton(`chip ${reaction}`, attributes, content, () => acts.react(item, reaction, !isMine)));
  };
  return element("ul", { class: "reactions", "aria-label": "Reactions", "aria-live": "off" }, item.reactions.map(chip));
}

function stateWords(item) {
  if (item.isRevoked) return "";
  switch (item.state) {
    case "sending": return "sending";
    case "queued": return "waiting for its turn";
    case "dropped": return "dropped: the room is too busy";
    case "failed": return "not sent";
    default: return "";
  }
}

/** The readers of an own message; nothing where nobody else could read it. */
function receiptWords({ isOwn, isRevoked, needReadReceipt, readCount = 0, unreadCount = 0 }) {
  if (!isOwn || isRevoked || !needReadReceipt || readCount + unreadCount === 0) return "";
  if (readCount === 0) return "not read yet";
  return unreadCount === 0 ? "read by all" : `read by ${readCount} of ${readCount + unreadCount}`;
}
