// The catalog that is searched and the questions asked of it: the tools of both public sets together,
// filled up with made-up ones, and for each query the names that answer it.

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { distractors } from "./distractors.mjs";

/**
 * @typedef {{ name: string, description: string, input_schema?: unknown }} Tool
 * @typedef {object} Query
 * @property {string} text
 * @property {string[][]} relevant  the tools it needs; names in one list answer the same need
 * @typedef {{ name: string, queries: Query[] }} QuerySet
 * @typedef {object} StoredSet
 * @property {string} name
 * @property {Tool[]} tools
 * @property {{ text: string, relevant: number[][] }[]} queries  by position in `tools`
 */

/** @param {number} size @returns {{ tools: Tool[], sets: QuerySet[] }} */
export function loadCatalog(size) {
  /** @type {Tool[]} */
  const tools = [];
  /** @type {Set<string>} */
  const taken = new Set();
  const sets = ["bfcl", "metatool"].map(readSet).map((stored) => {
    const named = stored.tools.map((tool) => ({ ...tool, name: uniqueName(tool.name, taken) }));
    tools.push(...named);
    const nameOf = (/** @type {number} */ at) => named[at]?.name ?? "";
    const queries = stored.queries.map(({ text, relevant }) => {
      return { text, relevant: relevant.map((need) => need.map(nameOf)) };
    });
    return { name: stored.name, queries };
  });
  tools.push(...distractors(Math.max(0, size - tools.length)));
  return { tools, sets };
}

/** @param {string} name @returns {StoredSet} */
function readSet(name) {
  const packed = readFileSync(new URL(`./data/${name}.json.gz`, import.meta.url));
  return /** @type {StoredSet} */ (JSON.parse(gunzipSync(packed).toString("utf8")));
}

/**
 * The sets hold several tools of one name, a registry cannot. Underscores tell them apart for the
 * index and are nothing to the search.
 * @param {string} name @param {Set<string>} taken
 */
function uniqueName(name, taken) {
  let unique = name;
  while (taken.has(unique)) unique += "_";
  taken.add(unique);
  return unique;
}
