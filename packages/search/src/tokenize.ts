// Cuts names, prose and queries into lower-case words. One cutter serves index and query, so that
// `readFile`, `read_file`, `read-file` and "Read file" meet. Scripts written without spaces are cut
// into overlapping pairs of characters.

/**
 * The words of `text` in order, at most `maxWords`; of a huge text only the start is looked at.
 * A word written as two humps ("GitHub") also goes to `compounds` in one piece ("github").
 */
export function tokenize(text: string, maxWords: number, compounds: string[] = []): string[] {
  const maxChars = maxWords * CHARS_PER_WORD;
  const start = text.length > maxChars ? text.slice(0, maxChars) : text;
  const words: string[] = [];
  if (NON_ASCII.test(start)) cutUnicode(start, words, maxWords, compounds);
  else cutAscii(start, words, maxWords, compounds);
  if (words.length > maxWords) words.length = maxWords;
  return words;
}

/** Letters and digits only, lower case: equal for one name typed with other separators or case. */
export function foldName(name: string): string {
  if (!NON_ASCII.test(name)) return name.toLowerCase().replace(ASCII_SEPARATORS, "");
  return withoutAccents(name).toLowerCase().replace(SEPARATORS, "");
}

const CHARS_PER_WORD = 16;
/** Longer runs (hashes, base64) are not words anyone searches for. */
const MAX_WORD_CHARS = 40;
const MAX_RUN_CHARS = 200;
const NINE = 57;
/** Fewer letters than this stay glued to neighbouring digits: `v2`, `s3`, `k8s`, `3d`. */
const LETTERS_OF_A_WORD = 3;

// eslint-disable-next-line no-control-regex -- the whole ASCII range is meant
const NON_ASCII = /[^\x00-\x7f]/;
const ASCII_SEPARATORS = /[^a-z0-9]+/g;
const SEPARATORS = /[^\p{L}\p{M}\p{N}]+/gu;
const ASCII_RUNS = /[A-Za-z0-9]+/g;
const ONE_WORD = /^(?:[A-Z]?[a-z]+|[A-Z]+|[0-9]+)$/;
const RUNS = /[\p{L}\p{M}\p{N}]+/gu;
const UNSPACED =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}" +
  "\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\u30fc";
const SCRIPT_PARTS = new RegExp(`([${UNSPACED}]+)|[^${UNSPACED}]+`, "gu");
const COMBINING_ACCENTS = /[\u0300-\u036f]/g;
/** Acronyms with a plural s ("URLs"), acronyms before a hump ("HTTP" in "HTTPServer"), humps, digits. */
const PIECES = /[A-Z]+s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g;

function cutAscii(text: string, words: string[], maxWords: number, compounds: string[]): void {
  for (const run of text.match(ASCII_RUNS) ?? []) {
    if (words.length >= maxWords) return;
    if (ONE_WORD.test(run)) pushWord(run.toLowerCase(), words);
    else pushPieces(run, words, compounds);
  }
}

function pushPieces(run: string, words: string[], compounds: string[]): void {
  const pieces = run.slice(0, MAX_RUN_CHARS).match(PIECES) ?? [];
  const before = words.length;
  let word = "";
  let gluesNext = false;
  let previousIsDigits = false;
  for (const piece of pieces) {
    const isDigits = piece.charCodeAt(0) <= NINE;
    const isShort = !isDigits && piece.length < LETTERS_OF_A_WORD;
    const glues = previousIsDigits ? isShort : gluesNext && isDigits;
    if (word !== "" && !glues) {
      pushWord(word, words);
      word = "";
    }
    word += piece.toLowerCase();
    gluesNext = isShort;
    previousIsDigits = isDigits;
  }
  if (word !== "") pushWord(word, words);
  if (words.length === before + 2) pushWord(run.toLowerCase(), compounds);
}

function cutUnicode(text: string, words: string[], maxWords: number, compounds: string[]): void {
  for (const [run] of withoutAccents(text).matchAll(RUNS)) {
    if (words.length >= maxWords) return;
    if (!NON_ASCII.test(run)) {
      cutAscii(run, words, maxWords, compounds);
      continue;
    }
    for (const [part, unspaced] of run.matchAll(SCRIPT_PARTS)) {
      if (unspaced !== undefined) pushPairs(unspaced, words, maxWords);
      else if (NON_ASCII.test(part)) pushWord(part.toLowerCase(), words);
      else cutAscii(part, words, maxWords, compounds);
    }
  }
}

function pushPairs(run: string, words: string[], maxWords: number): void {
  const characters = Array.from(run);
  if (characters.length === 1) words.push(run);
  for (let at = 1; at < characters.length && words.length < maxWords; at += 1) {
    words.push(`${characters[at - 1]}${characters[at]}`);
  }
}

function pushWord(word: string, words: string[]): void {
  if (word.length <= MAX_WORD_CHARS) words.push(word);
}

/** "Café" and "cafe" are one word; marks that carry a vowel in other scripts are kept. */
function withoutAccents(text: string): string {
  return text.normalize("NFKD").replace(COMBINING_ACCENTS, "").normalize("NFC");
}
