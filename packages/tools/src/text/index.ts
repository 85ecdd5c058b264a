// The text module: what encoding some bytes are in, where their lines end, and the way from bytes to text and
// back. Pure: it is given bytes and touches no file.

export * from "./file-text.ts";
export {
  asBuffer,
  bomLength,
  cutToBytes,
  decodesWhole,
  decodeText,
  detectFormat,
  encodeText,
  type TextFormat,
} from "./text-format.ts";
