import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { parseScript } from "./check-script.ts";
import { describeProblem } from "@soong/platform";

/** The example every script is written after. */
const EXAMPLE = `
turns:                          # the main agent; one entry a model request
  - text: Looking.              # streamed
    calls:
      - { tool: code.read_file, input: { path: a.txt } }          # id: optional
      - { tool: code.search, input_text: '{"query": ', after_ms: 100 }
    stop: tool_use
  - expect: [ { result: 0, contains: "hello" } ]
    text: Done.
  - parts: [ { text: a }, { call: { tool: code.list_dir, input: {} }, after_ms: 100 }, { text: b, after_ms: 1000 }, { error: disconnect } ]
  - error: { kind: overloaded, after_ms: 50 }
agents:
  default_sub_agent: [ [ { text: "child done" } ] ]
`;

function problemsOf(text: string): string[] {
  const parsed = parseScript(text, "s.yaml");
  return parsed.ok ? [] : parsed.problems.map(describeProblem);
}

describe("a good script", () => {
  test("is read with everything it says", () => {
    verifies("SCRIPT-1");
    const parsed = parseScript(EXAMPLE, "s.yaml");
    expect(parsed).toEqual({
      ok: true,
      script: {
        turns: [
          {
            text: "Looking.",
            calls: [
              { tool: "code.read_file", input: { path: "a.txt" } },
              { tool: "code.search", input_text: '{"query": ', after_ms: 100 },
            ],
            stop: "tool_use",
          },
          { expect: [{ result: 0, contains: "hello" }], text: "Done." },
          {
            parts: [
              { text: "a" },
              { call: { tool: "code.list_dir", input: {} }, after_ms: 100 },
              { text: "b", after_ms: 1000 },
              { error: "disconnect" },
            ],
          },
          { error: { kind: "overloaded", after_ms: 50 } },
        ],
        agents: { default_sub_agent: [[{ text: "child done" }]] },
      },
    });
  });

  test("may be JSON, with tabs and escapes, and begin with a byte order mark", () => {
    const json = '\uFEFF{\r\n\t"turns": [\r\n\t\t{ "text": "\\ud83d\\ude00" }\r\n\t]\r\n}';
    expect(parseScript(json, "s.json")).toEqual({ ok: true, script: { turns: [{ text: "😀" }] } });
  });

  test("may repeat a turn by an alias", () => {
    const text = "turns:\n  - &again { text: a }\n  - *again\n";
    expect(parseScript(text, "s.yaml")).toEqual({
      ok: true,
      script: { turns: [{ text: "a" }, { text: "a" }] },
    });
  });

  test.each([
    ["no turns at all", "turns: []"],
    ["an empty answer", 'turns: [{ text: "" }]'],
    ["only a reason to stop", "turns: [{ stop: max_tokens }]"],
    [
      "every expectation there is",
      `turns:
  - text: a
    expect:
      - { result: 0 }
      - { result: 1, contains: a, not_contains: b, matches: "^c+$", status: error }
      - { result: 2, status: ok }
      - last_user: { contains: a }
      - system: { not_contains: a, matches: b }
      - tools: [code.read_file]
      - not_tools: [code.delete_path]`,
    ],
    ["an alias of a key", "turns: [{ calls: [{ &t tool: a.b, id: *t }] }]"],
    [
      "an alias twice in an input",
      "turns: [{ calls: [{ tool: a.b, input: { a: &x [1], b: *x, c: *x } }] }]",
    ],
    ["a wish of the provider", "turns: [{ error: { kind: rate_limited, retry_after_ms: 5 } }]"],
    [
      "an input with a key that objects have anyway",
      "turns: [{ calls: [{ tool: a.b, input: { __proto__: 1, constructor: 2 } }] }]",
    ],
  ])("may have %s", (_, text) => {
    expect(problemsOf(text)).toEqual([]);
  });
});

