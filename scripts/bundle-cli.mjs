// Builds what the package `soong` publishes besides its types: the program and the library entry as one bundle,
// in pieces that load when they are used; what the demo plays; and the licences of the code that is in it.
// `node scripts/bundle-cli.mjs`.

import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import { bundlePage } from "./bundle-page.mjs";
import { root } from "./setup.mjs";
import { sourceAlias } from "./source-alias.mjs";

/** @import { BuildOptions, Metafile, Plugin } from "esbuild" */

const cli = join(root, "packages", "cli");
const target = join(cli, "dist");
const { optionalDependencies } = /** @type {{ optionalDependencies: Record<string, string> }} */ (
  readJson(join(cli, "package.json"))
);

/** Large modules that few starts need, and what is used of them: each is a file of its own, read at its first use. */
const LATER = {
  "ajv/dist/2020.js": ["Ajv2020", "_", "Name"],
  chardet: ["analyse"],
  "jsonc-parser": [
    "applyEdits",
    "createScanner",
    "findNodeAtLocation",
    "modify",
    "parseTree",
    "printParseErrorCode",
  ],
  re2js: ["RE2JS"],
  yaml: [
    "Composer",
    "isAlias",
    "isMap",
    "isScalar",
    "isSeq",
    "Lexer",
    "LineCounter",
    "Parser",
    "stringify",
  ],
};

/**
 * Functions of ours with much behind them that few starts need: likewise, a file for each group. A call of code.read_file takes
 * 6 ms less of CPU time, a tenth of a bare Node.
 */
const OWN_LATER = {
  argv: [
    "core/src/permission/argv/command-prefix.ts",
    "core/src/permission/argv/inner-commands.ts",
  ],
  command: [
    "tools/src/command/conduct-command.ts",
    "tools/src/command/paths-in-reach.ts",
    "tools/src/command/plan-command.ts",
    "tools/src/command/prove-read-only.ts",
    "tools/src/command/restricted-arguments.ts",
    "tools/src/command/secrets-in-trees.ts",
    "tools/src/command/walked-trees.ts",
    "tools/src/declarative/declared-tool.ts",
    "tools/src/sandbox/entry-sandbox.ts",
  ],
  copy: ["store/src/store/copy-session.ts", "store/src/open/describe-store.ts"],
  edit: [
    "tools/src/edit/patch.ts",
    "tools/src/edit/plan-edits.ts",
    "tools/src/edit/unified-diff.ts",
    "tools/src/path/commit-file.ts",
  ],
  find: [
    "tools/src/artifact/search-artifact.ts",
    "tools/src/search/restricted-files.ts",
    "tools/src/search/search-plain.ts",
    "tools/src/search/search-ripgrep.ts",
  ],
  proxy: ["platform/src/sandbox/host-proxy.ts"],
  "relax-schema": ["schema/src/relax-schema.ts"],
  sandbox: ["platform/src/sandbox/open-sandbox.ts"],
  "search-index": ["search/src/search-index.ts"],
  web: [
    "platform/src/network/private-address.ts",
    "tools/src/web/address.ts",
    "tools/src/web/fetch-page.ts",
  ],
  verify: ["store/src/store/rebuild-tables.ts", "store/src/store/verify-session.ts"],
};

/** What packages inside use if it is there. */
const NOT_INSTALLED = ["pg-native", "msgpackr-extract", "ioredis", "cloudflare:sockets"];

/** What is written in the language alone to run anywhere, as Node has it. */
const NATIVE = {
  "@noble/hashes/sha2.js": `import { createHash } from "node:crypto";
    const create = () => createHash("sha256");
    export const sha256 = Object.assign((bytes) => create().update(bytes).digest(), { create });`,
};

/** @type {BuildOptions & { metafile: true }} */
const shared = {
  absWorkingDir: root,
  bundle: true,
  // Reading the text is the greatest part of a start.
  minify: true,
  metafile: true,
  mainFields: ["module", "main"],
  platform: "node",
  target: "node20",
  legalComments: "none",
  logLevel: "error",
};

