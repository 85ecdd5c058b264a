import { builtInSensitivePaths, compileSensitivePaths } from "@soong/core";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { sensitiveFilesBelow } from "./sensitive-files.ts";

const sensitiveBy = compileSensitivePaths({ home: "/srv/me", extra: ["vault"] });

describe("the sensitive files below a directory", () => {
  test("are those the judge names, and all in a directory it names", () => {
    verifies("PATH-3");
    const files = sensitiveFilesBelow("/p", sensitiveBy);
    for (const path of [
      ".env",
      "a/.env.local",
      "x.pem",
      "id_work",
      ".env/bin/python",
      "a/vault/x/y",
    ]) {
      expect(files.isLeftOut(path), path).toBe(true);
    }
    for (const path of ["a.ts", "id_map.ts", "environment", "a/id_map.ts/x"]) {
      expect(files.isLeftOut(path), path).toBe(false);
    }
  });

  test("are all searched where a person allowed the sensitive directory itself", () => {
    verifies("PATH-3");
    const files = sensitiveFilesBelow("/home/you/.ssh", sensitiveBy);
    expect(files.excluded).toEqual([]);
    expect(files.isLeftOut("id_rsa")).toBe(false);
  });

  test("become globs relative to the directory, the homes of others too", () => {
    verifies("PATH-3");
    expect(sensitiveFilesBelow("/p", sensitiveBy).excluded).toEqual(
      expect.arrayContaining([".env", ".env.*", "*.pem"]),
    );
    expect(
      sensitiveFilesBelow("/p", sensitiveBy).excluded.filter((glob) => glob.includes("/")),
    ).toEqual([]);
    expect(sensitiveFilesBelow("/", sensitiveBy).excluded).toEqual(
      expect.arrayContaining(["/home/*/.ssh", "/root/.aws", "/etc/shadow", "/etc/ssl/private"]),
    );
    expect(sensitiveFilesBelow("/home", sensitiveBy).excluded).toContain("/*/.ssh");
    expect(sensitiveFilesBelow("/home/you", sensitiveBy).excluded).toContain("/.ssh");
    expect(sensitiveFilesBelow("/home/you/src", sensitiveBy).excluded).not.toContain("/.ssh");
    const homeless = compileSensitivePaths({});
    expect(sensitiveFilesBelow("/p", homeless).excluded).toContain("**/.config/gcloud");
  });

  test("the glob for keys fits the keys and no source file", () => {
    verifies("PATH-3");
    const [glob = ""] = sensitiveFilesBelow("/p", sensitiveBy).excluded.filter((one) =>
      one.startsWith("id_"),
    );
    expect(builtInSensitivePaths()).toContain("id_*");
    expect(glob).toMatch(/^id_\{rsa\*,.*,\[!\.\],\[!\.\]\[!\.\],/);
    expect(glob.includes("/")).toBe(false);
  });

  test("follow the case of the disk", () => {
    verifies("PATH-3");
    const folding = compileSensitivePaths({ home: "/h", caseInsensitive: true });
    expect(sensitiveFilesBelow("/p", folding).caseInsensitive).toBe(true);
    expect(sensitiveFilesBelow("/p", sensitiveBy).caseInsensitive).toBe(false);
  });
});
