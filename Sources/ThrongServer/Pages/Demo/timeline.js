// The messages and tips of one group in their order, and their list in the page.

/** How many items of a live room are kept here. */
const liveItems = 500;

/**
 * Items have `time`, and either `words()` (a tip, as children of an element) or `sender`, `text` and what else a message has; `seq` where the group keeps
 * messages, `changeSeq` (0 = never changed), `reactions` and those of them that are `mine`; `state` where an own one is not
 * simply there: sending, failed, queued, dropped.
 */
class Timeline {
  #items = [];
  #bySeq = new Map();
  #acts;
  /** The item whose menu is open. */
  #open = null;
  /** Until when the open menu is right. */
  #menuTimer = 0;
  /** Receipts of messages that are not here: an event may overtake the answer that tells the `seq`. */
  #earlyReceipts = new Map();
  /** Changes of messages that are not here, while history is being read that may hold them; else null. */
  #early = null;
  list = element("ol", { id: "timeline", role: "log", "aria-label": "Messages", "data-arrows": ".menu-button" });
  /** The newest message that is here, or 0. */
  newest = 0;
  /** The oldest message that was read, or 0. */
  oldest = 0;

  /**
   * Acts: `recall(item)`, `again`, `readers`, `edit`, `pin`, `react(item, reaction, isAdded)`, and `mute(userID)`, `unmute`,
   * `remove`, `reply(item)`, `report(item)`, `show(seq)`. What is allowed: `mayPin()`, `mayEdit(item)`, `mayRecall(item)`,
   * `mayReply(item)`, `mayReport(item)`;
   * `person(item)` says it of the sender; until when that is right, in milliseconds: `timeLeft(item)`. `isKept()`: whether the
   * group stores its messages; `quoted(item)`: the message that an item answers, if it is known.
   */
  constructor(acts) {
    this.#acts = { ...acts, toggle: (item) => this.#toggle(item) };
  }

  get isEmpty() {
    return this.#items.length === 0;
  }

  get isMenuOpen() {
    return this.#open !== null;
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
    return this.#items.filter((item) => item.sent && item.seq === undefined);
  }

  /** The item with this `seq`, if it is here. */
  at(seq) {
    return this.#bySeq.get(seq);
  }

