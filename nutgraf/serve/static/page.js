// The page: requests summaries from the server and shows where their words come from.
// What a user or a model wrote is set as text, never as markup.
"use strict";

const LENGTHS = [6, 8, 10, 12, 15];
const N_BEST = 4;
const EXAMPLES = [
  ["Exports", "The government of Maravia said on Thursday it would lift its eleven-month ban on wheat exports from next week after the harvest came in well above the forecasts of farmers and traders."],
  ["Jobs", "Shipbuilder Halvendal Marine will cut 1,400 jobs and close its oldest yard in the port of Lindvik by the end of the year, the company said on Monday, blaming a sharp fall in orders for container vessels."],
  ["Rail", "At least nine people were killed and dozens were injured on Sunday when a crowded night train left the rails near the mountain town of Pradera after two days of heavy rain, rescue officials said."],
  ["Tennis", "Teenager Aminta Solvane upset defending champion Carla Ventrisi in straight sets on Saturday to win the Easterly Open and become the youngest player to take the title in the tournament's 62 years."],
  ["Rates", "The central bank of Torvania raised its main interest rate by half a percentage point to 6.25 percent on Wednesday, its fourth increase this year, and warned that food prices would keep inflation high until spring."],
  ["Fruit", "Researchers in the city of Keldon said on Tuesday that a cheap coating made from rice husks kept fruit fresh for three weeks without refrigeration, a finding that could help small farmers reach distant markets."],
];

const at = (id) => document.getElementById(id);
const state = { models: [], round: 0, key: sessionStorage.getItem("nutgraf key") || "" };

function create(tag, text, className) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  if (className) element.className = className;
  return element;
}

// --- words -----------------------------------------------------------------------------------------------------------

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

// Fill an element with a text and wrap each of its `words`, given in order: `wrap(written, place)`.
function wrapWords(element, text, words, wrap) {
  const searched = simplify(text);
  const parts = [];
  let end = 0;
  words.forEach((word, place) => {
    const from = end + searched.slice(end).search(/\S|$/);
    const [start, length] = (MARKS[word] || [simplify(word)])
      .map((form) => [searched.slice(from, from + form.length + AHEAD).indexOf(form), form.length])
      .reduce((best, found) => (found[0] >= 0 && (best[0] < 0 || found[0] < best[0]) ? found : best), [-1, 0]);
    if (start < 0) return;
    parts.push(text.slice(end, from + start));
    end = from + start + length;
    parts.push(wrap(text.slice(end - length, end), place));
  });
  parts.push(text.slice(end));
  element.replaceChildren(...parts);
}

const isWord = ({ text }) => /[\p{L}\p{N}]/u.test(text);
const isNew = (word) => !word.copied && isWord(word);
const percent = (share) => (share < 0.01 ? "under 1%" : `${Math.round(100 * share)}%`);
const reason = ({ text }) => `a ${/\p{N}/u.test(text) ? "number" : "name"} that is not in the text`;

