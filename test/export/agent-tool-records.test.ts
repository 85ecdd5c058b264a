import { createKernel, createMemoryJournal, defineTool } from "@soong/core";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import {
  CALL,
  endedAs,
  eventsOf,
  expectSound,
  exportRecords,
  lastInvocation,
  recordsOf,
  readRecords,
  RUN,
  STARTED,
  writeFacts,
  type Written,
} from "./agent-tool-stage.ts";

const QUEUED = STARTED.slice(0, 3);
const DONE: Written = ["tool.completed", endedAs("succeeded")];

function exportCall(list: readonly Written[]) {
  const records = readRecords(exportRecords(writeFacts([...RUN, ...list])));
  expectSound(records);
  return records;
}

test("the settings of a run are its scheduler policy and the profiles of its tools", () => {
  const records = exportCall([]);
  expect(recordsOf(records, "tool_scheduler_policy")).toEqual([
    {
      record_type: "tool_scheduler_policy",
      schema_version: "0.2.0",
      scheduler_policy_id: "r/scheduler",
      scope: "turn",
      max_parallel: 4,
      ordering_policy: "preserve_terminal_order",
      yield_policy: "progress_immediate_results_ordered",
      interrupt_behavior: "block",
      sibling_failure_policy: "cancel_dependent",
      context_modifier_policy: "allow_serial_only",
    },
  ]);
  const [permission] = recordsOf(records, "tool_permission_profile");
  expect(permission).toMatchObject({
    risk_level: "medium",
    access_kinds: ["write"],
    write_effects: ["local_persistent"],
    network_scope: "ask",
    approval_required: true,
  });
  const [execution] = recordsOf(records, "tool_execution_profile");
  expect(execution).toMatchObject({
    execution_kind: "embedded_runtime",
    supports_context_modifiers: true,
    timeout_ms: 9000,
    default_timeout_ms: 1000,
  });
});

test.each([
  [{ is_read_only: true, is_open_world: false }, "low", ["none"]],
  [{ is_read_only: true, is_open_world: true }, "medium", ["none"]],
  [{ is_destructive: true, is_open_world: false }, "high", ["local_persistent", "irreversible"]],
  [
    { is_destructive: true, is_open_world: true, capabilities: ["dangerous", "shell"] },
    "critical",
    ["remote_mutation", "irreversible"],
  ],
  [{}, "high", ["remote_mutation", "irreversible"]],
])("the risk of a tool with %j is %s", (about, risk_level, write_effects) => {
  const tools = [{ tool_name: "x.y", state: "loaded", policy: "ask", ...about }];
  const facts = writeFacts([["tool.catalog.resolved", { revision: 1, tools }]]);
  const records = exportRecords(facts);
  expectSound(records);
  expect(recordsOf(records, "tool_permission_profile")).toMatchObject([
    { risk_level, write_effects },
  ]);
});

test.each([
  [{ runtime_owner: "mcp_server" }, "mcp.git.log", "mcp_tool", "mcp_server"],
  [{ runtime_owner: "subagent" }, "agent.explore", "peer_agent_tool", "peer_agent"],
  [{ capabilities: ["shell"] }, "code.run_command", "shell_command", "shell"],
  [{ capabilities: ["filesystem"] }, "code.read_file", "file_operation", "embedded_runtime"],
  [{ runtime_owner: "local" }, "internal.search_tools", "native_tool", "embedded_runtime"],
  [{ runtime_owner: "local" }, "site.deploy", "function", "embedded_runtime"],
])("a tool with %j, %s, is a %s of %s", (about, tool_name, tool_kind, execution_kind) => {
  const tools = [{ tool_name, state: "loaded", policy: "ask", ...about }];
  const records = exportRecords(writeFacts([["tool.catalog.resolved", { revision: 1, tools }]]));
  expectSound(records);
  expect(recordsOf(records, "tool_declaration")).toMatchObject([{ tool_id: tool_name, tool_kind }]);
  expect(recordsOf(records, "tool_execution_profile")).toMatchObject([{ execution_kind }]);
});

