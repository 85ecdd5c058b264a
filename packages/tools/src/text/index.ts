// The text module: what encoding some bytes are in, and the way from bytes to text and back. Pure: it is
// given bytes and touches no file.

export { bomLength, type TextFormat } from "./text-format.ts";
export { detectFormat } from "./detect-format.ts";
export { decodesWhole, decodeText } from "./decode-text.ts";
export { encodeText } from "./encode-text.ts";
export { cutToBytes } from "./cut-to-bytes.ts";
