// What a call is about, in a few words: the file, the command or the words it is for.

import { describeArguments } from "@soong/core";
import { visibleLine } from "../output/index.ts";

const LONGEST = 200;

/** `given`: the arguments as the model sent them, which need not be JSON. */
export function describeCall(given: string): string {
  // Cut first: what comes from a model may be megabytes.
  const head = Array.from((describeArguments(given) ?? "").slice(0, 2 * LONGEST));
  return visibleLine(head.slice(0, LONGEST).join(""));
}