test("a catalog is a surface, declarations and interfaces; a tool is declared again if it has changed", () => {
  const [, catalog] = RUN;
  const [, { tools }] = catalog as [string, { tools: Record<string, unknown>[] }];
  const changed = [{ ...tools[0], description: "Echo, twice" }, tools[1]];
  const records = exportCall([
    ["tool.catalog.resolved", { revision: 1, tools }],
    ["tool.catalog.resolved", { revision: 2, base_revision: 1, tools: changed }],
  ]);
  const declared = recordsOf(records, "tool_declaration").map(
    ({ tool_id, description, interface_ref, lifecycle }) =>
      [tool_id, description, interface_ref, lifecycle] as const,
  );
  expect(declared).toEqual([
    ["text.echo", "Echo", "text.echo@1", "available"],
    ["text.later", "Later", "text.later@1", "deferred"],
    ["text.echo", "Echo, twice", "text.echo@2", "available"],
  ]);
  expect(recordsOf(records, "tool_interface")[0]).toMatchObject({
    model_input_schema: { type: "object" },
    schema_visibility: "loaded",
    is_read_only: false,
  });
  expect(recordsOf(records, "tool_surface").at(-1)).toMatchObject({
    surface_id: "r/surface/2",
    loaded_tools: ["text.echo"],
    deferred_tools: ["text.later"],
    role_constraints: { role: "main", mode: "normal" },
    selection_policy: { suggested_tools: ["text.echo"] },
  });
  const surfaces = eventsOf(records).filter((type) => type.startsWith("tool.surface"));
  expect(surfaces).toEqual([
    "tool.surface.created",
    "tool.surface.created",
    "tool.surface.updated",
  ]);
});

test("tools of which the same is said are declared one by one; blocked and excluded ones keep their reasons", () => {
  const about = { state: "deferred", policy: "ask", runtime_owner: "mcp_server" };
  const groups = [{ ...about, metadata_ref: "artifact:a", names: ["mcp.a.x", "mcp.a.y"] }];
  const tools = [
    { tool_name: "a.blocked", state: "excluded", reason: "policy_blocked", detail: "a rule" },
    { tool_name: "a.absent", state: "excluded", reason: "setup_required" },
    { tool_name: "a.broken", state: "excluded", reason: "server_failed" },
  ];
  const facts = writeFacts([["tool.catalog.resolved", { revision: 1, tools, groups }]]);
  const records = readRecords(exportRecords(facts));
  expectSound(records);
  expect(recordsOf(records, "deferred_tool_ref")).toMatchObject([
    { tool_id: "mcp.a.x", namespace: "mcp.a", native_ref: { metadata_ref: "artifact:a#mcp.a.x" } },
    { tool_id: "mcp.a.y" },
  ]);
  const [surface] = recordsOf(records, "tool_surface");
  expect(surface?.blocked_tools).toEqual([
    { tool_id: "a.blocked", reason: "policy_blocked", detail: "a rule" },
  ]);
  expect(surface?.excluded_tools.map(({ reason }) => reason)).toEqual([
    "setup_required",
    "server_failed",
  ]);
  const lifecycles = recordsOf(records, "tool_declaration").map(({ lifecycle }) => lifecycle);
  expect(lifecycles).toEqual(["available", "requires_setup", "disabled", "deferred", "deferred"]);
});

