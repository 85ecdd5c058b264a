// Type-checks drivers and samples with the types of their peer, which is installed beside none of them: copies are checked in
// the folder of the peer.

import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { root } from "../../../scripts/setup.mjs";

/** What the compiler reports about these files, by their paths from the root; empty if they are right. */
export async function checkTypes(folder: string, files: readonly string[]): Promise<string> {
  const place = join(root, folder, ".built", "types");
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  for (const file of files) writeFileSync(join(place, copyName(file)), copyText(file));
  const up = relative(place, root);
  const config = {
    extends: join(up, "tsconfig.base.json"),
    compilerOptions: {
      noEmit: true,
      declaration: false,
      rewriteRelativeImportExtensions: false,
      allowImportingTsExtensions: true,
      allowJs: true,
      moduleDetection: "force",
      types: ["node"],
      typeRoots: [join(up, "node_modules", "@types")],
    },
    files: files.map(copyName),
    // Built first, if they have changed.
    references: [{ path: join(up, "packages", "bridge") }],
  };
  writeFileSync(join(place, "tsconfig.json"), JSON.stringify(config));
  return compile(place);
}

function copyName(file: string): string {
  return `${basename(dirname(file))}-${basename(file)}`;
}

/** What it imports by a relative path stays where it is. */
function copyText(file: string): string {
  const text = readFileSync(join(root, file), "utf8");
  const from = dirname(join(root, file));
  return text.replaceAll(
    /( from ")(\.[^"]+)(";)/g,
    (_, before: string, path: string, after: string) => {
      return `${before}${resolve(from, path)}${after}`;
    },
  );
}

function compile(place: string): Promise<string> {
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  return new Promise((done) => {
    execFile(
      process.execPath,
      [compiler, "--build", place],
      { timeout: 240_000 },
      (error, stdout) => done(error === null ? "" : stdout || error.message),
    );
  });
}
