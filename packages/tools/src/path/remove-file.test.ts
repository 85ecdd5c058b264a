import { chmodSync, readdirSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";

import {
  beforeRename,
  commitStage,
  type CommitStage,
  contentOf,
  OPENINGS,
  refusal,
  sha256,
} from "../../../../test/tools/path-commit-stage.ts";
import { removeFile } from "./commit-file.ts";

let stage: CommitStage;
let path: string;

beforeEach(() => {
  stage = commitStage();
  path = join(stage.folder, "a");
});

afterEach(() => {
  stage.remove();
});

describe.each(OPENINGS)("a removal %s", (_how, opening) => {
  const remove = (acting = opening, signal?: AbortSignal): Promise<void> => {
    const { lockDirectory } = stage;
    return removeFile({ path, expected: sha256("old"), lockDirectory, signal }, acting);
  };

  test("takes the file away and leaves nothing", async () => {
    writeFileSync(path, "old");
    await remove();
    expect(readdirSync(stage.folder)).toEqual([]);
    expect(readdirSync(stage.lockDirectory)).toEqual([]);
  });

  test("of a file that is another or gone is refused", async () => {
    verifies("EDIT-6");
    expect((await refusal(remove())).code).toBe("changed_since_approval");
    writeFileSync(path, "other");
    expect((await refusal(remove())).code).toBe("changed_since_approval");
    expect(contentOf(path)).toBe("other");
  });

  test("follows no link", async () => {
    verifies("PATH-1");
    symlinkSync("../outside/secret", path);
    expect((await refusal(remove())).code).toBe("path_changed");
  });

  test("of a read-only file is refused", async () => {
    writeFileSync(path, "old");
    chmodSync(path, 0o444);
    expect((await refusal(remove())).code).toBe("access_denied");
    expect(contentOf(path)).toBe("old");
  });

  test("notices a write, a lost lock and an abort up to the last moment", async () => {
    verifies("EDIT-6");
    writeFileSync(path, "old");
    const stop = new AbortController();
    const aborting = beforeRename(opening, path, () => {
      stop.abort(new Error("stopped by hand"));
    });
    await expect(remove(aborting, stop.signal)).rejects.toThrow("stopped by hand");
    const losing = beforeRename(opening, path, () => {
      for (const name of readdirSync(stage.lockDirectory)) {
        unlinkSync(join(stage.lockDirectory, name));
      }
    });
    expect((await refusal(remove(losing))).code).toBe("changed_since_approval");
    expect(contentOf(path)).toBe("old");
    const writing = beforeRename(opening, path, () => {
      writeFileSync(path, "new");
    });
    expect((await refusal(remove(writing))).code).toBe("changed_since_approval");
    expect(contentOf(path)).toBe("new");
  });
});
