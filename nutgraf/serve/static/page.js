// The page: asks the server for summaries and shows where their words come from.
// Whatever a user or a model wrote is set as text, never as markup.
"use strict";

const LENGTHS = [6, 8, 10, 12, 15];
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

function made(tag, text, className) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  if (className) element.className = className;
  return element;
}

// --- words -----------------------------------------------------------------------------------------------------------

const WORD = /[\p{L}\p{N}](?:[\p{L}\p{N}.,'’-]*[\p{L}\p{N}])?/gu;
const plain = (word) => word.toLowerCase().replace(/['’]s$/, "");
const wordsOf = (text) => new Set([...text.matchAll(WORD)].map((found) => plain(found[0])));

// Fill an element with a text, some of its words in elements of their own: `wrap(word)` returns one, or null.
function fill(element, text, wrap) {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(WORD)) {
    parts.push(text.slice(end, found.index), wrap(found[0]) || found[0]);
    end = found.index + found[0].length;
  }
  parts.push(text.slice(end));
  element.replaceChildren(...parts);
}

// Show a summary with its new words marked; returns how many words were copied and how many are new.
function showSummary(element, summary, source) {
  const tally = { copied: 0, fresh: 0 };
  const known = wordsOf(source);
  fill(element, summary, (word) => {
    const copied = known.has(plain(word));
    tally[copied ? "copied" : "fresh"] += 1;
    return copied ? made("span", word, "kept") : made("mark", word);
  });
  return tally;
}

// --- the server ------------------------------------------------------------------------------------------------------

async function ask(path, body) {
  const headers = state.key ? { Authorization: `Bearer ${state.key}` } : {};
  const request = body
    ? { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(body) }
    : { headers };
  let response;
  try {
    response = await fetch(path, request);
  } catch {
    throw new Error("The server does not answer. Is it still running?");
  }
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  const error = new Error(answer.error ? answer.error.message : `The server answered ${response.status}.`);
  error.status = response.status;
  throw error;
}

async function summary(model, text) {
  const words = document.querySelector("input[name=length]:checked").value;
  const answer = await ask("/v1/summarize", { text, model, ...(words ? { max_words: Number(words) } : {}) });
  return answer.summaries[0].summary;
}

// --- what is shown ---------------------------------------------------------------------------------------------------

function fail(error) {
  if (error.status !== 401) {
    at("error").textContent = error.message;
    return;
  }
  at("key-error").textContent = state.key ? "The server refused that key." : "";
  at("key-form").hidden = false;
  at("key").focus();
}

function busy(is) {
  at("go").setAttribute("aria-disabled", String(is));
  at("go").textContent = is ? "Summarizing …" : "Summarize";
  at("result").setAttribute("aria-busy", String(is));
}

function showChosen(found, text) {
  at("summary").classList.remove("empty");
  const tally = showSummary(at("summary"), found, text);
  const copied = wordsOf(found);
  fill(at("source"), text, (word) => (copied.has(plain(word)) ? made("span", word, "kept") : null));
  const total = tally.copied + tally.fresh;
  at("tally").textContent = total
    ? `${total} ${total === 1 ? "word" : "words"}: ${tally.copied} copied, ${tally.fresh} new`
    : "This model found nothing to say.";
  at("origin").hidden = false;
}

function showRows() {
  at("others").hidden = false;
  at("models").replaceChildren(
    ...state.models.map(({ name, description }) => {
      const row = made("li");
      row.dataset.model = name;
      row.setAttribute("aria-current", String(name === at("model").value));
      row.append(made("h3", name), made("p", "…", "said"), made("p", description, "hint"));
      return row;
    }),
  );
}

async function showRow(name, text, round, pending) {
  let told, bad = false;
  try {
    told = await pending;
  } catch (error) {
    told = error.message;
    bad = true;
  }
  if (round !== state.round) return;
  const said = document.querySelector(`#models [data-model="${CSS.escape(name)}"] .said`);
  said.classList.toggle("bad", bad);
  if (bad) said.textContent = told;
  else showSummary(said, told, text);
}

async function run() {
  const text = at("text").value.trim();
  at("error").textContent = "";
  if (!text) {
    at("error").textContent = "There is no text yet: paste one, or take an example.";
    at("text").focus();
    return;
  }
  const round = ++state.round;
  const chosen = at("model").value;
  busy(true);
  try {
    const found = await summary(chosen, text);
    if (round !== state.round) return;
    showChosen(found, text);
    at("result").scrollIntoView({ block: "nearest" });  // on a phone it is below the form
    if (state.models.length > 1) {
      showRows();
      for (const { name } of state.models)
        showRow(name, text, round, name === chosen ? found : summary(name, text));
    }
  } catch (error) {
    if (round === state.round) fail(error);
  } finally {
    if (round === state.round) busy(false);
  }
}

function countWords() {
  const count = at("text").value.split(/\s+/).filter(Boolean).length;
  at("count").textContent = `${count} ${count === 1 ? "word" : "words"}`;
  for (const button of at("examples").children)
    button.setAttribute("aria-pressed", String(button.dataset.text === at("text").value));
}

function describe() {
  const model = state.models.find(({ name }) => name === at("model").value);
  at("about").textContent = model ? model.description : "";
}

async function start() {
  try {
    const { models, default: usual } = await ask("/v1/models");
    state.models = models;
    at("model").replaceChildren(...models.map(({ name }) => made("option", name)));
    at("model").value = usual;
    describe();
  } catch (error) {
    fail(error);
  }
}

at("examples").append(
  ...EXAMPLES.map(([name, text]) => {
    const button = made("button", name);
    button.type = "button";
    button.dataset.text = text;
    button.addEventListener("click", () => {
      at("text").value = text;
      countWords();
      run();
    });
    return button;
  }),
);
at("lengths").append(
  ...["", ...LENGTHS].map((words) => {
    const label = made("label");
    const input = made("input");
    Object.assign(input, { type: "radio", name: "length", value: words, checked: words === "" });
    label.append(input, made("span", words === "" ? "usual" : String(words)));
    return label;
  }),
);
at("form").addEventListener("submit", (event) => {
  event.preventDefault();
  run();
});
at("text").addEventListener("input", countWords);
at("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
});
at("model").addEventListener("change", describe);
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
countWords();
start();
