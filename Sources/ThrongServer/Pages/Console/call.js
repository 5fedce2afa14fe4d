// Any method of the server, with what the server says of it (rpc.discover).

/** The methods that can be called here, by name; undefined = not read yet. */
let methods;

/** What only looks, and so needs no confirmation. */
const onlyLooks = /^(?:get|list|search)|^(?:ping|syncGroups|exportUser|rpc\.discover)$/;

async function showCall(name) {
  say("call-fault", "");
  if (methods === undefined) {
    const { methods: described } = await rpc("rpc.discover");
    if (!credential) return;
    // The others mean the connection on which they are called.
    methods = new Map(described.filter((method) => method["x-callers"] !== "connection").map((method) => [method.name, method]));
    byID("call-method").replaceChildren(
      ...[...methods.keys()].sort().map((value) => element("option", { value }, value)));
  }
  if (methods.has(name)) byID("call-method").value = name;
  showMethod();
}

/** Shows what the server says of the chosen method, with its required parameters to be filled in. */
function showMethod() {
  const { summary, params } = methods.get(byID("call-method").value);
  say("call-summary", summary);
  byID("call-params").value = shownJSON(
    Object.fromEntries(params.filter(({ required }) => required).map(({ name, schema }) => [name, emptyValue(schema)])), 2);
  const rows = params.map(({ name, description, required }) => element("tr", {},
    element("td", {}, element("code", {}, name), styled("sub", required ? "required" : "")), element("td", {}, description)));
  byID("call-about").replaceChildren(tableOf(rows, "It takes no parameters."));
  byID("call-result").textContent = "";
  say("call-fault", "");
}

/** What a parameter begins with, by the type of its schema. */
function emptyValue({ type, enum: words, default: fallback }) {
  if (fallback !== undefined) return fallback;
  if (words?.length > 0) return words[0];
  return { integer: 0, number: 0, boolean: false, array: [], object: {} }[type] ?? "";
}

async function callMethod() {
  const method = byID("call-method").value;
  byID("call-result").textContent = "";
  try {
    const params = parsedParameters(byID("call-params").value);
    const asUser = byID("call-as").value.trim();
    if (asUser) params.asUser = asUser;
    say("call-fault", "");
    const isLook = onlyLooks.test(method);
    // The activity at the foot has what was changed.
    const run = async () => {
      const result = await (isLook ? rpc : act)(method, params);
      byID("call-result").textContent = shownJSON(result, 2);
    };
    if (isLook) return await run();
    await ask({
      title: `Call ${method}?`, action: "Call", danger: true, text: "It may change what people see. The audit log names you.", run,
    });
  } catch (error) {
    say("call-fault", error.message);
  }
}

/** The parameters as an object; throws what is wrong with them. */
function parsedParameters(text) {
  let params;
  try {
    params = JSON.parse(text.trim() === "" ? "{}" : text);
  } catch (error) {
    throw new Error(`The parameters are no JSON: ${error.message}`);
  }
  if (params === null || typeof params !== "object" || Array.isArray(params)) throw new Error("The parameters are an object: {…}.");
  return params;
}
