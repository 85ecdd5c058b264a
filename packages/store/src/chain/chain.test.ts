// EVENT-6 by force: chains of random facts, touched in every way someone with the database could. Where the
// evidence does not say more, the tests say exactly what is promised.

import type { ConversationNode, Fact } from "@soong/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { writtenFact } from "../../../../test/facts.ts";
import { anyCharacter } from "../../../../test/any-character.ts";
import type { ChainProblem } from "../contract/store.ts";
import {
  createChainCheck,
  type ChainHead,
  type ChainRow,
  chainLine,
  FIRST_PREV_HASH,
  hashLine,
  nodeDigest,
  nodeText,
} from "./chain.ts";

const numRuns = process.env["SOONG_TEST_FULL"] === "1" ? 20_000 : 300;

interface Chain {
  readonly rows: ChainRow[];
  readonly head: ChainHead;
}

interface Given {
  readonly type: Fact["type"];
  readonly run_id: string | undefined;
  readonly tool_call_id: string | undefined;
  readonly text: string;
  readonly nodes: number;
}

const given: fc.Arbitrary<Given> = fc.record({
  type: fc.constantFrom("tool.requested", "tool.completed", "run.started", "error"),
  run_id: fc.constantFrom(undefined, "run_1", "run_2"),
  tool_call_id: fc.constantFrom(undefined, "a", "b"),
  text: fc.string({ unit: anyCharacter, maxLength: 12 }),
  nodes: fc.constantFrom(0, 0, 1, 2),
});

const SAMPLE: Given = {
  type: "error",
  run_id: undefined,
  tool_call_id: undefined,
  text: "hi",
  nodes: 0,
};

function chainOf(facts: readonly Given[]): Chain {
  let hash = FIRST_PREV_HASH;
  const rows = facts.map(({ text, nodes: count, ...columns }, i): ChainRow => {
    const seq = i + 1;
    const kept = Array.from({ length: count }, (_, n) => nodeOf(`n${seq}.${n}`, text));
    const digests = kept.map((node) => nodeDigest(node, nodeText(node)));
    const time = new Date(seq * 1000).toISOString();
    const fact = writtenFact({ ...columns, seq, time, data: { text } });
    const line = chainLine(fact, hash, digests);
    hash = hashLine(line);
    const nodes = new Map(kept.map((node) => [node.node_id, nodeText(node)]));
    return { seq, line, type: columns.type, nodes };
  });
  return { rows, head: { last_seq: rows.length, head_hash: hash } };
}

function nodeOf(node_id: string, text: string): ConversationNode {
  const content: ConversationNode["content"] = [{ type: "text", text }];
  return { node_id, session_id: "s", run_id: "r", agent_id: "a", kind: "message", content };
}

function check(rows: readonly ChainRow[], head: ChainHead): ChainProblem | undefined {
  const checking = createChainCheck();
  for (const row of rows) {
    const problem = checking.next(row);
    if (problem !== undefined) return problem;
  }
  return checking.end(head);
}

/** A chain of at least so many facts, and places in it. */
const chainAnd = <T>(places: (length: number) => fc.Arbitrary<T>, least = 1) =>
  fc
    .array(given, { minLength: least, maxLength: 8 })
    .chain((facts) => fc.tuple(fc.constant(chainOf(facts)), places(facts.length)));

const index = (length: number) => fc.nat({ max: length - 1 });

function replaced({ rows }: Chain, at: number, change: (row: ChainRow) => Partial<ChainRow>) {
  return rows.map((row, i) => (i === at ? { ...row, ...change(row) } : row));
}

function property<T>(values: fc.Arbitrary<T>, holds: (value: T) => void): void {
  fc.assert(fc.property(values, holds), { numRuns });
}

