import { createKernel } from "@soong/core";
import { expect, test } from "vitest";
import { checkRun, type BridgeRun } from "./bridge-run.ts";

test("a run is one", async () => {
  const run = await createKernel().startRun();
  expect(() => checkRun(run, "bridgeX")).not.toThrow();
});

test("what is none is named, with what to pass instead", async () => {
  const kernel = createKernel();
  const session = await kernel.openSession();
  for (const given of [kernel, session, undefined, null, "run", kernel.startRun()] as unknown[]) {
    const check = (): void => checkRun(given as BridgeRun, "bridgeX");
    expect(check).toThrow(TypeError);
    expect(check).toThrow("bridgeX() takes a run, which `await kernel.startRun()` returns");
  }
  const promise: unknown = kernel.startRun();
  expect(() => checkRun(promise as BridgeRun, "bridgeX")).toThrow("await it first");
});
