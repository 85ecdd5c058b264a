import type { JsonObject, JsonValue } from "@soong/schema";
import type { QuestionRecord } from "@soong/store";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { readStoredRequest } from "./stored-request.ts";

const REQUEST = {
  tool_name: "code.run_command",
  role: "worker",
  resources: [],
  reason: "it may change anything",
  preview: { kind: "command", argv: ["make"], cwd: "/p" },
  scopes: [{ kind: "argv", executable: "/usr/bin/make", argv: ["make"], cwd: "/p" }],
  scope_choices: [{ id: "exact", scopes: [], session_scope: "this command" }],
  network_hosts: "unknown",
};

test("a stored request is read as it was written, with what a newer version adds", () => {
  const request = { ...REQUEST, of_tomorrow: 7 };
  expect(readStoredRequest(question({ request, shows_all: true }))).toEqual({
    kind: "permission",
    request,
    shows_all: true,
  });
});

test.each<[string, JsonValue]>([
  ["reason", 7],
  ["scope_choices", 7],
  ["scope_choices", [null]],
  ["scopes", [{ kind: "argv", argv: 7 }]],
  ["preview", { kind: "diff", path: "a" }],
  ["preview", { kind: "command", argv: "make", cwd: "/p" }],
  ["always_rule", { tool: [], decision: "allow" }],
  ["resources", "all"],
  ["network_hosts", "any"],
  ["hook_results", [1]],
  ["shows_all", "yes"],
])("one whose %s was changed to %j can only be denied", (field, value) => {
  verifies("PERM-19");
  const kept = { request: REQUEST, shows_all: true };
  const changed =
    field === "shows_all"
      ? { ...kept, [field]: value }
      : { ...kept, request: { ...REQUEST, [field]: value } };
  expect(readStoredRequest(question(changed)).shows_all).toBe(false);
  if (field !== "shows_all") expect(readStoredRequest(question(changed)).request).toEqual({});
});

test.each(["tool_name", "role", "resources", "scopes", "network_hosts", "reason"])(
  "one without its %s can only be denied",
  (field) => {
    verifies("PERM-19");
    const { [field]: _dropped, ...request } = REQUEST as Readonly<Record<string, JsonValue>>;
    const read = readStoredRequest(question({ request, shows_all: true }));
    expect(read).toEqual({ kind: "permission", request: {}, shows_all: false });
  },
);

test.each<[string, JsonValue, boolean]>([
  ["a form", { mode: "form", requested_schema: { type: "object", properties: {} } }, true],
  ["an address", { mode: "url", url: "https://example.org/" }, true],
  ["a form without a schema", { mode: "form" }, false],
  ["a form of nothing", { mode: "form", requested_schema: {} }, false],
  ["an address without one", { mode: "url" }, false],
  ["a request of no known mode", { mode: "tomorrow" }, false],
  ["a form with a message that is no text", { mode: "form", message: {} }, false],
])("%s that a server sent is shown only with all its fields", (_what, fields, isShown) => {
  const about = { tool_name: "mcp.a.b", tool_call_id: "c", message: "Which one?" };
  const request = { ...about, ...(fields as JsonObject) };
  const stored = { kind: "elicitation", request: { request, shows_all: true } } as const;
  const read = readStoredRequest({ ...question({}), ...stored });
  expect(read.shows_all).toBe(isShown);
  expect(read.request).toEqual(isShown ? request : {});
});

function question(request: QuestionRecord["request"]): QuestionRecord {
  return { kind: "permission", request } as QuestionRecord;
}
