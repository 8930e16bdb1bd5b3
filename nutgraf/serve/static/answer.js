// The answer to one text: its summary word by word, the alternatives, the text, and the marks that explain them.

import { countWords, create, describeWord, isNew, isWord, plural, reason, wrapWords } from "./words.js";
import { partsOf, scoreOf } from "./words.js";

const at = (id) => document.getElementById(id);
const EMPTY = at("summary").textContent;
let copyable = "";

// Highlight the source of a summary's word and describe the word; without a word, clear both.
function highlight(word, sources) {
  for (const old of at("source").querySelectorAll(".highlighted")) old.classList.remove("highlighted");
  at("about-word").textContent = word ? `${word.text}: ${describeWord(word, sources)}` : "";
  const source = word && at("source").querySelector(`[data-place="${word.source}"]`);
  if (!source) return;
  source.classList.add("highlighted");
  // Scroll the box of the text, not the page.
  const box = at("source");
  const above = source.offsetTop - box.offsetTop;
  if (above < box.scrollTop || above + source.offsetHeight > box.scrollTop + box.clientHeight)
    box.scrollTop = above - box.clientHeight / 2;
}

// Show a summary word by word: the tab key reaches the first word, the arrow keys the others; each has a description.
export function showSummary(element, { summary, words }, sources) {
  wrapWords(element, summary, words.map(({ text }) => text), (written, place) => {
    const word = words[place];
    const shown = create(isNew(word) ? "mark" : "span", written, word.copied && isWord(word) ? "copied" : "");
    shown.classList.toggle("unsupported", word.unsupported);
    const note = create("span", describeWord(word, sources));
    note.id = `note-${at("notes").childElementCount}`;
    at("notes").append(note);
    shown.dataset.word = place;
    shown.tabIndex = place ? -1 : 0;
    shown.setAttribute("aria-describedby", place ? note.id : `${note.id} how`);
    for (const event of ["pointerenter", "focus"]) shown.addEventListener(event, () => highlight(word, sources));
    for (const event of ["pointerleave", "blur"]) shown.addEventListener(event, () => highlight());
    return shown;
  });
}

// Move the focus among the words of a summary with the arrow keys, Home and End.
export function moveFocus(event) {
  if (event.target.dataset.word === undefined) return;
  const words = [...event.target.parentElement.querySelectorAll("[data-word]")];
  const here = words.indexOf(event.target);
  const next = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: words.length - 1 }[event.key];
  if (!words[next]) return;
  event.preventDefault();
  event.target.tabIndex = -1;
  words[next].tabIndex = 0;
  words[next].focus();
}

function tallyWords(found) {
  const counted = found.words.filter(isWord);
  if (!counted.length) return "This model returned no words.";
  const fresh = counted.filter(isNew).length;
  const score = scoreOf(found) && `; score ${scoreOf(found)}`;
  const parts = partsOf(found) && ` (${partsOf(found)})`;
  return `${plural(counted.length, "word")}: ${counted.length - fresh} copied, ${fresh} new${score}${parts}`;
}

function showFlags(words) {
  at("flags").replaceChildren(
    ...words.filter(({ unsupported }) => unsupported).map((word) => {
      const flag = create("li");
      flag.append(create("strong", word.text), ` is ${reason(word)}. The model added it: check it.`);
      return flag;
    }),
  );
}

function showAlternatives({ alternatives, source_words: sources }) {
  at("next").hidden = !alternatives.length;
  at("alternatives").replaceChildren(
    ...alternatives.map((other) => {
      const line = create("span", "", "line");
      showSummary(line, other, sources);
      const row = create("div", "", "choice");
      row.append(line);
      if (scoreOf(other)) row.append(create("span", scoreOf(other), "score"));
      const shown = create("li");
      shown.append(row);
      if (partsOf(other)) shown.append(create("div", partsOf(other), "hint parts"));
      return shown;
    }),
  );
}

// Show the text with its copied words marked, and in grey what the model did not read.
function showSource(text, { words, source_words: sources, skipped }) {
  const copied = new Set(words.filter(({ copied }) => copied).map(({ source }) => source));
  const unread = new Set(skipped);
  let left = 0;
  wrapWords(
    at("source"),
    text,
    sources,
    (written, place) => {
      const shown = create("span", written, copied.has(place) && isWord({ text: written }) ? "copied" : "");
      shown.classList.toggle("unread", unread.has(place));
      shown.dataset.place = place;
      return shown;
    },
    (rest, complete) => {
      left = complete && isWord({ text: rest }) ? countWords(rest) : 0;
      return left ? create("span", rest, "unread") : rest;
    },
  );
  const total = countWords(text);
  const notes = left ? [`The model read the first ${total - left} of ${total} words; the rest is in grey.`] : [];
  if (unread.size) notes.push("Days, sources, asides and brackets, in grey, are skimmed over: headlines leave them out.");
  at("read").textContent = notes.join(" ");
}

// Show what each mark means, of those that occur.
function showLegend() {
  for (const sample of at("legend").children) sample.hidden = !document.querySelector(sample.dataset.marks);
}

export function showAnswer(found, text) {
  at("notes").replaceChildren();
  at("summary").classList.remove("empty");
  showSummary(at("summary"), found, found.source_words);
  at("tally").textContent = tallyWords(found);
  showFlags(found.words);
  showAlternatives(found);
  showSource(text, found);
  showLegend();
  at("about-scores").hidden = found.score || ![found, ...found.alternatives].some(scoreOf);
  at("about-agreement").hidden = !found.score;
  copyable = found.summary;
  at("copy").hidden = !copyable;
  highlight();
  at("origin").hidden = false;
}

export function clearAnswer() {
  at("summary").textContent = EMPTY;
  at("summary").classList.add("empty");
  for (const id of ["tally", "about-word", "read"]) at(id).textContent = "";
  for (const id of ["flags", "alternatives", "source", "notes"]) at(id).replaceChildren();
  at("origin").hidden = true;
  at("copy").hidden = true;
}

// Copy without the clipboard API, which browsers keep from pages that come over plain HTTP from another machine.
function copyBySelection(text) {
  const field = create("textarea", text, "offscreen");
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}

export async function copySummary() {
  let done = true;
  try {
    await navigator.clipboard.writeText(copyable);
  } catch {
    done = copyBySelection(copyable);
    at("copy").focus();
  }
  at("copy").textContent = done ? "Copied" : "Not copied: select the text";
  setTimeout(() => (at("copy").textContent = "Copy"), 2000);
}
