// Where lines end in raw bytes of a given encoding, without decoding them.

import { bomLength, type TextFormat } from "../text/index.ts";
import { countLineFeeds } from "./count-line-feeds.ts";

export interface LineFeeds {
  /** Bytes of one code unit. */
  readonly unit: 1 | 2;
  /** Bytes before the first line. */
  readonly bomLength: number;
  count(bytes: Buffer): number;
  /** The next line feed at or after `from`, or -1. */
  find(bytes: Buffer, from: number): number;
  isLast(bytes: Buffer): boolean;
  /** Whether the unit at `at` is a carriage return. */
  isReturn(bytes: Buffer, at: number): boolean;
}

export function lineFeedsOf(format: TextFormat): LineFeeds {
  const bom = bomLength(format);
  if (format.encoding !== "utf-16le" && format.encoding !== "utf-16be") {
    // In every encoding with one-byte units these two bytes are never part of another character.
    return {
      unit: 1,
      bomLength: bom,
      count: countLineFeeds,
      find: (bytes, from) => bytes.indexOf(LINE_FEED, from),
      isLast: (bytes) => bytes.at(-1) === LINE_FEED,
      isReturn: (bytes, at) => bytes[at] === CARRIAGE_RETURN,
    };
  }
  const isLittle = format.encoding === "utf-16le";
  const lineFeed = isLittle ? Buffer.of(LINE_FEED, 0) : Buffer.of(0, LINE_FEED);
  const find = (bytes: Buffer, from: number): number => {
    let at = bytes.indexOf(lineFeed, from);
    // The second half of one unit and the first of the next are no line feed.
    while (at !== -1 && at % 2 === 1) at = bytes.indexOf(lineFeed, at + 1);
    return at;
  };
  return {
    unit: 2,
    bomLength: bom,
    count(bytes) {
      let count = 0;
      for (let at = find(bytes, 0); at !== -1; at = find(bytes, at + 2)) count += 1;
      return count;
    },
    find,
    isLast: (bytes) => bytes.length % 2 === 0 && bytes.subarray(-2).equals(lineFeed),
    isReturn: (bytes, at) =>
      (isLittle ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at)) === CARRIAGE_RETURN,
  };
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
