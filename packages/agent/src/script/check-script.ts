// What a script may say (SCRIPT), as one check: every mistake in it is reported, with its place.

import { isRecord } from "@soong/schema";
import { shape, type Place, type Shape } from "@soong/platform";
import { checkExpectation, nonEmptyText } from "./check-expectation.ts";
import { checkInput } from "./check-input.ts";
import { FAILURE_KINDS, STOPS } from "./script.ts";

const { anyText, choice, exactlyOne, list, object, optional, wholeNumber } = shape;

/** A day: more is a mistake in the unit. */
const milliseconds = optional(wholeNumber(0, 86_400_000));

const checkGuard = object(
  { stop: optional(nonEmptyText), deny: optional(nonEmptyText), until: optional(nonEmptyText) },
  { what: "a guard", together: exactlyOne("stop", "deny", "until") },
);

const checkCall = object(
  {
    tool: nonEmptyText,
    input: optional(checkInput),
    input_text: optional(anyText),
    id: optional(nonEmptyText),
    guard: optional(checkGuard),
    after_ms: milliseconds,
  },
  {
    what: "a call",
    together(call, place) {
      if (has(call, "guard") && !has(call, "id")) {
        place.in("guard").reportKey("needs an id beside it, by which its call is known");
      }
      if (has(call, "input") && has(call, "input_text")) {
        place.in("input_text").reportKey("is beside input; a call has one of the two");
      }
    },
  },
);

const failureKind = choice(FAILURE_KINDS);

const failureMapping = object(
  {
    kind: failureKind,
    after_ms: milliseconds,
    retry_after_ms: milliseconds,
    until: optional(list(nonEmptyText, { of: "ids of calls" })),
  },
  {
    what: "an error",
    together(failure, place) {
      if (has(failure, "retry_after_ms") && failure["kind"] !== "rate_limited") {
        place.in("retry_after_ms").reportKey("goes with the kind rate_limited only");
      }
    },
  },
);

/** `error: disconnect` is short for `error: { kind: disconnect }`. */
const checkFailure: Shape<unknown> = (value, place) => {
  (typeof value === "string" ? failureKind : failureMapping)(value, place);
};

const checkPart = object(
  {
    text: optional(anyText),
    call: optional(checkCall),
    error: optional(checkFailure),
    after_ms: milliseconds,
  },
  {
    what: "a part",
    together(part, place) {
      exactlyOne("text", "call", "error")(part, place);
      for (const inner of ["call", "error"]) {
        const value = part[inner];
        if (has(part, "after_ms") && isRecord(value) && has(value, "after_ms")) {
          place.in(inner, "after_ms").reportKey("is beside the part's own after_ms");
        }
      }
    },
  },
);

const partList = list(checkPart, { of: "parts" });

const checkParts: Shape<unknown> = (value, place) => {
  partList(value, place);
  if (!Array.isArray(value)) return;
  const failed = value.findIndex((part) => isRecord(part) && has(part, "error"));
  if (failed !== -1 && failed < value.length - 1) {
    place.in(failed + 1).report("comes after an error, which ends the stream");
  }
};

const checkTurn = object(
  {
    expect: optional(list(checkExpectation, { of: "expectations" })),
    text: optional(anyText),
    calls: optional(list(checkCall, { of: "calls" })),
    parts: optional(checkParts),
    error: optional(checkFailure),
    stop: optional(choice(STOPS)),
  },
  {
    what: "a turn",
    together(turn, place) {
      // With any other field, that one is the mistake.
      if (Object.keys(turn).every((field) => field === "expect")) {
        place.report(
          'answers nothing: give it text, calls, parts or error (text: "" for an empty answer)',
        );
      }
      for (const field of ["text", "calls", "error"]) {
        if (has(turn, "parts") && has(turn, field)) {
          place.in(field).reportKey("is beside parts, which is the whole answer: put it there");
        }
      }
      if (has(turn, "stop") && fails(turn)) {
        place.in("stop").reportKey("is never sent, as the turn ends with an error");
      }
    },
  },
);

function fails(turn: Readonly<Record<string, unknown>>): boolean {
  const parts = turn["parts"];
  const inParts =
    Array.isArray(parts) && parts.some((part) => isRecord(part) && has(part, "error"));
  return has(turn, "error") || inParts;
}

const checkTurns = list(checkTurn, { of: "turns" });

const checkStart: Shape<unknown> = (value, place) => {
  if (isRecord(value)) {
    place.report(
      "is a turn; each start has a list of turns of its own, such as [[{ text: done }]]",
    );
  } else checkTurns(value, place);
};

const startList = list(checkStart, { of: "starts, each a list of turns," });

const checkAgents: Shape<unknown> = (value, place) => {
  if (!isRecord(value)) {
    const kind = place.kindOf(value);
    place.report(`is ${kind}; a mapping of agent definition ids to lists is expected`);
    return;
  }
  for (const [id, starts] of Object.entries(value)) startList(starts, place.in(id));
};

export const checkScript = object(
  { turns: checkTurns, agents: optional(checkAgents) },
  { what: "a script", together: checkWaits },
);

function checkWaits(script: Readonly<Record<string, unknown>>, place: Place): void {
  const ids = new Set<unknown>();
  walk(script, place, (value) => {
    if (has(value, "tool")) ids.add(value["id"]);
  });
  walk(script, place, (value, at) => {
    const { until } = value;
    for (const id of Array.isArray(until) ? until : until === undefined ? [] : [until]) {
      if (ids.has(id)) continue;
      at.in("until").report(`names ${JSON.stringify(id)}, which is the id of no call`);
    }
  });
}

/** Every mapping of a script but the inputs of its calls, which are the tools' own. */
function walk(
  value: unknown,
  at: Place,
  see: (value: Readonly<Record<string, unknown>>, at: Place) => void,
): void {
  if (Array.isArray(value)) value.forEach((one, i) => walk(one, at.in(i), see));
  if (!isRecord(value)) return;
  see(value, at);
  for (const [field, one] of Object.entries(value)) {
    if (field !== "input" && field !== "expect") walk(one, at.in(field), see);
  }
}

function has(value: Readonly<Record<string, unknown>>, field: string): boolean {
  return Object.hasOwn(value, field);
}
