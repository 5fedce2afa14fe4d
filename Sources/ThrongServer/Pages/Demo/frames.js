// The frames of the connection, for those who want to see the protocol.

const shownFrames = 300;
/** Of the questions that the page asks by itself again and again. */
const shownPolls = 40;
const polls = new Set(["getGroupMembersInfo", "ping"]);
/** The requests of these that are not answered yet. */
const openPolls = new Set();
const counts = { frames: 0, polls: 0 };

/** Frames have no token where they are shown. */
function masked(frame) {
  return frame.params?.token === undefined ? frame : { ...frame, params: { ...frame.params, token: "…" } };
}

function showFrame(direction, frame) {
  if (direction === "out" && polls.has(frame.method)) {
    openPolls.add(frame.id);
    return showPoll(direction, frame);
  }
  if (direction === "in" && openPolls.delete(frame.id)) return showPoll(direction, frame);
  counts.frames += 1;
  say("frame-count", String(counts.frames));
  const list = byID("frames");
  const follows = byID("protocol").open && list.scrollHeight - list.scrollTop - list.clientHeight < 40;
  addFrame(list, direction, frame, shownFrames);
  if (follows) list.scrollTop = list.scrollHeight;
}

/** Who is online is asked every few seconds while somebody looks: these frames have a place of their own, which is folded. */
function showPoll(direction, frame) {
  counts.polls += 1;
  say("poll-count", String(counts.polls));
  byID("polls").hidden = false;
  addFrame(byID("poll-frames"), direction, frame, shownPolls);
}

function addFrame(list, direction, frame, most) {
  const text = shownJSON(masked(frame));
  const isReceived = direction === "in";
  const attributes = { class: frame.error ? "error" : direction, role: "img", "aria-label": isReceived ? "received" : "sent" };
  const mark = element("span", attributes, isReceived ? "←" : "→");
  const time = styled("quiet numeric", new Date().toTimeString().slice(0, 8));
  const details = element("details", {}, element("summary", {}, time, mark, element("span", { dir: "ltr" }, text)));
  const unfold = () => details.append(element("pre", { dir: "ltr" }, shownJSON(masked(frame), 2)));
  details.addEventListener("toggle", unfold, { once: true });
  list.append(element("li", {}, details));
  if (list.children.length > most) list.firstChild.remove();
}

byID("clear-frames").addEventListener("click", () => {
  byID("frames").replaceChildren();
  byID("poll-frames").replaceChildren();
  byID("polls").hidden = true;
});
byID("protocol").addEventListener("toggle", () => (byID("frames").scrollTop = byID("frames").scrollHeight));
