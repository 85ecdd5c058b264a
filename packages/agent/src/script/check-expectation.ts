// What an expectation may say.

import { createRegex } from "@soong/core";
import {
  exactlyOne,
  isMapping,
  listOf,
  mapping,
  nonEmptyText,
  oneOf,
  wholeNumber,
  type FieldCheck,
} from "../document/index.ts";

const regularExpression: FieldCheck = (value, path, report) => {
  nonEmptyText(value, path, report);
  if (typeof value !== "string") return;
  const compiled = createRegex(value, "u");
  if (!compiled.ok) report(path, compiled.message);
};

const ON_TEXT = { contains: nonEmptyText, not_contains: nonEmptyText, matches: regularExpression };

const checkText = mapping("a check on text", ON_TEXT, (value, path, report) => {
  if (Object.keys(value).length === 0) {
    report(path, "checks nothing; give contains, not_contains or matches");
  }
});

const toolNames = listOf("tool names", nonEmptyText);
const SUBJECTS = ["result", "last_user", "system", "tools", "not_tools"];
const ON_RESULT = { ...ON_TEXT, status: oneOf(["ok", "error"]) };

export const checkExpectation = mapping(
  "an expectation",
  {
    result: wholeNumber(10_000),
    ...ON_RESULT,
    last_user: checkText,
    system: checkText,
    tools: toolNames,
    not_tools: toolNames,
  },
  (value, path, report) => {
    const problem = exactlyOne(value, SUBJECTS);
    if (problem !== undefined) report(path, problem);
    if (problem !== undefined || Object.hasOwn(value, "result")) return;
    const subject = SUBJECTS.find((name) => Object.hasOwn(value, name)) ?? "";
    for (const field of Object.keys(ON_RESULT)) {
      if (!Object.hasOwn(value, field)) continue;
      const within =
        isMapping(value[subject]) && field !== "status" ? `: put it inside ${subject}` : "";
      report([...path, field], `goes with result${within}`, "key");
    }
  },
);
