// The real program in front of the fixture: `soong mcp serve --http --server fixture`, with rules of a user who
// allows that server. The suite knows no tokens, so a door before the program adds the one it wants; everything else
// passes as it is.

import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { CliBundle } from "../../cli/cli-bundle.ts";

export interface ServedFixture {
  /** Where the suite is to look. */
  readonly url: string;
  close(): Promise<void>;
}

const FIXTURE = fileURLToPath(new URL("fixture-server.mjs", import.meta.url));
const TOKEN = "conformance-needs-a-token-like-anybody-else";
const CONFIG = `
[[permissions.rules]]
tool = "mcp.fixture.*"
decision = "allow"
`;

export async function serveFixture(bundle: CliBundle): Promise<ServedFixture> {
  const place = await bundle.place();
  const tokenFile = join(place.home, "gateway-token");
  const servers = { fixture: { command: process.execPath, args: [FIXTURE] } };
  await place.write(join(place.home, "mcp.json"), JSON.stringify({ mcpServers: servers }));
  await place.write(join(place.home, "config.toml"), CONFIG);
  await place.write(tokenFile, TOKEN);
  const args = ["mcp", "serve", "--http", "0", "--server", "fixture", "--token-file", tokenFile];
  const { child, ended } = place.start(args);
  const said: string[] = [];
  let behind: URL | undefined;
  if (child.stderr !== null) {
    for await (const line of createInterface({ input: child.stderr })) {
      said.push(line);
      const address = /at (http:\S+\/mcp)\./u.exec(line)?.[1];
      if (address !== undefined) behind = new URL(address);
      if (behind !== undefined) break;
    }
    child.stderr.resume();
  }
  if (behind === undefined) throw new Error(`the program did not serve: ${said.join("\n")}`);
  const door = await openDoor(behind);
  return {
    url: door.url,
    async close() {
      door.close();
      child.kill("SIGTERM");
      await ended;
    },
  };
}

async function openDoor(behind: URL): Promise<{ url: string; close: () => void }> {
  const door = createServer((request, response) => {
    const { method = "GET", url = "/", headers } = request;
    const passed = httpRequest(
      {
        host: behind.hostname,
        port: behind.port,
        path: url,
        method,
        headers: { ...headers, authorization: `Bearer ${TOKEN}` },
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    passed.on("error", () => response.destroy());
    response.on("close", () => passed.destroy());
    request.pipe(passed);
  });
  door.listen(0, "127.0.0.1");
  await once(door, "listening");
  const { port } = door.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    close() {
      door.close();
      door.closeAllConnections();
    },
  };
}
