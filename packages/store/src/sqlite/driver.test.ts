import { expect, test, vi } from "vitest";
import { loadSqlite } from "./driver.ts";

test("SQLite that cannot be loaded is reported in one line, with what to do", async () => {
  const broken = {
    get DatabaseSync(): never {
      throw new Error("Cannot find it\nRequire stack:\n- soong.cjs");
    },
  };
  vi.doMock("node:sqlite", () => broken);
  vi.doMock("@photostructure/sqlite", () => broken);
  await expect(loadSqlite()).rejects.toThrow(
    /^SQLite could not be loaded \(Cannot find it\)\. Install .+\.$/,
  );
});
