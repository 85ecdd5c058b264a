// Words in columns: cut to a width, wrapped, or one under the other.

/** Cut with an ellipsis where it is longer. */
export function fit(text: string, width: number): string {
  const characters = Array.from(text);
  if (characters.length <= width) return text;
  return `${characters.slice(0, Math.max(0, width - 1)).join("")}…`;
}

/** In lines of at most this width, behind an indent; a longer word has a line of its own. */
export function wrap(text: string, width: number, indent = ""): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/).filter((part) => part !== "")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && lengthOf(longer) + indent.length > width) {
      lines.push(indent + line);
      line = word;
    } else line = longer;
  }
  if (line !== "") lines.push(indent + line);
  return lines;
}

/** Padded to a width, by what is seen of it. */
export function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - lengthOf(text)));
}

/** In characters, whatever their number of code units. */
export function lengthOf(text: string): number {
  return Array.from(text).length;
}
