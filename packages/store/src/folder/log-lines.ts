// The lines of logs/tools.jsonl and logs/errors.jsonl that a fact gives, if any. Facts as they were recorded
// and facts read back from the journal give the same text.

import { isTerminalFact, type Fact, boundFact } from "@soong/core";
import { asRecord, oneLine } from "@soong/schema";
import { journalRef, pointerStep } from "@soong/core/internal";

import type { CommittedFact } from "./line-file.ts";

const SUMMARY = 500;

/** One line a call, when it ends. */
export function toolLine({ fact }: CommittedFact): string | undefined {
  if (!isTerminalFact(fact)) return undefined;
  const result = readResult(fact);
  const artifacts = artifactIds(result["artifacts"]);
  return JSON.stringify({
    seq: fact.seq,
    time: fact.time,
    tool_call_id: fact.tool_call_id,
    tool_name: fact.tool_name,
    // A terminal fact without a result is no fact of ours; its type still says how the call ended.
    status: asText(result["status"]) ?? fact.type.slice("tool.".length),
    duration_ms: asNumber(asRecord(result["metadata"])["duration_ms"]),
    summary: oneLine(asText(result["summary"]) ?? "", SUMMARY),
    is_error: isError(fact, result),
    artifacts: artifacts.length === 0 ? undefined : artifacts,
  });
}

/** Facts of level error, and calls that ended in an error or may not have happened. */
export function errorLine({ fact }: CommittedFact): string | undefined {
  const isEnd = isTerminalFact(fact);
  if (fact.level !== "error" && !isEnd) return undefined;
  const result = readResult(fact);
  const isFailedCall = isEnd && isError(fact, result);
  if (fact.level !== "error" && !isFailedCall) return undefined;
  const data = asRecord(fact.data);
  const error = asRecord(isFailedCall ? result["error"] : data["error"]);
  const code = asText(error["code"]) ?? asText(data["code"]);
  const message =
    asText(error["message"]) ??
    asText(data["message"]) ??
    asText(data["error"]) ??
    asText(data["reason"]) ??
    asText(result["summary"]) ??
    fact.type;
  return JSON.stringify({
    seq: fact.seq,
    time: fact.time,
    type: fact.type,
    tool_call_id: fact.tool_call_id,
    tool_name: fact.tool_name,
    code: code === undefined ? undefined : oneLine(code, SUMMARY),
    message: oneLine(message, SUMMARY),
  });
}

function isError(fact: Fact, result: Record<string, unknown>): boolean {
  const { is_error, status } = result;
  if (typeof is_error !== "boolean") return fact.type !== "tool.completed";
  return is_error || status === "unknown";
}

function readResult(fact: Fact): Record<string, unknown> {
  return asRecord(asRecord(fact.data)["result"]);
}

function artifactIds(refs: unknown): string[] {
  if (!Array.isArray(refs)) return [];
  return refs.flatMap((ref) => asText(asRecord(ref)["artifact_id"]) ?? []);
}

function asText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function asNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

// A fact's line in events.jsonl: the journal's own text, but a long string in its data, and anything else that would make it
// longer than a fact may be in a stream, is a reference to the journal with its beginning (EVENT-5).

/** A string with more characters than this is a reference. */
const LONG_STRING = 4096;

export function eventLine({ fact, line }: CommittedFact): string {
  // A long string makes a long line: most lines need no second look and stay byte for byte.
  if (line.length <= LONG_STRING) return line;
  const copy = JSON.parse(line) as Fact;
  const journal = `journal:${fact.session_id}/${fact.seq}#`;
  const text = replaceLongStrings(copy.data, `${journal}/data`) ? JSON.stringify(copy) : line;
  const bounded = boundFact(copy, text);
  return bounded === copy ? text : JSON.stringify(bounded);
}

/** In place, without recursion: data may be nested deeper than the stack allows. */
function replaceLongStrings(data: unknown, at: string): boolean {
  let hasReplaced = false;
  const open: { value: object; pointer: string }[] = [];
  if (isObject(data)) open.push({ value: data, pointer: at });
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const holder = next.value as Record<string, unknown>;
    for (const key of Object.keys(holder)) {
      const value = holder[key];
      if (typeof value === "string" && value.length > LONG_STRING) {
        const $ref = `${next.pointer}/${pointerStep(key)}`;
        holder[key] = journalRef(value, $ref);
        hasReplaced = true;
      } else if (isObject(value)) {
        open.push({ value, pointer: `${next.pointer}/${pointerStep(key)}` });
      }
    }
  }
  return hasReplaced;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
