import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { ToolFailure } from "@soong/core";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { verifies } from "#laws";

import {
  beforeRename,
  commitStage,
  type CommitStage,
  contentOf,
  OPENINGS,
  sha256,
} from "../../../../test/tools/path-commit-stage.ts";
import { commitFile, type FileCommit } from "./commit-file.ts";
import { openingByHandle } from "./pinned-node.ts";

let stage: CommitStage;
let folder: string;

beforeEach(() => {
  stage = commitStage();
  ({ folder } = stage);
});

afterEach(() => {
  stage.remove();
});

describe.each(OPENINGS)(
  "when, in a commit %s, between check and rename, there is",
  (_how, opening) => {
    /** Lets it happen once the temporary file is there, to a file that held "old". */
    async function interrupted(
      happens: (path: string) => void,
      options: Partial<FileCommit> = {},
    ): Promise<{ code: string | undefined; content: string | undefined; names: string[] }> {
      const path = join(folder, "dir/a");
      mkdirSync(dirname(path));
      if (options.expected !== null) {
        writeFileSync(path, "old");
        // Old enough that its times alone tell whether it was written.
        await vi.waitUntil(() => Date.now() - statSync(path).ctimeMs > 25, { interval: 5 });
      }
      let temporaryFiles = 0;
      const interfering = beforeRename(opening, path, () => {
        temporaryFiles = readdirSync(dirname(path)).filter((name) => name !== "a").length;
        happens(path);
      });
      const wanted = stage.commitOf(path, "new", { expected: sha256("old"), ...options });
      const code = await commitFile(wanted, interfering).then(
        () => undefined,
        (error: unknown) => (error instanceof ToolFailure ? error.error.code : String(error)),
      );
      expect(temporaryFiles).toBe(1);
      const names = existsSync(dirname(path)) ? readdirSync(dirname(path)) : [];
      return { code, content: contentOf(path), names };
    }

    const refused = "changed_since_approval";

    test("a write by another program is detected", async () => {
      verifies("EDIT-6");
      const seen = await interrupted((path) => {
        writeFileSync(path, "theirs");
      });
      expect(seen).toEqual({ code: refused, content: "theirs", names: ["a"] });
    });

    test("a write of the same length with the time put back is detected", async () => {
      verifies("EDIT-6");
      const seen = await interrupted((path) => {
        const { atime, mtime } = statSync(path);
        writeFileSync(path, "dlo");
        utimesSync(path, atime, mtime);
      });
      expect(seen).toEqual({ code: refused, content: "dlo", names: ["a"] });
    });

    test("another file renamed to this name is detected", async () => {
      verifies("EDIT-6");
      const seen = await interrupted((path) => {
        writeFileSync(join(folder, "theirs"), "tws");
        renameSync(join(folder, "theirs"), path);
      });
      expect(seen).toEqual({ code: refused, content: "tws", names: ["a"] });
    });

    test("a removal is detected", async () => {
      verifies("EDIT-6");
      const seen = await interrupted(unlinkSync);
      expect(seen).toEqual({ code: refused, content: undefined, names: [] });
    });

    test("a change of its mode is detected", async () => {
      const seen = await interrupted((path) => {
        chmodSync(path, 0o600);
      });
      expect(seen).toMatchObject({ code: refused, content: "old" });
    });

    test("a touch that changes nothing is none", async () => {
      const seen = await interrupted((path) => {
        writeFileSync(path, "old");
        linkSync(path, join(folder, "backup"));
      });
      expect(seen).toEqual({ code: undefined, content: "new", names: ["a"] });
    });

    test("a link in its place is not followed", async () => {
      verifies("PATH-1", "PATH-2");
      const seen = await interrupted((path) => {
        unlinkSync(path);
        symlinkSync(join(stage.outside, "secret"), path);
      });
      expect(seen).toEqual({ code: "path_changed", content: "secret", names: ["a"] });
    });

    test("a file that appears in the place of a new one is not overwritten", async () => {
      verifies("EDIT-6", "CODE-4");
      const seen = await interrupted(
        (path) => {
          writeFileSync(path, "theirs");
        },
        { expected: null },
      );
      expect(seen).toEqual({ code: refused, content: "theirs", names: ["a"] });
    });

    test("a dangling link that appears in the place of a new one is not followed", async () => {
      verifies("PATH-1", "PATH-2");
      const seen = await interrupted(
        (path) => {
          symlinkSync(join(stage.outside, "none"), path);
        },
        { expected: null },
      );
      expect(seen).toEqual({ code: refused, content: undefined, names: ["a"] });
    });

    test("the directory moved away and replaced by a link gets nothing", async () => {
      verifies("PATH-1", "PATH-2");
      const seen = await interrupted((path) => {
        renameSync(dirname(path), join(folder, "moved"));
        symlinkSync(stage.outside, dirname(path));
      });
      expect(seen.code).toBe("path_changed");
      expect(readFileSync(join(folder, "moved/a"), "utf8")).toBe("old");
      if (opening === openingByHandle) {
        expect(readdirSync(join(folder, "moved"))).toEqual(["a"]);
      }
    });

    test("a lock given to another process stops it", async () => {
      verifies("EDIT-6");
      const seen = await interrupted(() => {
        const [lock] = readdirSync(stage.lockDirectory);
        unlinkSync(join(stage.lockDirectory, lock!));
        writeFileSync(join(stage.lockDirectory, lock!), "another holder");
      });
      expect(seen).toEqual({ code: refused, content: "old", names: ["a"] });
      expect(readdirSync(stage.lockDirectory).length).toBe(1);
    });

    test("an abort ends it with nothing written", async () => {
      const stop = new AbortController();
      const seen = await interrupted(
        () => {
          stop.abort(new Error("stopped by hand"));
        },
        { signal: stop.signal },
      );
      expect(seen).toEqual({ code: "Error: stopped by hand", content: "old", names: ["a"] });
      expect(readdirSync(stage.lockDirectory)).toEqual([]);
    });

    test("a temporary file that was removed is not missed for the target", async () => {
      const seen = await interrupted((path) => {
        for (const name of readdirSync(dirname(path)).filter((name) => name !== "a")) {
          unlinkSync(join(dirname(path), name));
        }
      });
      expect(seen).toEqual({ code: "path_changed", content: "old", names: ["a"] });
    });
  },
);