test("a deferred tool is discovered, loaded, and on the next surface", async () => {
  const journal = createMemoryJournal();
  const later = defineTool({
    name: "text.later",
    description: "A tool that is seldom needed: translates a text",
    input_schema: { type: "object", properties: { text: { type: "string" } } },
    permission: "readonly",
    defer: true,
    handler: () => "done",
  });
  const run = await createKernel({ tools: [later] }).startRun({ journal });
  await run.call("internal.search_tools", { query: "select:text.later" });
  await run.tools();
  await run.call("text.later", { text: "hi" });
  const records = readRecords(exportRecords(journal.facts));
  expectSound(records);
  const states = recordsOf(records, "deferred_tool_ref").map(({ loading_state }) => loading_state);
  expect(states).toEqual(["deferred", "loaded"]);
  const told = eventsOf(records).filter((type) => /deferred|surface/u.test(type));
  expect(told).toEqual([
    "tool.deferred.discovered",
    "tool.surface.created",
    "tool.deferred.loaded",
    "tool.surface.updated",
  ]);
  const invocation = lastInvocation(records);
  expect(invocation.tool_id).toBe("text.later");
  expect(invocation.surface_id).toBe(recordsOf(records, "tool_surface").at(-1)?.surface_id);
  expect(recordsOf(records, "tool_interface").at(-1)?.model_input_schema).toBeDefined();
});

test("an invocation keeps its inputs apart, and names the provider's id and the outer call", () => {
  verifies("EXPORT-1");
  const hook = { hook: "up", event: "PreToolUse" };
  const records = exportCall([
    [
      "tool.requested",
      { index: 0, native_call_id: "n", within_tool_call_id: "c", model_input: "{}" },
    ],
    ...QUEUED.slice(1),
    ["hook.started", hook],
    ["hook.completed", { ...hook, duration_ms: 1, outcome: "context, input" }],
    [
      "input.mutated",
      {
        source: "hook:up",
        reason: "why",
        changed_fields: ["text"],
        observable_input: { text: "A" },
      },
    ],
    ["input.mutated", { source: "schema", reason: "defaults", observable_input: { text: "B" } }],
    ["permission.evaluated", { decision: "allow", chain: [], permission_input: { text: "B" } }],
    ["tool.started", { call_input: { text: "B", secret: "[redacted]" } }],
    DONE,
  ]);
  expect(lastInvocation(records)).toMatchObject({
    native_call_id: "n",
    parent_invocation_id: CALL,
    model_input: "{}",
    model_input_ref: `${CALL}/input/model`,
    observable_input: { text: "B" },
    observable_input_ref: `${CALL}/input/2`,
    permission_input: { text: "B" },
    permission_input_ref: `${CALL}/input/2`,
    call_input: { text: "B", secret: "[redacted]" },
    call_input_ref: `${CALL}/input/2`,
    hook_refs: [`${CALL}/hook/1`],
  });
  expect(recordsOf(records, "tool_input_mutation")).toMatchObject([
    {
      source_type: "hook",
      source_ref: `${CALL}/hook/1`,
      from_input_ref: `${CALL}/input/model`,
      to_input_ref: `${CALL}/input/1`,
      to_input: { text: "A" },
      changed_fields: ["text"],
    },
    { source_type: "runtime", from_input_ref: `${CALL}/input/1`, to_input_ref: `${CALL}/input/2` },
  ]);
  expect(recordsOf(records, "tool_hook")).toMatchObject([
    {
      hook_name: "up",
      hook_event: "pre_tool_use",
      outputs: [{ type: "additional_context" }, { type: "updated_input" }],
    },
  ]);
});

