// What calls leave behind and what bounds them: artifacts, cut and redacted output, the sandbox, servers, errors.

import { invocationId } from "../projection/invocation-id.ts";
import type { FactMappers } from "./event-writer.ts";
import { readFlag, readNumber, readText, readTexts } from "../projection/read-fields.ts";

export const OUTPUT_EVENTS = {
  "artifact.created"(data, events) {
    const artifactId = readText(data.artifact_id);
    events.add("artifact.changed", {
      artifactId,
      status: "completed",
      outputRef: artifactId && `artifact:${artifactId}`,
      payload: {
        change: "created",
        mediaType: readText(data.media_type),
        size: readNumber(data.size),
        sha256: readText(data.sha256),
        name: readText(data.name),
        retention: readText(data.retention),
      },
    });
  },

  "output.truncated"(data, events, fact) {
    const artifactId = readText(data.artifact_id);
    const outputRef = artifactId && `artifact:${artifactId}`;
    const toolName = readText(fact.tool_name);
    const output = {
      originalChars: readNumber(data.original_chars),
      keptChars: readNumber(data.kept_chars),
      truncated: true,
    };
    const payload = { toolName };
    if (artifactId !== undefined) {
      const refs = { artifactIds: [artifactId] };
      events.add("output.spilled", { artifactId, outputRef, output, refs, payload });
    }
    events.add("output.truncated", { outputRef, output, payload });
  },
  "output.redacted"(data, events, fact) {
    const output = { redactions: readNumber(data.replacements) };
    events.add("output.redacted", { output, payload: { toolName: readText(fact.tool_name) } });
  },

  "sandbox.applied"(data, events, fact) {
    events.add("sandbox.applied", {
      sandboxProfile: {
        mode: "enforced",
        backend: readText(data.backend),
        writeRoots: readTexts(data.roots),
        maskedPaths: readTexts(data.masked),
        maskedMore: readNumber(data.masked_more),
        network: data.network,
      },
      payload: { toolName: readText(fact.tool_name) },
    });
  },
  "sandbox.missing"(data, events, fact) {
    events.add("runtime.warning", {
      payload: {
        code: "sandbox_missing",
        message: "A command ran without a sandbox.",
        reason: readText(data.why),
        toolName: readText(fact.tool_name),
      },
    });
  },
  "sandbox.violation"(data, events, fact) {
    const statusReason = readText(data.detail);
    events.add("sandbox.violation", {
      statusReason,
      payload: {
        boundary: readText(data.kind),
        detail: statusReason,
        certain: readFlag(data.certain),
        toolName: readText(fact.tool_name),
      },
    });
  },

  "mcp.server.failed"(data, events) {
    events.add("runtime.warning", {
      payload: {
        code: "mcp_server_failed",
        serverId: readText(data.server_id),
        reason: readText(data.reason),
        message: readText(data.message),
        tools: readNumber(data.tools),
      },
    });
  },
  "mcp.server.host_refused"(data, events) {
    const statusReason = readText(data.why);
    events.add("sandbox.violation", {
      statusReason,
      payload: {
        boundary: "host",
        detail: readText(data.host),
        port: readNumber(data.port),
        certain: true,
        serverId: readText(data.server_id),
      },
    });
  },
  "mcp.server.tools_changed"(data, events) {
    events.add("session.updated", {
      phase: "tool_source_changed",
      payload: {
        serverId: readText(data.server_id),
        tools: readNumber(data.tools),
        added: readTexts(data.added),
        removed: readTexts(data.removed),
        changed: readTexts(data.changed),
      },
    });
  },
  "mcp.server.connected"(data, events) {
    events.add("session.updated", {
      phase: "tool_source_connected",
      payload: {
        serverId: readText(data.server_id),
        protocolVersion: readText(data.protocol_version),
        tools: readNumber(data.tools),
        excluded: readNumber(data.excluded),
      },
    });
  },
  /** Of a call of this session, where it is one. */
  "mcp.server.host_request"(data, events) {
    const { run_id, tool_call_id } = data;
    const call = { run_id: readText(run_id), tool_call_id: readText(tool_call_id) };
    const id = invocationId(call);
    const isOpen = events.open.findCall(id) !== undefined;
    events.add("run.status", {
      turnId: isOpen ? call.run_id : undefined,
      runId: isOpen ? call.run_id : undefined,
      toolCallId: isOpen ? id : undefined,
      phase: "host_request",
      payload: {
        title: "A server requested something of its host.",
        serverId: readText(data.server_id),
        toolName: readText(data.tool_name),
        ofToolCallId: id,
        method: readText(data.method),
        outcome: readText(data.outcome),
        detail: readText(data.message) ?? readText(data.preview),
      },
    });
  },

  error(data, events, fact) {
    const type = fact.level === "warn" ? "runtime.warning" : "runtime.error";
    events.add(type, {
      statusReason: readText(data.message),
      payload: {
        code: readText(data.code),
        message: readText(data.message),
        toolName: readText(data.tool_name) ?? readText(fact.tool_name),
        path: readText(data.path),
        origin: readText(data.origin),
        ofTurnId: readText(data.of_run),
      },
    });
  },
} satisfies FactMappers;
