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
  RUN,
  STARTED,
  writeFacts,
  type Written,
} from "./agent-tool-stage.ts";

interface Ending {
  readonly name: string;
  readonly end: readonly Written[];
  /** The facts before its end. Default: it was started. */
  readonly after?: readonly Written[];
  readonly result: string;
  readonly status: string;
  readonly event: string;
  readonly error_class?: string;
}

const REQUESTED = STARTED.slice(0, 1);
const QUEUED = STARTED.slice(0, 3);
const failedWith = (error_class: string, code = "code"): object => ({
  error: { code, error_class, message: "Why.", retryable: false, recovery: "none" },
});

const ENDINGS: readonly Ending[] = [
  {
    name: "succeeded",
    end: [["tool.completed", endedAs("succeeded")]],
    result: "succeeded",
    status: "succeeded",
    event: "succeeded",
  },
  {
    name: "partial",
    end: [["tool.completed", endedAs("partial")]],
    result: "partial_succeeded",
    status: "succeeded",
    event: "succeeded",
  },
  {
    name: "failed",
    end: [["tool.failed", endedAs("failed", failedWith("execution_failed"))]],
    result: "failed",
    status: "failed",
    event: "failed",
    error_class: "execution_failed",
  },
  {
    name: "timed_out",
    end: [["tool.failed", endedAs("timed_out", failedWith("timeout"))]],
    result: "timed_out",
    status: "timed_out",
    event: "timed_out",
    error_class: "timeout",
  },
  {
    name: "aborted",
    end: [["tool.failed", endedAs("aborted", failedWith("canceled"), { abort_reason: "enough" })]],
    result: "canceled",
    status: "canceled",
    event: "canceled",
    error_class: "canceled",
  },
  {
    name: "unknown, after a crash",
    end: [["tool.failed", endedAs("unknown", failedWith("execution_failed", "runtime_restarted"))]],
    result: "synthetic_error",
    status: "failed",
    event: "failed",
    error_class: "execution_failed",
  },
  {
    name: "denied by a rule",
    after: [...QUEUED, ["permission.evaluated", { decision: "deny", reason: "A rule." }]],
    end: [["tool.denied", endedAs("denied", failedWith("policy_blocked"))]],
    result: "denied",
    status: "blocked",
    event: "failed",
    error_class: "policy_blocked",
  },
  {
    name: "denied, as no one answered",
    after: [
      ...QUEUED,
      ["permission.evaluated", { decision: "ask", reason: "Writes ask." }],
      ["permission.failed", { request_id: "q", message: "there is no one to ask" }],
    ],
    end: [["tool.denied", endedAs("denied", failedWith("permission_denied"))]],
    result: "denied",
    status: "denied",
    event: "failed",
    error_class: "permission_denied",
  },
  {
    name: "rejected",
    after: [
      ...QUEUED,
      ["permission.evaluated", { decision: "ask", reason: "Writes ask." }],
      ["permission.requested", { request: { request_id: "q" } }],
      ["permission.resolved", { request_id: "q", decision: "deny", reason: "Not now." }],
    ],
    end: [["tool.denied", endedAs("rejected", failedWith("approval_rejected"))]],
    result: "rejected",
    status: "denied",
    event: "failed",
    error_class: "approval_rejected",
  },
  {
    name: "refused before validation",
    after: REQUESTED,
    end: [["tool.failed", endedAs("failed", failedWith("invalid_arguments"))]],
    result: "failed",
    status: "failed",
    event: "failed",
    error_class: "invalid_arguments",
  },
  {
    name: "skipped",
    after: QUEUED,
    end: [["tool.skipped", endedAs("skipped", failedWith("canceled", "skipped_after_failure"))]],
    result: "canceled",
    status: "canceled",
    event: "canceled",
    error_class: "canceled",
  },
  {
    name: "cancelled",
    end: [["tool.cancelled", endedAs("cancelled", failedWith("sibling_canceled"))]],
    result: "canceled",
    status: "canceled",
    event: "canceled",
    error_class: "sibling_canceled",
  },
  {
    name: "discarded",
    end: [
      [
        "tool.discarded",
        endedAs("discarded", failedWith("streaming_fallback_discarded"), {
          discarded_status: "succeeded",
        }),
      ],
    ],
    result: "discarded",
    status: "canceled",
    event: "canceled",
    error_class: "streaming_fallback_discarded",
  },
  {
    name: "too large",
    end: [["tool.failed", endedAs("failed", failedWith("result_too_large"))]],
    result: "too_large",
    status: "failed",
    event: "failed",
    error_class: "result_too_large",
  },
  {
    name: "redacted",
    end: [["tool.failed", endedAs("failed", failedWith("result_redacted"))]],
    result: "redacted",
    status: "failed",
    event: "failed",
    error_class: "result_redacted",
  },
  {
    name: "left open while running",
    end: [],
    result: "synthetic_error",
    status: "failed",
    event: "failed",
    error_class: "execution_failed",
  },
  {
    name: "left open before its start",
    after: QUEUED,
    end: [],
    result: "canceled",
    status: "canceled",
    event: "canceled",
    error_class: "canceled",
  },
];

