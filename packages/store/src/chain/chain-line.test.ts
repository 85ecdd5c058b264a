import { createHash } from "node:crypto";
import type { ConversationNode, Fact } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { writtenFact } from "../../../../test/facts.ts";
import { chainLine, FIRST_PREV_HASH, hashLine, nodeDigest, nodeText } from "./chain.ts";

const fact = writtenFact({
  type: "tool.requested",
  data: { text: "ä \u0000 \n \ud800 \u2028", left_out: undefined },
});
const start =
  '{"id":"f1","seq":1,"type":"tool.requested","time":"2026-01-01T00:00:00.000Z","level":"info","session_id":"s","data":{"text":"ä \\u0000 \\n \\ud800 \u2028"}';
const digest = { node_id: "n1", sha256: "aa" };

describe("the line of a fact", () => {
  it("is its own fields, then the digests of its nodes, then the hash of the line before", () => {
    verifies("EVENT-6");
    expect(chainLine(fact, FIRST_PREV_HASH, [])).toBe(`${start},"prev_hash":"${"0".repeat(64)}"}`);
    expect(chainLine(fact, "ff", [digest])).toBe(
      `${start},"nodes":[{"node_id":"n1","sha256":"aa"}],"prev_hash":"ff"}`,
    );
  });

  it("is the same for a fact that was read from a chain, whose own links do not count", () => {
    const read = JSON.parse(chainLine(fact, "ee", [digest])) as Fact;
    expect(read).toMatchObject({ nodes: [digest], prev_hash: "ee" });
    expect(chainLine(read, "ff", [])).toBe(chainLine(fact, "ff", []));
    expect(chainLine({ ...fact, nodes: [digest] }, "ff", [])).toBe(chainLine(fact, "ff", []));
  });

  it("is refused for data that is not JSON", () => {
    const data: { self?: object } = {};
    data.self = data;
    expect(() => chainLine(writtenFact({ ...fact, data }), "ff", [])).toThrow(TypeError);
  });

  it("is hashed by its UTF-8", () => {
    verifies("EVENT-6");
    const line = chainLine(fact, FIRST_PREV_HASH, []);
    const expected = createHash("sha256").update(Buffer.from(line, "utf8")).digest("hex");
    expect(hashLine(line)).toBe(expected);
    expect(hashLine("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  });
});

it("a node's digest is that of the text it is kept as", () => {
  const node: ConversationNode = {
    node_id: "n1",
    session_id: "s",
    run_id: "r",
    agent_id: "a",
    kind: "message",
    content: [{ type: "text", text: "ü" }],
  };
  const text = nodeText(node);
  expect(JSON.parse(text)).toEqual(node);
  expect(nodeDigest(node, text)).toEqual({ node_id: "n1", sha256: hashLine(text) });
});