/**
 * The program and the library entry, in pieces; `more`: other sources that are entries beside them, by name.
 *
 * @param {string} target
 * @param {Record<string, string>} [more]
 * @returns {Promise<Metafile[]>}
 */
export async function bundleProgram(target, more = {}) {
  const options = { ...shared, outdir: target, outExtension: { ".js": ".cjs" } };
  const later = await build({
    ...options,
    entryPoints: Object.keys(LATER).map((path) => ({ in: path, out: laterName(path) })),
    format: "cjs",
  });
  // Only ESM can be split into pieces, and Node starts CommonJS sooner: `soong --version` takes 1.06 instead of 1.17 times
  // a bare Node by CPU time, a call 3.08 instead of 3.22. So the pieces are made as ESM and written as CommonJS.
  const now = await build({
    ...options,
    entryPoints: {
      soong: join(cli, "src", "command", "start.ts"),
      index: join(cli, "src", "index.ts"),
      ...more,
      ...Object.fromEntries(
        Object.keys(OWN_LATER).map((group) => [`later-${group}`, `own:${group}`]),
      ),
    },
    chunkNames: "piece-[name]-[hash]",
    splitting: true,
    format: "esm",
    alias: sourceAlias(),
    plugins: [loadLater(), loadOwnLater(), useNative()],
    // What is native cannot be inside, and what is not installed is looked for where it is used.
    external: [...Object.keys(optionalDependencies), ...NOT_INSTALLED],
    write: false,
  });
  for (const { path, text } of now.outputFiles) {
    const { code } = await transform(text, {
      format: "cjs",
      platform: "node",
      target: "node20",
      minify: true,
      supported: { "dynamic-import": false },
      define: { "import.meta.dirname": "__dirname" },
    });
    writeFileSync(path, code);
  }
  return [now.metafile, later.metafile];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // A `soong` that is installed from here works until the new one is whole.
  const next = join(target, ".next");
  rmSync(next, { recursive: true, force: true });
  const bundled = await bundleProgram(next);
  writeFileSync(join(next, "index.js"), 'export { main } from "./index.cjs";\n');
  cpSync(join(root, "examples", "demo"), join(next, "demo"), { recursive: true });
  await bundlePage(join(next, "page"));
  writeFileSync(join(next, "THIRD-PARTY-LICENSES.txt"), licences(bundled));
  replaceProgram(next);
}

/** Each build names its pieces anew: the entries that name them come last. The types beside them stay. */
function replaceProgram(/** @type {string} */ next) {
  const names = readdirSync(next).toSorted((a, b) => Number(isEntry(a)) - Number(isEntry(b)));
  const old = readdirSync(target).filter((name) => /\.c?js$/.test(name) && !names.includes(name));
  for (const name of names) {
    if (name === "demo" || name === "page") {
      rmSync(join(target, name), { recursive: true, force: true });
    }
    renameSync(join(next, name), join(target, name));
  }
  for (const name of old) rmSync(join(target, name));
  rmSync(next, { recursive: true });
}

/** @param {string} name */
function isEntry(name) {
  return /^(?:soong|index)\./.test(name);
}

/** @param {string} path */
function laterName(path) {
  return `later-${path.split("/")[0]}`;
}

/** @returns {Plugin} what replaces such a module in the bundle: the same names, and the file behind them */
function loadLater() {
  return {
    name: "later",
    setup(bundle) {
      bundle.onResolve({ filter: /^[a-z]/ }, ({ path }) =>
        Object.hasOwn(LATER, path) ? { path, namespace: "later" } : undefined,
      );
      bundle.onResolve({ filter: /^\.\/later-/ }, ({ path }) => ({ path, external: true }));
      bundle.onLoad({ filter: /.*/, namespace: "later" }, ({ path }) => {
        const names = LATER[/** @type {keyof typeof LATER} */ (path)];
        const toProxy = (
          /** @type {string} */ name,
        ) => `export const ${name} = new Proxy(class {}, {
          get: (_, key) => load().${name}[key],
          apply: (_, self, args) => Reflect.apply(load().${name}, self, args),
          construct: (_, args) => Reflect.construct(load().${name}, args),
        });`;
        return {
          contents: `const load = () => require("./${laterName(path)}.cjs");\n${names.map(toProxy).join("\n")}`,
        };
      });
    },
  };
}

