// All that the connected servers have beside tools, as one (GATE-6): prompts under the server's name, resources by
// the server that lists them first, in the order of the file. One server alone keeps its own names. What has an
// effect is not done here: it is a call of the kernel (relay-tools).

import { systemClock, type Clock, type JsonObject } from "@soong/core";
import { isJsonObject } from "@soong/schema";
import type { McpHost } from "../call/index.ts";
import type { ConnectedServer, McpConnection } from "../connection/index.ts";
import type { McpServers } from "../source/index.ts";
import { completionTarget, readCompletion } from "./relay-completion.ts";
import { relayTools } from "./relay-tools.ts";
import { createWatches } from "./resource-watches.ts";
import {
  GET_PROMPT,
  rankOfLevel,
  READ_RESOURCE,
  relayToolName,
  type MayCall,
  type Relay,
  type RelayChange,
  type RelayMethod,
} from "./relay-types.ts";
import { createServerLists, type ServerLists } from "./server-lists.ts";
import { createThrottle } from "./throttle.ts";
import { fitsTemplate } from "./listed-items.ts";

export interface RelayOptions {
  readonly servers: McpServers;
  /** This server alone, under its own names. */
  readonly only?: string | undefined;
  /** Answers what a server asks while a prompt is made or a resource read. */
  readonly host?: McpHost | undefined;
  readonly onProblem?: (problem: string) => void;
  readonly clock?: Clock;
}

const REQUEST_TIMEOUT_MS = 10_000;
const TELL_EVERY_MS = 1_000;

interface Reached {
  readonly server_id: string;
  readonly server: ConnectedServer;
  readonly lists: ServerLists;
}

