// The samples of the bridges: which peer each is for, what the model answers, and the part that a page shows.

import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { root } from "../../../scripts/setup.mjs";
import { NODE_BUNDLE } from "../../node-bundle.ts";
import type { ScriptedAnswer } from "../scenario.ts";
import { openModelEndpoint } from "./model-endpoint.ts";
import { peerPackages, runProgram } from "./run-driver.ts";

export interface BridgeSample {
  readonly name: string;
  /** From the root of the repository. */
  readonly file: string;
  readonly answers: readonly ScriptedAnswer[];
  /** What is in the documentation. */
  readonly shown: string;
}

const FOLDER = join("test", "bridge", "samples");
const ANSWERS = /^\/\/ answers: (.*)\n/;
const SHOWN = /^\/\/ docs: begin\n(.*)^\/\/ docs: end$/ms;

export function listSamples(): BridgeSample[] {
  return readdirSync(join(root, FOLDER))
    .filter((name) => name.endsWith(".ts"))
    .map((name) => {
      const file = join(FOLDER, name);
      const text = readFileSync(join(root, file), "utf8");
      const [, answers] = ANSWERS.exec(text) ?? [];
      const [, shown] = SHOWN.exec(text) ?? [];
      if (answers === undefined || shown === undefined) {
        throw new Error(
          `${file} has no line of answers, or no part for the docs: see ${FOLDER}/README.md`,
        );
      }
      const played = JSON.parse(answers) as ScriptedAnswer[];
      return { name: basename(name, ".ts"), file, answers: played, shown };
    });
}

/** Those of the peer in this folder: its own, else those of its family. */
export function samplesOfPeer(folder: string): BridgeSample[] {
  const peer = basename(folder);
  const samples = listSamples();
  const own = samples.filter(({ name }) => name === peer);
  if (own.length > 0) return own;
  return samples.filter(({ name }) => name.startsWith(`${peer}-`) || peer.startsWith(`${name}-`));
}

/** Runs it on the real peer with the scripted model; what is wrong, or nothing. */
export async function runSample(sample: BridgeSample, folder: string): Promise<string | undefined> {
  const outfile = join(root, folder, ".built", `sample-${sample.name}.mjs`);
  await build({
    ...NODE_BUNDLE,
    entryPoints: [join(root, sample.file)],
    outfile,
    plugins: [peerPackages()],
  });
  let requests = 0;
  const endpoint = await openModelEndpoint(({ tools }) => {
    if (tools.length === 0) return { text: "Done." };
    requests += 1;
    return sample.answers[requests - 1] ?? { text: "Done." };
  });
  try {
    const env = createEnvironment(endpoint.url);
    const { code, complaint } = await runProgram(process.execPath, [outfile], folder, env);
    if (code !== 0) return `it ended with ${code ?? "a signal"}: ${complaint.trim()}`;
    const results = endpoint.requests.at(-1)?.results ?? [];
    const calls = sample.answers.flatMap((answer) => answer.calls ?? []);
    const missing = calls.filter(({ id }) => !results.some((result) => result.id === id));
    if (missing.length > 0)
      return `the model has no result of ${missing.map(({ id }) => id).join()}`;
    return requests < sample.answers.length ? "not all answers were requested" : undefined;
  } finally {
    await endpoint.close();
  }
}

function createEnvironment(url: string): Record<string, string> {
  return {
    SCRIPTED_MODEL_URL: url,
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: "none",
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "none",
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: "none",
  };
}
