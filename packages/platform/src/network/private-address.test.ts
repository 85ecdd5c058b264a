import { expect, test } from "vitest";
import { isPrivateAddress } from "./private-address.ts";

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
