// The facts that no span, event or attribute is made from, and why.

import type { Unmapped } from "../projection/projection.ts";
import type { SpanFactType } from "./span-projection.ts";

const OF_A_TASK =
  "is of a task, which is no operation of a run; the runs that work on it have spans";
const OF_A_SERVER = "is of a server, not of a run";
const TOO_OFTEN = "comes too often, and says nothing about how the call went";

/** By type of fact. */
export const FACTS_WITHOUT_SPAN: Unmapped<SpanFactType> = {
  "session.created": "is the trace itself",
  "tool.validated": "the tool has not started; how long that took is an attribute of its span",
  "tool.queued": "the tool has not started; how long that took is an attribute of its span",
  "tool.progress": TOO_OFTEN,
  "hook.started": "the event of its end has the duration",
  "tool.late": "comes after the span of its call has ended",
  "tool.yielded": "comes after the span of its call has ended",
  "tool.deferred.loaded": "is about definitions of tools, which are part of the next request",
  "grant.revoked": "is of a session, not of a run",
  "artifact.created": "is a reference to content",
  "output.truncated": "is about content",
  "output.redacted": "is about content",
  "context.resolved": "is about content; the request it is for has a span",
  "context.rewound": "is of a session, not of a run",
  "change.undone": "is of a session, not of a run",
  "routing.decided": "is the model of the request that follows, which has a span",
  "memory.candidate": "is part of a call, which has a span",
  "memory.recall.started": "is part of a call, which has a span",
  "memory.recall.skipped": "nothing happened",
  "memory.written": "is in the log of the memory, which has no session",
  "mcp.server.connected": OF_A_SERVER,
  "mcp.server.failed": OF_A_SERVER,
  "mcp.server.tools_changed": OF_A_SERVER,
  "mcp.server.host_refused": OF_A_SERVER,
  "task.created": OF_A_TASK,
  "task.started": OF_A_TASK,
  "task.updated": OF_A_TASK,
  "task.blocked": OF_A_TASK,
  "task.unblocked": OF_A_TASK,
  "task.completed": OF_A_TASK,
  "task.failed": OF_A_TASK,
  "task.cancelled": OF_A_TASK,
  "task.step.claimed": OF_A_TASK,
  "task.step.dispatched": OF_A_TASK,
  "task.step.started": OF_A_TASK,
  "task.step.completed": OF_A_TASK,
  "task.step.failed": OF_A_TASK,
  "task.step.blocked": OF_A_TASK,
  "task.step.cancelled": OF_A_TASK,
  "task.step.unblocked": OF_A_TASK,
  "task.step.retried": OF_A_TASK,
  "task.step.released": OF_A_TASK,
  "task.step.lease_lost": OF_A_TASK,
  "task.step.not_released": OF_A_TASK,
};
