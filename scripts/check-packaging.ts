// The packaging check: each package is packed, looked through, installed from its tarball into an empty
// project, imported, used, and type-checked there, as a stranger would.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { transformSync } from "esbuild";
import { capture, CommandFailed } from "./command.ts";
import { house, packageFolders } from "./house.ts";

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly scripts?: Readonly<Record<string, string>>;
}

/** Has our other packages in it, and is installed without them. */
const BUNDLED = "cli";

const published = packageFolders()
  .map((folder) => ({ folder, manifest: readManifest(folder) }))
  .filter(({ manifest }) => manifest.private !== true);

const temporary = mkdtempSync(join(tmpdir(), "soong-packaging-"));
try {
  const packed = published.map((one) => ({ ...one, tarball: pack(one.folder, one.manifest) }));
  const libraries = packed.filter(({ folder }) => folder !== BUNDLED);
  const together = install("together", libraries);
  for (const { folder, manifest } of libraries) useAsStranger(together, folder, manifest);
  for (const { folder, manifest, tarball } of packed) {
    if (folder === BUNDLED) useAsStranger(install("alone", [{ tarball }]), folder, manifest);
  }
} catch (error) {
  if (!(error instanceof CommandFailed)) throw error;
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(temporary, { recursive: true, force: true });
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join("packages", folder, "package.json"), "utf8")) as Manifest;
}

/** Packs one package, and checks what is in the tarball and how its entry points resolve. */
function pack(folder: string, { name, scripts = {} }: Manifest): string {
  const atInstall = ["preinstall", "install", "postinstall", "prepare"].filter((s) => s in scripts);
  if (atInstall.length > 0) fail(`${name} has install scripts: ${atInstall.join(", ")}`);

  const cwd = join("packages", folder);
  const printed = capture("npm", ["pack", "--json", "--pack-destination", temporary], { cwd });
  const [packed] = JSON.parse(printed) as { filename: string; files: { path: string }[] }[];
  if (packed === undefined) fail(`${name}: npm pack made nothing`);

  const paths = packed.files.map((file) => file.path);
  const strange = paths.filter(
    (path) => !/^(dist\/|bin\/|(README\.md|LICENSE|package\.json)$)/.test(path),
  );
  if (strange.length > 0) fail(`${name}: not meant to be published: ${strange.join(", ")}`);
  for (const needed of ["README.md", "LICENSE", "dist/index.js", "dist/index.d.ts"]) {
    if (!paths.includes(needed)) fail(`${name}: ${needed} is missing from the tarball`);
  }
  if (readFileSync(join(cwd, "LICENSE"), "utf8") !== readFileSync("LICENSE", "utf8")) {
    fail(`${name}: its LICENSE differs from the one at the root`);
  }

  const tarball = join(temporary, packed.filename);
  capture("publint", [tarball, "--strict"]);
  capture("attw", [tarball, "--profile", "esm-only"]);
  console.log(`${name}: ${paths.length} files packed, entry points resolve`);
  return tarball;
}

/** An empty project with these tarballs, some of which depend on each other, and the types of Node. */
function install(name: string, packed: readonly { tarball: string }[]): string {
  const project = join(temporary, name);
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const quietly = ["--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"];
  const types = `@types/node@${nodeTypesVersion()}`;
  const tarballs = packed.map(({ tarball }) => tarball);
  capture("npm", ["install", ...quietly, ...tarballs, types], { cwd: project });
  return project;
}

/** Runs and type-checks `test/packaging/<folder>.ts` against the installed package. */
function useAsStranger(project: string, folder: string, { name }: Manifest): void {
  const sample = resolve("test", "packaging", `${folder}.ts`);
  cpSync(sample, join(project, `${folder}.ts`));
  const { code } = transformSync(readFileSync(sample, "utf8"), { loader: "ts" });
  writeFileSync(join(project, `${folder}.mjs`), code);
  capture(process.execPath, [`${folder}.mjs`], { cwd: project });

  const shared = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--target", "es2023"];
  const node = ["--module", "nodenext", "--lib", "es2023"];
  const bundler = ["--module", "esnext", "--moduleResolution", "bundler", "--lib", "es2023,dom"];
  // What runs anywhere must do without the types of Node.
  const types = house.packages[folder]?.runs === "node" ? "node" : "";
  for (const resolution of [node, bundler]) {
    capture("tsc", [...shared, ...resolution, "--types", types, `${folder}.ts`], { cwd: project });
  }
  console.log(`${name}: installs, imports, runs and type-checks in an empty project`);
}

function nodeTypesVersion(): string {
  const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
    devDependencies: Record<string, string>;
  };
  return devDependencies["@types/node"] ?? "latest";
}

function fail(message: string): never {
  throw new CommandFailed(message);
}
