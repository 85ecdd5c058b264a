import { expect, test } from "vitest";
import { verifies } from "#laws";
import { addressProblem, guardedFetch } from "./guarded-fetch.ts";

const remote = "https://mcp.example.com/mcp";
const local = "http://127.0.0.1:3000/mcp";

test.each([
  ["https://login.example.com/a?b=c", undefined, undefined],
  ["http://localhost:3000/token", "is on this machine, and the server is not", undefined],
  ["http://127.8.8.8/token", "is on this machine, and the server is not", undefined],
  ["http://[::1]:1/token", "is on this machine, and the server is not", undefined],
  ["http://login.example.com/", "is not https", "is not https"],
  ["http://127.0.0.1.example.com/", "is not https", "is not https"],
  ["http://localhost.example.com/", "is not https", "is not https"],
  ["http://0.0.0.0/", "is on this machine, and the server is not", "is not https"],
  ["https://127.0.0.1:8443/", "is on this machine, and the server is not", undefined],
  ["javascript:alert(1)", "is not https", "is not https"],
  ["file:///etc/passwd", "is not https", "is not https"],
  ["data:text/html,x", "is not https", "is not https"],
  ["https://good.example.com@evil.example.com/", "has a user or password in it", undefined],
  ["https://:x@evil.example.com/", "has a user or password in it", undefined],
  ["/token", "is not an address", "is not an address"],
  ["", "is not an address", "is not an address"],
])("%s is judged by where it is and who named it", (address, ofRemote, ofLocal) => {
  verifies("MCP-8");
  expect(addressProblem(address, remote)).toBe(ofRemote);
  if (ofRemote === "has a user or password in it") return;
  expect(addressProblem(address, local)).toBe(ofLocal);
});

test("nothing is sent to an address that is not safe, nor after the end", async () => {
  verifies("MCP-8");
  const fetch = guardedFetch(remote, new AbortController().signal);
  await expect(fetch(local, {})).rejects.toThrow(
    "the address http://127.0.0.1:3000 is on this machine, and the server is not",
  );
  const over = guardedFetch(local, AbortSignal.abort(new Error("given up")));
  await expect(over(local, {})).rejects.toThrow("given up");
});