// Say where a word comes from.
function describeWord(word, sources) {
  const parts = [word.copied ? "copied from the text" : word.unsupported ? `unsupported: ${reason(word)}` : "new"];
  if (!word.copied && word.source !== null) parts.push(`looking at “${sources[word.source]}”`);
  if (word.probability !== null) parts.push(`probability ${percent(word.probability)}`);
  return parts.join(", ");
}

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
function showSummary(element, { summary, words }, sources) {
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
function moveFocus(event) {
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

// --- the server ------------------------------------------------------------------------------------------------------

async function fetchJson(path, body) {
  const headers = state.key ? { Authorization: `Bearer ${state.key}` } : {};
  const request = body
    ? { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(body) }
    : { headers };
  let response;
  try {
    response = await fetch(path, request);
  } catch {
    throw new Error("The server did not answer. Is it still running?");
  }
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  const error = new Error(answer.error ? answer.error.message : `The server answered ${response.status}.`);
  error.status = response.status;
  throw error;
}

async function summarize(model, text, n_best = 1) {
  const request = { text, model, n_best, explain: true };
  const words = document.querySelector("input[name=length]:checked").value;
  if (words) request.max_words = Number(words);
  if (at("faithful").checked) request.faithful = true;
  return (await fetchJson("/v1/summarize", request)).summaries[0];
}

// --- the results -----------------------------------------------------------------------------------------------------

function showError(error) {
  if (error.status !== 401) {
    at("error").textContent = error.message;
    return;
  }
  at("key-error").textContent = state.key ? "The server rejected that key." : "";
  at("key-form").hidden = false;
  at("key").focus();
}

function setBusy(busy) {
  at("go").setAttribute("aria-disabled", String(busy));
  at("go").textContent = busy ? "Summarizing …" : "Summarize";
  at("result").setAttribute("aria-busy", String(busy));
}

function tallyWords({ words, probability }) {
  const counted = words.filter(isWord);
  if (!counted.length) return "This model returned no words.";
  const fresh = counted.filter(isNew).length;
  const mean = probability === null ? "" : `; mean probability of a word ${percent(probability)}`;
  const total = counted.length;
  return `${total} ${total === 1 ? "word" : "words"}: ${total - fresh} copied, ${fresh} new${mean}`;
}

function showChosen(found, text) {
  const sources = found.source_words;
  at("notes").replaceChildren();
  at("summary").classList.remove("empty");
  showSummary(at("summary"), found, sources);
  at("tally").textContent = tallyWords(found);
  at("flags").replaceChildren(
    ...found.words.filter(({ unsupported }) => unsupported).map((word) => {
      const flag = create("li");
      flag.append(create("strong", word.text), ` is ${reason(word)}. The model added it: check it.`);
      return flag;
    }),
  );
  at("next").hidden = !found.alternatives.length;
  at("alternatives").replaceChildren(
    ...found.alternatives.map((other) => {
      const shown = create("li");
      showSummary(shown, other, sources);
      return shown;
    }),
  );
  const copied = new Set(found.words.filter(({ copied }) => copied).map(({ source }) => source));
  wrapWords(at("source"), text, sources, (written, place) => {
    const shown = create("span", written, copied.has(place) && isWord({ text: written }) ? "copied" : "");
    shown.dataset.place = place;
    return shown;
  });
  highlight();
  at("origin").hidden = false;
}

function showRows() {
  at("others").hidden = false;
  at("models").replaceChildren(
    ...state.models.map(({ name, description }) => {
      const row = create("li");
      row.dataset.model = name;
      row.setAttribute("aria-current", String(name === at("model").value));
      row.append(create("h3", name), create("p", "…", "model-summary"), create("p", description, "hint"));
      return row;
    }),
  );
}

async function showRow(name, round, pending) {
  let found, bad;
  try {
    found = await pending;
  } catch (error) {
    bad = error.message;
  }
  if (round !== state.round) return;
  const shown = document.querySelector(`#models [data-model="${CSS.escape(name)}"] .model-summary`);
  shown.classList.toggle("bad", Boolean(bad));
  if (bad) shown.textContent = bad;
  else showSummary(shown, found, found.source_words);
}

async function run() {
  const text = at("text").value.trim();
  at("error").textContent = "";
  if (!text) {
    at("error").textContent = "There is no text yet: paste one, or choose an example.";
    at("text").focus();
    return;
  }
  const round = ++state.round;
  const chosen = at("model").value;
  setBusy(true);
  try {
    const found = await summarize(chosen, text, N_BEST);
    if (round !== state.round) return;
    showChosen(found, text);
    at("result").scrollIntoView({ block: "nearest" }); // on a phone it is below the form
    if (state.models.length > 1) {
      showRows();
      for (const { name } of state.models)
        showRow(name, round, name === chosen ? found : summarize(name, text));
    }
  } catch (error) {
    if (round === state.round) showError(error);
  } finally {
    if (round === state.round) setBusy(false);
  }
}

function updateCount() {
  const count = at("text").value.split(/\s+/).filter(Boolean).length;
  at("count").textContent = `${count} ${count === 1 ? "word" : "words"}`;
  for (const button of at("examples").children)
    button.setAttribute("aria-pressed", String(button.dataset.text === at("text").value));
}

function describeModel() {
  const model = state.models.find(({ name }) => name === at("model").value);
  at("about").textContent = model ? model.description : "";
}

async function start() {
  try {
    const { models, default: defaultModel } = await fetchJson("/v1/models");
    state.models = models;
    at("model").replaceChildren(...models.map(({ name }) => create("option", name)));
    at("model").value = defaultModel;
    describeModel();
  } catch (error) {
    showError(error);
  }
}

at("examples").append(
  ...EXAMPLES.map(([name, text]) => {
    const button = create("button", name);
    button.type = "button";
    button.dataset.text = text;
    button.addEventListener("click", () => {
      at("text").value = text;
      updateCount();
      run();
    });
    return button;
  }),
);
at("lengths").append(
  ...["", ...LENGTHS].map((words) => {
    const label = create("label");
    const input = create("input");
    Object.assign(input, { type: "radio", name: "length", value: words, checked: words === "" });
    label.append(input, create("span", words === "" ? "default" : String(words)));
    return label;
  }),
);
at("form").addEventListener("submit", (event) => {
  event.preventDefault();
  run();
});
at("text").addEventListener("input", updateCount);
document.addEventListener("keydown", moveFocus);
at("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
});
at("model").addEventListener("change", describeModel);
at("key-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  state.key = at("key").value;
  sessionStorage.setItem("nutgraf key", state.key);
  at("key").value = "";
  at("key-form").hidden = true;
  at("key-error").textContent = "";
  at("text").focus();
  if (!state.models.length) await start();
  if (state.models.length && at("text").value.trim()) run();
});
updateCount();
start();