/** @returns {Plugin} the same for modules of ours, which share what else they need with the rest of the bundle */
function loadOwnLater() {
  /** @type {Map<string, string>} */
  const groups = new Map();
  for (const [group, paths] of Object.entries(OWN_LATER)) {
    for (const path of paths) groups.set(join(root, "packages", path), group);
  }
  return {
    name: "own-later",
    setup(bundle) {
      bundle.onResolve({ filter: /^own:/ }, ({ path }) => ({ path, namespace: "own" }));
      bundle.onLoad({ filter: /.*/, namespace: "own" }, ({ path }) => ({
        contents: Array.from(groups, ([file, group]) =>
          path === `own:${group}` ? `export * from ${JSON.stringify(file)};` : "",
        ).join("\n"),
        resolveDir: root,
      }));
      bundle.onResolve({ filter: /\.ts$/ }, ({ path, namespace, resolveDir }) => {
        const file = resolve(resolveDir, path);
        if (namespace === "own" || !groups.has(file)) return undefined;
        return { path: file, namespace: "own-later" };
      });
      bundle.onLoad({ filter: /.*/, namespace: "own-later" }, ({ path }) => {
        const exported = readFileSync(path, "utf8").matchAll(/^export (?!type|interface)(.*)$/gm);
        const proxies = Array.from(exported, ([, what = ""]) => {
          const name = /^(?:async )?function\*? (\w+)/.exec(what)?.[1];
          if (name === undefined) throw new Error(`${path}: only functions can be loaded later`);
          return `export const ${name} = (...args) => load().${name}(...args);`;
        });
        const load = `const load = () => require("./later-${groups.get(path)}.cjs");`;
        return { contents: [load, ...proxies].join("\n") };
      });
    },
  };
}

/** @returns {Plugin} */
function useNative() {
  return {
    name: "native",
    setup(bundle) {
      bundle.onResolve({ filter: /^@noble\// }, ({ path }) =>
        Object.hasOwn(NATIVE, path) ? { path, namespace: "native" } : undefined,
      );
      bundle.onLoad({ filter: /.*/, namespace: "native" }, ({ path }) => ({
        contents: NATIVE[/** @type {keyof typeof NATIVE} */ (path)],
      }));
    },
  };
}

/** @param {Metafile[]} bundles */
function licences(bundles) {
  /** @type {Set<string>} */
  const folders = new Set();
  for (const path of bundles.flatMap(({ inputs }) => Object.keys(inputs))) {
    const folder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
    if (folder !== undefined) folders.add(join(root, folder));
  }
  const texts = new Set([...folders].map(licenceOf).toSorted((a, b) => (a < b ? -1 : 1)));
  const intro = "The program soong contains code of these packages, under these licences.\n";
  return [intro, ...texts].join(`\n${"-".repeat(80)}\n\n`);
}

/** @param {string} folder */
function licenceOf(folder) {
  const { name, version, license } = /** @type {Record<string, string>} */ (
    readJson(join(folder, "package.json"))
  );
  const own = readdirSync(folder).find((one) => /^licen[cs]e(\.|$)/i.test(one));
  // A text that is the same for everyone is our own licence's, too.
  const file =
    own === undefined ? license === "Apache-2.0" && join(root, "LICENSE") : join(folder, own);
  const text = file === false ? licenceInReadme(folder) : readFileSync(file, "utf8");
  if (text === undefined) {
    throw new Error(`${relative(root, folder)} is in the bundle and has no licence text.`);
  }
  return `${name} ${version} (${license})\n\n${text.replaceAll("\r\n", "\n").trim()}\n`;
}

/** @param {string} folder */
function licenceInReadme(folder) {
  const readme = readdirSync(folder).find((one) => /^readme(\.|$)/i.test(one));
  if (readme === undefined) return undefined;
  const text = readFileSync(join(folder, readme), "utf8");
  return /^#+ licen[cs]e\s+([^]*?Permission is hereby granted[^]*?)(?=\n#|(?![^]))/im.exec(
    text,
  )?.[1];
}

/** @param {string} file @returns {unknown} */
function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}
