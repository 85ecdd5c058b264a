// What base64 makes of bytes that stand somewhere among others. Only what known values need: nothing is
// decoded.

/** For each of the three ways bytes can fall on groups: the characters that no neighbour has a part in. */
export function base64Cores(bytes: Uint8Array): string[] {
  return [0, 1, 2].map((offset) => {
    let core = "";
    const end = 8 * (offset + bytes.length);
    for (let bit = 6 * Math.ceil((8 * offset) / 6); bit + 6 <= end; bit += 6) {
      const index = (bit >> 3) - offset;
      const two = ((bytes[index] as number) << 8) | (bytes[index + 1] ?? 0);
      core += BASE64.charAt((two >> (10 - (bit & 7))) & 63);
    }
    return core;
  });
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** With those of the variant for URLs. */
export const BASE64_CHARS = `${BASE64}-_`;

export function isBase64Char(char: string): boolean {
  return char !== "" && BASE64_CHARS.includes(char);
}
