// The webhooks that the application did not take.

async function showWebhooks() {
  say("webhooks-state", "");
  say("webhooks-fault", "");
  await showPages(byID("failures"), "None was given up.", async (nextSeq = 0) => {
    const page = await rpc("listWebhookFailures", { nextSeq, count: 50 });
    return { rows: page.failureList.map(failureRow), next: page.nextSeq || undefined };
  });
  byID("retry").disabled = !byID("failures").querySelector("table");
}

function failureRow({ id, type, timestamp, data, attempts, lastError }) {
  const about = [
    data.groupID && element("a", { href: groupAddress(data.groupID) }, data.groupID),
    data.userID && element("a", { href: userAddress(data.userID) }, data.userID),
  ].filter(Boolean).flatMap((one, index) => (index === 0 ? [one] : [" ", one]));
  return element("tr", {},
    element("td", { class: "stamp" }, moment(timestamp)),
    element("td", {}, type, element("code", { class: "sub" }, id)),
    element("td", { "data-label": "about" }, about),
    element("td", {}, `${attempts} ${attempts === 1 ? "attempt" : "attempts"}`, styled("sub", chosenText(lastError))),
    element("td", {}, element("details", {},
      element("summary", {}, "Data"), element("pre", { class: "wrap" }, chosenText(JSON.stringify(data, undefined, 2))))));
}

/** Has the server post all of them again, and says how many they were. */
async function retryWebhooks() {
  byID("retry").disabled = true;
  try {
    const { retried } = await act("retryWebhooks", {});
    await showWebhooks();
    say("webhooks-state", retried === 1 ? "1 is posted again." : `${retried} are posted again.`);
  } catch (error) {
    say("webhooks-fault", error.message);
    byID("retry").disabled = false;
  }
  focusTitle();
}
