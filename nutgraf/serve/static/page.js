// The page: a form, the models to choose from, and what each of them answers.
// What a user or a model wrote is set as text, never as markup.

import { clearAnswer, copySummary, moveFocus, showAnswer, showSummary } from "./answer.js";
import { fetchJson, hasKey, useKey } from "./api.js";
import { EXAMPLES } from "./examples.js";
import { acceptFiles } from "./file.js";
import { countWords, create, plural } from "./words.js";

const LENGTHS = [6, 8, 10, 12, 15];
const N_BEST = 4;

const at = (id) => document.getElementById(id);
const state = { models: [], reason: "", default: "", round: 0, answer: null };

// --- requests --------------------------------------------------------------------------------------------------------

// What a request has besides its texts.
function options(model = at("model").value) {
  const chosen = { model };
  const words = document.querySelector("input[name=length]:checked").value;
  if (words) chosen.max_words = Number(words);
  if (at("faithful").checked) chosen.faithful = true;
  return chosen;
}

async function summarize(model, text, n_best = 1) {
  const request = { ...options(model), text, n_best, explain: true };
  return (await fetchJson("/v1/summarize", request)).summaries[0];
}

function showError(error) {
  if (error.status !== 401) {
    at("error").textContent = error.message;
    return;
  }
  at("key-error").textContent = hasKey() ? "The server rejected that key." : "";
  at("key-form").hidden = false;
  at("key").focus();
}

function setBusy(busy) {
  at("go").setAttribute("aria-disabled", String(busy));
  at("go").textContent = busy ? "Summarizing …" : "Summarize";
  at("result").setAttribute("aria-busy", String(busy));
}

// An error never leaves the answer to another text next to it.
function forget() {
  state.answer = null;
  clearAnswer();
  at("others").hidden = true;
}

function askForText() {
  state.round += 1; // an answer under way is no longer wanted
  setBusy(false);
  forget();
  at("error").textContent = "There is no text yet: paste one, or choose an example.";
  at("text").focus();
}

async function run({ scroll = true } = {}) {
  const text = at("text").value.trim();
  at("error").textContent = "";
  if (!text) return askForText();
  const round = ++state.round;
  const model = at("model").value;
  setBusy(true);
  try {
    const found = await summarize(model, text, N_BEST);
    if (round !== state.round) return;
    state.answer = { model, text, found };
    showAnswer(found, text);
    if (scroll) at("result").scrollIntoView({ block: "nearest" }); // on a phone it is below the form
    at("others").hidden = state.models.length < 2;
    showOthers();
  } catch (error) {
    if (round !== state.round) return;
    forget();
    showError(error);
  } finally {
    if (round === state.round) setBusy(false);
  }
}

// A change of the model, the length or the faithfulness holds at once, if there is a text.
function rerun() {
  if (at("text").value.trim()) run({ scroll: false });
}

// --- how it learned: the models side by side -------------------------------------------------------------------------

function makeCell({ name, title, description }) {
  const cell = create("div", "", "model");
  cell.dataset.model = name;
  cell.setAttribute("aria-current", String(name === state.answer.model));
  const heading = create("h4", title);
  heading.append(" ", create("small", name));
  cell.append(heading, create("p", "…", "model-summary"), create("p", description, "hint"));
  return cell;
}

// A row per family, a column per loop of back-translation.
function makeFamily(family, loops) {
  const row = create("section", "", "family");
  row.append(create("h3", family));
  for (const loop of loops) {
    const stage = create("div", "", "stage");
    stage.append(...state.models.filter((model) => model.family === family && model.loop === loop).map(makeCell));
    row.append(stage);
  }
  return row;
}

async function fillCell(name, round, pending) {
  let found, bad;
  try {
    found = await pending;
  } catch (error) {
    bad = error.message;
  }
  if (round !== state.round) return;
  const shown = document.querySelector(`#families [data-model="${CSS.escape(name)}"] .model-summary`);
  shown.classList.toggle("bad", Boolean(bad));
  if (bad) shown.textContent = bad;
  else showSummary(shown, found, found.source_words);
}

// Ask the other models only if someone looks.
function showOthers() {
  if (!state.answer || !at("others").open || state.models.length < 2) return;
  const loops = [...new Set(state.models.map(({ loop }) => loop))].sort((a, b) => a - b);
  const families = [...new Set(state.models.map(({ family }) => family))];
  const heads = create("div", "", "family heads");
  heads.append(create("span"), ...loops.map((loop) => create("span", loop ? `Loop ${loop}` : "Start")));
  at("families").style.setProperty("--loops", loops.length);
  at("families").replaceChildren(heads, ...families.map((family) => makeFamily(family, loops)));
  const { model, text, found } = state.answer;
  for (const { name } of state.models)
    fillCell(name, state.round, name === model ? found : summarize(name, text));
}

// --- the form --------------------------------------------------------------------------------------------------------

function updateCount() {
  at("count").textContent = plural(countWords(at("text").value), "word");
  for (const button of at("examples").children)
    button.setAttribute("aria-pressed", String(button.dataset.text === at("text").value));
}

function describeModel() {
  const model = state.models.find(({ name }) => name === at("model").value);
  if (!model) return;
  const why = model.name === state.default && state.models.length > 1 ? ` Used by default: ${state.reason}.` : "";
  at("about").replaceChildren(create("b", model.name), model.description ? `: ${model.description}.${why}` : why);
}

async function start() {
  try {
    const listed = await fetchJson("/v1/models");
    Object.assign(state, { models: listed.models, default: listed.default, reason: listed.default_reason });
    const first = [...state.models].sort((one, other) => (other.name === state.default) - (one.name === state.default));
    at("model").replaceChildren(
      ...first.map(({ name, title }) => Object.assign(create("option", title), { value: name })),
    );
    at("model").value = state.default;
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
    label.append(input, create("span", words === "" ? "auto" : String(words)));
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
for (const id of ["model", "lengths", "faithful"]) at(id).addEventListener("change", rerun);
at("others").addEventListener("toggle", showOthers);
at("copy").addEventListener("click", copySummary);
at("key-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  useKey(at("key").value);
  at("key").value = "";
  at("key-form").hidden = true;
  at("key-error").textContent = "";
  at("text").focus();
  if (!state.models.length) await start();
  if (state.models.length && at("text").value.trim()) run();
});
acceptFiles(options);
updateCount();
start();
