import { expect, test } from "vitest";
import { verifies } from "#laws";
import { readAddress } from "./store-address.ts";

test.each([
  "postgres://me:pa,ss@db/x",
  "postgres://m,e@db/x",
  "postgres://me@db/x?application_name=a,b",
  "postgres://db/x",
])("%s names one host", (url) => {
  verifies("STORE-1");
  expect(readAddress(url)).toMatchObject({
    schema: "soong",
    name: expect.stringMatching(/db\/x$/) as string,
  });
});

test.each([
  "postgres://me:pa,ss@a,b/x",
  "postgres://a:1,b:2/x",
  "postgres://me@localhost/x?host=a,b",
  "postgres://me@localhost/x?host=a%2Cb",
])("%s names several, and a store has one", (url) => {
  verifies("STORE-1");
  expect(() => readAddress(url)).toThrow("names several hosts");
});
