// What an expectation of a script may say.

import { createRegex, isRecord } from "@soong/schema";
import { shape } from "@soong/platform";

const { choice, exactlyOne, list, object, optional, refine, wholeNumber } = shape;

/** Any text but an empty one: scripts also play what hostile models and tools send. */
export const nonEmptyText = shape.refine(shape.anyText, (text, place) => {
  if (text === "") place.report("is empty");
});

const regularExpression = refine(nonEmptyText, (pattern, place) => {
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

export const checkExpectation = object(
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
