// Words of summaries and texts: finding them in a text, marking them, saying where they come from.
// What a user or a model wrote is set as text, never as markup.

export function create(tag, text, className) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  if (className) element.className = className;
  return element;
}

// Punctuation as the server writes it, and as texts do.
const MARKS = { "``": ['"', "``", "''"], "''": ['"', "''"], "`": ["'", "`"], "'": ["'", "`"], "...": ["...", "…"] };
const PLAIN = { "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "´": "'" };
const AHEAD = 4; // characters after the white space in which a word must start

// Lower-case a text and simplify its quotes; every character keeps its place.
const simplify = (text) =>
  text.replace(/[“”„‘’´]/g, (mark) => PLAIN[mark]).replace(/\p{Lu}/gu, (letter) => {
    const small = letter.toLowerCase();
    return small.length === letter.length ? small : letter;
  });

// Fill an element with a text and wrap each of its `words`, given in order: `wrap(written, place)`. What comes after the
// last of them goes through `wrapRest(rest, complete)`; `complete`: the last word was found.
export function wrapWords(element, text, words, wrap, wrapRest = (rest) => rest) {
  const searched = simplify(text);
  const parts = [];
  let end = 0;
  let last = -1;
  words.forEach((word, place) => {
    const from = end + searched.slice(end).search(/\S|$/);
    const [start, length] = (MARKS[word] || [simplify(word)])
      .map((form) => [searched.slice(from, from + form.length + AHEAD).indexOf(form), form.length])
      .reduce((best, found) => (found[0] >= 0 && (best[0] < 0 || found[0] < best[0]) ? found : best), [-1, 0]);
    if (start < 0) return;
    parts.push(text.slice(end, from + start));
    end = from + start + length;
    last = place;
    parts.push(wrap(text.slice(end - length, end), place));
  });
  parts.push(wrapRest(text.slice(end), last === words.length - 1));
  element.replaceChildren(...parts);
}

export const isWord = ({ text }) => /[\p{L}\p{N}]/u.test(text);
export const isNew = (word) => !word.copied && isWord(word);
export const percent = (share) => (share < 0.01 ? "under 1%" : `${Math.round(100 * share)}%`);
// A model's score is a probability; several models together have a score that is made of shares.
export const scoreOf = ({ probability, score }) =>
  score ? score.total.toFixed(2).replace("-", "−") : probability === null ? "" : percent(probability);
const twoDigits = (share) => `${(100 * share).toFixed(share < 0.095 ? 1 : 0)}%`;
export const partsOf = ({ score }) =>
  ["agreement", "fluency", "expected", "content"]
    .filter((name) => typeof score?.[name] === "number")
    .map((name) => `${name} ${twoDigits(score[name])}`)
    .join(", ");
export const reason = ({ text }) => `a ${/\p{N}/u.test(text) ? "number" : "name"} that is not in the text`;

// Say where a word comes from.
export function describeWord(word, sources) {
  const parts = [word.copied ? "copied from the text" : word.unsupported ? `unsupported: ${reason(word)}` : "new"];
  if (!word.copied && word.source !== null) parts.push(`looking at “${sources[word.source]}”`);
  if (word.probability !== null) parts.push(`probability ${percent(word.probability)}`);
  return parts.join(", ");
}

export const countWords = (text) => text.split(/\s+/).filter(Boolean).length;
export const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
