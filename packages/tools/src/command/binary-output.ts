// Whether a program wrote something that is no text. Names separated by NUL are text here, and so is a
// listing in an old encoding: only what shows two signs of the three is called binary.

const SAMPLE_BYTES = 8 * 1024;

export function isBinary(beginning: Uint8Array): boolean {
  const sample = beginning.subarray(0, SAMPLE_BYTES);
  const signs = [sample.includes(0), sample.some(isControl), !isUtf8(sample)];
  return signs.filter(Boolean).length >= 2;
}

/** Other than NUL, the usual white space, backspace and the escape of terminals. */
function isControl(byte: number): boolean {
  return byte < 0x20 && byte !== 0 && byte !== 0x1b && (byte < 0x08 || byte > 0x0d);
}

/** The sample may end in the middle of a character. */
function isUtf8(sample: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(sample, { stream: true });
    return true;
  } catch {
    return false;
  }
}
