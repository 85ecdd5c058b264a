// The reference server of the protocol's makers, as users install it.

import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { callOptions, connectionWorld, entryFor } from "./connection-world.ts";

const world = connectionWorld();
const require = createRequire(import.meta.url);

test("the reference server is connected, listed, called and closed", async () => {
  verifies("MCP-1");
  const program = require.resolve("@modelcontextprotocol/server-everything/dist/index.js");
  const connection = world.connection(
    entryFor({ kind: "stdio", command: process.execPath, args: [program, "stdio"], env: {} }),
  );
  const server = await connection.connected();
  expect(server.era).toBe("2025");
  const { tools, next_cursor } = await server.listToolsPage(undefined);
  expect(tools).toContainEqual(expect.objectContaining({ name: "echo" }));
  expect(next_cursor).toBeUndefined();
  const answer = await server.callTool(
    { name: "echo", arguments: { message: "hello" } },
    callOptions(),
  );
  expect(answer).toMatchObject({ content: [{ type: "text", text: "Echo: hello" }] });
  const progress: number[] = [];
  await server.callTool(
    { name: "trigger-long-running-operation", arguments: { duration: 0.1, steps: 3 } },
    { ...callOptions(), onProgress: (update) => progress.push(update.progress) },
  );
  expect(progress).toEqual([1, 2, 3]);
  await connection.close();
});
