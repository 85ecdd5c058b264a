// The way a text is written down as bytes, and from bytes to text and back. What does not decode becomes U+FFFD
// and nothing is thrown; whether that happened is asked separately. Old encodings have no encoder on this
// platform, so theirs is the decoder turned round.

/** Encodings older than Unicode that can be declared: one or two bytes a character, ASCII inside. */
export const LEGACY_ENCODINGS = [
  "windows-1250",
  "windows-1251",
  "windows-1252",
  "windows-1253",
  "windows-1254",
  "windows-1255",
  "windows-1256",
  "iso-8859-2",
  "iso-8859-5",
  "iso-8859-6",
  "iso-8859-7",
  "iso-8859-8",
  "koi8-r",
  "shift_jis",
  "euc-jp",
  "euc-kr",
  "gb18030",
  "big5",
] as const;

export type LegacyEncoding = (typeof LEGACY_ENCODINGS)[number];

export interface TextFormat {
  readonly encoding: "utf-8" | "utf-16le" | "utf-16be" | LegacyEncoding | "binary";
  /** The bytes begin with a byte order mark, which is no part of the text. */
  readonly bom: boolean;
  /** Every byte looked at decodes. Of a sample it says nothing about the rest. */
  readonly valid: boolean;
}

/** How many bytes of the beginning are the byte order mark. */
export function bomLength({ encoding, bom }: TextFormat): number {
  if (!bom) return 0;
  return encoding === "utf-8" ? 3 : 2;
}

/** The text without its byte order mark. Of a piece from the middle, say `bom: false`. */
export function decodeText(bytes: Uint8Array, format: TextFormat): string {
  return decode(bytes, format, { fatal: false, complete: true });
}

/** Whether every byte decodes; unless `complete`, a character may be cut at the end. */
export function decodesWhole(bytes: Uint8Array, format: TextFormat, complete: boolean): boolean {
  if (format.encoding === "binary") return false;
  try {
    decode(bytes, format, { fatal: true, complete });
    return true;
  } catch {
    return false;
  }
}

function decode(
  marked: Uint8Array,
  format: TextFormat,
  how: { fatal: boolean; complete: boolean },
): string {
  const { encoding } = format;
  const bytes = marked.subarray(bomLength(format));
  if (encoding === "windows-1252") return decodeWindows1252(bytes);
  const label = encoding === "binary" ? "utf-8" : encoding;
  const decoder = new TextDecoder(label, { fatal: how.fatal, ignoreBOM: true });
  return decoder.decode(bytes, { stream: !how.complete });
}

/** Not by the platform's decoder, which in some versions of Node.js reads 0x80–0x9f as Latin-1. */
function decodeWindows1252(bytes: Uint8Array): string {
  return asBuffer(bytes)
    .toString("latin1")
    .replace(
      /[\x80-\x9f]/g,
      (character) => WINDOWS_1252_UPPER[character.charCodeAt(0) - 0x80] ?? character,
    );
}

/** The characters of 0x80–0x9f; five of them stand for themselves. */
const WINDOWS_1252_UPPER = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";

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
  const table = tableFor(encoding);
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

/** Where several codes stand for one character, the first. Codes of three and four bytes are left out. */
function tableFor(encoding: LegacyEncoding): Table {
  const known = tables.get(encoding);
  if (known !== undefined) return known;
  const table = new Map([["\n", LINE_FEED]]);
  tables.set(encoding, table);
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

/** The longest beginning of `text` that has at most `maxBytes` bytes in UTF-8. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const { read } = encoder.encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}

const encoder = new TextEncoder();

/** The same memory. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
