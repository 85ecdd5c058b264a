// What a script may say (SCRIPT), as one check: every mistake in it is reported, with its place.

import { checkExpectation } from "./check-expectation.ts";
import { checkInput } from "./check-input.ts";
import {
  exactlyOne,
  isMapping,
  kindOf,
  listOf,
  mapping,
  nonEmptyText,
  oneOf,
  text,
  wholeNumber,
  type FieldCheck,
} from "../document/index.ts";
import { FAILURE_KINDS, STOPS } from "./script.ts";

/** A day: more is a mistake in the unit. */
const milliseconds = wholeNumber(86_400_000);

const checkCall = mapping(
  "a call",
  {
    tool: nonEmptyText,
    input: checkInput,
    input_text: text,
    id: nonEmptyText,
    after_ms: milliseconds,
  },
  (call, path, report) => {
    if (!has(call, "tool")) report([...path, "tool"], "is missing");
    if (has(call, "input") && has(call, "input_text")) {
      report([...path, "input_text"], "stands beside input; a call has one of the two", "key");
    }
  },
);

const failureKind = oneOf(FAILURE_KINDS);

const failureMapping = mapping(
  "an error",
  { kind: failureKind, after_ms: milliseconds, retry_after_ms: milliseconds },
  (failure, path, report) => {
    if (!has(failure, "kind")) report([...path, "kind"], "is missing");
    if (has(failure, "retry_after_ms") && failure["kind"] !== "rate_limited") {
      report([...path, "retry_after_ms"], "goes with the kind rate_limited only", "key");
    }
  },
);

/** `error: disconnect` is short for `error: { kind: disconnect }`. */
const checkFailure: FieldCheck = (value, path, report) => {
  (typeof value === "string" ? failureKind : failureMapping)(value, path, report);
};

const checkPart = mapping(
  "a part",
  { text, call: checkCall, error: checkFailure, after_ms: milliseconds },
  (part, path, report) => {
    const problem = exactlyOne(part, ["text", "call", "error"]);
    if (problem !== undefined) report(path, problem);
    for (const inner of ["call", "error"]) {
      const value = part[inner];
      if (has(part, "after_ms") && isMapping(value) && has(value, "after_ms")) {
        report([...path, inner, "after_ms"], "stands beside the part's own after_ms", "key");
      }
    }
  },
);

const checkParts: FieldCheck = (value, path, report) => {
  listOf("parts", checkPart)(value, path, report);
  if (!Array.isArray(value)) return;
  const failed = value.findIndex((part) => isMapping(part) && has(part, "error"));
  if (failed !== -1 && failed < value.length - 1) {
    report([...path, failed + 1], "comes after an error, which ends the stream");
  }
};

const checkTurn = mapping(
  "a turn",
  {
    expect: listOf("expectations", checkExpectation),
    text,
    calls: listOf("calls", checkCall),
    parts: checkParts,
    error: checkFailure,
    stop: oneOf(STOPS),
  },
  (turn, path, report) => {
    // With any other field, that one is the mistake.
    if (Object.keys(turn).every((field) => field === "expect")) {
      report(
        path,
        'answers nothing: give it text, calls, parts or error (text: "" for an empty answer)',
      );
    }
    for (const field of ["text", "calls", "error"]) {
      if (has(turn, "parts") && has(turn, field)) {
        report(
          [...path, field],
          "stands beside parts, which is the whole answer: put it there",
          "key",
        );
      }
    }
    if (has(turn, "stop") && fails(turn)) {
      report([...path, "stop"], "is never sent, as the turn ends with an error", "key");
    }
  },
);

function fails(turn: Readonly<Record<string, unknown>>): boolean {
  const parts = turn["parts"];
  const inParts =
    Array.isArray(parts) && parts.some((part) => isMapping(part) && has(part, "error"));
  return has(turn, "error") || inParts;
}

const checkTurns = listOf("turns", checkTurn);

const checkStart: FieldCheck = (value, path, report) => {
  if (isMapping(value)) {
    report(
      path,
      "is a turn; each start has a list of turns of its own, such as [[{ text: done }]]",
    );
  } else checkTurns(value, path, report);
};

const checkAgents: FieldCheck = (value, path, report) => {
  if (!isMapping(value)) {
    report(path, `is ${kindOf(value)}; a mapping of agent definition ids to lists is expected`);
    return;
  }
  for (const [id, starts] of Object.entries(value)) {
    listOf("starts, each a list of turns,", checkStart)(starts, [...path, id], report);
  }
};

export const checkScript = mapping(
  "a script",
  { turns: checkTurns, agents: checkAgents },
  (script, path, report) => {
    if (!has(script, "turns")) report([...path, "turns"], "is missing");
  },
);

function has(value: Readonly<Record<string, unknown>>, field: string): boolean {
  return Object.hasOwn(value, field);
}