describe("an unchanged chain", () => {
  it("is in order, and its hash is that of its last fact", () => {
    verifies("EVENT-6");
    property(fc.array(given, { maxLength: 8 }), (facts) => {
      const { rows, head } = chainOf(facts);
      const checking = createChainCheck();
      for (const row of rows) expect(checking.next(row)).toBeUndefined();
      expect(checking.end(head)).toBeUndefined();
      expect([checking.facts, checking.hash]).toEqual([rows.length, head.head_hash]);
    });
  });

  it("has in each fact the hash of the one before it", () => {
    verifies("EVENT-6");
    property(fc.array(given, { minLength: 2, maxLength: 8 }), (facts) => {
      const { rows } = chainOf(facts);
      const hashes = rows.map(({ line }) => hashLine(line));
      const links = rows.map(({ line }) => (JSON.parse(line) as Fact).prev_hash);
      expect(links).toEqual([FIRST_PREV_HASH, ...hashes.slice(0, -1)]);
    });
  });
});

describe("an edited fact", () => {
  it("is named, whichever character of it was changed; for its link, it or the one before", () => {
    verifies("EVENT-6");
    const places = (length: number) =>
      fc.tuple(index(length), fc.nat(), fc.constantFrom("x", "0", "7", "a", '"', "}", " ", "ä"));
    property(chainAnd(places), ([chain, [at, where, letter]]) => {
      const { line = "" } = chain.rows[at] ?? {};
      const position = where % line.length;
      const edited = line.slice(0, position) + letter + line.slice(position + 1);
      if (edited === line) return;
      const problem = check(
        replaced(chain, at, () => ({ line: edited })),
        chain.head,
      );
      const isLink = position >= line.length - 66 && position < line.length - 2;
      const isLinkStill = isLink && /[0-9a-f]/.test(letter) && at > 0;
      expect(problem?.seq).toBe(isLinkStill ? at : at + 1);
      if (isLinkStill) expect(problem?.message).toContain("or the link to it was");
      expect(problem?.kind).toMatch(/^(?:edited|reordered|node_)/);
    });
  });

  it("is named when characters were put in or taken out, even where JSON does not care", () => {
    verifies("EVENT-6");
    const places = (length: number) => fc.tuple(index(length), fc.constantFrom(" ", "\n", "  "));
    property(chainAnd(places), ([chain, [at, space]]) => {
      for (const change of [
        ({ line }: ChainRow) => ({ line: line + space }),
        ({ line }: ChainRow) => ({ line: line.replace(",", `,${space}`) }),
        ({ line }: ChainRow) => ({ line: line.replace('"level":"info",', "") }),
      ]) {
        expect(check(replaced(chain, at, change), chain.head)).toMatchObject({
          seq: at + 1,
          kind: "edited",
        });
      }
    });
  });

  it("is the first that is named of several that were", () => {
    verifies("EVENT-6");
    property(
      chainAnd((length) => fc.tuple(index(length), index(length))),
      ([chain, ends]) => {
        const [from, to] = [Math.min(...ends), Math.max(...ends)];
        const rows = chain.rows.map((row, i) =>
          i < from || i > to ? row : { ...row, line: row.line.replace("info", "warn") },
        );
        expect(check(rows, chain.head)).toMatchObject({ seq: from + 1, kind: "edited" });
      },
    );
  });

  it("is named when what is left of it is no fact at all", () => {
    verifies("EVENT-6");
    const link = `"prev_hash":"${FIRST_PREV_HASH}"`;
    const rest = `"id":"f1","seq":1,"time":"now",${link}`;
    const lines = [
      "",
      "null",
      "[]",
      "1",
      '"text"',
      "{",
      "{}",
      `{"type":1,${rest}}`,
      `{"type":"error",${rest.replace("1,", '"1",')}}`,
      `{"type":"error",${rest.replace('"now"', "5")}}`,
      `{"type":"error",${rest.replace(link, '"prev_hash":"0"')}}`,
      ...["{}", "[null]", "[1]", '[{"node_id":1,"sha256":"x"}]', '[{"node_id":"n"}]'].map(
        (nodes) => `{"type":"error","nodes":${nodes},${rest}}`,
      ),
    ];
    for (const line of lines) {
      const row: ChainRow = { seq: 1, line, type: "error", nodes: new Map() };
      expect(createChainCheck().next(row), line).toEqual({
        seq: 1,
        kind: "edited",
        message:
          "Fact 1 (error, at an unknown time) was changed: what is kept of it is not a fact.",
      });
    }
  });
});

