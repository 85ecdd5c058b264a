// How much code one thing passes through: `node scripts/run.mjs scripts/measure-trace.ts [--top [COUNT]]`.
// Compiles the command from source with a counter at the entry of every function of ours, lets a scripted model edit a
// file with it in an empty home, and counts entries in two stretches: from `turn.push` of a call of code.edit_file to its
// delivery, and from the start of `soong run` to the first model request. `--top` also lists where the entries of each
// stretch come from, by file and by function.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build, type Plugin } from "esbuild";
import { parseSync, Visitor } from "oxc-parser";

interface TracedFunction {
  readonly file: string;
  readonly name: string;
}

/** A stretch ends with the first entry of `to` after that of `from`; without `from` it begins with the process. */
interface Stretch {
  readonly title: string;
  readonly from?: TracedFunction;
  readonly to: TracedFunction;
}

const STRETCHES: readonly Stretch[] = [
  {
    title: "one call of code.edit_file, from turn.push to delivery",
    from: { file: "packages/core/src/call/turn.ts", name: "push" },
    to: { file: "packages/core/src/call/turn.ts", name: "#recordYields" },
  },
  {
    title: "soong run, from its start to the first model request",
    to: { file: "packages/agent/src/script/scripted-model.ts", name: "stream" },
  },
];

const SCRIPT = `turns:
  - calls: [{ tool: code.edit_file, input: { path: notes.txt, edits: [{ old: first, new: second }] } }]
  - text: Done.
`;

/** Timers, such as the store's, fall into a stretch or not: of several runs the one with the fewest functions counts. */
const RUNS = 5;

const { values, positionals } = parseArgs({
  options: { top: { type: "boolean" } },
  allowPositionals: true,
});
const top = values.top === true ? Number(positionals[0] ?? 25) : 0;