  /** Puts an item in its place; of one whose `seq` is there already, this state counts unless a later one is known. */
  add(item) {
    if (item.seq !== undefined) {
      if (this.#bySeq.has(item.seq)) return this.change(item.seq, item.changeSeq, () => item);
      this.#bySeq.set(item.seq, item);
      this.#advance(item.seq);
      Object.assign(item, this.#earlyReceipts.get(item.seq));
      this.#earlyReceipts.delete(item.seq);
    }
    const index = this.#place(item.seq);
    item.node = element("li");
    this.#items.splice(index, 0, item);
    // Drawn first: a screen reader hears of it once.
    this.#draw(item);
    this.list.insertBefore(item.node, this.list.children[index] ?? null);
    this.#refresh(index);
    this.#refresh(index + 1);
    const isLast = index === this.#items.length - 1;
    if (isLast && (item.seq === undefined || !this.#acts.isKept()) && this.#items.length > liveItems) this.#forgetFirst();
  }

  #forgetFirst() {
    const [first] = this.#items;
    if (this.#open === first) this.close();
    this.#bySeq.delete(first.seq);
    this.#remove(first);
  }

  /** Takes over what has become known of an item, and its new place. */
  update(item, news) {
    if (news.seq !== undefined && item.seq === undefined) {
      this.#remove(item);
      this.add(Object.assign(item, news));
    } else {
      this.#draw(Object.assign(item, news));
    }
    // Nothing can be done with it any more.
    if (item.isRevoked && this.#open === item) this.close();
  }

  /** Takes over how many have read own messages. */
  count(receiptList) {
    for (const { seq, readCount, unreadCount } of receiptList) {
      const item = this.at(seq);
      if (item) this.update(item, { readCount, unreadCount });
      else this.#earlyReceipts.set(seq, { readCount, unreadCount });
    }
  }

  /** Draws everything again: somebody is called otherwise, or may do more or less. */
  redraw() {
    for (const item of this.#items) this.#draw(item);
  }

  /** Draws the answers to a message again, because it has changed. */
  redrawAnswers(seq) {
    for (const item of this.#items) if (item.replyTo?.seq === seq) this.#draw(item);
  }

  /** Takes over a change of a message, unless a later one is known: `news(item)` is what is different since. */
  change(seq, changeSeq, news) {
    const item = this.at(seq);
    if (!item) this.#early?.push([seq, changeSeq, news]);
    else if (changeSeq >= item.changeSeq) this.update(item, { ...news(item), changeSeq });
  }

  /** History is going to be read, and events may overtake it. */
  beginReading() {
    this.#early = [];
    // What was said before is not read aloud.
    this.list.ariaBusy = "true";
  }

  endReading() {
    const early = this.#early ?? [];
    this.#early = null;
    for (const change of early) this.change(...change);
    this.list.ariaBusy = "false";
  }

  /** The message with this ID. */
  named(msgID) {
    return this.#items.find((item) => msgID !== undefined && item.msgID === msgID);
  }

  /** The own message that was sent under this name. */
  sent(clientMsgID) {
    return this.#items.find((item) => clientMsgID !== undefined && item.clientMsgID === clientMsgID);
  }

  /** Forgets what is here, up to a place where one is given; own messages that are not there yet stay. */
  clear(through = Infinity) {
    const kept = [...this.#items.filter(({ seq }) => seq > through), ...this.unsent];
    this.#items = [];
    this.#bySeq.clear();
    this.#open = null;
    clearTimeout(this.#menuTimer);
    this.#earlyReceipts.clear();
    this.list.replaceChildren();
    this.newest = this.oldest = 0;
    for (const item of kept) this.add(item);
  }

  #advance(seq) {
    this.newest = Math.max(this.newest, seq);
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

  /** The parts that depend on the item before: a new day, and whether its sender goes on speaking. */
  #refresh(index) {
    const [before, item] = [this.#items[index - 1], this.#items[index]];
    if (!item) return;
    const isNewDay = !before || day(before.time) !== day(item.time);
    if (isNewDay) item.node.dataset.day = day(item.time);
    else delete item.node.dataset.day;
    const follows = !isNewDay && item.sender !== undefined && before.sender === item.sender && item.time - before.time < 300_000;
    item.node.classList.toggle("follows", follows);
  }

  /** The open menu as it is now: what may be done with the sender has changed. */
  redrawMenu() {
    if (this.#open) this.#draw(this.#open);
  }

  /** Opens the menu of an item and closes that of any other; or closes it. */
  #toggle(item) {
    const hadFocus = item.node.contains(document.activeElement);
    const other = this.#open;
    this.#open = other === item ? null : item;
    if (other) this.update(other, { isOpen: false });
    if (this.#open) this.update(item, { isOpen: true });
    this.#watchMenu();
    item.node.querySelector(".menu")?.scrollIntoView({ block: "nearest" });
    if (this.#open) item.node.querySelector(".menu button")?.focus();
    else if (hadFocus) (item.node.querySelector(".menu-button") ?? byID("scroller")).focus();
  }

  /** Closes the open menu, if there is one. */
  close() {
    if (this.#open) this.#toggle(this.#open);
  }

  /** A right that ends by itself, to recall a message, ends in an open menu too. */
  #watchMenu() {
    clearTimeout(this.#menuTimer);
    const left = this.#open ? this.#acts.timeLeft(this.#open) : Infinity;
    // Timers hold no more than 2³¹ ms, and fire at once beyond.
    if (left > 86_400_000) return;
    this.#menuTimer = setTimeout(() => {
      if (this.#open) this.#draw(this.#open);
      this.#watchMenu();
    }, left + 1);
  }

  /** Keeps the parts that are as they were: the focus stays, and they are not read aloud again. */
  #draw(item) {
    const fresh = itemContent(item, this.#acts);
    const old = item.node.firstElementChild;
    keepingFocus(item.node, () => {
      if (old?.tagName !== fresh.tagName) return item.node.replaceChildren(fresh);
      old.className = fresh.className;
      renew(old, [...fresh.childNodes]);
    });
  }
}
