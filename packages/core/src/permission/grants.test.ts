import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import type { Resource } from "../tool/index.ts";
import type { PermissionFacts } from "./facts.ts";
import {
  type GrantScope,
  type ToolGrant,
  createGrants,
  describeScopes,
  scopeKey,
} from "./grants.ts";
import { compilePolicy } from "./policy.ts";
import { findScopes } from "./scopes-of-call.ts";

const numRuns = process.env["SOONG_TEST_FULL"] === "1" ? 20_000 : 2_000;

describe("the book of grants", () => {
  const inSrc: GrantScope = { kind: "directory", path: "/p/src", access: "write" };
  const inDoc: GrantScope = { kind: "directory", path: "/p/doc", access: "write" };

  test("covers a call only when every scope of it was granted to this tool", () => {
    verifies("PERM-5");
    const grants = createGrants();
    grants.add(grant("g1", "code.write_file", [inSrc]));
    expect(grants.covers("code.write_file", [inSrc])?.grant_id).toBe("g1");
    expect(grants.covers("code.edit_file", [inSrc])).toBeUndefined();
    expect(grants.covers("code.write_file", [inSrc, inDoc])).toBeUndefined();
    grants.add(grant("g2", "code.write_file", [inDoc]));
    expect(grants.covers("code.write_file", [inSrc, inDoc])).toBeDefined();
    expect(grants.covers("code.write_file", [])).toBeUndefined();
  });

  test("lists what was granted and takes it back", () => {
    verifies("PERM-5");
    const grants = createGrants();
    grants.add(grant("g1", "code.write_file", [inSrc]));
    grants.add(grant("g2", "code.write_file", [inSrc, inDoc]));
    expect(grants.list().map((each) => each.grant_id)).toEqual(["g1", "g2"]);
    expect(grants.revoke("g1")?.grant_id).toBe("g1");
    expect(grants.covers("code.write_file", [inSrc])?.grant_id).toBe("g2");
    expect(grants.revoke("g2")?.grant_id).toBe("g2");
    expect(grants.covers("code.write_file", [inSrc])).toBeUndefined();
    expect(grants.revoke("g2")).toBeUndefined();
    expect(grants.list()).toEqual([]);
  });

  test("keeps its own copy", () => {
    verifies("PERM-5");
    const grants = createGrants();
    const scope: GrantScope = {
      kind: "argv",
      executable: "/bin/sh",
      argv: ["sh", "-c", "ls"],
      cwd: "/p",
    };
    const given = grant("g1", "code.run_command", [scope]);
    grants.add(given);
    scope.argv[2] = "rm -rf /";
    expect(grants.covers("code.run_command", [scope])).toBeUndefined();
    expect(grants.list()[0]?.scopes).toEqual([{ ...scope, argv: ["sh", "-c", "ls"] }]);
  });

  test("a grant under an id already in the book replaces the first", () => {
    verifies("PERM-5");
    const grants = createGrants();
    grants.add(grant("g1", "code.write_file", [inSrc]));
    grants.add(grant("g1", "code.write_file", [inDoc]));
    expect(grants.covers("code.write_file", [inSrc])).toBeUndefined();
    expect(grants.list()).toHaveLength(1);
  });

  test("answers as a plain list of grants would, after any additions and revocations", () => {
    verifies("PERM-5");
    const scopes: GrantScope[] = [inSrc, inDoc, { kind: "host", host: "a.org" }];
    const someScopes = fc.subarray(scopes);
    const tool = fc.constantFrom("a.x", "a.y");
    const id = fc.constantFrom("1", "2", "3");
    const step = fc.oneof(
      fc.record({ do: fc.constant("add" as const), id, tool, scopes: someScopes }),
      fc.record({ do: fc.constant("revoke" as const), id }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), tool, someScopes, (steps, asked, wanted) => {
        const grants = createGrants();
        const plain = new Map<string, ToolGrant>();
        for (const each of steps) {
          plain.delete(each.id);
          if (each.do === "add") {
            plain.set(each.id, grant(each.id, each.tool, each.scopes));
            grants.add(grant(each.id, each.tool, each.scopes));
          } else grants.revoke(each.id);
        }
        const expected =
          wanted.length > 0 &&
          wanted.every((scope) =>
            [...plain.values()].some(
              (one) => one.tool_name === asked && one.scopes.includes(scope),
            ),
          );
        expect(grants.covers(asked, wanted) !== undefined).toBe(expected);
        expect(grants.list()).toEqual([...plain.values()]);
      }),
      { numRuns },
    );
  });
});

