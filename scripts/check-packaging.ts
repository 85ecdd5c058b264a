// The packaging check: all packages are packed, looked through, installed from their tarballs into an empty
// project, imported, used, and type-checked there, as a user would.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { transformSync } from "esbuild";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { capture, CommandFailed } from "./command.ts";
import { layout, packageFolders } from "./layout.ts";

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

interface Published {
  readonly folder: string;
  readonly manifest: Manifest;
}

interface Packed extends Published {
  readonly tarball: string;
  /** Paths inside the tarball. */
  readonly files: readonly string[];
}

/** Has our other packages in it, and is installed without them. */
const BUNDLED = "cli";

const published = packageFolders()
  .map((folder) => ({ folder, manifest: readManifest(folder) }))
  .filter(({ manifest }) => manifest.private !== true);

const temporary = mkdtempSync(join(tmpdir(), "soong-packaging-"));
try {
  for (const one of published) checkScripts(one);
  const packed = pack();
  for (const one of packed) {
    checkFiles(one);
    await checkManifest(one);
    console.log(`${one.manifest.name}: ${one.files.length} files packed`);
  }
  useAsUser("together", (folder) => folder !== BUNDLED, packed);
  useAsUser("alone", (folder) => folder === BUNDLED, packed);
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

function checkScripts({ folder, manifest: { name, scripts = {} } }: Published): void {
  const atInstall = ["preinstall", "install", "postinstall", "prepare"].filter((s) => s in scripts);
  if (atInstall.length > 0) fail(`${name} has install scripts: ${atInstall.join(", ")}`);
  if (scripts["prepack"] !== `node ../../scripts/run.mjs scripts/build.ts ${folder}`) {
    fail(`${name}: "prepack" does not build it, so \`npm pack\` in a new clone would pack nothing`);
  }
}

/** All at once, and without building: the types step has just done that. */
function pack(): Packed[] {
  const folders = published.map(({ folder }) => `./packages/${folder}`);
  const options = ["--json", "--ignore-scripts", "--pack-destination", temporary];
  const printed = capture("npm", ["pack", ...options, ...folders]);
  const made = JSON.parse(printed) as {
    name: string;
    filename: string;
    files: { path: string }[];
  }[];
  return published.map((one) => {
    const tarball = made.find(({ name }) => name === one.manifest.name);
    if (tarball === undefined) return fail(`${one.manifest.name}: npm pack made nothing`);
    const files = tarball.files.map(({ path }) => path);
    return { ...one, tarball: join(temporary, tarball.filename), files };
  });
}

function checkFiles({ folder, manifest: { name }, files }: Packed): void {
  const strange = files.filter(
    (path) => !/^(dist\/(?!\.)|bin\/|(README\.md|LICENSE|package\.json)$)/.test(path),
  );
  if (strange.length > 0) fail(`${name}: not meant to be published: ${strange.join(", ")}`);
  for (const needed of ["README.md", "LICENSE", "dist/index.js", "dist/index.d.ts"]) {
    if (!files.includes(needed)) fail(`${name}: ${needed} is missing from the tarball`);
  }
  const licence = readFileSync(join("packages", folder, "LICENSE"), "utf8");
  if (licence !== readFileSync("LICENSE", "utf8")) {
    fail(`${name}: its LICENSE differs from the one at the root`);
  }
}

/** How the manifest reads to Node and to bundlers. That every entry point resolves, with its types, `useAsUser` shows. */
async function checkManifest({ manifest: { name }, tarball }: Packed): Promise<void> {
  const bytes = new Uint8Array(readFileSync(tarball));
  const { messages, pkg } = await publint({ pack: { tarball: bytes.buffer }, strict: true });
  const errors = messages.filter(({ type }) => type === "error");
  if (errors.length > 0) {
    fail(`${name}: ${errors.map((message) => formatMessage(message, pkg)).join("\n")}`);
  }
}

/** An empty project with these packages, in which each is used by its sample, `test/packaging/<folder>.ts`. */
function useAsUser(
  project: string,
  isMeant: (folder: string) => boolean,
  packed: readonly Packed[],
): void {
  const meant = packed.filter(({ folder }) => isMeant(folder));
  const cwd = install(project, meant);
  for (const one of meant) runSample(one, cwd);
  // What runs anywhere must do without the types of Node.
  const anywhere = meant.filter(({ folder }) => layout.packages[folder]?.runs === "anywhere");
  const onNode = meant.filter((one) => !anywhere.includes(one));
  typeCheckSamples(anywhere, "", cwd);
  typeCheckSamples(onNode, "node", cwd);
  for (const { manifest } of meant) {
    console.log(`${manifest.name}: installs, imports, runs and type-checks in an empty project`);
  }
}

/** Some of the tarballs depend on each other. */
function install(name: string, packed: readonly Packed[]): string {
  const project = join(temporary, name);
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const quietly = ["--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"];
  const types = `@types/node@${nodeTypesVersion()}`;
  const tarballs = packed.map(({ tarball }) => tarball);
  capture("npm", ["install", ...quietly, ...tarballs, types], { cwd: project });
  return project;
}

function runSample({ folder, manifest }: Packed, cwd: string): void {
  const sample = readFileSync(resolve("test", "packaging", `${folder}.ts`), "utf8");
  writeFileSync(join(cwd, `${folder}.ts`), sample + importTypes(manifest));
  const { code } = transformSync(sample, { loader: "ts" });
  writeFileSync(join(cwd, `${folder}.mjs`), code + loadEntryPoints(manifest));
  capture(process.execPath, [`${folder}.mjs`], { cwd });
}

/** A line for each entry point: its types have to be found, also without an optional peer. */
function importTypes(manifest: Manifest): string {
  return listEntryPoints(manifest)
    .map((entry) => `export type * as entry${entry.replaceAll(/\W/g, "_")} from "${entry}";\n`)
    .join("");
}

/** Each has to load. One that is about an optional peer may fail because that is not installed, and for no other reason. */
function loadEntryPoints(manifest: Manifest): string {
  const { peerDependenciesMeta = {} } = manifest;
  const optional = Object.keys(peerDependenciesMeta).filter(
    (peer) => peerDependenciesMeta[peer]?.optional === true,
  );
  return `
for (const entry of ${JSON.stringify(listEntryPoints(manifest))}) {
  await import(entry).catch((error) => {
    const isPeer = ${JSON.stringify(optional)}.some((peer) => error.message.includes(\`'\${peer}'\`));
    if (error.code !== "ERR_MODULE_NOT_FOUND" || !isPeer) throw error;
  });
}
`;
}

function listEntryPoints({ name, exports }: Manifest): string[] {
  return Object.keys(exports)
    .filter((path) => path !== "./package.json")
    .map((path) => `${name}${path.slice(1)}`);
}

function typeCheckSamples(packed: readonly Packed[], types: string, cwd: string): void {
  if (packed.length === 0) return;
  const files = packed.map(({ folder }) => `${folder}.ts`);
  const shared = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--target", "es2023"];
  // The Web-standard globals come with the types of Node, or with those of a worker.
  const lib = types === "" ? "es2023,webworker" : "es2023";
  const node = ["--module", "nodenext", "--lib", lib];
  const bundler = ["--module", "esnext", "--moduleResolution", "bundler", "--lib", "es2023,dom"];
  for (const resolution of [node, bundler]) {
    capture("tsc", [...shared, ...resolution, "--types", types, ...files], { cwd });
  }
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
