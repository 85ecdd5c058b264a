// What a user does first with the installed package: name a server, and see that it costs only its own tools.

import { createKernel } from "@soong/core";
import {
  createPins,
  openConnection,
  openMcpServers,
  openPinFile,
  parseMcpSettings,
} from "@soong/mcp";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const home = await mkdtemp(join(tmpdir(), "soong-mcp-"));
const text = JSON.stringify({ mcpServers: { gone: { command: join(home, "no-such-program") } } });
const settings = parseMcpSettings(text, "mcp.json");
if (!settings.ok) throw new Error(settings.problems.map(({ message }) => message).join("\n"));

const kernel = createKernel();
const servers = openMcpServers({
  entries: settings.servers,
  registry: kernel.registry,
  connect: (entry) => openConnection(entry, { logFile: join(home, "gone.log") }),
  pins: await createPins(openPinFile(join(home, "pins.json"))),
});
await servers.ready(AbortSignal.timeout(30_000), 30_000);
const [gone] = servers.status();
if (gone?.state !== "failed") throw new Error(`expected a failed server, got ${gone?.state}`);
const run = await kernel.startRun({ policy: { readonly_mcp: servers.readonlyTools() } });
run.end("completed");
await servers.close();
await rm(home, { recursive: true });
