import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { refusedQuery } from "./search-request.ts";
import { locateRipgrep } from "./ripgrep.ts";

const ripgrep = await locateRipgrep({ project: "/nowhere", write: [] });

function refusal(query: string) {
  const argv = ["--no-config", "--files-with-matches", `--regexp=${query}`, "--", "/dev/null"];
  const { stderr } = spawnSync(ripgrep ?? "", argv, { encoding: "utf8", env: {} });
  return refusedQuery(query, stderr).error;
}

describe("a query that is no regular expression", () => {
  test.each([
    ["a(b", 1, "unclosed group"],
    ["a(b)(c", 4, "unclosed group"],
    ["a)b", 1, "unopened group"],
    ["[(]x)y", 4, "unopened group"],
    ["\\(x)", 3, "unopened group"],
    ["ä[z", 1, "unclosed character class"],
    ["*", 0, "repetition operator missing expression"],
    ["a{2", 1, "unclosed counted repetition"],
    ["😀(?=x)", 1, "look-around"],
    ["(a)\\1", 3, "backreferences are not supported"],
  ])("%j is refused at offset %i: %s", (query, offset, reason) => {
    verifies("CODE-3");
    const error = refusal(query);
    expect(error).toMatchObject({
      code: "invalid_regex",
      error_class: "invalid_arguments",
      recovery: "change_arguments",
      details: { offset, column: offset + 1 },
    });
    expect(error.message).toContain(reason);
    expect(error.message).toContain(`at column ${offset + 1}`);
    expect(error.message).not.toContain("PCRE2");
  });

  test("a line break in a pattern has a reason and no place", () => {
    verifies("CODE-3");
    const error = refusal("a\\nb");
    expect(error.message).toMatch(/literal "\\n" is not allowed/);
    expect(error.details).not.toHaveProperty("offset");
  });
});
