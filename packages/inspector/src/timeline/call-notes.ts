// What is worth knowing about a call and is in none of its other parts: cuts, hidden secrets, what came too late.

import { isTerminalFact, KERNEL_FACT_TEXTS, type Fact, type TerminalData } from "@soong/core";
import { oneLine } from "./one-line.ts";

const MOST_NOTE_CHARS = 600;

export function callNotes(facts: readonly Fact[]): string[] {
  return facts.flatMap((fact) => {
    const note = noteOf(fact);
    return note === undefined ? [] : [sentence(oneLine(note, MOST_NOTE_CHARS))];
  });
}

function noteOf(fact: Fact): string | undefined {
  if (isTerminalFact(fact)) return endNote(fact.data);
  switch (fact.type) {
    case "tool.requested":
      return fact.data.alias && `called by another of its names, ${fact.data.alias}`;
    case "output.truncated":
      return KERNEL_FACT_TEXTS[fact.type](fact.data);
    case "output.redacted":
      return KERNEL_FACT_TEXTS[fact.type](fact.data);
    case "tool.late":
      return `its handler ${fact.data.how} after the call had ended; ignored`;
    case "mcp.server.elicitation":
      return `a question (“${fact.data.message}”) was answered with ${fact.data.action}`;
    case "change.undone":
      return `its change was undone: ${fact.data.path} is as it was before`;
    case "error":
      return fact.data.message;
    default:
      return undefined;
  }
}

function endNote({ result }: TerminalData): string | undefined {
  const status = result.metadata.discarded_status;
  if (status !== undefined) return `it had ended (${status}) when its attempt was discarded`;
  return result.error?.code === "runtime_restarted"
    ? "recorded when the session was opened again: the runtime had been stopped"
    : undefined;
}

function sentence(words: string): string {
  const first = words.slice(0, 1).toUpperCase() + words.slice(1);
  return /[.!?…]$/u.test(first) ? first : `${first}.`;
}
