// What a call is about, in a few words: the file, the command or the words it is for.

import { primaryArgument } from "@soong/core/internal";
import { visibleLine } from "../output/index.ts";

/** `given`: the arguments as the model sent them, which need not be JSON. */
export function aboutCall(given: string): string {
  const input = parsed(given);
  const isEmpty = typeof input === "object" && input !== null && Object.keys(input).length === 0;
  return shown(primaryArgument(input) ?? (isEmpty && !Array.isArray(input) ? "" : given));
}

const LONGEST = 200;

/** Cut first: what comes from a model may be megabytes. */
function shown(text: string): string {
  return visibleLine(
    Array.from(text.slice(0, 2 * LONGEST))
      .slice(0, LONGEST)
      .join(""),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
