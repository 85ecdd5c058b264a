// A change of one table in a TOML file that a user wrote. No library writes TOML without losing its comments, so the text of
// the statements that change is replaced, and what came of it is read again.

import { isDeepStrictEqual } from "node:util";
import { parse } from "smol-toml";
import { tomlPlaces } from "./toml.ts";
import type { DocumentPath } from "./problem.ts";

export interface TomlTableChange {
  readonly table: DocumentPath;
  /** Keys of it, with all that is below them. */
  readonly remove: readonly string[];
  /** Texts, lists of texts and tables of texts: written below the header. */
  readonly set: Readonly<Record<string, unknown>>;
}

/** Undefined where the table is written in a form that this does not change safely, such as dotted keys. */
export function editTomlTable(text: string, change: TomlTableChange): string | undefined {
  const { table, remove, set } = change;
  const { root, headers } = tomlPlaces(text);
  const header = headers.find(({ path }) => isDeepStrictEqual(path, table));
  let node = root;
  for (const step of table) node = node.members.get(String(step)) ?? node;
  if (header === undefined) return undefined;
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const gone = remove.flatMap((key) => {
    const member = node.members.get(key);
    const isHeader = ({ path }: { path: DocumentPath }) =>
      path.length > table.length &&
      isDeepStrictEqual(path.slice(0, table.length + 1), [...table, key]);
    const below = headers.filter(isHeader).map(({ start, end }) => ({ start, end }));
    const own = member?.value && { start: member.start, end: member.value.end };
    return own === undefined ? below : [own, ...below];
  });
  const added = Object.entries(set).map(
    ([key, value]) => `${writeKey(key)} = ${writeTomlValue(value)}${eol}`,
  );
  const headerEnd = endOfLine(text, text.indexOf("]", header.start));
  const cuts = [
    ...gone.map(({ start, end }) => ({
      start: text.lastIndexOf("\n", start) + 1,
      end: endOfLine(text, end),
      text: "",
    })),
    // Last: a statement that goes may begin at the same place.
    { start: headerEnd, end: headerEnd, text: added.join("") },
  ].toSorted((a, b) => b.start - a.start);
  let next = text;
  for (const cut of cuts) next = next.slice(0, cut.start) + cut.text + next.slice(cut.end);
  return isWhatWasMeant(text, next, change) ? next : undefined;
}

/** As TOML on one line. */
export function writeTomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeTomlValue).join(", ")}]`;
  if (typeof value !== "object" || value === null) {
    // JSON writes texts as TOML does, but for one character that TOML wants written out.
    return JSON.stringify(value).replaceAll("\u007f", "\\u007f");
  }
  const pairs = Object.entries(value).map(
    ([key, of]) => `${writeKey(key)} = ${writeTomlValue(of)}`,
  );
  return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
}

function writeKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}

/** Behind the end of the line that has this place. */
function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end + 1;
}

function isWhatWasMeant(
  before: string,
  after: string,
  { table, remove, set }: TomlTableChange,
): boolean {
  try {
    const wanted = parse(before);
    let inner = wanted as Record<string, unknown>;
    for (const step of table) inner = inner[step] as Record<string, unknown>;
    for (const key of remove) delete inner[key];
    Object.assign(inner, set);
    return isDeepStrictEqual(plain(parse(after)), plain(wanted));
  } catch {
    return false;
  }
}

/** Without prototypes, and dates as texts. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, of: unknown) => (typeof of === "bigint" ? String(of) : of)),
  );
}