describe("a bad script", () => {
  test.each([
    ["", "1:1: is empty"],
    ["# only a comment", "1:1: is empty"],
    ["- text: a", "1:1: is a list; a script is a mapping of turns, agents"],
    ["hello", "1:1: is text; a script is a mapping of turns, agents"],
    ["{}", "1:1: turns: is missing"],
    [
      "turn: []",
      '1:1: turn: is not a field of a script; did you mean "turns"?',
      "1:1: turns: is missing",
    ],
    ["turns: []\nwhatever: 1", "2:1: whatever: is not a field of a script; it has turns, agents"],
    ["turns: 3", "1:8: turns: is 3; a list of turns is expected"],
    ["turns:", "1:7: turns: is empty; a list of turns is expected"],
    [
      "turns: [a]",
      "1:9: turns[0]: is text; a turn is a mapping of expect, text, calls, parts, error, stop",
    ],
    [
      "turns:\n  - txet: a\n    stop: end_turn",
      '2:5: turns[0].txet: is not a field of a turn; did you mean "text"?',
    ],
    ["turns: [{ text: 1 }]", "1:17: turns[0].text: is 1; text is expected: put it in quotes"],
    ["turns: [{ text: [a] }]", "1:17: turns[0].text: is a list; text is expected"],
    [
      "turns: [{ text: a, stop: end_trun }]",
      '1:26: turns[0].stop: is "end_trun"; did you mean "end_turn"?',
    ],
    [
      "turns: [{ text: a, stop: refused }]",
      '1:26: turns[0].stop: is "refused"; "tool_use" or "end_turn" or "max_tokens" is expected',
    ],
    [
      "turns: [{ expect: [] }]",
      '1:9: turns[0]: answers nothing: give it text, calls, parts or error (text: "" for an empty answer)',
    ],
    ["turns: [{ calls: [{}] }]", "1:19: turns[0].calls[0].tool: is missing"],
    ["turns: [{ calls: [{ tool: '' }] }]", "1:27: turns[0].calls[0].tool: is empty"],
    [
      "turns: [{ calls: [{ tool: a.b, input: [1] }] }]",
      "1:39: turns[0].calls[0].input: is a list; a mapping is expected (input_text sends any text as it is)",
    ],
    [
      "turns: [{ calls: [{ tool: a.b, input: {}, input_text: x }] }]",
      "1:43: turns[0].calls[0].input_text: is beside input; a call has one of the two",
    ],
    [
      "turns: [{ calls: [{ tool: a.b, after_ms: -1 }] }]",
      "1:42: turns[0].calls[0].after_ms: is -1; a whole number from 0 to 86400000 is expected",
    ],
    [
      "turns: [{ calls: [{ tool: a.b, after_ms: 1.5 }] }]",
      "1:42: turns[0].calls[0].after_ms: is 1.5; a whole number from 0 to 86400000 is expected",
    ],
    [
      "turns: [{ calls: [{ tool: a.b, after_ms: 86400001 }] }]",
      "1:42: turns[0].calls[0].after_ms: is 86400001; a whole number from 0 to 86400000 is expected",
    ],
    [
      "turns: [{ calls: [{ tool: a.b, input: { n: .nan, m: [.inf] } }] }]",
      "1:44: turns[0].calls[0].input.n: is NaN, which JSON has no word for",
      "1:54: turns[0].calls[0].input.m[0]: is Infinity, which JSON has no word for",
    ],
    [
      "turns: [{ error: broken }]",
      '1:18: turns[0].error: is "broken"; "overloaded" or "disconnect" or "rate_limited" is expected',
    ],
    ["turns: [{ error: {} }]", "1:18: turns[0].error.kind: is missing"],
    [
      "turns: [{ error: { kind: overloaded, retry_after_ms: 1 } }]",
      "1:38: turns[0].error.retry_after_ms: goes with the kind rate_limited only",
    ],
    [
      "turns: [{ error: disconnect, stop: end_turn }]",
      "1:30: turns[0].stop: is never sent, as the turn ends with an error",
    ],
    [
      "turns: [{ parts: [{ error: disconnect }], stop: end_turn }]",
      "1:43: turns[0].stop: is never sent, as the turn ends with an error",
    ],
    [
      "turns: [{ parts: [{ error: disconnect }, { text: a }] }]",
      "1:42: turns[0].parts[1]: comes after an error, which ends the stream",
    ],
    [
      "turns: [{ parts: [{ text: a, call: { tool: a.b } }] }]",
      "1:19: turns[0].parts[0]: has text and call; it can have only one of them",
    ],
    [
      "turns: [{ parts: [{ after_ms: 1 }] }]",
      "1:19: turns[0].parts[0]: has none of text, call, error; it needs one",
    ],
    [
      "turns: [{ parts: [{ call: { tool: a.b, after_ms: 1 }, after_ms: 1 }] }]",
      "1:40: turns[0].parts[0].call.after_ms: is beside the part's own after_ms",
    ],
    [
      "turns: [{ parts: [], text: a }]",
      "1:22: turns[0].text: is beside parts, which is the whole answer: put it there",
    ],
    [
      "turns: [{ text: a, expect: [{ contains: a }] }]",
      "1:29: turns[0].expect[0]: has none of result, last_user, system, tools, not_tools; it needs one",
    ],
    [
      "turns: [{ text: a, expect: [{ system: { contains: a }, contains: b, status: ok }] }]",
      "1:56: turns[0].expect[0].contains: goes with result: put it inside system",
      "1:69: turns[0].expect[0].status: goes with result",
    ],
    [
      "turns: [{ text: a, expect: [{ result: 0, matches: '(' }] }]",
      "1:51: turns[0].expect[0].matches: the pattern /(/ cannot be used: missing closing ): `(`",
    ],
    [
      "turns: [{ text: a, expect: [{ last_user: {} }] }]",
      "1:42: turns[0].expect[0].last_user: checks nothing; give contains, not_contains or matches",
    ],
    [
      "turns: [{ text: a, expect: [{ result: -1 }] }]",
      "1:39: turns[0].expect[0].result: is -1; a whole number from 0 to 10000 is expected",
    ],
    [
      "turns: []\nagents: []",
      "2:9: agents: is a list; a mapping of agent definition ids to lists is expected",
    ],
    [
      "turns: []\nagents: { 'my one': [{ text: a }] }",
      '2:22: agents["my one"][0]: is a turn; each start has a list of turns of its own, such as [[{ text: done }]]',
    ],
    [
      "turns: []\nagents: { one: [[{ txt: a }]] }",
      '2:20: agents.one[0][0].txt: is not a field of a turn; did you mean "text"?',
    ],
    ["turns: []\nturns: [{ text: a }]", "2:1: turns: is given a second time"],
    [
      "turns: [{ text: a, calls: [{ tool: a.b, input: { x: 1, 'x': 2 } }] }]",
      "1:56: turns[0].calls[0].input.x: is given a second time",
    ],
    ["turns: []\n? [a]\n: 1", "2:3: has a key that is not text"],
    ["turns: []\n~: 1", "2:1: has a key that is not text"],
    [
      "turns: [{ text: 1 }]\nturns: [{ text: 2 }]",
      "2:1: turns: is given a second time",
      "2:17: turns[0].text: is 2; text is expected: put it in quotes",
    ],
    [
      "turns: [{ calls: [&c { id: x }, *c] }]",
      "1:22: turns[0].calls[0].tool: is missing",
      "1:22: turns[0].calls[1].tool: is missing",
    ],
    ["turns: [{ text: a }]\n---\nturns: []", "2:1: holds a second document; it has to be one"],
    [
      "turns: [{ text: *gone }]",
      "1:17: turns[0].text: is the alias *gone, and no anchor &gone is before it",
    ],
    [
      "turns: [{ calls: [{ tool: a.b, input: &me { a: *me, b: *me } }] }]",
      "1:48: turns[0].calls[0].input.a: contains itself",
      "1:56: turns[0].calls[0].input.b: contains itself",
    ],
    [
      "turns:\n  - &t { txet: a, text: b }\n  - *t",
      '2:10: turns[0].txet: is not a field of a turn; did you mean "text"?',
      '2:10: turns[1].txet: is not a field of a turn; did you mean "text"?',
    ],
    ["turns: [{ text: !mine a }]", "1:17: is not YAML that can be read: Unresolved tag: !mine"],
  ])("%j is reported with where", (text, ...expected) => {
    expect(problemsOf(text).toSorted()).toEqual(
      expected.map((problem) => `s.yaml:${problem}`).toSorted(),
    );
  });

  test("that is not YAML reports where it breaks", () => {
    const [first] = problemsOf("turns:\n  - text: [a\n  - text: b\n");
    expect(first).toMatch(/^s\.yaml:3:3: is not YAML that can be read: /);
  });

  test("reports all problems at once, from top to bottom", () => {
    const problems = problemsOf(
      "turns:\n  - txet: a\n  - { text: 1, stop: never }\n  - calls: [{ tool: a.b, after_ms: -3, inptu: {} }]\nagents: 3\n",
    );
    expect(problems.map((problem) => problem.split(": ")[0])).toEqual(
      ["2:5", "3:13", "3:22", "4:36", "4:40", "5:9"].map((place) => `s.yaml:${place}`),
    );
  });

  test("reports duplicate keys in order among the others", () => {
    expect(problemsOf("agents: 3\nturns: []\nturns: []\n")).toEqual([
      "s.yaml:1:9: agents: is 3; a mapping of agent definition ids to lists is expected",
      "s.yaml:3:1: turns: is given a second time",
    ]);
  });

  test("has every problem as fields for programs", () => {
    const parsed = parseScript("turns:\n  - text: 1\n", "dir/s.yaml");
    expect(parsed).toEqual({
      ok: false,
      problems: [
        {
          file: "dir/s.yaml",
          line: 2,
          column: 11,
          field: "turns[0].text",
          message: "is 1; text is expected: put it in quotes",
        },
      ],
    });
  });

  test("with a thousand mistakes reports the first hundred, and how many more", () => {
    const problems = problemsOf(`turns:\n${"  - { text: 1 }\n".repeat(1000)}`);
    expect(problems).toHaveLength(101);
    expect(problems.at(-1)).toBe("s.yaml:101:13: has 900 more problems after these");
  });
});