test("hooks before, after and around a question are runs of their own, also those that fail or never end", () => {
  const records = exportCall([
    ...QUEUED,
    ["hook.started", { hook: "a", event: "PreToolUse" }],
    ["hook.completed", { hook: "a", event: "PreToolUse", outcome: "ask" }],
    ["permission.evaluated", { decision: "ask", chain: [] }],
    ["hook.started", { hook: "b", event: "PermissionRequest" }],
    ["hook.completed", { hook: "b", event: "PermissionRequest", outcome: "pass" }],
    ["permission.requested", { request: { request_id: "q" } }],
    ["hook.started", { hook: "n", event: "Notification" }],
    ["permission.resolved", { request_id: "q", decision: "allow_once" }],
    ["hook.completed", { hook: "n", event: "Notification", outcome: "pass" }],
    ["tool.started", {}],
    ["hook.started", { hook: "c", event: "PostToolUse" }],
    ["hook.failed", { hook: "c", event: "PostToolUse", message: "broke" }],
    ["hook.completed", { hook: "e", event: "PostToolUseFailure", outcome: "replace" }],
    ["hook.started", { hook: "d", event: "PostToolUse" }],
    DONE,
  ]);
  const hooks = recordsOf(records, "tool_hook");
  expect(hooks.map(({ hook_name, hook_event }) => [hook_name, hook_event])).toEqual([
    ["a", "pre_tool_use"],
    ["b", "permission_request"],
    ["c", "post_tool_use"],
    ["e", "post_tool_use_failure"],
    ["d", "post_tool_use"],
  ]);
  expect(hooks[0]?.permission_result).toEqual({ behavior: "ask" });
  expect(hooks[1]?.permission_result).toEqual({ behavior: "passthrough" });
  expect(hooks[2]?.outputs).toEqual([{ type: "message", message: "broke" }]);
  expect(hooks[3]?.outputs).toEqual([{ type: "updated_output" }]);
  expect(hooks[4]?.ended_at).toBeUndefined();
  const told = eventsOf(records, CALL).filter((type) => type.startsWith("tool.hook"));
  expect(told).toEqual([
    "tool.hook.pre.started",
    "tool.hook.pre.completed",
    "tool.hook.pre.started",
    "tool.hook.pre.completed",
    "tool.hook.post.started",
    "tool.hook.post.completed",
    "tool.hook.post.completed",
    "tool.hook.post.started",
  ]);
});

test("a hook that denies is a decision", () => {
  const records = exportCall([
    ...QUEUED,
    ["hook.denied", { hook: "guard", reason: "not that word" }],
    ["tool.denied", endedAs("denied", { error: { error_class: "hook_blocked" } })],
  ]);
  expect(recordsOf(records, "tool_permission_decision")).toMatchObject([
    { behavior: "deny", reason: { type: "hook", hook_name: "guard", message: "not that word" } },
  ]);
  expect(lastInvocation(records).status).toBe("blocked");
});

test("an approval is two decisions with a question between them", () => {
  const rule = { tool: "text.echo", decision: "allow" };
  const records = exportCall([
    ...QUEUED,
    ["permission.evaluated", { decision: "ask", reason: "Writes ask.", chain: [] }],
    ["permission.requested", { request: { request_id: "q", always_rule: rule } }],
    [
      "permission.resolved",
      { request_id: "q", decision: "allow_for_session", reason: "fine", answered_by: "me" },
    ],
    ["tool.started", {}],
    DONE,
  ]);
  expect(recordsOf(records, "tool_permission_decision")).toMatchObject([
    { behavior: "ask", mode: "normal", reason: { message: "Writes ask." } },
    {
      behavior: "allow",
      accept_feedback: "fine",
      reason: {
        type: "permission_prompt_tool",
        answer: "allow_for_session",
        answered_by: "me",
        request_id: "q",
      },
    },
  ]);
  const [question] = recordsOf(records, "tool_event").filter(
    ({ event_type }) => event_type === "tool.permission.requested",
  );
  expect(question?.data).toMatchObject({ suggested_updates: [{ type: "add_rule", rule }] });
  const statuses = lastInvocation(records).status_transitions.map(({ status }) => status);
  expect(statuses).toEqual([
    "planned",
    "selected",
    "arguments_ready",
    "queued",
    "awaiting_approval",
    "approved",
    "running",
    "succeeded",
  ]);
});

