// A file of lines becomes a file of summaries: read here, sent to the server in small batches, and offered for download.

import { fetchJson } from "./api.js";
import { plural } from "./words.js";

const BATCH = 16; // lines in a request: few enough for a progress bar that moves
const LARGEST = 100e6; // bytes
const RETRY = 1000; // milliseconds, where the server's queue is full
// Errors of a batch that smaller ones may not have; of a single line, it is left without a summary.
const OF_A_LINE = ["text_too_long", "empty_text", "too_many_texts", "too_much_work", "body_too_large", "timeout"];

const at = (id) => document.getElementById(id);
const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));

// Return the lines of a file; what is no text is an Error.
export async function readLines(file) {
  if (file.size > LARGEST) throw new Error(`${file.name} is too large for a page. “nutgraf summarize” reads any size.`);
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new Error(`${file.name} is not a text file in UTF-8.`);
  }
  if (text.includes("\0")) throw new Error(`${file.name} is not a text file.`);
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.at(-1) === "") lines.pop();
  if (!lines.some((line) => line.trim())) throw new Error(`${file.name} has no text.`);
  return lines;
}

// Return a summary for each text, or null where the server refuses that text.
async function summarizeBatch(texts, options, signal) {
  for (;;) {
    try {
      const { summaries } = await fetchJson("/v1/summarize", { ...options, texts }, signal);
      return summaries.map(({ summary }) => summary);
    } catch (error) {
      if (error.status === 503 && !signal.aborted) {
        await pause(RETRY);
        continue;
      }
      if (signal.aborted || !OF_A_LINE.includes(error.code)) throw error;
      if (texts.length === 1) return [null];
      const half = Math.ceil(texts.length / 2);
      const first = await summarizeBatch(texts.slice(0, half), options, signal);
      return [...first, ...(await summarizeBatch(texts.slice(half), options, signal))];
    }
  }
}

// Yield the summaries of the lines so far, after every batch; a blank line has a blank summary.
async function* summarizeLines(lines, options, signal) {
  const summaries = [];
  for (let start = 0; start < lines.length; start += BATCH) {
    const batch = lines.slice(start, start + BATCH);
    const texts = batch.filter((line) => line.trim());
    const found = texts.length ? await summarizeBatch(texts, options, signal) : [];
    for (const line of batch) summaries.push(line.trim() ? found.shift() : "");
    yield summaries;
  }
}

function timeLeft(started, done, total) {
  const seconds = ((performance.now() - started) / 1000 / done) * (total - done);
  if (seconds < 1) return "";
  return `, about ${seconds < 90 ? plural(Math.ceil(seconds), "second") : plural(Math.round(seconds / 60), "minute")} left`;
}

function offer(link, name, lines) {
  URL.revokeObjectURL(link.href);
  link.href = URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], { type: "text/plain" }));
  link.download = name;
  link.textContent = name;
}

function showResult(name, lines, summaries) {
  const stem = name.replace(/\.[^.]*$/, "") || "lines";
  const written = summaries.map((summary) => summary ?? "");
  offer(at("file-summaries"), `${stem}.summaries.txt`, written);
  offer(at("file-table"), `${stem}.summaries.tsv`, written.map((summary, place) => `${lines[place].replace(/\t/g, " ")}\t${summary}`));
  at("file-links").hidden = !summaries.length;
  const refused = summaries.filter((summary) => summary === null).length;
  const without = refused ? ` ${plural(refused, "line")} could not be summarized and ${refused === 1 ? "is" : "are"} blank.` : "";
  const stopped = summaries.length < lines.length ? ` of ${lines.length.toLocaleString("en")}; stopped` : "";
  at("file-status").textContent = `${name}: ${plural(summaries.length, "line")}${stopped}.${without}`;
}

async function work(file, options, signal) {
  const lines = await readLines(file);
  let summaries = [];
  const started = performance.now();
  at("file-status").textContent = `${file.name}: ${plural(lines.length, "line")}`;
  try {
    for await (summaries of summarizeLines(lines, options, signal)) {
      at("file-progress").value = summaries.length / lines.length;
      at("file-status").textContent =
        `${file.name}: ${summaries.length.toLocaleString("en")} of ${plural(lines.length, "line")}` +
        timeLeft(started, summaries.length, lines.length);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    showResult(file.name, lines, summaries);
  }
}

// Let a file be chosen, or dropped anywhere on the page; `options` returns what a request has besides its texts.
export function acceptFiles(options) {
  let controller = null;

  async function start(file) {
    if (!file || controller) return;
    controller = new AbortController();
    for (const id of ["file-error", "file-status"]) at(id).textContent = "";
    at("file-links").hidden = true;
    at("file-progress").value = 0;
    for (const id of ["file-work", "file-stop", "file-progress"]) at(id).hidden = false;
    at("file").disabled = true;
    at("file-work").scrollIntoView({ block: "nearest" });
    try {
      await work(file, options(), controller.signal);
    } catch (error) {
      at("file-error").textContent = error.message;
    }
    for (const id of ["file-stop", "file-progress"]) at(id).hidden = true;
    at("file").disabled = false;
    at("file").value = "";
    controller = null;
  }

  const carriesFile = (event) => event.dataTransfer && event.dataTransfer.types.includes("Files");
  const mark = (over) => at("drop").classList.toggle("over", over);
  document.addEventListener("dragover", (event) => {
    if (!carriesFile(event)) return;
    event.preventDefault();
    mark(true);
  });
  document.addEventListener("dragleave", (event) => event.relatedTarget || mark(false));
  document.addEventListener("drop", (event) => {
    if (!carriesFile(event)) return;
    event.preventDefault(); // else the browser would open the file
    mark(false);
    start(event.dataTransfer.files[0]);
  });
  at("file").addEventListener("change", () => start(at("file").files[0]));
  at("file-stop").addEventListener("click", () => controller && controller.abort());
}
