// The frames of the connection, for those who want to see the protocol.

const shownFrames = 300;
let frameCount = 0;

/** Frames have no token where they are shown. */
function masked(frame) {
  return frame.params?.token === undefined ? frame : { ...frame, params: { ...frame.params, token: "…" } };
}

function showFrame(direction, frame) {
  frameCount += 1;
  byID("frame-count").textContent = frameCount;
  const text = JSON.stringify(masked(frame));
  const isReceived = direction === "in";
  const attributes = { class: frame.error ? "error" : direction, "aria-label": isReceived ? "received" : "sent" };
  const mark = element("span", attributes, isReceived ? "←" : "→");
  const time = styled("quiet numeric", new Date().toTimeString().slice(0, 8));
  const details = element("details", {}, element("summary", {}, time, mark, element("span", {}, text)));
  const unfold = () => details.append(element("pre", {}, JSON.stringify(JSON.parse(text), null, 2)));
  details.addEventListener("toggle", unfold, { once: true });
  const list = byID("frames");
  const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
  list.append(element("li", {}, details));
  if (list.children.length > shownFrames) list.firstChild.remove();
  if (isAtEnd) list.scrollTop = list.scrollHeight;
}

byID("clear-frames").addEventListener("click", () => byID("frames").replaceChildren());
byID("protocol").addEventListener("toggle", () => (byID("frames").scrollTop = byID("frames").scrollHeight));
