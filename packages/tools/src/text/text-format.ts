// What is known of the way a text is written down as bytes.

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
