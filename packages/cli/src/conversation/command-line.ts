// A command line as someone types it behind `!`: the words of a program and its arguments, or a script for a shell where only
// a shell can read it.

/** Undefined: there is nothing to run. Throws a sentence where a quote has no end. */
export function readCommandLine(line: string): readonly string[] | undefined {
  const text = line.trim();
  if (text === "") return undefined;
  const words = splitWords(text);
  return words ?? ["sh", "-c", text];
}

/**
 * Words as a shell splits them: blanks divide, quotes and backslashes hold together. Undefined where a shell would do more
 * than that. Throws a sentence where a quote has no end.
 */
function splitWords(text: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === "'" || character === '"') {
      const quoted = readQuoted(text, at);
      if (quoted === undefined) return undefined;
      word = (word ?? "") + quoted.text;
      at = quoted.end;
    } else if (character === "\\") {
      if (at === text.length - 1) return undefined;
      at += 1;
      word = (word ?? "") + text.charAt(at);
    } else if (character === " " || character === "\t") {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (FOR_A_SHELL.test(character) || (word === undefined && character === "#")) {
      return undefined;
    } else word = (word ?? "") + character;
  }
  if (word !== undefined) words.push(word);
  // `NAME=value program` sets a variable, and `~` is a home.
  if (/^\w+=/.test(words[0] ?? "") || words.some((one) => one.startsWith("~"))) return undefined;
  return words;
}

const FOR_A_SHELL = /[|&;<>()$`*?[\]{}!\n]/;

function readQuoted(text: string, start: number): { text: string; end: number } | undefined {
  const quote = text.charAt(start);
  let word = "";
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === quote) return { text: word, end: at };
    if (quote === '"' && (character === "$" || character === "`")) return undefined;
    if (quote === '"' && character === "\\" && /["\\$`\n]/.test(text.charAt(at + 1))) {
      at += 1;
      word += text.charAt(at);
    } else word += character;
  }
  throw new Error(`A ${quote} in this line has no end.`);
}