export function openRelay(options: RelayOptions): Relay {
  const { servers, only, host, onProblem = () => {}, clock = systemClock() } = options;
  const listsOf = new WeakMap<ConnectedServer, ServerLists>();
  const listeners = new Set<(change: RelayChange) => void>();
  const changes = createThrottle(TELL_EVERY_MS, clock, (change: RelayChange) => {
    for (const listener of listeners) listener(change);
  });
  const watches = createWatches((uri) => changes.send(`updated ${uri}`, { kind: "updated", uri }));
  let logLevel: string | undefined;
  servers.alsoOffer(relayTools(host));
  const connections = servers
    .connections()
    .filter(({ server_id }) => only === undefined || server_id === only);
  const stopListening = connections.flatMap((connection) => listenTo(connection));

  return {
    capabilities() {
      const declared = reached().map(({ server }) => server.capabilities);
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
    async prompts(may) {
      const all = await everywhere(GET_PROMPT, may, ({ lists }) => lists.prompts());
      return all.flatMap(({ server_id, items }) =>
        items.map((prompt) => ({ ...prompt, name: outerName(server_id, prompt.name) })),
      );
    },
    async resources(may) {
      const all = await everywhere(READ_RESOURCE, may, ({ lists }) => lists.resources());
      return firstOfEach(all, ({ uri }) => uri);
    },
    async templates(may) {
      const all = await everywhere(READ_RESOURCE, may, ({ lists }) => lists.templates());
      return firstOfEach(all, ({ uriTemplate }) => uriTemplate);
    },
    async promptCall(name, given, may) {
      const found = await promptOwner(name, may);
      if (found === undefined) return undefined;
      const { server_id, prompt } = found;
      const input: JsonObject = { name: prompt };
      if (given !== undefined) input["arguments"] = given;
      return { tool_name: relayToolName(server_id, GET_PROMPT), arguments: input };
    },
    async resourceCall(uri, may) {
      const owner = await resourceOwner(uri, may);
      if (owner === undefined) return undefined;
      return { tool_name: relayToolName(owner.server_id, READ_RESOURCE), arguments: { uri } };
    },
    async complete(params, may, signal) {
      const target = await completionTarget(params, {
        promptOwner: (name) => promptOwner(name, may),
        resourceOwner: (uri) => resourceOwner(uri, may),
      });
      if (target === undefined) return undefined;
      const { server } = target.owner;
      if (server.capabilities["completions"] === undefined) return undefined;
      const sent = { signal, timeoutMs: REQUEST_TIMEOUT_MS };
      return readCompletion(await server.request("completion/complete", target.params, sent));
    },
    async watch(uri, may) {
      const owner = await resourceOwner(uri, may);
      return owner === undefined ? undefined : watches.begin(owner, uri);
    },
    wantLogs(level) {
      const isMore = logLevel === undefined || rankOfLevel(level) < rankOfLevel(logLevel);
      if (!isMore) return;
      logLevel = level;
      for (const { server } of reached()) askForLogs(server);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
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
        const what = notice.kind === "prompts_changed" ? "prompts" : "resources";
        if (connection.state.kind === "connected") listsFor(connection.state.server).forget(what);
        changes.send(what, { kind: what });
      }),
      connection.onStateChanged((state) => {
        if (state.kind !== "connected" && state.kind !== "failed") return;
        changes.send("prompts", { kind: "prompts" });
        changes.send("resources", { kind: "resources" });
        if (state.kind !== "connected") return;
        askForLogs(state.server);
        watches.again(server_id, state.server);
      }),
    ];
  }

  function reached(): Reached[] {
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
  async function everywhere<T>(
    method: RelayMethod,
    may: MayCall,
    list: (one: Reached) => Promise<readonly T[]>,
  ): Promise<{ server_id: string; items: readonly T[] }[]> {
    return Promise.all(
      open(method, may).map(async (one) => ({
        server_id: one.server_id,
        items: await list(one),
      })),
    );
  }

  /** Only a server that declares it has the tool that gets it. */
  function open(method: RelayMethod, may: MayCall): Reached[] {
    return reached().filter(({ server_id }) => may(relayToolName(server_id, method)));
  }

  function outerName(server_id: string, name: string): string {
    return only === undefined ? `${server_id}__${name}` : name;
  }

  /** Ids may hold "__" themselves: where two fit, the one that lists it; else the first, which will say so. */
  async function promptOwner(
    name: string,
    may: MayCall,
  ): Promise<(Reached & { prompt: string }) | undefined> {
    const fitting = open(GET_PROMPT, may).flatMap((one) => {
      const prefix = outerName(one.server_id, "");
      return name.startsWith(prefix) ? [{ ...one, prompt: name.slice(prefix.length) }] : [];
    });
    if (fitting.length <= 1) return fitting[0];
    const listed = await Promise.all(
      fitting.map(async ({ lists, prompt }) =>
        (await lists.prompts()).some((one) => one.name === prompt),
      ),
    );
    return fitting[Math.max(listed.indexOf(true), 0)];
  }

  async function resourceOwner(uri: string, may: MayCall): Promise<Reached | undefined> {
    const able = open(READ_RESOURCE, may);
    if (able.length <= 1) return able[0];
    const held = await Promise.all(
      able.map(async ({ lists }) => {
        const [resources, templates] = await Promise.all([lists.resources(), lists.templates()]);
        return {
          isListed: resources.some((one) => one.uri === uri),
          isFitting: templates.some(
            ({ uriTemplate }) => uriTemplate === uri || fitsTemplate(uri, uriTemplate),
          ),
        };
      }),
    );
    const listed = held.findIndex(({ isListed }) => isListed);
    return able[listed === -1 ? held.findIndex(({ isFitting }) => isFitting) : listed];
  }

  /** The newer era says it with every request. */
  function askForLogs(server: ConnectedServer): void {
    const isAsked = server.era === "2025" && server.capabilities["logging"] !== undefined;
    if (logLevel === undefined || !isAsked) return;
    const sent = { signal: new AbortController().signal, timeoutMs: REQUEST_TIMEOUT_MS };
    server.request("logging/setLevel", { level: logLevel }, sent).catch(() => {});
  }
}

function firstOfEach<T>(
  all: readonly { readonly items: readonly T[] }[],
  idOf: (item: T) => string,
): T[] {
  const byId = new Map<string, T>();
  for (const { items } of all) {
    for (const item of items) if (!byId.has(idOf(item))) byId.set(idOf(item), item);
  }
  return [...byId.values()];
}
