// From bytes to text. What does not decode becomes U+FFFD here and nothing is thrown; whether that
// happened is asked separately.

import { bomLength, type TextFormat } from "./text-format.ts";

/** The text without its byte order mark. Of a piece from the middle, say `bom: false`. */
export function decodeText(bytes: Uint8Array, format: TextFormat): string {
  return decoded(bytes.subarray(bomLength(format)), format, { fatal: false, complete: true });
}

/** Whether every byte decodes; unless `complete`, a character may be cut at the end. */
export function decodesWhole(bytes: Uint8Array, format: TextFormat, complete: boolean): boolean {
  if (format.encoding === "binary") return false;
  try {
    decoded(bytes.subarray(bomLength(format)), format, { fatal: true, complete });
    return true;
  } catch {
    return false;
  }
}

interface Strictness {
  fatal: boolean;
  complete: boolean;
}

function decoded(bytes: Uint8Array, { encoding }: TextFormat, how: Strictness): string {
  if (encoding === "windows-1252") return decodeWindows1252(bytes);
  const label = encoding === "binary" ? "utf-8" : encoding;
  const decoder = new TextDecoder(label, { fatal: how.fatal, ignoreBOM: true });
  return decoder.decode(bytes, { stream: !how.complete });
}

/** Not by the platform's decoder, which in some versions of Node.js reads 0x80–0x9f as Latin-1. */
function decodeWindows1252(bytes: Uint8Array): string {
  const latin1 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  return latin1.replace(
    /[\x80-\x9f]/g,
    (character) => WINDOWS_1252_UPPER[character.charCodeAt(0) - 0x80] ?? character,
  );
}

/** The characters of 0x80–0x9f; five of them stand for themselves. */
const WINDOWS_1252_UPPER = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";