describe("removed facts", () => {
  it("are found wherever they were, at the end by the head", () => {
    verifies("EVENT-6");
    property(
      chainAnd((length) => fc.tuple(index(length), index(length))),
      ([chain, ends]) => {
        const [from, to] = [Math.min(...ends), Math.max(...ends)];
        const rows = chain.rows.filter((_, i) => i < from || i > to);
        const problem = check(rows, chain.head);
        expect(problem).toMatchObject({ seq: from + 1, kind: "removed" });
        const which = from === to ? `Fact ${from + 1} is` : `Facts ${from + 1} to ${to + 1} are`;
        expect(problem?.message.startsWith(`${which} missing`)).toBe(true);
      },
    );
  });

  it("are found by the fact that took their place, when the others were moved up", () => {
    verifies("EVENT-6");
    property(chainAnd(index, 2), ([chain, at]) => {
      const left = chain.rows.filter((_, i) => i !== at);
      const rows = left.map((row, i) => ({ ...row, seq: i + 1 }));
      const head = { ...chain.head, last_seq: rows.length };
      // Only the last one leaves no place: then the head is not that of what is now the last.
      const last = { seq: at, kind: "edited" };
      const expected = at === rows.length ? last : { seq: at + 1, kind: "reordered" };
      expect(check(rows, head)).toMatchObject(expected);
    });
  });
});

describe("reordered facts", () => {
  it("are found by the first that is not in its place", () => {
    verifies("EVENT-6");
    property(
      chainAnd((length) => fc.tuple(index(length), index(length)), 2),
      ([chain, [a, b]]) => {
        if (a === b) return;
        const swapped = chain.rows.map((row, i) => {
          const other = chain.rows[i === a ? b : i === b ? a : i] as ChainRow;
          return { ...other, seq: row.seq };
        });
        const seq = Math.min(a, b) + 1;
        expect(check(swapped, chain.head)).toMatchObject({ seq, kind: "reordered" });
        // In the order of a store that kept its seq, there is a hole first.
        const shuffled = chain.rows.map(
          (_, i) => chain.rows[i === a ? b : i === b ? a : i] as ChainRow,
        );
        expect(check(shuffled, chain.head)).toMatchObject({ seq, kind: "removed" });
      },
    );
  });

  it("are found when one is there twice", () => {
    verifies("EVENT-6");
    property(
      chainAnd((length) => fc.tuple(index(length), index(length))),
      ([chain, [a, b]]) => {
        const row = chain.rows[a] as ChainRow;
        const after = Math.max(a, b) + 1;
        const twice = [...chain.rows.slice(0, after), row, ...chain.rows.slice(after)];
        expect(check(twice, chain.head)).toMatchObject({ seq: a + 1, kind: "reordered" });
        const inPlaceOf = replaced(chain, b, ({ seq }) => ({ ...row, seq }));
        if (a !== b) {
          expect(check(inPlaceOf, chain.head)).toMatchObject({ seq: b + 1, kind: "reordered" });
        }
      },
    );
  });
});

describe("the nodes of a fact", () => {
  const withNodes = chainAnd(index).filter(([{ rows }, at]) => (rows[at]?.nodes.size ?? 0) > 0);

  it("are named with it when one was edited, exchanged or removed", () => {
    verifies("EVENT-6");
    property(withNodes, ([chain, at]) => {
      const nodes = [...(chain.rows[at] as ChainRow).nodes];
      for (const [changed] of nodes) {
        const edited = nodes.map(([id, text]) => [id, id === changed ? `${text} ` : text] as const);
        const problem = check(
          replaced(chain, at, () => ({ nodes: new Map(edited) })),
          chain.head,
        );
        expect(problem).toMatchObject({ seq: at + 1, kind: "node_edited" });
        expect(problem?.message).toContain(`the node ${changed}, which was changed`);
        const left = nodes.filter(([id]) => id !== changed);
        expect(
          check(
            replaced(chain, at, () => ({ nodes: new Map(left) })),
            chain.head,
          ),
        ).toMatchObject({ seq: at + 1, kind: "node_removed" });
      }
      const texts = nodes.map(([, text]) => text).toReversed();
      const exchanged = new Map(nodes.map(([id], i) => [id, texts[i] as string]));
      if (nodes.length === 1) return;
      const rows = replaced(chain, at, () => ({ nodes: exchanged }));
      expect(check(rows, chain.head)).toMatchObject({ seq: at + 1, kind: "node_edited" });
    });
  });

  it("cannot be taken out of the fact with their digests", () => {
    verifies("EVENT-6");
    property(withNodes, ([chain, at]) => {
      const rows = replaced(chain, at, ({ line }) => ({
        line: line.replace(/,"nodes":\[.*?\]/, ""),
        nodes: new Map(),
      }));
      expect(check(rows, chain.head)).toMatchObject({ seq: at + 1, kind: "edited" });
    });
  });
});

