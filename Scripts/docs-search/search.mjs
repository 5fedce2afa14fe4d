/* The search over index.json: sections of pages, by what their headings and their text say. */

// A page that a reader seldom looks for stands behind one that explains: histories, internals, tables of other systems.
const weights = [
  [/\/(releases|benchmarks|contributing|architecture|from[a-z0-9]+)\//, 0.5],
  [/\/(moving[a-z]+|firstmessage|voiceroom|classroom|workchat|threenodes)\//, 0.6],
  [/\/(configuration|reference|threatmodel)\//, 0.8],
];
/** Who types a key, such as `auth.jwksFile`, asks what it means. */
const keyed = /^[a-zA-Z]+(\.[a-zA-Z]+)+$/;
const keyWeight = 1.6;
/** Four words or more that stand somewhere as they are, such as a message of the server, mean that section. */
const quoteWeight = 4;
const quoteLength = 4;
const pageWeight = 12;
const headingWeight = 6;
const parentWeight = 2;
const formWeight = 0.8;
const prefixWeight = 0.35;
const synonymWeight = 0.45;
const usualLength = 120;
const smallWords = new Set(["a", "an", "and", "for", "in", "of", "on", "one", "or", "page", "the", "to", "with"]);

/** The words of a text in small letters: `auth.jwksFile` is one, and its parts are others. */
export function words(text) {
  const found = [];
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}][\p{L}\p{N}._-]*/gu)) {
    const whole = word.replace(/[._-]+$/, "");
    found.push(whole);
    if (/[._-]/.test(whole)) found.push(...whole.split(/[._-]+/));
  }
  return found;
}

/** Without the ending of a plural: a search for limits finds a limit. */
function singular(word) {
  if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  return word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}

function counted(list) {
  const counts = new Map();
  for (const word of list.map(singular)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** What makes another form of the same word: reconnecting, banned. */
const endings = /^(.?ed|.?ing|.?er|ion|d)$/;

/** The words that a heading is about. */
const subjects = (heading) => new Set(words(heading).filter((word) => !/[._-]/.test(word) && !smallWords.has(word)).map(singular));

/** Makes the index of what `index.json` has. */
export function load({ sections, synonyms }) {
  const rows = sections.map(({ url, path, text }) => {
    const body = words(text);
    return {
      url, path, text, heading: subjects(path.at(-1)), parents: subjects(path.slice(0, -1).join(" ")), body: counted(body),
      quotable: text.toLowerCase(), length: body.length, weight: weights.find(([pattern]) => pattern.test(url))?.[1] ?? 1,
    };
  });
  const frequencies = new Map();
  for (const { heading, body } of rows) {
    for (const word of new Set([...heading, ...body.keys()])) frequencies.set(word, (frequencies.get(word) ?? 0) + 1);
  }
  return { rows, frequencies, synonyms };
}

/** The words of the index that a word of a query stands for, each with how well. */
function meanings(index, word) {
  const own = singular(word);
  const found = new Map([[own, 1]]);
  const add = (other, weight) => { if ((found.get(other) ?? 0) < weight) found.set(other, weight); };
  if (own.length > 2) {
    for (const other of index.frequencies.keys()) {
      if (other === own || !other.startsWith(own)) continue;
      add(other, endings.test(other.slice(own.length)) ? formWeight : prefixWeight * (own.length / other.length));
    }
  }
  for (const other of index.synonyms[word] ?? index.synonyms[own] ?? []) add(singular(other), synonymWeight);
  return found;
}

function score(index, row, found) {
  let sum = 0;
  for (const [word, weight] of found) {
    const count = row.body.get(word) ?? 0;
    // As BM25 does: a word says less each further time, and in a long text.
    let value = count > 0 ? (count * 2.2) / (count + 1.2 * (0.4 + 0.6 * (row.length / usualLength))) : 0;
    // A heading of this word alone says more than one of many.
    if (row.heading.has(word)) value += (row.path.length === 1 ? pageWeight : headingWeight) / Math.sqrt(row.heading.size);
    if (row.parents.has(word)) value += parentWeight / Math.sqrt(row.parents.size);
    sum += value * weight * Math.log(1 + index.rows.length / (index.frequencies.get(word) ?? index.rows.length));
  }
  return sum;
}

/**
 * The sections that have every word of a query, by one of its meanings, the best first: at most `most`, each
 * {url, path, text, score}.
 */
export function find(index, query, most = 30) {
  const asked = [...new Set(words(query))].map((word) => meanings(index, word));
  if (asked.length === 0) return [];
  const results = [];
  const ofKey = keyed.test(query.trim());
  const quote = query.trim().toLowerCase().replace(/\s+/g, " ");
  for (const row of index.rows) {
    const scores = asked.map((found) => score(index, row, found));
    if (scores.includes(0)) continue;
    const { url, path, text } = row;
    let weight = ofKey && /\/configuration\//.test(url) ? keyWeight : row.weight;
    if (asked.length >= quoteLength && row.quotable.includes(quote)) weight *= quoteWeight;
    results.push({ url, path, text, score: weight * scores.reduce((sum, one) => sum + one, 0) });
  }
  return results.sort((one, other) => other.score - one.score).slice(0, most);
}

/** The part of a text around the first word that a query means: plain, marked, plain and so on. */
export function excerpt(index, text, query, length = 220) {
  const wanted = new Set(words(query).flatMap((word) => [...meanings(index, word).keys()]));
  const matches = [...text.matchAll(/[\p{L}\p{N}]+/gu)].filter(([word]) => wanted.has(singular(word.toLowerCase())));
  const around = (matches[0]?.index ?? 0) - 60;
  const start = around <= 0 ? 0 : text.indexOf(" ", around) + 1;
  const end = Math.min(text.length, start + length);
  const parts = [];
  let at = start;
  for (const { 0: word, index: place } of matches) {
    if (place < at || place + word.length > end) continue;
    parts.push(text.slice(at, place), word);
    at = place + word.length;
  }
  parts.push(text.slice(at, end));
  if (start > 0) parts[0] = `… ${parts[0]}`;
  if (end < text.length) parts[parts.length - 1] += " …";
  return parts;
}
