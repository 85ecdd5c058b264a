// The runs of one client, each begun when it is first needed: one for its tools, and one for what it reads of
// prompts and resources, which no host cuts as it cuts the results of tools.

import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import {
  type ModelProfile,
  type ModelTools,
  type Run,
  type RunOptions,
  RunRefused,
  type Session,
} from "@soong/core";
import { isRelayTool } from "../relay/relay-tools.ts";
import type { MayCall } from "../relay/relay.ts";
import type { McpServers } from "../source/open-mcp-servers.ts";
import type { AnsweringCalls, GatewayBroker } from "./broker.ts";
import { INLINE_LIMIT_BYTES, underOwnNames } from "./list-tools.ts";

export interface GatewayOptions {
  /** What is served: runs are started in it, and its facts watched. */
  readonly session: Pick<Session, "startRun" | "watch">;
  readonly broker: GatewayBroker;
  /** Of every run that is started for a client. */
  readonly run?: Pick<RunOptions, "allowedTools" | "taskDenied" | "mode" | "policy" | "connecting">;
  /** The MCP servers behind the session: waited for before tools are listed, and their prompts and resources served on. */
  readonly servers?: McpServers | undefined;
  /** This server alone, its tools, prompts and resources under their own names. */
  readonly only?: string | undefined;
  /** How the gateway names itself to clients. */
  readonly server: { readonly name: string; readonly version: string };
  /** How long a call stays open for a client that was asked and has to come back with the answer. */
  readonly returnWithinMs?: number;
  /** What went wrong outside of any request: for a log, never for stdout. */
  readonly onError?: (error: Error) => void;
}

export type Through = "tools" | "relay";

export const READ_ARTIFACT = "internal.read_artifact";
/** Hosts wait for a server to begin, some of them only ten seconds in all. */
const READY_MS = 5_000;

export function createClientRuns(parts: GatewayOptions, calls: AnsweringCalls) {
  const { session, broker, run: given = {}, servers, only } = parts;
  const common: RunOptions = { ...given, role: "main", profile: GATEWAY_PROFILE };
  const running = new Map<Through, Promise<Run>>();
  const leaveBroker: (() => void)[] = [];
  const gone = new AbortController();

  return {
    begin,
    /** The tools of a run under the names this client knows them by. */
    async shown(run: Run): Promise<ModelTools> {
      const tools = await run.tools();
      return underOwnNames(tools, only);
    },
    ready,
    /** Whether the one server that is served answers, and lists none: no run can have its tools. */
    hasNoTools(): boolean {
      const one = servers?.status().find(({ server_id }) => server_id === only);
      return one?.state === "connected" && one.tools.length === 0 && one.excluded.length === 0;
    },
    /** Which prompts and resources this client may have at all. */
    async mayCall(): Promise<MayCall> {
      await ready();
      try {
        const run = await begin("relay");
        await run.tools();
        const offered = new Set(run.surface.loaded.map(({ name }) => name).filter(isRelayTool));
        return (tool_name) => offered.has(tool_name);
      } catch (error) {
        // No server has any, or none that the rules leave.
        if (error instanceof RunRefused) return () => false;
        throw error;
      }
    },
    /** No more from here on. */
    stop: () => gone.abort(),
    async end(): Promise<void> {
      for (const leave of leaveBroker) leave();
      for (const begun of running.values()) {
        const run = await begun.catch(() => undefined);
        run?.end("completed");
      }
    },
  };

  /** Rejects when it cannot be started; the next one asks again. */
  function begin(through: Through): Promise<Run> {
    if (gone.signal.aborted) {
      throw new ProtocolError(ProtocolErrorCode.InternalError, "the gateway is closing");
    }
    const known = running.get(through);
    if (known !== undefined) return known;
    const beginning = start(through).catch((error: unknown) => {
      running.delete(through);
      throw error;
    });
    running.set(through, beginning);
    return beginning;
  }

  async function start(through: Through): Promise<Run> {
    await ready();
    const run = await (through === "tools" ? startTools() : startRelay());
    leaveBroker.push(broker.register(run.identity.run_id, calls));
    return run;
  }

  async function startTools(): Promise<Run> {
    const options: RunOptions = { ...common, inlineLimitBytes: INLINE_LIMIT_BYTES };
    if (only === undefined || given.allowedTools !== undefined) return session.startRun(options);
    const allowedTools = [`mcp.${only}.*`];
    try {
      return await session.startRun({ ...options, allowedTools: [...allowedTools, READ_ARTIFACT] });
    } catch (error) {
      // Where artifacts cannot be read, a shortened result is all there is of it.
      const isReader =
        error instanceof RunRefused &&
        error.problems.every(({ tool_name }) => tool_name === READ_ARTIFACT);
      if (!isReader) throw error;
      return session.startRun({ ...options, allowedTools });
    }
  }

  function startRelay(): Promise<Run> {
    const allowedTools = given.allowedTools ?? [`mcp.${only ?? "*"}.@*`];
    return session.startRun({ ...common, allowedTools });
  }

  /** What the servers have to offer by now, waited for within bounds. */
  async function ready(): Promise<void> {
    await servers?.ready(gone.signal, READY_MS);
  }
}

/** Hosts add a prefix of their own and cut at 63 characters. */
const GATEWAY_PROFILE: ModelProfile = {
  id: "gateway",
  names: { first_chars: "A-Za-z_", chars: "A-Za-z0-9_-", max_length: 45 },
  extended_schemas: true,
};