test.each([
  ["runtime", {}, "safety_check", undefined],
  ["rules", { file: "config.toml", line: 4 }, "rule", undefined],
  ["rules", { flag: "--allow" }, "rule", "cli_arg"],
  ["mode", {}, "mode", undefined],
  ["defaults", {}, "policy", undefined],
  ["grant", {}, "rule", "session"],
  ["skill", {}, "other", undefined],
])(
  "a decision of the layer %s with the origin %j is of the type %s",
  (layer, origin, type, source) => {
    const chain = [{ layer: "mode" }, { layer, rule: "r1", origin, decisive: true }];
    const resources = [{ kind: "path", path: "/etc/passwd" }];
    const records = exportCall([
      ...QUEUED,
      ["permission.evaluated", { decision: "deny", reason: "why", chain, resources }],
      ["tool.denied", endedAs("denied", { error: { error_class: "policy_blocked" } })],
    ]);
    const [decision] = recordsOf(records, "tool_permission_decision");
    expect(decision).toMatchObject({
      reason: { type, rule_ref: "r1", origin },
      rule_refs: ["r1"],
      blocked_path: "/etc/passwd",
    });
    expect(decision?.source).toBe(source);
  },
);

test("progress is counted for each call, and says how far it is", () => {
  const records = exportCall([
    ...STARTED,
    ["tool.progress", { message: "half", progress: 1, total: 2, data: { lines: 3 } }],
    ["tool.progress", { progress: 5, total: 2 }],
    ["tool.progress", { progress: 5, total: 0 }],
    ["tool.waiting", { waits: true }],
    ["tool.waiting", { waits: false }],
    DONE,
  ]);
  const progress = recordsOf(records, "tool_progress");
  expect(progress.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);
  expect(progress.map(({ percent }) => percent)).toEqual([
    50,
    100,
    undefined,
    undefined,
    undefined,
  ]);
  expect(progress[0]).toMatchObject({ message: "half", elapsed_ms: 1, data: { lines: 3 } });
  expect(progress.map(({ status }) => status).slice(3)).toEqual([
    "waiting_for_permission",
    "running",
  ]);
});

const ARTIFACT = { artifact_id: "art", media_type: "text/plain", size: 100, sha256: "ab" };
const REFERENCE = {
  artifact_id: "art",
  media_type: "text/plain",
  size_bytes: 100,
  digest: "sha256:ab",
};
const AS_ARTIFACT = {
  artifacts: [ARTIFACT],
  content: [{ type: "artifact_ref", artifact_id: "art" }],
};
const CUT = { original_chars: 100, kept_chars: 10 };

test.each([
  ["inline", endedAs("succeeded"), undefined],
  ["redact", endedAs("succeeded", {}, { redactions: 2 }), undefined],
  [
    "preview_and_persist",
    endedAs("succeeded", { artifacts: [ARTIFACT] }, { truncation: { ...CUT, artifact_id: "art" } }),
    REFERENCE,
  ],
  ["drop_with_reason", endedAs("succeeded", {}, { truncation: CUT }), undefined],
  ["drop_with_reason", endedAs("discarded"), undefined],
  ["ref_only", endedAs("succeeded", AS_ARTIFACT), REFERENCE],
])("a result is persisted as %s", (strategy, end, persisted_ref) => {
  const records = exportCall([...STARTED, ["tool.completed", end]]);
  const [persistence, ...more] = recordsOf(records, "tool_result_persistence");
  expect(more).toEqual([]);
  expect(persistence).toMatchObject({ strategy, threshold: { max_inline_bytes: 64 } });
  expect(persistence?.persisted_ref).toEqual(persisted_ref);
  const told = eventsOf(records, CALL);
  expect(told.includes("tool.result.persisted")).toBe(persisted_ref !== undefined);
  expect(told.includes("tool.result.redacted")).toBe(strategy === "redact");
  expect(told.filter((type) => type === "tool.result.created")).toHaveLength(1);
});

test("what was cut and redacted is also known from facts of their own", () => {
  const records = exportCall([
    ...STARTED,
    ["artifact.created", ARTIFACT],
    ["output.truncated", { ...CUT, artifact_id: "art" }],
    ["output.redacted", { replacements: 1 }],
    DONE,
  ]);
  expect(recordsOf(records, "tool_result_persistence")).toMatchObject([
    { strategy: "preview_and_persist", redaction_state: "redacted", preview_chars: 10 },
  ]);
  expect(lastInvocation(records).artifact_refs).toEqual([REFERENCE]);
});

