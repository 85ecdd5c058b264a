// The name of a temporary file tells whose it is: readable by people, and marked with a hash of the
// target's whole name, because a long name has to be cut.

import { createHash, randomBytes } from "node:crypto";

/** `.<target>.soong-<mark><random>.tmp`, never longer than a name may be. */
export function temporaryName(target: string): string {
  const tail = `.soong-${markOf(target)}${randomBytes(6).toString("hex")}.tmp`;
  return `.${cutToBytes(target, MOST_NAME_BYTES - 1 - tail.length)}${tail}`;
}

/** Whether a name is that of a temporary file, and if so whether it is one of `target`. */
export function readTemporaryName(name: string, target: string): "of_target" | "of_another" | "no" {
  const mark = /^\..*\.soong-([0-9a-f]{8})[0-9a-f]{12}\.tmp$/su.exec(name)?.[1];
  if (mark === undefined) {
    return "no";
  }
  return mark === markOf(target) ? "of_target" : "of_another";
}

const MOST_NAME_BYTES = 255;

function markOf(target: string): string {
  return createHash("sha256").update(target).digest("hex").slice(0, 8);
}

/** At a character's border: half a character would come out as another name. */
function cutToBytes(text: string, maxBytes: number): string {
  let kept = "";
  let bytes = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxBytes) {
      break;
    }
    kept += character;
  }
  return kept;
}
