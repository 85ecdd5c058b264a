// Markdown as it streams: rows that are finished come out as soon as nothing behind them can change them, what is still
// open can be looked at meanwhile. Line by line and never twice, so a long answer costs what its length does. Where the
// stream was cut makes no difference. Line breaks within a paragraph are kept, as terminals do.

import { borderNear } from "../output/index.ts";
import {
  copyState,
  createBlockReader,
  createState,
  type MarkdownOptions,
  type State,
} from "./block-reader.ts";

export interface MarkdownStream {
  /** Rows that will not change any more. */
  push(text: string): string[];
  /** Rows of what is not finished, as if it ended here. */
  open(): string[];
  /** The rest; the next text begins anew. */
  end(): string[];
}

export function createMarkdownStream(options: MarkdownOptions): MarkdownStream {
  let state = createState();
  let received = "";

  return {
    push(text) {
      received += text;
      const block = createBlockReader(state, options);
      let from = 0;
      for (;;) {
        const end = received.indexOf("\n", from);
        const length = (end < 0 ? received.length - 2 : end) - from;
        const isLong = length >= LONGEST_LINE;
        if (end < 0 && !isLong) break;
        const to = isLong ? from + cutLine(received.slice(from, from + LONGEST_LINE + 2)) : end;
        block.accept(received.slice(from, to), isLong);
        from = isLong ? to : to + 1;
      }
      received = received.slice(from);
      return block.rows;
    },
    open: () => finish(copyState(state)),
    end() {
      const rows = finish(state);
      state = createState();
      received = "";
      return rows;
    },
  };

  function finish(at: State): string[] {
    const block = createBlockReader(at, options);
    if (received !== "") block.accept(received, false);
    block.end();
    return block.rows;
  }
}

function cutLine(text: string): number {
  return borderNear(text, LONGEST_LINE);
}

/** Characters; of a longer line the beginning is taken for all of it. */
const LONGEST_LINE = 4096;
