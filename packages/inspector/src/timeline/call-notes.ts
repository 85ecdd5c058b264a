// What is worth knowing about a call and is in none of its other parts: cuts, hidden secrets, what came too late.

import { isTerminalFact, type Fact } from "@soong/core";
import { truncatedWords } from "./fact-words.ts";
import { oneLine } from "./one-line.ts";
import { countIn, dataIn, textIn, type Data } from "./read-data.ts";

const MOST_NOTE_CHARS = 600;

export function callNotes(facts: readonly Fact[]): string[] {
  return facts.flatMap((fact) => {
    const data = dataIn(fact.data);
    const words = isTerminalFact(fact.type) ? endNote(data) : NOTES[fact.type]?.(data);
    return words === undefined ? [] : [sentence(oneLine(words, MOST_NOTE_CHARS))];
  });
}

const NOTES: Readonly<Partial<Record<string, (data: Data) => string | undefined>>> = {
  "tool.requested": (data) => {
    const alias = textIn(data, "alias");
    return alias === undefined ? undefined : `It was called by another of its names, ${alias}.`;
  },
  "output.truncated": truncatedWords,
  "output.redacted": (data) => {
    const count = countIn(data, "replacements") ?? 0;
    return count === 1 ? "one secret was hidden" : `${count} secrets were hidden`;
  },
  "tool.late": (data) =>
    `its handler ${textIn(data, "how") ?? "answered"} after the call had ended; that does not count`,
  "mcp.server.elicitation": (data) =>
    `a question was put (“${textIn(data, "message") ?? ""}”) and answered with ${textIn(data, "action") ?? "nothing"}`,
  "change.undone": (data) =>
    `its change was undone: ${textIn(data, "path") ?? "the file"} is as it was before`,
  error: (data) => textIn(data, "message"),
};

function endNote(data: Data): string | undefined {
  const metadata = dataIn(dataIn(data["result"])["metadata"]);
  const status = textIn(metadata, "discarded_status");
  if (status !== undefined) return `it had ended (${status}) when its attempt was thrown away`;
  const code = textIn(dataIn(dataIn(data["result"])["error"]), "code");
  return code === "runtime_restarted"
    ? "this end was put on record when the session was opened again: the runtime had been stopped"
    : undefined;
}

function sentence(words: string): string {
  const first = words.slice(0, 1).toUpperCase() + words.slice(1);
  return /[.!?…]$/u.test(first) ? first : `${first}.`;
}
