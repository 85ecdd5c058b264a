// The gateway in a process of its own, in front of the benchmark's server: `node gateway.mjs HOME memory|disk`.

import { openRuntime, openSessionOn } from "./stage.mjs";

const [home = "", journal = "memory"] = process.argv.slice(2);
const { createGatewayDesk, serveGatewayStdio } = await import("@soong/mcp");
const runtime = await openRuntime(home, 1);
const desk = createGatewayDesk({});
const kept = journal === "disk" ? "disk" : "memory";
const { session, close } = await openSessionOn(runtime, home, kept, {
  ask: desk.ask,
  elicit: desk.elicit,
});
await serveGatewayStdio({ session, desk, server: { name: "bench", version: "1.0.0" } }).ended;
await close();
await runtime.close();
