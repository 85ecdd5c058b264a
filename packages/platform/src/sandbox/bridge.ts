// The way from a network namespace without any network to the proxy of the runtime. A short Node program listens on the loopback
// of the namespace and hands its listening socket out over Node's channel, a socket pair that was there before. Then the channel is
// closed and the command starts: it finds a proxy and no other way out, and needs no socket of the file system.

import type { ChildProcess } from "node:child_process";
import { Server } from "node:net";
import type { ToolFailure } from "@soong/core";
import { canonicalHost, isWithin } from "@soong/core/internal";
import { MARKER_NAME, sandboxFailure, type RefusedHost } from "../process/index.ts";
import { openHostProxy, type HostProxyOptions } from "./host-proxy.ts";

/** Free in a new namespace, and outside of what the system gives to those who name none. */
const PORT = 61_999;
const PROXY = `http://127.0.0.1:${PORT}`;

const NODE_PROGRAM = `const server = require("net").createServer();
server.listen(${PORT}, "127.0.0.1", () => process.send("listening", server));
process.once("disconnect", () => process.exit());`;

/** The shells of some systems know descriptors of one digit only. */
const LAST_DESCRIPTOR = 9;
const SETUP_FAILED = 125;

/**
 * $1: Node, $2: its program; then the command. Of the environment only what marks all processes of the command reaches Node:
 * the rest could make it load other code.
 */
const SHELL_PROGRAM = `/usr/bin/env -i ${MARKER_NAME}="$${MARKER_NAME}" NODE_CHANNEL_FD="$NODE_CHANNEL_FD" "$1" -e "$2" </dev/null >/dev/null || exit ${SETUP_FAILED}
eval "exec $NODE_CHANNEL_FD>&-"
unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE
shift 2
exec "$@"`;

/** What is run in the sandbox instead of the command. `channel`: the descriptor that is Node's channel. */
export function bridgeArgv(
  argv: readonly string[],
  { masked, channel }: { readonly masked: readonly string[]; readonly channel: number },
): string[] {
  const node = process.execPath;
  const mask = masked.find((path) => isWithin(path, node));
  if (mask !== undefined) throw notOpened(`Node is ${node}, and ${mask} is closed in the sandbox`);
  if (channel > LAST_DESCRIPTOR) throw notOpened("it is given too many descriptors");
  return ["/bin/sh", "-c", SHELL_PROGRAM, "sh", node, NODE_PROGRAM, ...argv];
}

/** What programs read to find a proxy. The loopback inside is reached without it, unless a rule opens the one outside. */
export function proxyEnvironment(openHosts: readonly string[] = []): Record<string, string> {
  const opened = openHosts.map((host) => canonicalHost(host));
  const direct = ["localhost", "127.0.0.1", "::1"]
    .filter((host) => !opened.includes(canonicalHost(host)))
    .join(",");
  const named = {
    http_proxy: PROXY,
    https_proxy: PROXY,
    all_proxy: PROXY,
    no_proxy: direct,
  };
  return {
    ...named,
    ...Object.fromEntries(
      Object.entries(named).map(([name, value]) => [name.toUpperCase(), value]),
    ),
    // Stronger than what the user's .npmrc and .yarnrc say.
    npm_config_proxy: PROXY,
    npm_config_https_proxy: PROXY,
    npm_config_noproxy: direct,
    YARN_HTTP_PROXY: PROXY,
    YARN_HTTPS_PROXY: PROXY,
    // From Node 24 on; an older one takes no proxy from its environment.
    NODE_USE_ENV_PROXY: "1",
  };
}

export interface Bridge {
  refusedHosts(): readonly RefusedHost[];
  /** After the end of the process: rejects if the command was never started. `said`: what was on stderr first. */
  check(said: string): Promise<void>;
  /** Ends all connections. */
  close(): void;
}

/** For a child that was started with `bridgeArgv` and a channel. */
export function openBridge(child: ChildProcess, options: HostProxyOptions): Bridge {
  const proxy = openHostProxy(options);
  const opened = new Promise<boolean>((resolve) => {
    child.once("message", (_, listener) => {
      const isListener = listener instanceof Server;
      if (isListener) proxy.serve(listener);
      resolve(isListener);
      // Then the program inside ends, and the command starts.
      if (child.connected) child.disconnect();
    });
    child.once("disconnect", () => resolve(false));
  });
  return {
    refusedHosts: () => proxy.refused(),
    async check(said) {
      const [line = "it said nothing"] = said.split("\n").filter((one) => one.trim() !== "");
      if (!(await opened)) throw notOpened(`${process.execPath} did not open it: ${line.trim()}`);
    },
    close: () => proxy.close(),
  };
}

function notOpened(why: string): ToolFailure {
  return sandboxFailure(`the way to its open hosts could not be made: ${why}`);
}
