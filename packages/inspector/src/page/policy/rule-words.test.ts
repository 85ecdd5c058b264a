import { expect, test } from "vitest";
import { readFields } from "./rule-form.tsx";
import { describeRuleInWords } from "./rule-words.ts";

test("a rule is said in words, with every condition it has", () => {
  expect(describeRuleInWords({ tool: "code.write_file", path: "src/**", decision: "deny" })).toBe(
    "Denies calls of code.write_file, on src/**.",
  );
  const argv = ["npm", "run", "a b"];
  expect(describeRuleInWords({ argv, exact_argv: true, project: "/p", decision: "allow" })).toBe(
    "Allows calls of any tool, running exactly `npm run 'a b'`, in \"/p\" alone.",
  );
  expect(describeRuleInWords({ argv: ["git", "**"], every_time: true, decision: "ask" })).toBe(
    "Asks about calls of any tool, running `git` with any further arguments, every time.",
  );
  expect(describeRuleInWords({ tags: ["network", "write"], host: "*.a", decision: "ask" })).toBe(
    "Asks about calls of any tool, tagged network and write, to the host *.a.",
  );
  expect(describeRuleInWords({ tool: "a\u202E.b", decision: "deny" })).not.toContain("\u202E");
});

test("the fields of a form are a rule: words are split, what is empty is omitted", () => {
  const typed = {
    decision: "deny",
    tool: " code.* ",
    tags: "",
    argv: "npm  test **",
    exact_argv: true,
  };
  expect(readFields({ ...typed, path: "", host: "", reason: "", project: "" })).toEqual({
    decision: "deny",
    tool: "code.*",
    argv: ["npm", "test", "**"],
    exact_argv: true,
  });
});
