// Line charts as SVG. Colours are classes, because the page's policy allows no styles in attributes.

const [chartWidth, chartHeight] = [320, 96];
/** A minute of points fills a chart; more of them move together. */
const shortestSpan = 30;

/** An SVG element. */
function drawn(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

/** A number as it stands beside a chart: 1,234; 12.3; 0.05. */
function shortNumber(value) {
  if (value === undefined) return "–";
  const digits = value >= 100 || Number.isInteger(value) ? 0 : value >= 1 ? 1 : 2;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

/** The next round number at or above: 1, 2, 5, 10, 20, … */
function roundAbove(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999);
}

/** The path of a line; a gap where nothing was measured. */
function path(values, top) {
  const step = chartWidth / (Math.max(values.length, shortestSpan) - 1);
  const left = chartWidth - (values.length - 1) * step;
  let isOpen = false;
  return values.map((value, index) => {
    if (value === undefined) {
      isOpen = false;
      return "";
    }
    const place = `${(left + index * step).toFixed(1)} ${(chartHeight - (value / top) * (chartHeight - 4) - 2).toFixed(1)}`;
    const command = isOpen ? "L" : "M";
    // A point alone is a dot: a line of no length with round ends.
    const dot = isOpen ? "" : `L${place}`;
    isOpen = true;
    return `${command}${place}${dot}`;
  }).join("");
}

function chartOf({ id, title, unit = "", lines }) {
  const points = series.get(id) ?? lines.map(() => []);
  const top = roundAbove(Math.max(0, ...points.flat().filter((value) => value !== undefined)));
  const latest = points.map((values) => shortNumber(values.at(-1)) + (values.at(-1) === undefined ? "" : unit));
  const words = lines.map(([name], index) => `${name} ${latest[index]}`).join(", ");
  const svg = drawn("svg", { viewBox: `0 0 ${chartWidth} ${chartHeight}`, preserveAspectRatio: "none", role: "img",
    "aria-label": `${title}: ${words}` },
    drawn("path", { class: "grid", d: `M0 2H${chartWidth}M0 ${chartHeight / 2}H${chartWidth}M0 ${chartHeight - 2}H${chartWidth}` }),
    ...points.map((values, index) => drawn("path", { class: `line line-${index}`, d: path(values, top) })));
  const legend = lines.map(([name], index) => element("li", {},
    element("i", { class: `key line-${index}`, "aria-hidden": "true" }), `${name} `, element("b", { class: "numeric" }, latest[index])));
  return element("article", { class: "card chart", "data-chart": id },
    element("header", {}, element("h3", {}, title), element("span", { class: "quiet numeric top-value" }, `up to ${shortNumber(top)}${unit}`)),
    svg, element("ul", { class: "legend" }, legend));
}

function showCharts() { byID("charts").replaceChildren(...charts.filter(isMeasured).map(chartOf)); }
