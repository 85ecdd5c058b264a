// The gateway in a process of its own, in front of the benchmark's server: `node gateway.mjs HOME memory|disk`.

import { openRuntime, openSessionOn } from "./stage.mjs";

const [home = "", journal = "memory"] = process.argv.slice(2);
const { createGatewayBroker, serveGatewayStdio } = await import("@soong/mcp");
const runtime = await openRuntime(home, 1);
const broker = createGatewayBroker({});
const kept = journal === "disk" ? "disk" : "memory";
const { session, close } = await openSessionOn(runtime, home, kept, {
  ask: broker.ask,
  elicit: broker.elicit,
});
await serveGatewayStdio({ session, broker, server: { name: "bench", version: "1.0.0" } }).ended;
await close();
await runtime.close();
