// How many line feeds are in some bytes. Sixteen bytes are looked at in one go, so that a scan takes the
// same short time whether lines are long or short; a native search for each would not.

export function countLineFeeds(bytes: Buffer): number {
  const start = -bytes.byteOffset & 3;
  const wordCount = ((bytes.length - start) >> 4) << 2;
  if (wordCount <= 0) return countOneByOne(bytes);
  const end = start + wordCount * 4;
  return (
    countOneByOne(bytes.subarray(0, start)) +
    countInWords(new Int32Array(bytes.buffer, bytes.byteOffset + start, wordCount)) +
    countOneByOne(bytes.subarray(end))
  );
}

/** Four counters share a word, one for each of its bytes: they are emptied before one can overflow. */
const WORDS_A_ROUND = 252;

function countInWords(words: Int32Array): number {
  let others = 0;
  for (let index = 0; index < words.length;) {
    const end = Math.min(words.length, index + WORDS_A_ROUND);
    let counters = 0;
    for (; index < end; index += 4) {
      const four =
        othersIn(words[index] as number) +
        othersIn(words[index + 1] as number) +
        othersIn(words[index + 2] as number) +
        othersIn(words[index + 3] as number);
      counters = (counters + four) | 0;
    }
    others += counters & 0xff;
    others += (counters >>> 8) & 0xff;
    others += (counters >>> 16) & 0xff;
    others += counters >>> 24;
  }
  return words.length * 4 - others;
}

/** A word with a one in each byte where `word` has something else than a line feed. */
function othersIn(word: number): number {
  // Zero where the line feed is; from anything else the addition carries into the top bit.
  const difference = word ^ 0x0a0a0a0a;
  return ((((difference & 0x7f7f7f7f) + 0x7f7f7f7f) | difference) >>> 7) & 0x01010101;
}

function countOneByOne(bytes: Buffer): number {
  let count = 0;
  for (const byte of bytes) if (byte === 0x0a) count += 1;
  return count;
}
