// A live room as a voice room: seats at the microphone, who may speak, who comes in, and what becomes of many messages.

/** Each seat is an attribute of the group; its value is the user who sits there. */
const seats = Array.from({ length: 8 }, (_, index) => `seat${index + 1}`);
const burstSize = 200;

async function loadSeats(group) {
  if (group.isKept) return;
  try {
    const { attributes } = await call("getGroupAttributes", { groupID: group.id });
    group.seating = attributes;
  } catch (error) {
    // A server may give live rooms no attributes.
    if (error.code !== ErrorCode.noRight) throw error;
    group.seating = null;
  }
}

const seatOf = (group, userID) => seats.find((seat) => group.seating?.[seat] === userID);

/** Takes a free seat and leaves the old one, or clears a seat. */
function useSeat(group, seat) {
  return attempt(async () => {
    const isFree = !group.seating[seat];
    const old = isFree ? seatOf(group, chat.me) : seat;
    if (isFree) await call("setGroupAttributes", { groupID: group.id, attributes: { [seat]: chat.me } });
    if (old) await clearSeat(group, old);
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

/** A user who leaves the room leaves the seat: the owner's page clears it, so that one page does. */
function clearSeatsOf(group, members) {
  if (group.isKept || group.info.owner !== chat.me) return;
  for (const { userID } of members) {
    const seat = seatOf(group, userID);
    if (seat) attempt(() => clearSeat(group, seat));
  }
}

function renderStage(group) {
  byID("stage").hidden = group.isKept;
  if (group.isKept) return;
  const focused = document.activeElement?.dataset?.seat;
  byID("seats").hidden = !group.seating;
  byID("seats").replaceChildren(...seats.map((seat, index) => seatItem(group, seat, index + 1)));
  if (focused) byID("seats").querySelector(`[data-seat=${focused}]`)?.focus();
  const isMuted = Boolean(group.info.allMuted);
  byID("mute-all").hidden = !group.may("muteGroup");
  byID("mute-all").textContent = isMuted ? "Let all speak" : "Mute all";
  byID("mute-all").setAttribute("aria-pressed", isMuted);
  byID("ask-first").hidden = !group.may("editPolicy");
  byID("ask-first").setAttribute("aria-pressed", group.info.joinMode === "Auth");
  renderBurst(group);
}

function seatItem(group, seat, number) {
  const userID = group.seating?.[seat];
  const name = userID && nameOf(group.members.get(userID) ?? { userID });
  const isMine = userID === chat.me;
  const mayClear = isMine || group.info.owner === chat.me;
  const label = !userID ? `Take seat ${number}` : isMine ? `Leave seat ${number}` : `Seat ${number}: ${name}${mayClear ? ", ask to leave" : ""}`;
  return element("li", {}, element("button", {
    type: "button", class: ["seat", userID ? "taken" : "", isMine ? "own" : ""].join(" "), "data-seat": seat, title: label, "aria-label": label,
    disabled: Boolean(userID) && !mayClear, onclick: () => useSeat(group, seat),
  }, element("span", { class: "mic", "aria-hidden": "true" }, userID ? initialOf(name) : number),
  element("span", { class: "name", "aria-hidden": "true" }, userID ? (isMine ? "You" : name) : "Free")));
}

/** Guests differ behind the word that all their names begin with. */
/** A letter where the name has one: a digit would look like the number of a seat. */
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
  byID("burst-count").hidden = group.burst.size === 0;
  if (group.burst.size === 0) return;
  const count = (...states) => [...group.burst.values()].filter((state) => states.includes(state)).length;
  const words = [[count("delivered"), "delivered"], [count("dropped"), "dropped"], [count("queued"), "waiting for a place"],
    [count("sending"), "on their way"], [count("failed"), "refused"]];
  const shown = words.filter(([number]) => number > 0).map(([number, word]) => `${number} ${word}`).join(", ");
  byID("burst-count").textContent = `Of ${group.burst.size}: ${shown}.`;
}
