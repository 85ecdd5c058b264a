// What a model was sent, held against what its turn expects: a sentence for every miss, with what was there
// instead.

import { joinText } from "@soong/core";
import { createRegex } from "@soong/schema";
import { shorten } from "@soong/platform";
import type { ModelMessage, ModelRequest } from "../model/index.ts";
import type { Expectation, ResultExpectation, TextExpectation } from "./script.ts";

export function findUnmetExpectations(
  expectations: readonly Expectation[],
  request: ModelRequest,
  wireNameOf: (tool: string) => string,
): string[] {
  return expectations.flatMap((expectation, index) =>
    findMisses(expectation, request, wireNameOf).map((miss) => `expect[${index}]: ${miss}`),
  );
}

function findMisses(
  expectation: Expectation,
  request: ModelRequest,
  wireNameOf: (tool: string) => string,
): string[] {
  if ("result" in expectation) return resultMisses(expectation, request.messages);
  if ("last_user" in expectation) {
    const user = request.messages.findLast((message) => message.role === "user");
    if (user === undefined) return ["a user message was expected, and there is none"];
    return textMisses("the last user message", joinText(user.content), expectation.last_user);
  }
  if ("system" in expectation) {
    return textMisses("the system text", request.system.join("\n"), expectation.system);
  }
  const offered = new Set(request.tools.map(({ name }) => name));
  const isOffered = (tool: string): boolean => offered.has(tool) || offered.has(wireNameOf(tool));
  if ("tools" in expectation) {
    const missing = expectation.tools.filter((tool) => !isOffered(tool));
    if (missing.length === 0) return [];
    return [`${joinNames(missing)} should be offered; offered are ${joinNames([...offered])}`];
  }
  const unwanted = expectation.not_tools.filter(isOffered);
  return unwanted.length === 0 ? [] : [`${joinNames(unwanted)} should not be offered`];
}

function resultMisses(expectation: ResultExpectation, messages: readonly ModelMessage[]): string[] {
  const { result: index, status } = expectation;
  const results = messages.findLast((message) => message.role === "tool")?.results ?? [];
  const result = results[index];
  if (result === undefined) {
    const count = results.length === 1 ? "is 1 result" : `are ${results.length} results`;
    return [`result ${index} was expected, and there ${count} (counted from 0)`];
  }
  const what = `result ${index} (${result.name})`;
  const content = joinText(result.content);
  const misses = textMisses(what, content, expectation);
  if (status !== undefined && result.is_error !== (status === "error")) {
    const [wanted, given] = status === "error" ? ["an error", "ok"] : ["ok", "an error"];
    misses.push(`${what} should be ${wanted} and is ${given}: ${quoteText(content)}`);
  }
  return misses;
}

function textMisses(what: string, text: string, expectation: TextExpectation): string[] {
  const { contains, not_contains: notContains, matches } = expectation;
  const misses: string[] = [];
  if (contains !== undefined && !text.includes(contains)) {
    misses.push(`${what} should contain ${quoteText(contains)} and is ${quoteText(text)}`);
  }
  if (notContains !== undefined && text.includes(notContains)) {
    misses.push(`${what} should not contain ${quoteText(notContains)} and is ${quoteText(text)}`);
  }
  if (matches !== undefined && !matchesPattern(matches, text)) {
    misses.push(`${what} should match /${shorten(matches, 200)}/ and is ${quoteText(text)}`);
  }
  return misses;
}

/** On the engine whose time grows with the text alone. A script is checked before it is played, or it fits nothing. */
function matchesPattern(pattern: string, text: string): boolean {
  const compiled = createRegex(pattern, "u");
  return compiled.ok && compiled.regex.test(text);
}

const MAX_LISTED = 30;

function joinNames(names: readonly string[]): string {
  if (names.length === 0) return "none";
  const shown = names.slice(0, MAX_LISTED).join(", ");
  return names.length > MAX_LISTED ? `${shown} and ${names.length - MAX_LISTED} more` : shown;
}

// Which request came, in a few words, to find the place where a run diverged from its script.

export function describeLastMessage({ messages }: ModelRequest): string {
  const last = messages.at(-1);
  return last === undefined ? "it has no messages" : `its last message is ${describeMessage(last)}`;
}

function describeMessage(message: ModelMessage): string {
  switch (message.role) {
    case "user":
      return `the user's ${quoteText(joinText(message.content))}`;
    case "assistant":
      return `the assistant's ${quoteText(message.text)}`;
    case "tool": {
      const shown = message.results
        .slice(0, MAX_RESULTS)
        .map(({ name, content, is_error: isError }) => {
          const status = isError ? "error " : "";
          return `${name}: ${status}${quoteText(joinText(content))}`;
        });
      const more = message.results.length - shown.length;
      return `the results of ${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
    }
  }
}

const MAX_RESULTS = 4;
const MAX_QUOTED_CHARS = 200;

function quoteText(text: string): string {
  return JSON.stringify(shorten(text, MAX_QUOTED_CHARS));
}
