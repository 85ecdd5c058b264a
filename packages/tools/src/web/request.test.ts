import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { isPrivateAddress } from "./address.ts";
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

test.each([
  ["127.0.0.1", true],
  ["10.1.2.3", true],
  ["172.31.0.1", true],
  ["172.32.0.1", false],
  ["192.168.1.1", true],
  ["169.254.169.254", true],
  ["100.64.0.1", true],
  ["0.0.0.0", true],
  ["255.255.255.255", true],
  ["93.184.216.34", false],
  ["::", true],
  ["::1", true],
  ["::ffff:10.0.0.1", true],
  ["::ffff:93.184.216.34", false],
  ["64:ff9b::a00:1", true],
  ["64:ff9b::5db8:d822", false],
  ["2002:7f00:1::", true],
  ["fe80::1%eth0", true],
  ["fd12::1", true],
  ["2606:2800:220:1::1", false],
  ["nonsense", true],
])("%s is private: %s", (address, expected) => {
  expect(isPrivateAddress(address)).toBe(expected);
});
