// What is compared: the kernel's index, the plainest search there is, and MiniSearch given the same
// words, stop words, stems and weights.

import { existsSync } from "node:fs";
import { installPeer } from "../setup.mjs";

/**
 * @import { Kernel } from "./kernel.mjs"
 * @typedef {ReturnType<Kernel["createSearchDocument"]>} Document
 * @typedef {(query: string, limit: number) => string[]} Search  names, best first
 * @typedef {{ name: string, prepare: (documents: Document[]) => Search }} Searcher
 */

export const OWN = "Soong";

/** @param {Kernel} kernel @returns {Searcher} */
export function ownIndex({ createSearchIndex }) {
  return {
    name: OWN,
    prepare(documents) {
      const index = createSearchIndex(documents);
      return (query, limit) => index.search(query, { limit }).map(({ tool_name }) => tool_name);
    },
  };
}

/** Counts how many words of the query occur anywhere. @param {Kernel} kernel @returns {Searcher} */
export function wordCount({ isStopWord, tokenize }) {
  return {
    name: "count of words",
    prepare(documents) {
      const texts = documents.map((document) => {
        const parts = [document.name, document.description, ...(document.parameters ?? [])];
        return { name: document.name, text: parts.join(" ").toLowerCase() };
      });
      return (query, limit) => {
        const words = [...new Set(tokenize(query, 96))].filter((word) => !isStopWord(word));
        return texts
          .map(({ name, text }) => ({ name, hits: words.filter((w) => text.includes(w)).length }))
          .filter(({ hits }) => hits > 0)
          .toSorted((a, b) => b.hits - a.hits)
          .slice(0, limit)
          .map(({ name }) => name);
      };
    },
  };
}

/**
 * Installed into `peer/` by the bench itself.
 * @param {Kernel} kernel
 * @returns {Promise<Searcher | { name: string, failure: string }>}
 */
export async function miniSearch({ isStopWord, stem, tokenize }) {
  const name = "MiniSearch";
  const failure = await installPeer("bench/search/peer", () => {});
  const modules = new URL("./peer/node_modules/", import.meta.url);
  const entry = new URL(`${name.toLowerCase()}/dist/es/index.js`, modules);
  if (failure || !existsSync(entry)) return { name, failure: failure ?? "not where expected" };
  /** @type {unknown} */
  const loaded = await import(entry.href);
  const { default: MiniSearch } = /** @type {{ default: MiniSearchClass }} */ (loaded);
  return {
    name,
    prepare(documents) {
      const index = new MiniSearch({
        idField: "id",
        fields: ["name", "description", "parameters", "parameter_text"],
        tokenize: (text) => tokenize(text, 600),
        processTerm: (word) => (isStopWord(word) ? null : stem(word)),
        searchOptions: {
          boost: { name: 3, description: 1.5, parameters: 1, parameter_text: 0.5 },
          prefix: (term) => term.length >= 5,
          fuzzy: (term) => (term.length >= 5 ? 0.2 : false),
        },
      });
      index.addAll(
        documents.map(({ name, description, parameters = [], parameter_text = "" }) => {
          return { id: name, name, description, parameters: parameters.join(" "), parameter_text };
        }),
      );
      return (query, limit) =>
        index
          .search(query)
          .slice(0, limit)
          .map(({ id }) => id);
    },
  };
}

/**
 * The part of MiniSearch used here; its own types are there only once it is installed.
 * @typedef {object} MiniSearchOptions
 * @property {string} idField
 * @property {string[]} fields
 * @property {(text: string) => string[]} tokenize
 * @property {(word: string) => string | null} processTerm
 * @property {{ boost: Record<string, number>, prefix: (term: string) => boolean,
 *   fuzzy: (term: string) => number | false }} searchOptions
 * @typedef {new (options: MiniSearchOptions) => {
 *   addAll(documents: object[]): void, search(query: string): { id: string }[] }} MiniSearchClass
 */
