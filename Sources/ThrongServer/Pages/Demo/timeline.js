// The messages and tips of one group in their order, and their list in the page.

/** How many items a group without history keeps. */
const liveItems = 500;

/**
 * Items have `time`, and either `words` (a tip) or `sender`, `text` and what else a message has; `seq` where the group keeps
 * messages; `state` where an own one is not simply there: sending, failed, queued, dropped.
 */
class Timeline {
  #items = [];
  #seqs = new Set();
  #acts;
  list = element("ol", { id: "timeline", role: "log" });
  /** Up to here, from where the history was read, nothing is missing: where a sync begins. */
  position = 0;
  /** The oldest message that was read, or 0. */
  oldest = 0;

  /** Acts: `recall(item)`, `again(item)` and `readers(item)`. */
  constructor(acts) {
    this.#acts = acts;
  }

  get last() {
    return this.#items.findLast((item) => item.sender !== undefined && !item.isRevoked);
  }

  /** Messages of others that ask for a receipt and have none from here. */
  get unconfirmed() {
    return this.#items.filter((item) => item.needReadReceipt && !item.isOwn && !item.isRevoked && !item.isConfirmed);
  }

  /** Own messages with receipts, the newest last. */
  get withReceipts() {
    return this.#items.filter((item) => item.needReadReceipt && item.isOwn && !item.isRevoked && item.seq !== undefined);
  }

  get unsent() {
    return this.#items.filter((item) => item.state === "sending");
  }

  /** Puts an item in its place; one whose `seq` is there already is dropped. */
  add(item) {
    if (item.seq !== undefined) {
      if (this.#seqs.has(item.seq)) return;
      this.#seqs.add(item.seq);
      this.#advance(item.seq);
    }
    const index = this.#place(item.seq);
    item.node = element("li");
    this.#items.splice(index, 0, item);
    this.list.insertBefore(item.node, this.list.children[index] ?? null);
    this.#draw(item);
    this.#refresh(index);
    this.#refresh(index + 1);
    if (item.seq === undefined && this.#items.length > liveItems) this.#remove(this.#items[0]);
  }

  /** Takes over what has become known of an item, and its new place. */
  update(item, news) {
    if (news.seq !== undefined && item.seq === undefined) {
      this.#remove(item);
      this.add(Object.assign(item, news));
    } else {
      this.#draw(Object.assign(item, news));
    }
  }

  /** Takes over how many have read own messages. */
  count(receiptList) {
    for (const { seq, readCount, unreadCount } of receiptList) {
      const item = this.#items.find((candidate) => candidate.seq === seq);
      if (item) this.update(item, { readCount, unreadCount });
    }
  }

  revoke(msgID) {
    const item = this.#items.find((candidate) => candidate.msgID === msgID);
    if (item) this.update(item, { isRevoked: true, text: undefined });
  }

  /** The own message that was sent under this name. */
  sent(clientMsgID) {
    return this.#items.find((item) => clientMsgID !== undefined && item.clientMsgID === clientMsgID);
  }

  clear() {
    const unsent = this.unsent;
    this.#items = [];
    this.#seqs.clear();
    this.list.replaceChildren();
    this.position = this.oldest = 0;
    for (const item of unsent) this.add(item);
  }

  #advance(seq) {
    if (this.position === 0) this.position = seq;
    while (this.#seqs.has(this.position + 1)) this.position += 1;
    this.oldest = this.oldest === 0 ? seq : Math.min(this.oldest, seq);
  }

  /** Before the first item with a greater `seq`; what has none came when it came. */
  #place(seq) {
    let place = this.#items.length;
    if (seq === undefined) return place;
    for (let index = place - 1; index >= 0; index--) {
      const other = this.#items[index].seq;
      if (other > seq) place = index;
      if (other < seq) break;
    }
    return place;
  }

  #remove(item) {
    const index = this.#items.indexOf(item);
    if (index < 0) return;
    this.#items.splice(index, 1);
    item.node.remove();
    this.#refresh(index);
  }

  /** What depends on the item before: a new day, and whether its sender goes on speaking. */
  #refresh(index) {
    const [before, item] = [this.#items[index - 1], this.#items[index]];
    if (!item) return;
    const isNewDay = !before || day(before.time) !== day(item.time);
    if (isNewDay) item.node.dataset.day = day(item.time);
    else delete item.node.dataset.day;
    const follows = !isNewDay && item.sender !== undefined && before.sender === item.sender && item.time - before.time < 300_000;
    item.node.classList.toggle("follows", follows);
  }

  #draw(item) {
    if (item.words !== undefined) return item.node.replaceChildren(element("p", { class: "tip" }, item.words));
    const isLost = item.state === "failed" || item.state === "dropped";
    const kinds = ["message", item.isOwn && "own", item.isRevoked && "gone", isLost && "failed"];
    const text = item.isRevoked ? "Message recalled" : item.text ?? "Data of an application";
    const meta = [clock(item.time), stateWords(item), receiptWords(item)].filter(Boolean).join(" · ");
    const bubble = element("div", { class: "bubble" }, element("p", { class: "text" }, text), styled("meta numeric", meta));
    item.node.replaceChildren(element("div", { class: kinds.filter(Boolean).join(" ") },
      styled("sender", item.nameCard || item.sender), bubble, this.#buttons(item)));
  }

  #buttons(item) {
    const button = (words, act) => element("button", { type: "button", class: "plain small", onclick: () => act(item) }, words);
    const buttons = [];
    if (item.isOwn && item.seq !== undefined && !item.isRevoked) {
      if (receiptWords(item)) buttons.push(button("Readers", this.#acts.readers));
      buttons.push(button("Recall", this.#acts.recall));
    }
    if (item.state === "failed" || item.state === "dropped") buttons.push(button("Send again", this.#acts.again));
    return buttons.length > 0 ? element("div", { class: "acts" }, buttons) : null;
  }
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

/** Who has read an own message; nothing where nobody else could. */
function receiptWords({ isOwn, isRevoked, needReadReceipt, readCount = 0, unreadCount = 0 }) {
  if (!isOwn || isRevoked || !needReadReceipt || readCount + unreadCount === 0) return "";
  if (readCount === 0) return "not read yet";
  return unreadCount === 0 ? "read by all" : `read by ${readCount} of ${readCount + unreadCount}`;
}
