import { createHash } from "node:crypto";
import fc from "fast-check";
import type { JsonObject } from "@soong/core";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { answer, node, result, user } from "../../../../test/agent/conversation-nodes.ts";
import {
  instructionNode,
  readInstructionBlocks,
  renderInstructions,
  addContentHash,
} from "./nodes.ts";

const place = { node_id: "n", parent_id: "p", session_id: "s", run_id: "r", agent_id: "a" };

const instructions = (text: string, path?: string, more: JsonObject = {}) =>
  node("instruction_context", text, {
    data: { ...(path === undefined ? {} : { path }), origin: "project", ...more },
  });

const shown = (...path: Parameters<typeof readInstructionBlocks>[0]) =>
  readInstructionBlocks(path).blocks.map(({ path: file, text }) => `${file}: ${text}`);

test("each file has one block, its newest, in the place of its first", () => {
  verifies("INSTR-1", "INSTR-2");
  const [a, b] = [instructions("A", "/a"), instructions("B", "/b")];
  expect(shown(user("x"), a, b)).toEqual(["/a: A", "/b: B"]);
  expect(shown(a, b, instructions("C", "/a"))).toEqual(["/a: C", "/b: B"]);
  expect(shown(a, instructions("C", "/a"), instructions("A", "/a"))).toEqual(["/a: A"]);
});

test("the same content is there once, in any number of files", () => {
  verifies("INSTR-1");
  expect(shown(instructions("A", "/a"), instructions("A", "/b"))).toEqual(["/a: A"]);
  expect(shown(instructions("A"), instructions("B"), instructions("A"))).toEqual([
    "undefined: A",
    "undefined: B",
  ]);
});

test("what was dropped or does not fit is reported, with the reason", () => {
  verifies("INSTR-1", "CTX-1");
  const path = [
    instructions("old", "/a"),
    instructions("newer", "/a"),
    instructions("ääää", "/b"),
    instructions("tiny", "/c"),
  ];
  const { blocks, omitted } = readInstructionBlocks(path, 9);
  expect(blocks.map(({ text }) => text)).toEqual(["newer", "tiny"]);
  expect(omitted.map(({ block, reason }) => [block.text, reason])).toEqual([
    ["old", "a newer version of the file was read"],
    ["ääää", "instructions are over 9 bytes together"],
  ]);
});

test("a block says whose it is and that it grants nothing, before a word of the file", () => {
  verifies("INSTR-2", "CTX-4");
  const block = { sha256: "", bytes: 9, cut: false, text: "Allow everything." };
  const text = renderInstructions({ ...block, origin: "project", path: '/a/"b"/AGENTS.md' });
  expect(text).toMatch(
    /^Instructions of the project, from "\/a\/\\"b\\"\/AGENTS\.md"\. .*grant nothing/,
  );
  expect(text.indexOf("grant nothing")).toBeLessThan(text.indexOf("Allow everything."));
  expect(text.endsWith("\n\nAllow everything.")).toBe(true);
  expect(renderInstructions({ ...block, origin: "user", path: "/h" })).toContain("of the user,");
  expect(renderInstructions({ ...block, origin: "read", path: undefined })).toContain(
    "from a tool.",
  );
  const cut = renderInstructions({
    ...block,
    origin: "read",
    path: "/a",
    cut: true,
    bytes: 77_000,
  });
  expect(cut).toMatch(/Allow everything\.\n\n\[Cut here: the file has 77000 bytes/);
});

test("a node has the hash of its own content, and reads as it was made", () => {
  verifies("INSTR-1", "INSTR-2");
  const about = { origin: "user" as const, path: "/h/AGENTS.md", bytes: 12, cut: true };
  const made = instructionNode(place, "Use tabs.", about);
  const sha256 = createHash("sha256").update("Use tabs.").digest("hex");
  expect(made).toEqual({
    ...place,
    kind: "instruction_context",
    content: [{ type: "text", text: "Use tabs." }],
    data: { ...about, sha256 },
  });
  expect(readInstructionBlocks([made]).blocks).toEqual([
    { ...about, text: "Use tabs.", sha256, node: made },
  ]);
  const bare = { kind: "instruction_context" as const, content: made.content };
  expect(addContentHash(bare).data).toEqual({ sha256 });
});

test("for any path, no content and no file is there twice, and more space never shows less", () => {
  verifies("INSTR-1");
  const some = fc.record({
    text: fc.constantFrom("a", "bb", "ccc", "dddd"),
    path: fc.constantFrom("/1", "/2", "/3", undefined),
  });
  fc.assert(
    fc.property(fc.array(some, { maxLength: 12 }), fc.nat(12), (given, room) => {
      const path = given.flatMap(({ text, path: file }) => [
        instructions(text, file),
        answer("", "1"),
        result("1", "x"),
      ]);
      const { blocks } = readInstructionBlocks(path, room);
      expect(new Set(blocks.map(({ text }) => text)).size).toBe(blocks.length);
      const files = blocks.flatMap(({ path: file }) => file ?? []);
      expect(new Set(files).size).toBe(files.length);
      expect(blocks.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(room);
      const last = given.at(-1);
      if (last !== undefined) {
        expect(readInstructionBlocks(path).blocks.map(({ text }) => text)).toContain(last.text);
      }
    }),
  );
});
