// All that the connected servers have beside tools, as one (GATE-6): prompts under the server's name, resources by
// the server that lists them first, in the order of the file. One server alone keeps its own names. What has an
// effect is not done here: it is a call of the kernel (relay-tools).

import { systemClock, type Clock, type JsonObject } from "@soong/core";
import { isJsonObject } from "@soong/schema";
import type { McpHost } from "../call/ask-server.ts";
import { safeLine } from "../catalog/safe-text.ts";
import { McpRequestFailure } from "../connection/failure.ts";
import type { ConnectedServer, McpConnection } from "../connection/connected-server.ts";
import type { McpServers } from "../source/open-mcp-servers.ts";
import { createServerLists, fitsTemplate, uniqueBy, type ServerLists } from "./listed-items.ts";
import {
  GET_PROMPT,
  READ_RESOURCE,
  relayToolName,
  relayTools,
  type RelayMethod,
} from "./relay-tools.ts";
import { createWatches } from "./resource-watches.ts";

export interface RelayOptions {
  readonly servers: McpServers;
  /** This server alone, under its own names. */
  readonly only?: string;
  /** Answers what a server asks while a prompt is made or a resource read. */
  readonly host?: McpHost;
  readonly onProblem?: (problem: string) => void;
  readonly clock?: Clock;
}

export type RelayChange =
  | { readonly kind: "prompts" | "resources" }
  | { readonly kind: "updated"; readonly uri: string };

export interface RelayTarget {
  readonly tool_name: string;
  readonly arguments: JsonObject;
}

/** Which of the calls a client may make at all: those its run offers. */
export type MayCall = (tool_name: string) => boolean;

export type Relay = ReturnType<typeof openRelay>;

interface Reached {
  readonly server_id: string;
  readonly server: ConnectedServer;
  readonly lists: ServerLists;
}

const REQUEST_TIMEOUT_MS = 10_000;
/** As many as the protocol allows. */
const MAX_VALUES = 100;
const MAX_VALUE_CHARS = 1_000;

