// @soong/search: the index that finds tools by words, over names, descriptions, tags and parameters. Pure.

export {
  createSearchIndex,
  type SearchIndex,
  type SearchMatch,
  type SearchOptions,
} from "./search-index.ts";
export {
  createSearchDocument,
  type SearchableTool,
  type SearchDocument,
} from "./search-document.ts";
