import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { requestPage } from "./request.ts";

test("a name is not enough: the address it leads to is what counts, where the connection is made", async () => {
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    response.end("here");
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "localhost", resolve);
  });
  onTestFinished(() => void server.close());
  const url = new URL(`http://localhost:${(server.address() as AddressInfo).port}/`);
  const { signal } = new AbortController();
  await expect(requestPage(url, { signal, mayReachPrivate: () => false })).rejects.toMatchObject({
    error: { code: "private_address", message: expect.stringContaining("localhost (") as string },
  });
  expect(asked).toBe(0);
  const response = await requestPage(url, {
    signal,
    mayReachPrivate: (host) => host === "localhost",
  });
  expect(response.statusCode).toBe(200);
  response.destroy();
});
