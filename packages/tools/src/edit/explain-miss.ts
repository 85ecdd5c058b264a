// Explains why a text was not found (EDIT-5): the closest places of the file, what stands there and what
// differs. It only ever explains; nothing here can lead to a change.

import type { JsonObject } from "@soong/core";
import type { ClosestPlace } from "./closest-place.ts";
import { displayText, type FileText } from "./file-text.ts";
import { likePlaces } from "./like-places.ts";
import { unlikePlaces } from "./unlike-places.ts";

export interface Miss {
  /** For the message; ends with a full stop. */
  words: string;
  closest: JsonObject[];
}

export function explainMiss(file: FileText, old: string): Miss {
  const text = displayText(file, file.bytes.subarray(file.bomBytes));
  if (text === "") return { words: "The file is empty.", closest: [] };
  if (old.trim() === "") {
    return { words: "It is only white space: add the text around it.", closest: [] };
  }
  const wanted = old.replaceAll("\r\n", "\n");
  const like = likePlaces(text, wanted);
  const places = like.length > 0 ? like : unlikePlaces(text, wanted);
  const undecoded = old.includes("\ufffd")
    ? " It has U+FFFD, which stands for bytes that could not be decoded: leave them out of old."
    : "";
  if (places.length === 0) {
    return { words: `Nothing like it is there; read the file again.${undecoded}`, closest: [] };
  }
  return {
    words: `Closest: ${places.map(inWords).join(" | ")}.${undecoded} Copy old exactly from the file.`,
    closest: places.map((place) => ({ ...place })),
  };
}

function inWords({ start_line, end_line, differs }: ClosestPlace): string {
  const lines = start_line === end_line ? `line ${start_line}` : `lines ${start_line}-${end_line}`;
  return differs.length === 0 ? lines : `${lines}: ${differs.join("; ")}`;
}