// As the runner set it: this file itself runs as a bundle elsewhere, and what finds the root by its own place must not be in it.
const root = process.cwd();
const { sourceAlias } = (await import(
  pathToFileURL(join(root, "scripts", "source-alias.mjs")).href
)) as { sourceAlias: () => Record<string, string> };
const folder = mkdtempSync(join(tmpdir(), "soong-trace-"));
try {
  const functions: TracedFunction[] = [];
  const program = join(root, ".cache", "run", "traced-soong.mjs");
  await build({
    entryPoints: [join(root, "packages", "cli", "src", "command", "start.ts")],
    outfile: program,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    mainFields: ["module", "main"],
    external: ["@photostructure/sqlite", "@vscode/ripgrep"],
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    alias: sourceAlias(),
    logLevel: "error",
    plugins: [countEntries(functions)],
  });
  const runs = Array.from({ length: RUNS }, () => runTraced(program, functions, folder));
  for (const [index, { title }] of STRETCHES.entries()) {
    const counts = runs.map((run) => run[index] ?? {});
    const [least = {}] = counts.toSorted((a, b) => functionsIn(a) - functionsIn(b));
    report(title, functions, least);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function countEntries(functions: TracedFunction[]): Plugin {
  return {
    name: "count-entries",
    setup(bundle) {
      bundle.onLoad({ filter: /[\\/]packages[\\/][^\\/]+[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
        const file = relative(root, path).replaceAll("\\", "/");
        return {
          contents: withCounters(file, readFileSync(path, "utf8"), functions),
          loader: "ts",
        };
      });
    },
  };
}

/** The source with `soongTrace(n)` at each function's entry; `n` is the place of that function in `functions`. */
function withCounters(file: string, source: string, functions: TracedFunction[]): string {
  const names = new Map<number, string>();
  const insertions: { at: number; text: string }[] = [];
  const textOf = ({ start, end }: Span): string => source.slice(start, end);
  const nameFirst = (name: Span, value: Span | null): void => {
    if (value !== null) names.set(value.start, textOf(name));
  };
  const enter = ({ start, id, body }: Span & { id?: Span | null; body: Body | null }): void => {
    if (body === null) return;
    const line = source.slice(0, start).split("\n").length;
    const name = id ? textOf(id) : (names.get(start) ?? `(line ${line})`);
    const call = `soongTrace(${functions.push({ file, name }) - 1})`;
    if (body.type === "BlockStatement") {
      insertions.push({ at: body.start + 1, text: `${call};` });
    } else {
      insertions.push({ at: body.start, text: `(${call},` }, { at: body.end, text: ")" });
    }
  };
  new Visitor({
    VariableDeclarator: ({ id, init }) => nameFirst(id, init),
    Property: ({ key, value }) => nameFirst(key, value),
    PropertyDefinition: ({ key, value }) => nameFirst(key, value),
    MethodDefinition: ({ key, value }) => nameFirst(key, value),
    FunctionDeclaration: enter,
    FunctionExpression: enter,
    ArrowFunctionExpression: enter,
  }).visit(parseSync(file, source).program);
  let text = source;
  // Where one body ends with another, the order of the brackets does not matter.
  for (const { at, text: added } of insertions.toSorted((a, b) => b.at - a.at)) {
    text = text.slice(0, at) + added + text.slice(at);
  }
  return text;
}

interface Span {
  readonly start: number;
  readonly end: number;
}
type Body = Span & { readonly type: string };

/** Entries of each function in each stretch, by its place in `functions`. */
function runTraced(
  program: string,
  functions: readonly TracedFunction[],
  within: string,
): Record<string, number>[] {
  const scratch = mkdtempSync(join(within, "run-"));
  const project = join(scratch, "project");
  mkdirSync(project);
  writeFileSync(join(project, "notes.txt"), "first\n");
  writeFileSync(join(scratch, "script.yaml"), SCRIPT);
  const recorder = join(scratch, "recorder.mjs");
  const counted = join(scratch, "counts.json");
  const marks = STRETCHES.map(({ from, to }) => ({
    from: from === undefined ? null : placeOf(functions, from),
    to: placeOf(functions, to),
  }));
  writeFileSync(recorder, recorderSource(marks, counted));
  const model = `script:${join(scratch, "script.yaml")}`;
  const args = [
    "--import",
    recorder,
    program,
    "run",
    "--model",
    model,
    "--allow",
    "code.*",
    "Edit",
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: project,
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: scratch, SOONG_AGENT_HOME: join(scratch, "home") },
  });
  const isEdited = readFileSync(join(project, "notes.txt"), "utf8") === "second\n";
  if (status !== 0 || !isEdited) throw new Error(`the traced run failed:\n${stdout}${stderr}`);
  return JSON.parse(readFileSync(counted, "utf8")) as Record<string, number>[];
}

function placeOf(functions: readonly TracedFunction[], { file, name }: TracedFunction): number {
  const place = functions.findIndex((one) => one.file === file && one.name === name);
  if (place < 0) throw new Error(`${file} has no function ${name}: adapt STRETCHES`);
  return place;
}

/** Loaded before the program. Only the first process counts: those it starts have programs of their own. */
function recorderSource(marks: object, counted: string): string {
  return `import { writeFileSync } from "node:fs";
const stretches = ${JSON.stringify(marks)}.map((marks) => ({ ...marks, isOpen: marks.from === null, isOver: false, counts: {} }));
globalThis.soongTrace = (place) => {
  for (const stretch of stretches) {
    if (stretch.isOver) continue;
    if (stretch.from === place) stretch.isOpen = true;
    if (!stretch.isOpen) continue;
    stretch.counts[place] = (stretch.counts[place] ?? 0) + 1;
    if (stretch.to === place) stretch.isOver = true;
  }
};
process.on("exit", () => {
  if (stretches.every(({ isOver }) => isOver)) {
    writeFileSync(${JSON.stringify(counted)}, JSON.stringify(stretches.map(({ counts }) => counts)));
  }
});
`;
}

function functionsIn(counts: Record<string, number>): number {
  return Object.keys(counts).length;
}

function report(
  title: string,
  functions: readonly TracedFunction[],
  counts: Record<string, number>,
): void {
  const byFile = new Map<string, number>();
  const byFunction = new Map<string, number>();
  const packages = new Map<string, Set<string>>();
  let entries = 0;
  for (const [place, count] of Object.entries(counts)) {
    const traced = functions[Number(place)];
    if (traced === undefined) continue;
    const { file, name } = traced;
    entries += count;
    byFile.set(file, (byFile.get(file) ?? 0) + count);
    byFunction.set(`${file} ${name}`, (byFunction.get(`${file} ${name}`) ?? 0) + count);
    const owner = file.split("/")[1] ?? "";
    packages.set(owner, (packages.get(owner) ?? new Set()).add(file));
  }
  console.log(`${title}:`);
  console.log(`  ${byFile.size} files, ${functionsIn(counts)} functions, ${entries} entries`);
  const shares = [...packages].map(([owner, files]) => `${owner} ${files.size}`).toSorted();
  console.log(`  files by package: ${shares.join(", ")}`);
  if (top === 0) return;
  for (const [unit, found] of [
    ["file", byFile],
    ["function", byFunction],
  ] as const) {
    console.log(`  entries by ${unit}:`);
    const sorted = [...found].toSorted(([, a], [, b]) => b - a).slice(0, top);
    for (const [what, count] of sorted) console.log(`  ${String(count).padStart(8)}  ${what}`);
  }
}
