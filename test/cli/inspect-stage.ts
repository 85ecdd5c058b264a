// An inspector in a process of its own, and its page as requests: what it shows, waited for, and what is said there.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type {
  AnswerGiven,
  CallEnded,
  Changes,
  FactRows,
  HomeState,
  Question,
} from "@soong/inspector";
import { expect, onTestFinished, vi } from "vitest";
import { listLiveRuntimes } from "@soong/control";
import { environment, type CliBundle, type Place } from "./cli-bundle.ts";

export interface RunningInspector {
  readonly child: ChildProcess;
  readonly exitCode: Promise<number | null>;
  /** As `--json` prints it. */
  readonly record: Readonly<Record<string, unknown>>;
  /** The record that came, also of a refusal. `token`: another than its own. */
  ask(method: string, path: string, body?: unknown, token?: string): Promise<unknown>;
  text(path: string): Promise<string>;
  /** As soon as it is so. Whoever asks for it looks at the page, and continues doing so for some seconds. */
  home(isSo: (home: HomeState) => boolean): Promise<HomeState>;
  /** The page is looked at, and the one session that is live has so many who answer. */
  attending(attendants: number): Promise<void>;
  /** The one there is, once there is one. */
  question(kind?: Question["kind"]): Promise<Question>;
  answer(question: Question, answer: AnswerGiven): Promise<unknown>;
  /** A call of the playground, to its end. */
  call(tool_name: string, input: unknown): Promise<CallEnded>;
  facts(session_id: string): Promise<FactRows>;
}

export async function startInspector(
  { program }: CliBundle,
  { home, project }: Place,
  env: Readonly<Record<string, string>> = {},
): Promise<RunningInspector> {
  const child = spawn(process.execPath, [program, "inspect", "--json"], {
    cwd: project,
    env: environment(home, env),
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const exitCode = once(child, "close").then(([code]) => code as number | null);
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const record = JSON.parse(line) as Record<string, unknown>;
  const { origin, hash } = new URL(String(record["url"]));
  const own = hash.replace("#token=", "");
  const inspector: RunningInspector = {
    child,
    exitCode,
    record,
    async ask(method, path, body, token = own) {
      const response = await fetch(`${origin}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return response.json();
    },
    text: async (path) => (await fetch(`${origin}${path}`)).text(),
    async home(isSo) {
      let cursor: string | undefined;
      for (;;) {
        const query = new URLSearchParams({
          hold: "1",
          ...(cursor === undefined ? {} : { cursor }),
        });
        const changes = (await inspector.ask("GET", `/api/changes?${query.toString()}`)) as Changes;
        if (changes.home !== undefined && isSo(changes.home)) return changes.home;
        ({ cursor } = changes);
      }
    },
    async attending(attendants) {
      await inspector.home(() => true);
      await vi.waitFor(
        async () => {
          const { live } = await listLiveRuntimes(home);
          expect(live.map(({ hello }) => hello.attendants)).toEqual([attendants]);
        },
        { timeout: 20_000, interval: 20 },
      );
    },
    async question(kind = "permission") {
      let found: Question | undefined;
      await inspector.home(({ questions }) => {
        found = questions.find((one) => one.kind === kind);
        return found !== undefined;
      });
      return found as unknown as Question;
    },
    answer: ({ question_id, session_id }, answer) =>
      inspector.ask("POST", `/api/questions/${question_id}/answer`, { session_id, answer }),
    async call(tool_name, input) {
      const begun = await inspector.ask("POST", "/api/playground/call", { tool_name, input });
      const { run_id } = begun as CallEnded;
      return (await inspector.ask("GET", `/api/playground/calls/${run_id}`)) as CallEnded;
    },
    facts: async (session_id) =>
      (await inspector.ask(
        "GET",
        `/api/sessions/${session_id}/facts?offset=0&limit=200`,
      )) as FactRows,
  };
  return inspector;
}
