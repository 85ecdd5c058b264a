// Gives the line breaks of a new text the style of the place it goes to, so that an edit leaves a CRLF
// file a CRLF file and a mixed one mixed as it was (EDIT-4).

import { bytesToWrite, type FileText } from "./file-text.ts";
import type { Place } from "./find-places.ts";

/**
 * Writes a text for one place after the other, in ascending order; undefined when the file cannot hold
 * the text. The i-th line break of the text takes the style of the i-th one in the place, further ones
 * that of the last; in a place without any, that of the line it is in.
 */
export function writerFor(
  file: FileText,
  text: string,
): ((place: Place) => Uint8Array) | undefined {
  const asGiven = bytesToWrite(file, text);
  if (asGiven === undefined) return undefined;
  if (!text.includes("\n") || text.includes("\r") || !file.bytes.includes(file.lineBreak)) {
    return () => asGiven;
  }
  const inFileStyle = bytesToWrite(file, text.replaceAll("\n", "\r\n")) ?? asGiven;
  const pieces = text.split("\n").map((piece) => bytesToWrite(file, piece) ?? asGiven);
  const breakNear = nearestBreaks(file);
  return (place) => {
    const styles = breaksIn(file, place);
    if (styles.length === 0) styles.push(breakNear(place));
    if (styles.every((style) => style === "lf")) return asGiven;
    if (styles.every((style) => style === "crlf")) return inFileStyle;
    return joined(file, pieces, styles);
  };
}

type LineBreak = "lf" | "crlf";

function joined(file: FileText, pieces: readonly Buffer[], styles: readonly LineBreak[]): Buffer {
  return Buffer.concat(
    pieces.flatMap((piece, index) => {
      if (index === 0) return [piece];
      const style = styles[Math.min(index, styles.length) - 1];
      return [style === "crlf" ? file.lineBreak : file.lineFeed, piece];
    }),
  );
}

/** A carriage return left of the place is not replaced, so it does not count. */
function breaksIn(file: FileText, { start, end }: Place): LineBreak[] {
  const place = { ...file, bytes: file.bytes.subarray(start, end) };
  const styles: LineBreak[] = [];
  let at = nextLineFeed(place, 0);
  while (at !== -1) {
    styles.push(styleAt(place, at));
    at = nextLineFeed(place, at + file.unit);
  }
  return styles;
}

/** The end of the place's line or, on a last line without one, the end of the line before. */
function nearestBreaks(file: FileText): (place: Place) => LineBreak {
  let next = 0;
  let last: LineBreak | undefined;
  return (place) => {
    if (next !== -1 && next < place.end) next = nextLineFeed(file, place.end);
    if (next !== -1) return styleAt(file, next);
    return (last ??= styleAt(file, lastLineFeed(file)));
  };
}

function styleAt({ bytes, lineBreak, unit }: FileText, at: number): LineBreak {
  const from = at - unit;
  return from >= 0 && lineBreak.equals(bytes.subarray(from, at + unit)) ? "crlf" : "lf";
}

function nextLineFeed({ bytes, lineFeed, unit }: FileText, from: number): number {
  let at = bytes.indexOf(lineFeed, from);
  while (at % unit === 1) at = bytes.indexOf(lineFeed, at + 1);
  return at;
}

function lastLineFeed({ bytes, lineFeed, unit }: FileText): number {
  let at = bytes.lastIndexOf(lineFeed);
  while (at % unit === 1) at = bytes.lastIndexOf(lineFeed, at - 1);
  return at;
}
