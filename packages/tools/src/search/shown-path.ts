// A path as one line of text: a name may hold a line break, or pretend to be more than one name.

export function shownPath(path: string): string {
  return PLAIN.test(path) ? path : JSON.stringify(path);
}

/** No control or format characters, no blank at either end, nothing that looks quoted already. */
const PLAIN = /^(?![\s"])[^\p{C}\u2028\u2029]+(?<!\s)$/u;