test.each(ENDINGS)("a call that is $name has one result and one end", (ending) => {
  verifies("EXPORT-1");
  const { end, after = STARTED, result, status, event, error_class } = ending;
  const records = exportRecords(writeFacts([...RUN, ...after, ...end]));
  expectSound(records);
  const [made, ...more] = recordsOf(records, "tool_result");
  expect(more).toEqual([]);
  expect(made).toMatchObject({ invocation_id: CALL, status: result });
  expect(made?.is_error).toBe(error_class !== undefined);
  expect(made?.error?.error_class).toBe(error_class);
  const invocation = lastInvocation(records);
  expect(invocation.status).toBe(status);
  expect(invocation.status_transitions.at(-1)?.status).toBe(status);
  expect(invocation.ended_at).toBeDefined();
  expect(eventsOf(records, CALL).at(-1)).toBe(`tool.invocation.${event}`);
});

test("a start is where execution began, not where the model asked", () => {
  verifies("EXPORT-2");
  const started = exportRecords(
    writeFacts([...RUN, ...STARTED, ["tool.completed", endedAs("succeeded")]]),
  );
  const events = eventsOf(started, CALL);
  expect(events.indexOf("tool.invocation.started")).toBeGreaterThan(
    events.indexOf("tool.permission.decided"),
  );
  const asked = exportRecords(writeFacts([...RUN, ...QUEUED]));
  expect(eventsOf(asked, CALL)).toContain("tool.invocation.planned");
  expect(eventsOf(asked, CALL)).not.toContain("tool.invocation.started");
  expect(lastInvocation(asked).started_at).toBeUndefined();
});

test("a tool that no one knows has the id that it was requested by", () => {
  const facts = writeFacts(
    [
      ...RUN,
      ["tool.requested", { index: 0, surface_revision: 1, model_input: "{}" }],
      ["tool.denied", endedAs("denied", failedWith("unknown_tool"))],
    ],
    { tool_name: "text.nothing" },
  );
  const records = exportRecords(facts);
  expectSound(records);
  expect(lastInvocation(records)).toMatchObject({
    tool_id: "unknown:text.nothing",
    status: "failed",
  });
  expect(eventsOf(records, CALL)).not.toContain("tool.invocation.selected");
});

test("a call that a failed one cancelled names it", () => {
  const end = { ...endedAs("cancelled", failedWith("sibling_canceled")), cancelled_by: "b" };
  const list: Written[] = [...RUN, ...STARTED, ["tool.cancelled", end]];
  const other: Written[] = [...STARTED, ["tool.failed", endedAs("failed")]];
  const records = exportRecords([
    ...writeFacts(list),
    ...writeFacts(other).map((fact, i) => ({
      ...fact,
      tool_call_id: "b",
      seq: 100 + i,
      id: `f${100 + i}`,
    })),
  ]);
  expectSound(records);
  const [cancelled] = recordsOf(records, "tool_result");
  expect(cancelled?.error?.sibling_invocation_id).toBe("r/b");
});

test("a terminal fact without a result ends its call as its type says", () => {
  const types = ["completed", "failed", "denied", "skipped", "cancelled", "discarded"] as const;
  const statuses = types.map((type) => {
    const records = exportRecords(writeFacts([...RUN, ...QUEUED, [`tool.${type}`]]));
    expectSound(records);
    return recordsOf(records, "tool_result")[0]?.status;
  });
  expect(statuses).toEqual(["succeeded", "failed", "denied", "canceled", "canceled", "discarded"]);
});

test("what comes after the end of a call changes nothing", () => {
  const list: Written[] = [
    ...RUN,
    ...STARTED,
    ["tool.completed", endedAs("succeeded")],
    ["tool.progress", { message: "late" }],
    ["tool.late", { how: "returned" }],
    ["tool.failed", endedAs("failed")],
    ["tool.requested", { index: 0 }],
    ["tool.yielded", { status: "succeeded" }],
  ];
  const records = exportRecords(writeFacts(list));
  expectSound(records);
  expect(recordsOf(records, "tool_result")).toHaveLength(1);
  expect(eventsOf(records, CALL).slice(-2)).toEqual([
    "tool.invocation.succeeded",
    "tool.invocation.yielded",
  ]);
});

test("a call that outlives its run, and one id in two runs, are kept apart", () => {
  const first = writeFacts([...RUN, ...STARTED, ["run.completed"]]);
  const second = writeFacts([...RUN, ...STARTED]).map((fact, i) => ({
    ...fact,
    run_id: "r2",
    seq: 20 + i,
    id: `f${20 + i}`,
  }));
  const end = writeFacts([["tool.completed", endedAs("succeeded")]]);
  const ends = ["r2", "r"].map((run_id, i) => ({
    ...end[0]!,
    run_id,
    seq: 50 + i,
    id: `f${50 + i}`,
  }));
  const records = exportRecords([...first, ...second, ...ends]);
  expectSound(records);
  const ids = recordsOf(records, "tool_result").map(({ invocation_id }) => invocation_id);
  expect(ids).toEqual(["r2/c", "r/c"]);
});
