import type { ConversationNode } from "@soong/core";
import type { CallRecord } from "@soong/store";
import { describe, expect, it } from "vitest";
import { coloursFor } from "../output/index.ts";
import { countEarlier, readTranscript, renderTranscriptEnd } from "./transcript.ts";

let nodes = 0;

function node(about: Partial<ConversationNode>, text = ""): ConversationNode {
  nodes += 1;
  return {
    node_id: `n${nodes}`,
    session_id: "s",
    run_id: "r",
    agent_id: "a",
    kind: "message",
    content: text === "" ? [] : [{ type: "text", text }],
    ...about,
  };
}

const user = (text: string) => node({ data: { role: "user" } }, text);
const assistant = (
  text: string,
  calls: { tool_call_id: string; name: string; arguments: string }[],
) => node({ data: { role: "assistant", model: "m", calls } }, text);
const result = (tool_call_id: string, text: string, is_error = false) =>
  node({ kind: "tool_result", tool_call_id, is_error }, text);
const call = (tool_call_id: string, status?: string): CallRecord => ({
  run_id: "r",
  tool_call_id,
  tool_name: "code.read_file",
  requested_seq: 1,
  ...(status === undefined ? {} : { status }),
});

const PATH = [
  node({ kind: "instruction_context" }, "Use tabs."),
  user("look at\na.txt"),
  assistant("Looking.", [
    { tool_call_id: "c1", name: "code__read_file", arguments: '{"path":"a.txt"}' },
    { tool_call_id: "c2", name: "code__read_file", arguments: '{"path":"b.txt"}' },
    { tool_call_id: "c3", name: "nosuch", arguments: "{" },
  ]),
  result("c1", "1\u001b[2J hello"),
  result("c2", "There is no file b.txt.", true),
  assistant("It says hello.", []),
];
const CALLS = [call("c1", "succeeded"), call("c2", "failed")];
const PLAIN = { columns: 60, colours: coloursFor({}, {}) };

describe("a transcript", () => {
  it("has prompts, answers and calls in order, with what became of each", () => {
    expect(readTranscript(PATH, CALLS)).toMatchObject([
      { kind: "prompt", text: "look at\na.txt" },
      { kind: "answer", text: "Looking.", model: "m" },
      { kind: "call", tool_name: "code.read_file", status: "succeeded", is_error: false },
      { kind: "call", tool_call_id: "c2", status: "failed", is_error: true },
      { kind: "call", tool_name: "nosuch", arguments: "{" },
      { kind: "answer", text: "It says hello." },
    ]);
  });

  it("leaves out the content of attached files", () => {
    const attached = node({
      data: { role: "user" },
      content: [
        { type: "text", text: "see @a.txt" },
        { type: "resource_link", uri: "file:///a.txt", name: "a.txt" },
        { type: "text", text: "The file: secret plans" },
      ],
    });
    expect(readTranscript([attached], [])).toMatchObject([{ kind: "prompt", text: "see @a.txt" }]);
  });

  it("ends on a screen with a line for each call, and without what a terminal would obey", () => {
    expect(renderTranscriptEnd(readTranscript(PATH, CALLS), PLAIN)).toEqual([
      "› look at",
      "  a.txt",
      "Looking.",
      "✓ code.read_file a.txt 1 [2J hello",
      "✗ code.read_file b.txt failed: There is no file b.txt.",
      "✗ nosuch { not ended",
      "It says hello.",
    ]);
  });

  it("shows the last entries of many, and of a long answer its two ends", () => {
    const many = Array.from({ length: 50 }, (_, at) => user(`prompt ${at}`));
    const long = assistant(Array.from({ length: 500 }, (_, at) => `line ${at}`).join("\n"), []);
    const entries = readTranscript([...many, long], []);
    expect(countEarlier(entries)).toBe(11);
    const lines = renderTranscriptEnd(entries, PLAIN);
    expect(lines[0]).toBe("› prompt 11");
    expect(lines.slice(-61)[0]).toBe("line 0");
    expect(lines.slice(-32, -29)).toEqual(["line 29", "… 440 lines …", "line 470"]);
    expect(lines.at(-1)).toBe("line 499");
  });
});