describe("scopes", () => {
  test.each<[string, Resource[], GrantScope[]]>([
    [
      "an ordinary file is its directory",
      [{ kind: "path", access: "write", path: "/p/src/a.ts" }],
      [{ kind: "directory", path: "/p/src", access: "write" }],
    ],
    [
      "two files of one directory are one scope",
      [
        { kind: "path", access: "write", path: "/p/src/a.ts" },
        { kind: "path", access: "write", path: "/p/src/b.ts" },
      ],
      [{ kind: "directory", path: "/p/src", access: "write" }],
    ],
    [
      "a file outside is itself",
      [{ kind: "path", access: "write", path: "/elsewhere/a" }],
      [{ kind: "path", path: "/elsewhere/a", access: "write" }],
    ],
    [
      "a secret is itself",
      [{ kind: "path", access: "read", path: "/p/.env" }],
      [{ kind: "path", path: "/p/.env", access: "read" }],
    ],
    [
      "a search is its root",
      [{ kind: "path", access: "search", path: "/usr" }],
      [{ kind: "path", path: "/usr", access: "search" }],
    ],
    [
      "a host is itself",
      [{ kind: "host", host: "API.example.org" }],
      [{ kind: "host", host: "api.example.org" }],
    ],
    [
      "a plain program is itself and its working directory",
      [{ kind: "command", executable: "/bin/ls", argv: ["ls", "-l"], cwd: "/p" }],
      [{ kind: "executable", executable: "/bin/ls", cwd: "/p" }],
    ],
    [
      "an interpreter is its whole argv",
      [
        {
          kind: "command",
          executable: "/usr/bin/python3.11",
          argv: ["python3", "x.py"],
          cwd: "/p",
        },
      ],
      [{ kind: "argv", executable: "/usr/bin/python3.11", argv: ["python3", "x.py"], cwd: "/p" }],
    ],
    [
      "a shell under another name is its whole argv",
      [{ kind: "command", executable: "/opt/multi", argv: ["sh", "-c", "x"], cwd: "/p" }],
      [{ kind: "argv", executable: "/opt/multi", argv: ["sh", "-c", "x"], cwd: "/p" }],
    ],
    [
      "a program the agent may rewrite is its whole argv",
      [{ kind: "command", executable: "/p/build", argv: ["./build"], cwd: "/p" }],
      [{ kind: "argv", executable: "/p/build", argv: ["./build"], cwd: "/p" }],
    ],
    ["a call without targets is its input", [], [{ kind: "input", digest: "sha256:1" }]],
  ])("%s", (_what, resources, expected) => {
    verifies("PERM-5");
    expect(findScopes(policy(), call({ resources }))).toEqual(expected);
  });

  test("of a server's tool are the tool and the hosts that are known", () => {
    verifies("PERM-5");
    const mcp = { source_kind: "mcp", source_id: "git", tool_name: "mcp.git.list.refs" } as const;
    const itself = { kind: "server_tool", server_id: "git", tool_name: "list.refs" };
    expect(findScopes(policy(), call(mcp))).toEqual([itself]);
    expect(findScopes(policy(), call({ ...mcp, hosts: ["a.org"] }))).toEqual([
      { kind: "host", host: "a.org" },
      itself,
    ]);
  });

  test("of a call that may reach an unknown host include its very input", () => {
    verifies("PERM-5");
    const facts = call({
      hosts: "unknown",
      resources: [{ kind: "path", access: "read", path: "/p/a" }],
    });
    expect(findScopes(policy(), facts)).toEqual([
      { kind: "directory", path: "/p", access: "read" },
      { kind: "input", digest: "sha256:1" },
    ]);
    const { input_digest: _none, ...undigested } = facts;
    expect(findScopes(policy(), undigested)).toEqual([]);
  });

  test("are said in a sentence the user can hold us to", () => {
    verifies("PERM-6");
    expect(
      describeScopes("code.write_file", [
        { kind: "directory", path: "/p/src", access: "write" },
        { kind: "path", path: "/x\n/y", access: "read" },
      ]),
    ).toBe(
      'For the rest of the session, "code.write_file" may write files directly in "/p/src"; and read exactly "/x\\n/y".',
    );
    expect(describeScopes("a.b", [])).toBe('"a.b" can only be allowed for this one call.');
    for (const scope of [
      { kind: "host", host: "a.org" },
      { kind: "executable", executable: "/bin/ls", cwd: "/p" },
      { kind: "argv", executable: "/bin/sh", argv: ["sh", "-c", "x y"], cwd: "/p" },
      { kind: "server_tool", server_id: "git", tool_name: "log" },
      { kind: "input", digest: "sha256:1" },
    ] as const) {
      expect(describeScopes("a.b", [scope as GrantScope])).toMatch(/ may .+\.$/);
    }
  });

  test("have equal keys only when they are equal", () => {
    verifies("PERM-5");
    const text = fc.string({
      maxLength: 3,
      unit: fc.constantFrom("a", '"', "\\", ",", "[", "]", "\n", "\ud800"),
    });
    const access = fc.constantFrom(
      "read" as const,
      "list" as const,
      "search" as const,
      "write" as const,
    );
    const anyScope: fc.Arbitrary<GrantScope> = fc.oneof(
      fc.record({
        kind: fc.constantFrom("directory" as const, "path" as const),
        path: text,
        access,
      }),
      fc.record({ kind: fc.constant("host" as const), host: text }),
      fc.record({ kind: fc.constant("executable" as const), executable: text, cwd: text }),
      fc.record({
        kind: fc.constant("argv" as const),
        executable: text,
        argv: fc.array(text, { maxLength: 3 }),
        cwd: text,
      }),
      fc.record({ kind: fc.constant("server_tool" as const), server_id: text, tool_name: text }),
      fc.record({ kind: fc.constant("input" as const), digest: text }),
    );
    fc.assert(
      fc.property(anyScope, anyScope, (a, b) => {
        // Copies, because the generator also makes objects without a prototype.
        expect(scopeKey(a) === scopeKey(b)).toBe(isDeepStrictEqual({ ...a }, { ...b }));
      }),
      { numRuns },
    );
  });
});

function grant(grant_id: string, tool_name: string, scopes: GrantScope[]): ToolGrant {
  return {
    grant_id,
    tool_name,
    scopes,
    session_id: "s",
    granted_by: "user",
    granted_at: "2030-01-01T00:00:00.000Z",
    tool_call_id: "c",
    agent_id: "a",
  };
}

function policy() {
  const made = compilePolicy({ roots: { project: "/p", write: [] }, home: "/h" });
  if (!made.ok) throw new Error(JSON.stringify(made.problems));
  return made.policy;
}

function call(facts: Partial<PermissionFacts>): PermissionFacts {
  return {
    tool_name: "code.some_tool",
    permission: "write",
    tags: [],
    source_kind: "code",
    source_id: "code",
    effects: { read_only: false, concurrency_safe: false, destructive: true, open_world: false },
    resources: [],
    hosts: [],
    input_digest: () => "sha256:1",
    ...facts,
  };
}