describe("a script made to hurt", () => {
  test.each([
    ["nested lists", "[".repeat(50_000)],
    ["lists that close", `${"[".repeat(2000)}${"]".repeat(2000)}`],
    ["nested mappings", "{a: ".repeat(5000)],
    ["nested blocks", `${"- ".repeat(5000)}x`],
    ["nested keys", `${"? ".repeat(5000)}x`],
  ])("by %s is refused for its depth", (_, text) => {
    expect(problemsOf(text)).toEqual([
      expect.stringMatching(/: is nested deeper than 100 levels$/),
    ]);
  });

  test("may nest ninety levels in an input", () => {
    const input = `${'{"a":'.repeat(90)}1${"}".repeat(90)}`;
    expect(problemsOf(`{"turns": [{"calls": [{"tool": "a.b", "input": ${input}}]}]}`)).toEqual([]);
  });

  test("by aliases of aliases is refused", () => {
    const levels = ["a", "b", "c", "d", "e", "f", "g", "h"];
    const anchors = levels.map((name, level) => {
      const inner = level === 0 ? "x" : `*${levels[level - 1]}`;
      return `      ${name}: &${name} [${Array.from({ length: 9 }, () => inner).join(", ")}]\n`;
    });
    const [first, ...others] = problemsOf(
      `turns:\n  - calls:\n    - tool: a.b\n      input:\n${anchors.map((line) => `  ${line}`).join("")}`,
    );
    expect(first).toMatch(
      /^s\.yaml:1:1: has aliases that cannot be followed: Excessive alias count/,
    );
    expect(others).toEqual([]);
  });

  test("by one long text in many places is refused for its length", () => {
    const places = Array.from({ length: 90 }, () => "*long").join(", ");
    const text = `turns:\n  - calls: [{ tool: a.b, input: { l: &long ${"x".repeat(100_000)}, m: [${places}] } }]\n`;
    expect(problemsOf(text)).toEqual([
      "s.yaml:2:33: turns[0].calls[0].input: is longer than 5242880 characters as JSON",
    ]);
  });

  test("by its size is refused unread", () => {
    expect(problemsOf(`turns: []\n#${"é".repeat(3_000_000)}`)).toEqual([
      "s.yaml:1:1: is larger than 5 MiB, the most it may have",
    ]);
  });

  test("by very many keys, one of them twice, is read in time", () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `k${index}: 1`);
    const problems = problemsOf(
      `{"turns": [{"calls": [{"tool": "a.b", "input": {${keys.join(", ")}, k7: 2}}]}]}`,
    );
    expect(problems).toEqual([expect.stringMatching(/input\.k7: is given a second time$/)]);
  });
});

test("a guard needs the id of its call, says one thing, and waits for a call that there is", () => {
  verifies("SCRIPT-1");
  const parsed = parseScript(
    `turns:
  - calls:
      - { tool: a.b, guard: { stop: enough } }
      - { tool: a.b, id: x, guard: { stop: enough, deny: no } }
      - { tool: a.b, id: y, guard: { until: z }, input: { until: anything } }
    error: { kind: disconnect, until: [x, w] }`,
    "s.yaml",
  );
  expect(parsed.ok ? [] : parsed.problems.map(({ message }) => message)).toEqual([
    expect.stringContaining("needs an id beside it"),
    expect.stringContaining("has stop and deny"),
    expect.stringContaining('"z", which is the id of no call'),
    expect.stringContaining('"w", which is the id of no call'),
  ]);
});
