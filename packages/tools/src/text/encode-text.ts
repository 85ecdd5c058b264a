// From text back to bytes. Old encodings have no encoder on this platform, so theirs is the decoder
// turned round.

import { decodeText } from "./decode-text.ts";
import type { LegacyEncoding, TextFormat } from "./text-format.ts";

/**
 * The bytes that decode to exactly this text, or undefined where the encoding cannot hold it (a lone
 * surrogate, in any). Begins with the byte order mark if the format has one: of a piece for the
 * middle, say `bom: false`.
 */
export function encodeText(text: string, format: TextFormat): Uint8Array | undefined {
  const { encoding, bom } = format;
  if (encoding === "binary" || LONE_SURROGATE.test(text)) return undefined;
  const marked = bom ? `\ufeff${text}` : text;
  if (encoding === "utf-8") return Buffer.from(marked, "utf8");
  if (encoding === "utf-16le") return Buffer.from(marked, "utf16le");
  if (encoding === "utf-16be") return Buffer.from(marked, "utf16le").swap16();
  return encodeLegacy(text, encoding);
}

const LONE_SURROGATE = /\p{Surrogate}/u;

function encodeLegacy(text: string, encoding: LegacyEncoding): Uint8Array | undefined {
  const table = tableOf(encoding);
  const bytes: number[] = [];
  for (const character of text) {
    const code = table.get(character);
    if (code === undefined) return undefined;
    if (code > 0xff) bytes.push(code >> 8);
    bytes.push(code & 0xff);
  }
  return Uint8Array.from(bytes);
}

type Table = ReadonlyMap<string, number>;

const tables = new Map<LegacyEncoding, Table>();

function tableOf(encoding: LegacyEncoding): Table {
  const known = tables.get(encoding);
  if (known !== undefined) return known;
  const table = reverse(encoding);
  tables.set(encoding, table);
  return table;
}

/** Where several codes stand for one character, the first. Codes of three and four bytes are left out. */
function reverse(encoding: LegacyEncoding): Table {
  const table = new Map([["\n", LINE_FEED]]);
  const singles = Array.from({ length: 0x100 }, (_, byte) => [byte]).filter(
    ([byte]) => byte !== LINE_FEED,
  );
  const unused = new Set<number>();
  learn(table, encoding, singles, (code) => unused.add(code));
  const pairs: number[][] = [];
  for (const lead of unused) {
    for (let trail = 0x40; trail <= 0xff; trail += 1) pairs.push([lead, trail]);
  }
  learn(table, encoding, pairs, () => undefined);
  return table;
}

/** Decodes all codes at once, each on a line of its own: a decoder for each would take its time. */
function learn(
  table: Map<string, number>,
  encoding: LegacyEncoding,
  codes: readonly number[][],
  onNoCharacter: (code: number) => void,
): void {
  const bytes = Uint8Array.from(codes.flatMap((code) => [...code, LINE_FEED]));
  const texts = decodeText(bytes, { encoding, bom: false, valid: true }).split("\n");
  for (const [index, code] of codes.entries()) {
    const text = texts[index] ?? "";
    const value = code.reduce((sum, byte) => sum * 0x100 + byte, 0);
    if (text === "\ufffd" || !ONE_CHARACTER.test(text)) onNoCharacter(value);
    else if (!table.has(text)) table.set(text, value);
  }
}

const LINE_FEED = 0x0a;
const ONE_CHARACTER = /^.$/su;
