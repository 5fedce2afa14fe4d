// A live room as a voice room: seats at the microphone, who may speak, who comes in, and what becomes of many messages.

/** Each seat is an attribute of the group; its value is the user who sits there. */
const seats = Array.from({ length: 8 }, (_, index) => `seat${index + 1}`);
const burstSize = 200;

async function loadSeats(group) {
  if (group.isKept) return;
  try {
    const { attributes } = await call("getGroupAttributes", { groupID: group.id });
    takeSeating(group, attributes);
    // What a lost connection left unknown is known now.
    group.leaving.clear();
  } catch (error) {
    // A server may give live rooms no attributes.
    if (error.code !== ErrorCode.noRight) throw error;
    group.seating = null;
  }
}

/** Takes who sits where, and tells the user of a seat that is lost. */
function takeSeating(group, seating) {
  const before = group.seating ?? {};
  group.seating = seating;
  loadNames(seats.map((seat) => seating[seat])).catch((error) => error instanceof ClientError || sayRefusal(error));
  for (const seat of seats) {
    if (before[seat] !== chat.me || seating[seat] === chat.me || group.leaving.delete(seat)) continue;
    addItem(group, { time: serverNow(), words: () => lossWords(group, seat, seating[seat]) });
  }
}

function lossWords(group, seat, userID) {
  if (!userID) return [`You were asked to leave seat ${numberOf(seat)}. It is free now.`];
  return phrase`You have lost seat ${numberOf(seat)}: ${chosenText(nameIn(group, userID))} has it now.`;
}

const numberOf = (seat) => seats.indexOf(seat) + 1;
const seatOf = (group, userID) => seats.find((seat) => group.seating?.[seat] === userID);

/** Takes a free seat and leaves the old one, leaves the own one, or asks whether somebody's seat is to be cleared. */
function useSeat(group, seat) {
  const holder = group.seating?.[seat];
  if (holder && holder !== chat.me) return askToClear(group, seat, holder);
  return attempt(async () => {
    const old = holder ? seat : seatOf(group, chat.me);
    if (!holder) {
      group.leaving.delete(seat);
      await takeSeat(group, seat);
    }
    if (old) await leaveSeat(group, old);
  });
}

/** Of two who sit down at once one is told that the other was quicker. The seat is free again when its user has left the room. */
async function takeSeat(group, seat) {
  const attributes = { [seat]: chat.me };
  try {
    await call("setGroupAttributes", {
      groupID: group.id, attributes, expect: { [seat]: null }, isDeleteAfterHolderLeft: true,
    });
  } catch (error) {
    if (error.code !== 10058) throw error;
    throw new Error(`Somebody was quicker: seat ${numberOf(seat)} is taken.`);
  }
}

async function leaveSeat(group, seat) {
  group.leaving.add(seat);
  try {
    await clearSeat(group, seat);
  } catch (error) {
    // Without an answer it may have been done.
    if (!(error instanceof ClientError)) group.leaving.delete(seat);
    throw error;
  }
}

function askToClear(group, seat, userID) {
  const name = () => chosenText(nameIn(group, userID));
  return decideInDialog({
    title: phrase`Ask ${name()} to leave seat ${numberOf(seat)}?`, action: "Clear the seat", danger: true,
    text: phrase`The seat becomes free at once, and ${name()} is told.`,
    run: async () => {
      if (group.seating?.[seat] !== userID) throw new Error("Somebody else sits there by now, or nobody.");
      await clearSeat(group, seat);
    },
  });
}

async function clearSeat(group, seat) {
  try {
    await call("deleteGroupAttributes", { groupID: group.id, keys: [seat] });
  } catch (error) {
    // Somebody else was quicker.
    if (error.code !== ErrorCode.attributeUnknown) throw error;
  }
}

function renderStage(group) {
  byID("stage").hidden = group.isKept;
  if (group.isKept) return;
  byID("seats").hidden = !group.seating;
  keepingFocus(byID("seats"), () => renew(byID("seats"), seats.map((seat) => seatItem(group, seat))));
  const isMuted = Boolean(group.info.allMuted);
  say("mute-all", isMuted ? "Let all speak" : "Mute all");
  byID("mute-all").hidden = !group.may("muteGroup");
  byID("mute-all").setAttribute("aria-pressed", isMuted);
  byID("ask-first").hidden = !group.may("editPolicy");
  byID("ask-first").setAttribute("aria-pressed", group.info.joinMode === "Auth");
  renderBurst(group);
}

function seatItem(group, seat) {
  const userID = group.seating?.[seat];
  const number = numberOf(seat);
  const name = userID && nameIn(group, userID);
  const isMine = userID === chat.me;
  const mayClear = isMine || rankOf(group.info.selfInfo.role) > 0;
  const taken = () => `Seat ${number}: ${plainText(name)}${mayClear ? ", ask to leave" : ""}`;
  const label = !userID ? `Take seat ${number}` : isMine ? `Leave seat ${number}` : taken();
  const kinds = ["seat", userID && "taken", isMine && "own"].filter(Boolean).join(" ");
  return element("li", {}, element("button", {
    type: "button", class: kinds, "data-seat": seat, "data-key": seat, title: label, "aria-label": label,
    disabled: Boolean(userID) && !mayClear,
  }, element("span", { class: "mic", "aria-hidden": "true" }, userID ? chosenText(initialOf(name)) : String(number)),
  element("span", { class: "name", "aria-hidden": "true" }, userID ? (isMine ? "You" : chosenText(name)) : "Free")));
}

byID("seats").addEventListener("click", ({ target }) => {
  const seat = target.closest("[data-seat]")?.dataset.seat;
  if (seat) useSeat(chat.current, seat);
});

/** A letter where the name has one: a digit would look like the number of a seat. Guests differ behind what all begin with. */
const initialOf = (name) => (/\p{L}/u.exec(name.replace(/^guest-/, "")) ?? [...name])[0].toUpperCase();

const muteAll = (group) => call("setGroupInfo", { groupID: group.id, allMuted: !group.info.allMuted });
const askFirst = (group) => call("setGroupInfo", { groupID: group.id, joinMode: group.info.joinMode === "Auth" ? "Any" : "Auth" });

// MARK: Priorities

const chosenPriority = () => byID("priority").value;

/** Sends more than a live room delivers, to show what becomes of each. */
function sendBurst(group) {
  group.burst = new Map();
  for (let number = 1; number <= burstSize; number += 1) {
    const { clientMsgID } = chat.client.sendText(group.id, `${number} of ${burstSize}`, { priority: chosenPriority() });
    group.burst.set(clientMsgID, "sending");
  }
}

function countSent(group, { clientMsgID, state }) {
  if (group.burst.has(clientMsgID)) group.burst.set(clientMsgID, state);
}

function renderBurst(group) {
  const rate = chat.limits["limits.avChatRoom.messagesPerSecond"];
  const fate = rate > 0
    ? `delivers ${rate} a second, ${rate} more wait, and the rest is dropped, the lowest priority first` : "delivers them all";
  say("burst-hint", `Sends ${burstSize} messages at once: this room ${fate}.`);
  const count = (...states) => [...group.burst.values()].filter((state) => states.includes(state)).length;
  const words = [[count("delivered"), "delivered"], [count("dropped"), "dropped"], [count("queued"), "waiting for a place"],
    [count("sending"), "on their way"], [count("failed"), "refused"]];
  const shown = words.filter(([number]) => number > 0).map(([number, word]) => `${number} ${word}`).join(", ");
  byID("burst-count").textContent = group.burst.size === 0 ? "" : `Of ${group.burst.size}: ${shown}.`;
}
