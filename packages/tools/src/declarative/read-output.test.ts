import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { readOutput } from "./read-output.ts";

function read(text: string): ReturnType<typeof readOutput> {
  return readOutput(Buffer.from(text));
}

test.each([
  '{"ok":true}',
  ' {"status":"partial"}\n',
  '{"content":[]}',
  '\uFEFF{"ok":true}',
  '{"ok":true,"content":[{"type":"text","text":"a"},{"type":"json","json":null},{"type":"image","media_type":"image/png","data":"AA=="},{"type":"resource_link","uri":"https://x","name":"y"}],"summary":"s","data":[1],"metadata":{"a":1}}',
  '{"ok":false,"error":"broken"}',
  '{"ok":false,"error":{"code":"a","message":"b","error_class":"timeout","retryable":true,"recovery":"retry","details":{}}}',
])("%s is a result", (text) => {
  verifies("DECL-4");
  expect(read(text)).toEqual({
    ok: true,
    result: JSON.parse(text.replace("\uFEFF", "")) as object,
    artifacts: [],
  });
});

test.each<[string, object]>([
  [
    '{"ok":true,"summary":"42 lines","data":null,"artifacts":[],"error":null}',
    { ok: true, summary: "42 lines" },
  ],
  [
    '{"tool_call_id":"c","tool_name":"a.b","status":"succeeded","is_error":false,"content":[],"summary":"s","data":1,"artifacts":[],"error":null,"metadata":{}}',
    { status: "succeeded", content: [], summary: "s", data: 1, metadata: {} },
  ],
  ['{"is_error":true,"summary":"s"}', { ok: false, summary: "s" }],
  ['{"ok":true,"is_error":true}', { ok: false }],
  ['{"status":"succeeded","is_error":true}', { status: "succeeded", ok: false }],
  ['{"status":"timed_out","is_error":true}', { status: "timed_out" }],
  ['{"status":"timed_out","error":null}', { status: "timed_out" }],
  [
    '{"ok":false,"error":{"code":"a","message":"b","details":null,"recovery":null}}',
    { ok: false, error: { code: "a", message: "b" } },
  ],
])("%s is the whole ToolResult, or seed 002's, null and empty fields too", (text, result) => {
  verifies("DECL-7");
  expect(read(text)).toEqual({ ok: true, result, artifacts: [] });
});

test("artifacts are content to keep, or named", () => {
  verifies("DECL-7");
  const artifacts = [
    "a1",
    { artifact_id: "a2", size: 3 },
    { name: "n", text: "t" },
    { blob: "aGk=" },
  ];
  expect(read(JSON.stringify({ ok: true, artifacts }))).toMatchObject({
    artifacts: [
      { artifact_id: "a1" },
      { artifact_id: "a2" },
      { name: "n", media_type: "text/plain", bytes: "t" },
      { name: "artifact", bytes: new TextEncoder().encode("hi") },
    ],
  });
});

test.each([
  ["", "printed nothing"],
  [" \n", "printed nothing"],
  ["done", "something that is not JSON"],
  ['{"ok":true} {"ok":true}', "something that is not JSON"],
  ["[]", "printed a list where an object belongs"],
  ["3", "printed a number"],
  ["null", "printed null"],
  ['"done"', "printed a string"],
  ["{}", 'without "ok", "status" or "content"'],
  ['{"summary":"x"}', 'without "ok", "status" or "content"'],
  ['{"ok":"yes"}', "ok is not true or false"],
  ['{"ok":true,"okay":1}', '"okay" is not a known key'],
  ['{"ok":true,"__proto__":{}}', '"__proto__" is not a known key'],
  ['{"ok":true,"is_error":1}', "is_error is not true or false"],
  [
    '{"status":"denied"}',
    'status is not "succeeded", "partial", "failed", "timed_out" or "unknown"',
  ],
  ['{"ok":true,"content":"text"}', "content is not a list of blocks"],
  [
    '{"ok":true,"content":[{"type":"text","text":"a"},{"type":"video"}]}',
    "content has no block of a known type at [1]",
  ],
  ['{"ok":true,"content":[{"type":"text"}]}', "content has no block of a known type at [0]"],
  [
    '{"ok":true,"content":[{"type":"text","text":"a","trusted":true}]}',
    'content has the unknown key "trusted" at [0]',
  ],
  [
    '{"ok":true,"content":[{"type":"artifact_ref","artifact_id":"a"}]}',
    "artifact_ref at [0], which no command can give",
  ],
  ['{"ok":true,"summary":1}', "summary is not text"],
  ['{"ok":true,"metadata":[]}', "metadata is not an object"],
  ['{"ok":false,"error":1}', "error is neither text nor an object"],
  ['{"ok":false,"error":{"code":"a"}}', "error has no message"],
  ['{"ok":false,"error":{"message":"a"}}', "error has no code"],
  ['{"ok":false,"error":{"code":1,"message":"a"}}', "error.code is not text"],
  [
    '{"ok":false,"error":{"code":"a","message":"b","error_class":"x"}}',
    "error.error_class is not a known class",
  ],
  [
    '{"ok":false,"error":{"code":"a","message":"b","recovery":"x"}}',
    "error.recovery is not a known recovery",
  ],
  [
    '{"ok":false,"error":{"code":"a","message":"b","stack":"x"}}',
    '"error.stack" is not a known key',
  ],
  ['{"ok":true,"artifacts":{}}', "artifacts is not a list"],
  ['{"ok":true,"artifacts":[{"path":"/etc/passwd"}]}', 'artifacts[0] has the unknown key "path"'],
  ['{"ok":true,"artifacts":[{}]}', 'artifacts[0] has neither "artifact_id", "text" nor "blob"'],
  ['{"ok":true,"artifacts":[{"blob":"?"}]}', "artifacts[0] has a blob that is not base64"],
  ['{"ok":true,"context_nodes":[]}', "context_nodes is not for a command to give"],
  ['{"ok":true,"modify_context":{}}', "modify_context is not for a command to give"],
])("%s is refused in words", (text, message) => {
  verifies("DECL-4");
  const output = read(text);
  expect(output.ok ? "taken" : output.message).toContain(message);
});

test("bytes that are not text are reported as such", () => {
  verifies("DECL-4");
  expect(readOutput(Buffer.from([0x7b, 0xff, 0x7d]))).toMatchObject({
    ok: false,
    message: "printed bytes that are not UTF-8",
  });
});

test("any output of a process is read or refused, and never throws", () => {
  verifies("DECL-4");
  fc.assert(
    fc.property(
      fc.oneof(
        fc.json(),
        fc.string(),
        fc.object().map((value) => JSON.stringify({ ok: true, ...value })),
      ),
      (text) => {
        expect(typeof read(text).ok).toBe("boolean");
      },
    ),
  );
  const deep = `{"ok":true,"data":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
  expect(read(deep)).toEqual({
    ok: false,
    message: "printed JSON that is nested deeper than 500 levels",
  });
});
