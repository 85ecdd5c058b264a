// From the text of a script to the script, or to everything that is wrong with it.

import { stringify } from "yaml";
import { readDocument, type Problem } from "@soong/platform";
import { checkScript } from "./check-script.ts";
import type { Script } from "./script.ts";

export type ParsedScript =
  | { ok: true; script: Script }
  | { ok: false; problems: readonly Problem[] };

export const MAX_SCRIPT_BYTES = 5 * 1024 * 1024;

/** `file` is only for the problems. Takes YAML, and so JSON. */
export function parseScript(text: string, file: string): ParsedScript {
  if (Buffer.byteLength(text) > MAX_SCRIPT_BYTES) {
    return { ok: false, problems: [{ file, line: 1, column: 1, message: TOO_LARGE }] };
  }
  const checked = readDocument(text, file, "yaml", checkScript);
  return checked.ok ? { ok: true, script: checked.value as Script } : checked;
}

const TOO_LARGE = `is larger than ${MAX_SCRIPT_BYTES / 1024 / 1024} MiB, the most it may have`;

/** What `parseScript` reads as the same script. */
export function printScript(script: Script): string {
  return stringify(script, { lineWidth: 0, aliasDuplicateObjects: false });
}
