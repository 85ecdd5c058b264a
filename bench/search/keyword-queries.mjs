// Queries as a model writes them when it is asked for keywords: a few words of the tool it has in
// mind, and the same with slips of the fingers.

import { pick, seededRandom } from "./distractors.mjs";

/**
 * @import { QuerySet, Tool } from "./catalog.mjs"
 * @import { Kernel } from "./kernel.mjs"
 */

/**
 * Two words of the name and two of the description of every second tool.
 * @param {Tool[]} tools @param {Kernel} kernel @returns {QuerySet[]}
 */
export function keywordSets(tools, kernel) {
  const random = seededRandom(7);
  /** @type {Map<string, string[]>} */
  const alike = new Map();
  for (const { name } of tools) {
    const folded = kernel.foldName(name);
    alike.set(folded, [...(alike.get(folded) ?? []), name]);
  }
  /** @type {QuerySet} */
  const keywords = { name: "keywords", queries: [] };
  /** @type {QuerySet} */
  const misspelt = { name: "misspelt keywords", queries: [] };
  for (const tool of tools.filter((_, at) => at % 2 === 0)) {
    const inName = wordsOf(tool.name, 3, kernel);
    const inDescription = wordsOf(tool.description, 4, kernel).filter((w) => !inName.includes(w));
    const words = [...some(2, inName, random), ...some(2, inDescription, random)];
    if (inName.length === 0) continue;
    const relevant = [alike.get(kernel.foldName(tool.name)) ?? []];
    keywords.queries.push({ text: words.join(" "), relevant });
    const slipped = words.map((word) => (word.length >= 5 ? withSlip(word, random) : word));
    misspelt.queries.push({ text: slipped.join(" "), relevant });
  }
  return [keywords, misspelt];
}

/** @param {string} text @param {number} shortest @param {Kernel} kernel */
function wordsOf(text, shortest, kernel) {
  const words = kernel.tokenize(text, 60);
  return [...new Set(words)].filter((w) => w.length >= shortest && !kernel.isStopWord(w));
}

/** @param {number} count @param {string[]} words @param {() => number} random */
function some(count, words, random) {
  const left = [...words];
  return Array.from({ length: Math.min(count, left.length) }, () => {
    return left.splice(Math.floor(random() * left.length), 1)[0] ?? "";
  });
}

/** One letter lost, doubled up, wrong or swapped, never the first. @param {string} word @param {() => number} random */
function withSlip(word, random) {
  const at = 1 + Math.floor(random() * (word.length - 2));
  const letter = pick("aeiourstln".split(""), random);
  const slips = [
    word.slice(0, at) + word.slice(at + 1),
    word.slice(0, at) + letter + word.slice(at),
    word.slice(0, at) + letter + word.slice(at + 1),
    word.slice(0, at) + word.charAt(at + 1) + word.charAt(at) + word.slice(at + 2),
  ];
  return pick(slips, random);
}
