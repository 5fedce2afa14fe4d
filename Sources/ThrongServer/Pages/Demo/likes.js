// The likes of a live room: a counter of the group, and the hearts that rise with it.

const likesKey = "likes";
/** Taps are sent together: a user may change the counters of a group 20 times in any 5 s. */
const likeInterval = 300;
/** The most hearts of one event; a busy room counts faster than it can be drawn. */
const mostHearts = 12;
const moves = !matchMedia("(prefers-reduced-motion: reduce)").matches;

async function loadLikes(group) {
  if (group.isKept) return;
  const { counters } = await call("getGroupCounters", { groupID: group.id, keys: [likesKey] });
  group.likes = counters[likesKey] ?? 0;
}

/** Takes the counters of an event: hearts rise for what others have added. */
function changeLikes(group, counters) {
  if (!(likesKey in counters)) return;
  const before = group.likes;
  group.likes = counters[likesKey] ?? 0;
  const own = Math.min(group.countedTaps, Math.max(0, group.likes - before));
  group.countedTaps -= own;
  if (isLookedAt(group)) raiseHearts(group.likes - before - own);
}

/** One tap: a heart at once; the counter goes up when the server has it. */
function like(group) {
  group.taps += 1;
  raiseHearts(1);
  if (group.taps === 1) setTimeout(() => sendLikes(group), group.isLiking ? likeInterval : 0);
}

async function sendLikes(group) {
  const value = group.taps;
  group.taps = 0;
  group.isLiking = true;
  group.countedTaps += value;
  setTimeout(() => (group.isLiking = false), likeInterval);
  try {
    await call("increaseGroupCounter", { groupID: group.id, key: likesKey, value });
  } catch (error) {
    group.countedTaps -= value;
    // A tap without a connection is lost: it was a gesture of that moment.
    if (!(error instanceof ClientError)) sayRefusal(error);
  }
}

/** Lets hearts rise from the button, one a little after the other. */
function raiseHearts(count) {
  if (!moves) return;
  for (let index = 0; index < Math.min(count, mostHearts); index += 1) {
    const heart = element("span", { class: "heart" }, "♥");
    heart.style.setProperty("--drift", `${Math.round(Math.random() * 60 - 30)}px`);
    heart.style.setProperty("--delay", `${Math.round((index * 220) / mostHearts)}ms`);
    heart.addEventListener("animationend", () => heart.remove());
    byID("hearts").append(heart);
  }
}
