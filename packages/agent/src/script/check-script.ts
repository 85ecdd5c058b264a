// What an expectation of a script may say.

import { createRegex, isRecord } from "@soong/schema";
import {
  shape,
  type Place,
  type Shape,
  readDocument,
  type Problem,
  describeProblem,
} from "@soong/platform";
import { type JsonObject, SoongError } from "@soong/core";
import { stringify } from "yaml";
import { FAILURE_KINDS, STOPS, type Script } from "./script.ts";
import { readTextFile } from "../document/index.ts";

const { anyText, choice, exactlyOne, list, object, optional, wholeNumber } = shape;

/** Any text but an empty one: scripts also play what hostile models and tools send. */
const nonEmptyText = shape.refine(shape.anyText, (text, place) => {
  if (text === "") place.report("is empty");
});

const regularExpression = shape.refine(nonEmptyText, (pattern, place) => {
  const compiled = createRegex(pattern, "u");
  if (!compiled.ok) place.report(compiled.message);
});

const ON_TEXT = {
  contains: optional(nonEmptyText),
  not_contains: optional(nonEmptyText),
  matches: optional(regularExpression),
};

const checkText = object(ON_TEXT, {
  what: "a check on text",
  together(value, place) {
    if (Object.keys(value).length > 0) return;
    place.report("checks nothing; give contains, not_contains or matches");
  },
});

const toolNames = optional(list(nonEmptyText, { of: "tool names" }));
const SUBJECTS = ["result", "last_user", "system", "tools", "not_tools"];
const ON_RESULT = { ...ON_TEXT, status: optional(choice(["ok", "error"])) };

const checkExpectation = object(
  {
    result: optional(wholeNumber(0, 10_000)),
    ...ON_RESULT,
    last_user: optional(checkText),
    system: optional(checkText),
    tools: toolNames,
    not_tools: toolNames,
  },
  {
    what: "an expectation",
    together(value, place) {
      exactlyOne(...SUBJECTS)(value, place);
      const [subject = "result", second] = SUBJECTS.filter((name) => Object.hasOwn(value, name));
      if (subject === "result" || second !== undefined) return;
      for (const field of Object.keys(ON_RESULT)) {
        if (!Object.hasOwn(value, field)) continue;
        const within =
          isRecord(value[subject]) && field !== "status" ? `: put it inside ${subject}` : "";
        place.in(field).reportKey(`goes with result${within}`);
      }
    },
  },
);

// What a script may say (SCRIPT), as one check: every mistake in it is reported, with its place.

// A call's `input` must be what JSON can carry, and bounded: YAML can say more, and aliases can make much
// of little.

const MAX_CHARS = 5 * 1024 * 1024;

const checkInput: Shape<JsonObject> = (value, place) => {
  if (!isRecord(value)) {
    place.report(
      `is ${place.kindOf(value)}; a mapping is expected (input_text sends any text as it is)`,
    );
    return;
  }
  let chars = 0;
  const around = new Set<object>();
  visit(value, place);
  if (chars > MAX_CHARS) place.report(`is longer than ${MAX_CHARS} characters as JSON`);

  function visit(part: unknown, at: Place): void {
    if (chars > MAX_CHARS) return;
    chars += typeof part === "string" ? part.length + 2 : 2;
    if (typeof part === "number" && !Number.isFinite(part)) {
      at.report(`is ${part}, which JSON has no word for`);
    }
    if (typeof part !== "object" || part === null) return;
    if (around.has(part)) {
      at.report("contains itself");
      return;
    }
    around.add(part);
    for (const [key, inner] of Object.entries(part)) {
      chars += key.length;
      visit(inner, at.in(Array.isArray(part) ? Number(key) : key));
    }
    around.delete(part);
  }
};

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

const checkScript = object(
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

// From the text of a script to the script, or to everything that is wrong with it.

export type ParsedScript =
  | { ok: true; script: Script }
  | { ok: false; problems: readonly Problem[] };

const MAX_SCRIPT_BYTES = 5 * 1024 * 1024;

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

// A script from a file, read whole or refused.

export class ScriptError extends SoongError {
  override readonly name = "ScriptError";
  readonly problems: readonly Problem[];

  constructor(file: string, problems: readonly Problem[]) {
    const lines = problems.map((problem) => `\n  ${describeProblem(problem)}`);
    super("invalid_script", `the script ${file} cannot be played:${lines.join("")}`);
    this.problems = problems;
  }
}

/** Throws a ScriptError that names every problem. */
export async function loadScript(file: string): Promise<Script> {
  const parsed = parseScript(await readScriptFile(file), file);
  if (!parsed.ok) throw new ScriptError(file, parsed.problems);
  return parsed.script;
}

async function readScriptFile(file: string): Promise<string> {
  const read = await readTextFile(file, MAX_SCRIPT_BYTES);
  if (read.ok) return read.text;
  throw new ScriptError(file, [{ file, line: 1, column: 1, message: read.message }]);
}