test("a cut result is kept where its facts say, also if they have only an id", () => {
  const end = endedAs("succeeded", {}, { truncation: { ...CUT, artifact_id: "old" } });
  const records = exportCall([...STARTED, ["tool.completed", end]]);
  expect(recordsOf(records, "tool_result_persistence")).toMatchObject([
    { strategy: "preview_and_persist", persisted_ref: { artifact_id: "old" } },
  ]);
});

test("blocks have the names of the standard, and what they refer to is listed", () => {
  const content = [
    { type: "text", text: "a" },
    { type: "json", json: { b: null } },
    { type: "resource", uri: "file:///c", text: "c" },
    { type: "resource_link", uri: "file:///d", name: "d" },
    null,
  ];
  const records = exportCall([
    ...STARTED,
    ["tool.completed", endedAs("succeeded", { content, data: { b: 1 } })],
  ]);
  expect(recordsOf(records, "tool_result")).toMatchObject([
    {
      content: [
        { type: "text", text: "a" },
        { type: "structured_content", structured_content: { b: null } },
        { type: "embedded_resource", uri: "file:///c", text: "c" },
        { type: "resource_link", uri: "file:///d", name: "d" },
      ],
      structured_content: { b: 1 },
      resource_refs: [{ uri: "file:///c" }, { uri: "file:///d", name: "d" }],
      telemetry_refs: [{ tool_name: "text.echo", tool_call_id: "c", duration_ms: 3 }],
    },
  ]);
});

test("how a command ran is an execution profile of its call, and what its sandbox refused is evidence", () => {
  const records = exportCall([
    ...STARTED,
    [
      "sandbox.applied",
      { backend: "bubblewrap", roots: [], masked: ["/a"], masked_more: 2, network: "closed" },
    ],
    ["sandbox.violation", { kind: "write", detail: "/etc", certain: false }],
    DONE,
  ]);
  expect(recordsOf(records, "tool_execution_profile").at(-1)).toMatchObject({
    execution_profile_id: `${CALL}/execution`,
    sandboxed: true,
    sandbox_profile: "bubblewrap",
    sandbox: { network: "closed", masked_paths: 3 },
  });
  expect(lastInvocation(records)).toMatchObject({
    execution_profile_ref: `${CALL}/execution`,
    evidence_refs: ["s/f9", "s/f10"],
  });
  const without = exportCall([...STARTED, ["sandbox.missing", { why: "no bubblewrap" }], DONE]);
  expect(recordsOf(without, "tool_execution_profile").at(-1)).toMatchObject({ sandboxed: false });
});

test("a journal without a catalog, and one that lacks all that is optional, are exported", () => {
  const bare: Written[] = [
    ["tool.requested", { index: 0 }],
    ["permission.evaluated", { decision: "allow" }],
    ["tool.started"],
    ["tool.completed", { result: { status: "succeeded", is_error: false } }],
  ];
  const records = readRecords(exportRecords(writeFacts(bare)));
  expectSound(records);
  expect(recordsOf(records, "tool_declaration")).toMatchObject([
    { tool_id: "text.echo", description: "" },
  ]);
  expect(lastInvocation(records)).toMatchObject({ tool_id: "text.echo", status: "succeeded" });
  expect(JSON.stringify(records)).not.toContain("null");
});

test("unknown types of facts, and what is no fact, give no record", () => {
  const projection = writeFacts([...RUN, ["tool.thought" as "tool.late", {}]]);
  const things = [...projection, null, 7, "x", [], {}] as typeof projection;
  expect(exportRecords(things)).toEqual(exportRecords(writeFacts(RUN)));
});

test("the time of a record is that of its fact, or of the one before where that is none", () => {
  const [first, ...rest] = writeFacts([...RUN, ...STARTED, DONE]);
  const records = exportRecords([first!, ...rest.map((fact) => ({ ...fact, time: "yesterday" }))]);
  expectSound(records);
  expect(new Set(recordsOf(records, "tool_event").map(({ time }) => time))).toEqual(
    new Set([first!.time]),
  );
});
