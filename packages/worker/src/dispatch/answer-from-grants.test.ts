import type { ToolGrant } from "@soong/core";
import type { GrantScope } from "@soong/core/internal";
import type { JsonObject } from "@soong/schema";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { findCoveringGrant } from "./answer-from-grants.ts";

const THERE = "/lead/project";
const HERE = "/srv/project";

function grant(tool_name: string, ...scopes: GrantScope[]): ToolGrant {
  return {
    grant_id: "grant_1",
    tool_name,
    scopes,
    session_id: "session_lead",
    granted_by: "terminal",
    granted_at: "2026-01-01T00:00:00.000Z",
    tool_call_id: "call_1",
    agent_id: "agent_1",
  };
}

type Asked = Readonly<Record<string, unknown>>;

function find(granted: readonly ToolGrant[], asked: Asked, project: string | undefined = THERE) {
  const request = { request: { project: HERE, ...asked }, shows_all: true } as JsonObject;
  const question = { kind: "permission", state: "open", request } as const;
  return findCoveringGrant(question, { grants: () => granted, project })?.grant_id;
}

const WRITE = "code.write_file";
const RUN = "code.run_command";
const inside = (path: string): GrantScope => ({ kind: "directory", path, access: "write" });
const sh = (argv: string[], cwd: string, kind: "argv" | "argv_prefix" = "argv"): GrantScope => ({
  kind,
  executable: "/usr/bin/git",
  argv,
  cwd,
});

test("a grant about the project of the dispatch covers the worker's project, and nothing else", () => {
  verifies("PERM-5", "PERM-12");
  const granted = [grant(WRITE, inside(`${THERE}/src`))];
  const asks = (path: string, tool_name = WRITE) => ({ tool_name, scopes: [inside(path)] });
  expect(find(granted, asks(`${HERE}/src`))).toBe("grant_1");
  expect(find(granted, asks(`${HERE}/src/deep`))).toBeUndefined();
  expect(find(granted, asks(`${HERE}/src`, "code.edit_file"))).toBeUndefined();
  // On the worker's machine that is another place.
  expect(find(granted, asks(`${THERE}/src`))).toBeUndefined();
  const both = { tool_name: WRITE, scopes: [inside(`${HERE}/src`), inside(HERE)] };
  expect(find(granted, both)).toBeUndefined();
});

test("other paths mean what they say on both machines", () => {
  verifies("PERM-12");
  const granted = [grant(WRITE, inside("/shared/out"))];
  expect(find(granted, { tool_name: WRITE, scopes: [inside("/shared/out")] })).toBe("grant_1");
});

test("what is asked every time is covered by nothing", () => {
  verifies("PERM-5");
  const granted = [grant(WRITE, inside(THERE))];
  expect(find(granted, { tool_name: WRITE, scopes: [] })).toBeUndefined();
});

test("a question that this Soong does not understand is left to users", () => {
  verifies("PERM-5", "DIST-1");
  const granted = [grant(WRITE, inside(THERE))];
  for (const scopes of [[null], [{ kind: "of a newer one" }], [inside(HERE), 7]]) {
    expect(find(granted, { tool_name: WRITE, scopes })).toBeUndefined();
  }
  const scopes = [sh(["git", "add"], HERE)];
  expect(find(granted, { tool_name: RUN, scopes, scope_choices: [null] })).toBeUndefined();
});

test("a question that does not say where the worker's project is, or is no question about a call, is left to users", () => {
  verifies("PERM-5");
  const granted = [grant(WRITE, inside(THERE))];
  const asked = { tool_name: WRITE, scopes: [inside(HERE)] };
  expect(find(granted, { ...asked, project: undefined })).toBeUndefined();
  expect(find(granted, { tool_name: WRITE })).toBeUndefined();
  const grants = { grants: () => granted, project: THERE };
  for (const other of [
    { kind: "elicitation", state: "open", request: { request: asked } },
    { kind: "permission", state: "answered", request: { request: asked } },
    { kind: "permission", state: "open" },
  ] as const) {
    expect(findCoveringGrant(other, grants)).toBeUndefined();
  }
});

test("a command is covered in the worker's project: the same one, or one that begins so where that is offered", () => {
  verifies("PERM-5");
  const exact = [grant(RUN, sh(["git", "add", `${THERE}/a`], THERE))];
  const asks = (argv: string[], more: Asked = {}) => ({
    tool_name: RUN,
    scopes: [sh(argv, HERE)],
    ...more,
  });
  expect(find(exact, asks(["git", "add", `${HERE}/a`]))).toBe("grant_1");
  expect(find(exact, asks(["git", "add", `${THERE}/a`]))).toBeUndefined();
  expect(find(exact, asks(["git", "add", "b"]))).toBeUndefined();
  const begins = [grant(RUN, sh(["git", "add"], THERE, "argv_prefix"))];
  const offered = {
    scope_choices: [{ id: "prefix", scopes: [sh(["git", "add"], HERE, "argv_prefix")] }],
  };
  expect(find(begins, asks(["git", "add", "b"], offered))).toBe("grant_1");
  // Where a rule or a hook asks, these very arguments have to have been seen.
  expect(find(begins, asks(["git", "add", "b"]))).toBeUndefined();
});

test("a program is covered with any arguments, or with these", () => {
  verifies("PERM-5");
  const program = (cwd: string): GrantScope => ({
    kind: "executable",
    executable: "/usr/bin/git",
    cwd,
  });
  const asked = {
    tool_name: RUN,
    scopes: [program(HERE)],
    scope_choices: [{ id: "exact", scopes: [sh(["git", "status"], HERE)] }],
  };
  expect(find([grant(RUN, program(THERE))], asked)).toBe("grant_1");
  expect(find([grant(RUN, sh(["git", "status"], THERE))], asked)).toBe("grant_1");
  expect(find([grant(RUN, sh(["git", "log"], THERE))], asked)).toBeUndefined();
});

test("a command that leads upwards from the project means another place on the worker", () => {
  verifies("PERM-12");
  const upwards = ["git", "add", "../secret"];
  const asked = { tool_name: RUN, scopes: [sh(upwards, HERE)] };
  expect(find([grant(RUN, sh(upwards, THERE))], asked)).toBeUndefined();
  const same = { ...asked, project: THERE, scopes: [sh(upwards, THERE)] };
  expect(find([grant(RUN, sh(upwards, THERE))], same)).toBe("grant_1");
});
