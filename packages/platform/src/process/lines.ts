// Bytes into lines, with a bound on how much of a line is kept: what another process sends has any length.

import { SoongError } from "@soong/core";

export interface LineReader {
  /** The lines that are complete now. */
  take(bytes: Uint8Array): Iterable<string>;
  /** What is left behind the last line break, at the end of the bytes. */
  rest(): string | undefined;
}

/** Thrown by `take`; nothing of the line is kept. */
export class LineTooLong extends SoongError {
  override readonly name = "LineTooLong";

  constructor(maxBytes: number) {
    super("line_too_long", `A line is longer than ${maxBytes} bytes`);
  }
}

const LINE_BREAK = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export function createLineReader(maxBytes: number): LineReader {
  // One buffer that grows: a line in a million pieces costs no more than a line.
  let held = Buffer.alloc(0);
  let kept = 0;

  return {
    *take(bytes) {
      let from = 0;
      for (;;) {
        const at = bytes.indexOf(LINE_BREAK, from);
        keep(bytes.subarray(from, at === -1 ? bytes.length : at));
        if (at === -1) return;
        from = at + 1;
        yield line();
      }
    },
    rest: () => (kept === 0 ? undefined : line()),
  };

  function keep(piece: Uint8Array): void {
    const needed = kept + piece.length;
    if (needed > maxBytes) {
      held = Buffer.alloc(0);
      kept = 0;
      throw new LineTooLong(maxBytes);
    }
    if (needed > held.length) {
      const longer = Buffer.alloc(Math.max(needed, held.length * 2));
      held.copy(longer, 0, 0, kept);
      held = longer;
    }
    held.set(piece, kept);
    kept = needed;
  }

  function line(): string {
    const end = held[kept - 1] === CARRIAGE_RETURN ? kept - 1 : kept;
    const whole = held.toString("utf8", 0, end);
    kept = 0;
    if (held.length > SMALL_BYTES) held = Buffer.alloc(0);
    return whole;
  }
}

/** A buffer up to this is kept for the next line. */
const SMALL_BYTES = 64 * 1024;