describe("the head", () => {
  it("that is another finds the last fact, or what was added after it", () => {
    verifies("EVENT-6");
    const { rows, head } = chainOf([SAMPLE, SAMPLE, SAMPLE]);
    const other = { ...head, head_hash: hashLine("other") };
    expect(check(rows, other)).toMatchObject({ seq: 3, kind: "edited" });
    const { head: earlier } = chainOf([SAMPLE, SAMPLE]);
    expect(check(rows, earlier)).toMatchObject({ seq: 3, kind: "head" });
    expect(check([], other)).toMatchObject({ seq: 1, kind: "removed" });
    expect(check([], { ...other, last_seq: 0 })).toMatchObject({ seq: 0, kind: "head" });
    expect(check([], { last_seq: 0, head_hash: FIRST_PREV_HASH })).toBeUndefined();
  });

  it("kept elsewhere is all that finds a chain that was written anew, every hash included", () => {
    verifies("EVENT-6");
    property(fc.tuple(fc.array(given, { minLength: 1, maxLength: 6 }), fc.nat()), ([facts, n]) => {
      const honest = chainOf(facts);
      const at = n % facts.length;
      const forged = chainOf(facts.map((one, i) => (i === at ? { ...one, text: "forged" } : one)));
      if (forged.head.head_hash === honest.head.head_hash) return;
      expect(check(forged.rows, forged.head)).toBeUndefined();
      // There is no telling which fact it was: the last one is named, and the message says why.
      const problem = check(forged.rows, honest.head);
      expect(problem).toMatchObject({ seq: facts.length, kind: "edited" });
      expect(problem?.message).toContain("or everything was written again");
    });
  });
});

describe("what the user reads", () => {
  const { rows, head } = chainOf([SAMPLE, SAMPLE, SAMPLE, SAMPLE]);
  const problemIn = (some: readonly ChainRow[]) => check(some, head)?.message;

  it("names the fact by seq, type and time, and says what was seen", () => {
    expect(problemIn(rows.filter(({ seq }) => seq !== 2 && seq !== 3))).toBe(
      "Facts 2 to 3 are missing: after fact 1 (error, 1970-01-01T00:00:01.000Z) comes fact 4 (error, 1970-01-01T00:00:04.000Z).",
    );
    expect(problemIn(rows.slice(1))).toBe(
      "Fact 1 is missing: the journal begins with fact 2 (error, 1970-01-01T00:00:02.000Z).",
    );
    expect(problemIn(rows.slice(0, 3))).toBe(
      "Fact 4 is missing at the end of the journal: the last one is fact 3 (error, 1970-01-01T00:00:03.000Z).",
    );
    expect(problemIn(rows.map((row) => ({ ...row, line: row.line.replace("hi", "ho") })))).toBe(
      "Fact 1 (error, 1970-01-01T00:00:01.000Z) was changed, or the link to it was: fact 2 carries another hash of it.",
    );
  });

  it("distinguishes a fact that was renumbered from one that was moved", () => {
    const renumbered = rows.map((row) => ({ ...row, line: row.line.replace('seq":3', 'seq":4') }));
    expect(check(renumbered, head)).toMatchObject({ seq: 3, kind: "edited" });
    expect(problemIn(renumbered)).toContain("it says it is fact 4");
  });

  it("keeps text from outside from controlling the terminal", () => {
    const type = `\u001B[2J${"x".repeat(500)}`;
    const line = "";
    const message = problemIn([{ seq: 1, line, type, nodes: new Map() }]) ?? "";
    expect(message).not.toMatch(/\p{Cc}/u);
    expect(message.length).toBeLessThan(250);
  });
});
