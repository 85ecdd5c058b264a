// Text without control characters: a user sees all of it, and no terminal obeys it.

/** The first control character but tab and line ends: its line, and its name. Undefined for plain text. */
export function controlCharacter(
  text: string,
): { readonly line: number; readonly name: string } | undefined {
  const at = text.search(CONTROL);
  if (at === -1) return undefined;
  const code = text.charCodeAt(at).toString(16).toUpperCase().padStart(4, "0");
  return { line: text.slice(0, at).split("\n").length, name: `U+${code}` };
}

// eslint-disable-next-line no-control-regex -- these are what is looked for
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u2028\u2029]/;
