import { verifies } from "#laws";
import { expect, test } from "vitest";
import { checkPlatform } from "../command/setup/doctor.ts";
import { resolvePlaces } from "./places.ts";

test("on Windows any command says plainly that Soong does not work there yet", async () => {
  verifies("DOC-3");
  await expect(
    resolvePlaces("C:\\project", "C:\\home", { write_roots: [], tmp_dir: false }, "win32"),
  ).rejects.toThrow("Soong does not run on Windows yet.\nUse WSL 2");
  expect(checkPlatform("win32")).toMatchObject({
    state: "fail",
    next: expect.stringContaining("WSL 2") as string,
  });
  expect(checkPlatform("freebsd")).toMatchObject({ state: "warn" });
  for (const platform of ["linux", "darwin"]) {
    expect(checkPlatform(platform)).toMatchObject({ state: "ok" });
  }
});
