// A light English stemmer: plurals, -ing, -ed, -ion, -ator and a final e. It only has to give the
// forms of one word the same key. A wrong merge costs more than a missed one, so it stops early.

/** The key shared by the forms of `word`: "files" and "file", "deleting", "deleted" and "delete". */
export function stem(word: string): string {
  if (word.length < 4) return word;
  const singular = word.endsWith("s") ? withoutPlural(word) : word;
  const base = withoutSuffix(singular);
  return base.length >= 5 && base.endsWith("e") ? base.slice(0, -1) : base;
}

/** Not the plurals they look like. */
const SINGULAR: ReadonlySet<string> = new Set(["alias", "atlas", "bias", "canvas", "lens", "news"]);

function withoutPlural(word: string): string {
  if (/(ss|us|is)$/.test(word) || SINGULAR.has(word)) return word;
  if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (/(sse|she|che|xe|zze)s$/.test(word)) return word.slice(0, -2);
  return word.slice(0, -1);
}

function withoutSuffix(word: string): string {
  if (word.endsWith("ing")) return withoutInflection(word, 3);
  if (word.endsWith("ied") && word.length > 4) return `${word.slice(0, -3)}y`;
  if (word.endsWith("ed")) return withoutInflection(word, 2);
  if (word.length >= 8 && /[st]ion$/.test(word)) return word.slice(0, -3);
  if (word.length >= 8 && word.endsWith("ator")) return word.slice(0, -2);
  return word;
}

function withoutInflection(word: string, suffixLength: number): string {
  const base = word.slice(0, -suffixLength);
  if (base.length < 3 || !/[aeiouy]/.test(base)) return word;
  if (base.length > 3 && /([bdfgmnprt])\1$/.test(base)) return base.slice(0, -1);
  // "filing" and "coding" come from "file" and "code", "running" (above) from "run".
  return /^[^aeiou]*[aeiouy][^aeiouwxy]$/.test(base) ? `${base}e` : base;
}
