// Numbers that are read again while they are shown, so that they are never older than five seconds; where that fails, the page
// says so.

const oldestNumbers = 5000;
/** The rest is for the answers. */
const numbersInterval = 4000;

/** When all that is shown was last read, on the clock that only goes on. */
let numbersReadAt = 0;
let isReadingNumbers = false;

async function showStats() {
  const { sessions, users, groups, groupsByType, uptime, version } = await rpc("getStats");
  // The reader has signed out meanwhile.
  if (!credential) return;
  const present = Object.entries(groupsByType).filter(([, count]) => count > 0);
  const types = present.map(([type, count]) => `${count} ${type}`).join(", ");
  const rows = [
    ["Sessions", sessions], ["Known users", users], ["Uptime", duration(uptime)], ["Version", version], ["Groups", groups, types],
  ];
  byID("stats").replaceChildren(...rows.map(([name, value, more]) => element("div", {},
    element("dt", {}, name), element("dd", {}, value, more && element("small", {}, more)))));
}

/** Reads the statistics and the numbers of the part that is shown; the overview reads its own. */
async function refreshNumbers() {
  if (isReadingNumbers) return;
  isReadingNumbers = true;
  try {
    await showStats();
    if (!byID("groups").hidden) await refreshGroupRows();
    if (!byID("group").hidden) await refreshGroup();
    numbersReadAt = performance.now();
    say("numbers-fault", "");
  } catch (error) {
    if (credential) say("numbers-fault", `The numbers here are old. ${error.message}`);
  } finally {
    isReadingNumbers = false;
  }
}

/** Says it where an answer does not come. */
function tellOldNumbers() {
  if (performance.now() - numbersReadAt <= oldestNumbers || !byID("numbers-fault").hidden) return;
  say("numbers-fault", "The numbers here are old. The server has not answered yet.");
}

const isLookedAt = () => credential !== "" && document.visibilityState === "visible";

setInterval(() => {
  if (isLookedAt()) refreshNumbers();
}, numbersInterval);
