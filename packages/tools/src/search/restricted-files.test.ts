import { builtInSensitivePaths, compileSensitivePaths } from "@soong/core";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { restrictedFilesBelow } from "./restricted-files.ts";

const sensitiveBy = compileSensitivePaths({ home: "/srv/me" });

function below(root: string, sensitive = sensitiveBy, globs: readonly string[] = []) {
  const files = restrictedFilesBelow(root, "search", {
    restrictedBy(path) {
      const by = sensitive(path);
      return by === undefined ? undefined : { kind: "sensitive", decision: "ask", by };
    },
    restrictedGlobs: () => globs,
  });
  return { ...files, isLeftOut: (path: string) => files.reasonFor(path) === "sensitive" };
}

const excludedBelow = (root: string, globs: readonly string[]) =>
  below(root, sensitiveBy, globs).excluded?.filter((glob) => glob.startsWith("/"));

describe("the sensitive files below a directory", () => {
  test("are those the judge names, and all in a directory it names", () => {
    verifies("PATH-3");
    const files = below("/p", compileSensitivePaths({ home: "/srv/me", extra: ["vault"] }));
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

  test("are all searched where the user allowed the sensitive directory itself", () => {
    verifies("PATH-3");
    const files = below("/home/you/.ssh");
    expect(files.excluded).toEqual([]);
    expect(files.isLeftOut("id_rsa")).toBe(false);
  });

  test("become globs relative to the directory, the homes of others too", () => {
    verifies("PATH-3");
    expect(below("/p").excluded).toEqual(expect.arrayContaining([".env", ".env.*", "*.pem"]));
    expect(below("/p").excluded?.filter((glob) => glob.includes("/"))).toEqual([]);
    expect(below("/").excluded).toEqual(
      expect.arrayContaining(["/home/*/.ssh", "/root/.aws", "/etc/shadow", "/etc/ssl/private"]),
    );
    expect(below("/home").excluded).toContain("/*/.ssh");
    expect(below("/home/you").excluded).toContain("/.ssh");
    expect(below("/home/you/src").excluded).not.toContain("/.ssh");
    const homeless = compileSensitivePaths({});
    expect(below("/p", homeless).excluded).toContain("**/.config/gcloud");
  });

  test("the glob for keys fits the keys and no source file", () => {
    verifies("PATH-3");
    const [glob = ""] = below("/p").excluded?.filter((one) => one.startsWith("id_")) ?? [];
    expect(builtInSensitivePaths()).toContain("id_*");
    expect(glob).toMatch(/^id_\{rsa\*,.*,\[!\.\],\[!\.\]\[!\.\],/);
    expect(glob.includes("/")).toBe(false);
  });

  test("follow the case of the disk", () => {
    verifies("PATH-3");
    const folding = compileSensitivePaths({ home: "/h", caseInsensitive: true });
    expect(below("/p", folding).caseInsensitive).toBe(true);
    expect(below("/p").caseInsensitive).toBe(false);
  });

  test("are globs of ripgrep for what a rule names, where it can be expressed", () => {
    verifies("PERM-15");
    expect(excludedBelow("/p", ["/p/secrets/**", "/p/config/db", "/q/x", "/p/**/.env*"])).toEqual([
      "/secrets",
      "/config/db",
      "/**/.env*",
    ]);
    expect(excludedBelow("/p/src", ["/p/secrets/**", "/p/**/*.key"])).toEqual(["/**/*.key"]);
    expect(excludedBelow("/p/src", ["/p/*/x"])).toBeUndefined();
    expect(excludedBelow("/p", ["/p/geheim-ä/**"])).toBeUndefined();
    expect(excludedBelow("/p", ["/p/\\[a\\]/**"])).toEqual(["/\\[a\\]"]);
  });
});
