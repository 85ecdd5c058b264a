import { mkdtempSync, realpathSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readStamp, type FileStamp } from "../path/index.ts";
import { createFilesRead, MOST_FILES_A_RUN, MOST_RUNS } from "./files-read.ts";

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "soong-read-")));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

function put(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function stamp(path: string): Promise<FileStamp> {
  const stamp = await readStamp(path);
  if (stamp === undefined) throw new Error(`${path} is missing`);
  return stamp;
}

/** Of a file that was never there. */
const OLD: FileStamp = { dev: "1", ino: "1", size: 1, mtime_ns: "1" };

describe("files a run has read", () => {
  test("are named once they are different, once for each change", async () => {
    verifies("CODE-5");
    const files = createFilesRead();
    const [a, b] = [put("a", "1"), put("b", "1")];
    files.note("run", a, await stamp(a));
    files.note("run", b, await stamp(b));
    expect(await files.changed("run")).toEqual([]);
    put("a", "longer");
    expect(await files.changed("run")).toEqual([a]);
    expect(await files.changed("run")).toEqual([]);
    put("a", "longer still");
    expect(await files.changed("run")).toEqual([a]);
  });

  test("are different by size, by time, by being another file, and by being gone", async () => {
    verifies("CODE-5");
    const files = createFilesRead();
    const path = put("a", "1");
    utimesSync(path, 1000, 1000);
    const note = async () => files.note("run", path, await stamp(path));

    await note();
    utimesSync(path, 1000, 1001);
    expect(await files.changed("run")).toEqual([path]);

    await note();
    put("a", "22");
    utimesSync(path, 1000, 1001);
    expect(await files.changed("run")).toEqual([path]);

    await note();
    utimesSync(put("other", "22"), 1000, 1001);
    renameSync(join(folder, "other"), path);
    expect(await files.changed("run")).toEqual([path]);

    await note();
    rmSync(path);
    expect(await files.changed("run")).toEqual([path]);
    expect(await files.changed("run")).toEqual([]);
    put("a", "back");
    expect(await files.changed("run")).toEqual([path]);
    files.note("run", path, { ...(await stamp(path)), dev: "other" });
    expect(await files.changed("run")).toEqual([path]);
  });

  test("are known as the run left them when it wrote them itself", async () => {
    verifies("CODE-5");
    const files = createFilesRead();
    const path = put("a", "1");
    files.note("run", path, await stamp(path));
    put("a", "changed by the run");
    files.note("run", path, await stamp(path));
    expect(await files.changed("run")).toEqual([]);
    files.note("run", path, OLD);
    const now = await stamp(path);
    const looking = files.changed("run");
    files.note("run", path, now);
    expect(await looking).toEqual([]);
    expect(await files.changed("run")).toEqual([]);
  });

  test("are each run's own, and forgotten with it", async () => {
    verifies("CODE-5");
    const files = createFilesRead();
    const path = put("a", "1");
    files.note("one", path, OLD);
    files.note("two", path, OLD);
    expect(await files.changed("one")).toEqual([path]);
    files.forget("two");
    expect(await files.changed("two")).toEqual([]);
    expect(await files.changed("three")).toEqual([]);
  });

  test("that cannot be looked at are not said to have changed", async () => {
    verifies("CODE-5");
    const files = createFilesRead();
    files.note("run", `${folder}/${"x".repeat(300)}`, OLD);
    expect(await files.changed("run")).toEqual([]);
  });

  test("are remembered up to a bound, the newest", async () => {
    verifies("CODE-5");
    const files = createFilesRead();
    const path = (index: number) => join(folder, `missing-${index}`);
    for (let index = 0; index < MOST_FILES_A_RUN; index += 1) files.note("run", path(index), OLD);
    files.note("run", path(0), OLD);
    files.note("run", path(MOST_FILES_A_RUN), OLD);
    const changed = await files.changed("run");
    expect(changed).toHaveLength(MOST_FILES_A_RUN);
    expect(changed).toContain(path(0));
    expect(changed).not.toContain(path(1));
    expect(changed).toContain(path(MOST_FILES_A_RUN));

    for (let index = 0; index < MOST_RUNS; index += 1) files.note(`run ${index}`, path(0), OLD);
    files.note("run 0", path(1), OLD);
    files.note("one more", path(0), OLD);
    expect(await files.changed("run")).toEqual([]);
    expect(await files.changed("run 0")).toEqual([path(0), path(1)]);
    expect(await files.changed("run 1")).toEqual([]);
    expect(await files.changed("run 2")).toEqual([path(0)]);
  });
});
