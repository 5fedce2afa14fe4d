import { excerpt, find, load } from "./search.mjs";

const field = document.querySelector("input");
const list = document.querySelector("ol");
const status = document.querySelector("[role=status]");
const index = load(await (await fetch("index.json")).json());

function element(name, ...children) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

function item({ url, path, text }, query) {
  const link = element("a", path.join(" › "));
  link.href = `../${url}`;
  const parts = excerpt(index, text, query).map((part, number) => (number % 2 === 1 ? element("mark", part) : part));
  return element("li", link, element("p", ...parts));
}

function show() {
  const query = field.value.trim();
  const results = find(index, query);
  list.replaceChildren(...results.map((one) => item(one, query)));
  status.textContent = query !== "" && results.length === 0 ? "No page has all of these words." : "";
  document.title = query === "" ? "Search" : `${query} – Search`;
  const address = new URL(location.href);
  if (query === "") address.searchParams.delete("q");
  else address.searchParams.set("q", query);
  history.replaceState(null, "", address);
}

field.value = new URLSearchParams(location.search).get("q") ?? "";
field.addEventListener("input", show);
document.querySelector("form").addEventListener("submit", (event) => { event.preventDefault(); show(); });
show();
field.focus();
document.body.dataset.state = "ready";
