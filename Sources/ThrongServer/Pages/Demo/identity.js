// Who this page is: a guest, who stays the same when the tab's page is loaded again.

/** Other pages of the same origin may be other servers'. */
const identityKey = `throng-guest ${location.pathname}`;
/** A token must be good for so much longer. */
const shortestStay = 60_000;

/** The guest of the page that was here before, until this page has the groups again; null = a new guest. */
let restored = null;

/**
 * Takes what the last page of this tab has left: `{ token, until, rooms }`, or null. It is not there while a page is
 * open, because a browser copies it where a tab is duplicated, and two tabs are two people.
 */
function takeIdentity() {
  try {
    const identity = JSON.parse(sessionStorage.getItem(identityKey));
    sessionStorage.removeItem(identityKey);
    return identity?.until > Date.now() + shortestStay ? identity : null;
  } catch {
    // The browser lends no storage, or something else has written there.
    return null;
  }
}

/** Leaves the guest to the next page of this tab; one whom the server has signed out is gone. */
function leaveIdentity() {
  if (!guestToken || chat.client.state === "closed") return;
  const identity = chat.client.session ? presentIdentity() : restored;
  try {
    if (identity) sessionStorage.setItem(identityKey, JSON.stringify(identity));
  } catch {
    // Without storage the next page is another guest.
  }
}

function presentIdentity() {
  const { tokenExpiresAt } = chat.client.session;
  const entered = [...chat.groups.values()].filter((group) => !group.isKept).map(({ id }) => id);
  const rooms = [...new Set([...(restored?.rooms ?? []), ...entered])];
  return { token: chat.token, until: Date.now() + tokenExpiresAt - serverNow(), rooms };
}

addEventListener("pagehide", leaveIdentity);
// The page itself is back, not a new one.
addEventListener("pageshow", ({ persisted }) => persisted && takeIdentity());

/** Signs in as the guest of this tab, or as the new one of this page. */
function connectGuest() {
  restored = takeIdentity();
  connect(restored?.token ?? guestToken);
}

/** The groups of a restored guest: those that the page shows already, others that the server lists, and the live rooms. */
async function enterRestored({ groups, left }) {
  const isShown = ({ groupID }) => chat.groups.has(groupID);
  if (chat.groups.size > 0) await resume({ joined: [], left: left.filter((groupID) => chat.groups.has(groupID)) });
  for (const { groupID } of groups.filter((info) => !isShown(info)).slice(0, mostGroups)) await admit(groupID);
  for (const groupID of restored?.rooms ?? []) {
    try {
      await admit(groupID);
    } catch (error) {
      // The room has ended, or has forgotten the guest.
      if (!(error instanceof ThrongError)) throw error;
    }
  }
  restored = null;
}