export function openRelay(options: RelayOptions) {
  const { servers, only, host, onProblem = () => {}, clock = systemClock() } = options;
  const listsOf = new WeakMap<ConnectedServer, ServerLists>();
  const listeners = new Set<(change: RelayChange) => void>();
  const changes = throttleChanges(clock, (change) => {
    for (const listener of listeners) listener(change);
  });
  const watches = createWatches((uri) => changes.send({ kind: "updated", uri }));
  let logLevel: string | undefined;
  servers.alsoOffer(relayTools(host));
  const connections = servers
    .connections()
    .filter(({ server_id }) => only === undefined || server_id === only);
  const stopListening = connections.flatMap((connection) => listenTo(connection));

  return {
    /** What the servers that are connected now declare, all of them together. */
    capabilities() {
      const declared = listReached().map(({ server }) => server.capabilities);
      const has = (name: string): boolean => declared.some((one) => one[name] !== undefined);
      return {
        prompts: has("prompts"),
        resources: has("resources"),
        subscribe: declared.some(
          ({ resources }) => isJsonObject(resources) && resources["subscribe"] === true,
        ),
        completions: has("completions"),
        logging: has("logging"),
      };
    },
    async prompts(may: MayCall) {
      return listAll(GET_PROMPT, may, async ({ server_id, lists }) => {
        const prompts = await lists.prompts();
        return prompts.map((prompt) => ({ ...prompt, name: outerName(server_id, prompt.name) }));
      });
    },
    async resources(may: MayCall) {
      const all = await listAll(READ_RESOURCE, may, ({ lists }) => lists.resources());
      return uniqueBy(all, ({ uri }) => uri);
    },
    async templates(may: MayCall) {
      const all = await listAll(READ_RESOURCE, may, ({ lists }) => lists.templates());
      return uniqueBy(all, ({ uriTemplate }) => uriTemplate);
    },
    /** The call that gets it; undefined where no server that may be asked has it. */
    async promptCall(
      name: string,
      given: JsonObject | undefined,
      may: MayCall,
    ): Promise<RelayTarget | undefined> {
      const found = await promptOwner(name, may);
      if (found === undefined) return undefined;
      const input: JsonObject = { name: found.prompt };
      if (given !== undefined) input["arguments"] = given;
      return { tool_name: relayToolName(found.server_id, GET_PROMPT), arguments: input };
    },
    async resourceCall(uri: string, may: MayCall): Promise<RelayTarget | undefined> {
      const owner = await resourceOwner(uri, may);
      if (owner === undefined) return undefined;
      return { tool_name: relayToolName(owner.server_id, READ_RESOURCE), arguments: { uri } };
    },
    /** Undefined where no one can complete it. Rejects with an McpRequestFailure. */
    async complete({ ref, argument, context }: JsonObject, may: MayCall, signal: AbortSignal) {
      if (!isJsonObject(ref) || argument === undefined) return undefined;
      const { type, name, uri } = ref;
      let owner: (Reached & { prompt?: string }) | undefined;
      if (type === "ref/prompt" && typeof name === "string") owner = await promptOwner(name, may);
      if (type === "ref/resource" && typeof uri === "string") owner = await resourceOwner(uri, may);
      if (owner?.server.capabilities["completions"] === undefined) return undefined;
      const { prompt, server } = owner;
      const params: JsonObject = {
        ref: prompt === undefined ? ref : { ...ref, name: prompt },
        argument,
      };
      if (context !== undefined) params["context"] = context;
      const sent = { signal, timeoutMs: REQUEST_TIMEOUT_MS };
      return readCompletion(await server.request("completion/complete", params, sent));
    },
    /** Undefined where no server that may be asked has it. */
    async watch(uri: string, may: MayCall) {
      const owner = await resourceOwner(uri, may);
      return owner && watches.begin(owner, uri);
    },
    /** From now on servers of the older era log at least so much. */
    wantLogs(level: string): void {
      const isMore = logLevel === undefined || rankOfLevel(level) < rankOfLevel(logLevel);
      if (!isMore) return;
      logLevel = level;
      for (const { server } of listReached()) askForLogs(server);
    },
    onChange(listener: (change: RelayChange) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close(): void {
      for (const stop of stopListening) stop();
      changes.close();
      watches.close();
    },
  };

  function listenTo(connection: McpConnection): (() => void)[] {
    const { server_id } = connection;
    return [
      connection.onNotice((notice) => {
        if (notice.kind === "resource_updated") return watches.updated(server_id, notice.uri);
        const kind = notice.kind === "prompts_changed" ? "prompts" : "resources";
        if (connection.state.kind === "connected") listsFor(connection.state.server).forget(kind);
        changes.send({ kind });
      }),
      connection.onStateChanged((state) => {
        if (state.kind !== "connected" && state.kind !== "failed") return;
        changes.send({ kind: "prompts" });
        changes.send({ kind: "resources" });
        if (state.kind !== "connected") return;
        askForLogs(state.server);
        watches.again(server_id, state.server);
      }),
    ];
  }

  function listReached(): Reached[] {
    return connections.flatMap(({ server_id, state }) =>
      state.kind === "connected"
        ? [{ server_id, server: state.server, lists: listsFor(state.server) }]
        : [],
    );
  }

  function listsFor(server: ConnectedServer): ServerLists {
    const lists = listsOf.get(server) ?? createServerLists(server, clock, onProblem);
    listsOf.set(server, lists);
    return lists;
  }

  /** Side by side: one that is slow is waited for as long as its own list may take. */
  async function listAll<T>(
    method: RelayMethod,
    may: MayCall,
    list: (one: Reached) => Promise<readonly T[]>,
  ): Promise<T[]> {
    return (await Promise.all(serversWith(method, may).map(list))).flat();
  }

  /** Only a server that declares it has the tool that gets it. */
  function serversWith(method: RelayMethod, may: MayCall): Reached[] {
    return listReached().filter(({ server_id }) => may(relayToolName(server_id, method)));
  }

  function outerName(server_id: string, name: string): string {
    return only === undefined ? `${server_id}__${name}` : name;
  }

  /** Ids may hold "__" themselves: where two fit, the one that lists it; else the first, which will say so. */
  async function promptOwner(name: string, may: MayCall) {
    const fitting = serversWith(GET_PROMPT, may).flatMap((one) => {
      const prefix = outerName(one.server_id, "");
      return name.startsWith(prefix) ? [{ ...one, prompt: name.slice(prefix.length) }] : [];
    });
    if (fitting.length <= 1) return fitting[0];
    const listed = await Promise.all(fitting.map(({ lists }) => lists.prompts()));
    const index = listed.findIndex((all, at) =>
      all.some((one) => one.name === fitting[at]?.prompt),
    );
    return fitting[Math.max(index, 0)];
  }

  /** The first that lists it, else the first with a template for it. */
  async function resourceOwner(uri: string, may: MayCall): Promise<Reached | undefined> {
    const able = serversWith(READ_RESOURCE, may);
    if (able.length <= 1) return able[0];
    const lists = await Promise.all(
      able.map(({ lists }) => Promise.all([lists.resources(), lists.templates()])),
    );
    const listed = lists.findIndex(([resources]) => resources.some((one) => one.uri === uri));
    const fitting = lists.findIndex(([, templates]) =>
      templates.some(({ uriTemplate: one }) => one === uri || fitsTemplate(uri, one)),
    );
    return able[listed === -1 ? fitting : listed];
  }

  /** The newer era says it with every request. */
  function askForLogs(server: ConnectedServer): void {
    const isAsked = server.era === "2025" && server.capabilities["logging"] !== undefined;
    if (logLevel === undefined || !isAsked) return;
    const sent = { signal: new AbortController().signal, timeoutMs: REQUEST_TIMEOUT_MS };
    server.request("logging/setLevel", { level: logLevel }, sent).catch(() => {});
  }
}

function readCompletion({ completion }: JsonObject) {
  const { values, total, hasMore } = isJsonObject(completion) ? completion : {};
  if (!Array.isArray(values)) {
    throw new McpRequestFailure("invalid_answer", "the answer has no completion");
  }
  const texts = values.filter((value) => typeof value === "string").slice(0, MAX_VALUES);
  return {
    values: texts.map((value) => safeLine(value, MAX_VALUE_CHARS)),
    ...(typeof total === "number" && Number.isSafeInteger(total) && { total }),
    ...(typeof hasMore === "boolean" && { hasMore }),
  };
}

const TELL_EVERY_MS = 1_000;

/** The first is sent at once; of changes of the same thing within the interval only the last, at its end. */
function throttleChanges(clock: Clock, send: (change: RelayChange) => void) {
  const resting = new Map<string, { held?: RelayChange; disarm: () => void }>();

  return {
    send(change: RelayChange): void {
      const rest = resting.get(changeKey(change));
      if (rest === undefined) begin(change);
      else rest.held = change;
    },
    close(): void {
      for (const { disarm } of resting.values()) disarm();
      resting.clear();
    },
  };

  function begin(change: RelayChange): void {
    const key = changeKey(change);
    const disarm = clock.after(TELL_EVERY_MS, () => {
      const held = resting.get(key)?.held;
      resting.delete(key);
      if (held !== undefined) begin(held);
    });
    resting.set(key, { disarm });
    send(change);
  }

  function changeKey(change: RelayChange): string {
    return change.kind === "updated" ? `updated ${change.uri}` : change.kind;
  }
}

/** Least important first. */
export const LOG_LEVELS = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const;

export function rankOfLevel(level: string): number {
  return LOG_LEVELS.findIndex((known) => known === level);
}
