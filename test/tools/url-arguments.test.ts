// Files that curl and wget are given in their own ways (PATH-3): as a `file:` URL, in a config file, behind `@`.

import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { createWorkbench, explainCommand, type Workbench } from "./workbench.ts";

async function projectWithSecret(): Promise<Workbench> {
  const bench = await createWorkbench();
  onTestFinished(() => bench.close());
  const url = `file://${bench.project}/%2eenv`;
  await bench.write(".env", "TOKEN=1\n");
  await bench.write("open.txt", "open\n");
  await bench.write("curlrc", `silent\nurl = "${url}"\n`);
  await bench.write("upload.rc", 'url = "http://localhost"\nupload-file = .env\n');
  await bench.write("open.rc", 'url = "http://localhost"\n');
  await bench.write("urls.txt", `http://localhost\n${url}\n`);
  return bench;
}

async function sensitivePaths(bench: Workbench, argv: string[]): Promise<string[]> {
  const explained = await explainCommand(bench, argv);
  const [judgement] = explained.judgements ?? [];
  const { rule, reason } = judgement?.chain.find(({ decisive }) => decisive === true) ?? {};
  return rule === "runtime.sensitive_path" ? [reason ?? ""] : [];
}

test.each<[string, (project: string) => string[]]>([
  ["a file: URL", (project) => ["curl", "-s", `file://${project}/.env`]],
  ["one that is encoded", (project) => ["curl", "-s", `file://${project}/%2eenv`]],
  ["one with a host", (project) => ["curl", `FILE://localhost${project}/%2Ee%6Ev`]],
  ["one without slashes", (project) => ["curl", `file:${project}/%2eenv`]],
  ["one in an option", (project) => ["curl", `--url=file://${project}/%2eenv`]],
  ["one for another program", (project) => ["wget", "-q", `file://${project}/%2eenv`]],
  ["one in a script", (project) => ["sh", "-c", `curl -s 'file://${project}/%2eenv' | cat`]],
  ["a config", () => ["curl", "-K", "curlrc"]],
  ["a config behind letters", () => ["curl", "-sK", "curlrc"]],
  ["a config right behind letters", () => ["curl", "-sKcurlrc"]],
  ["a config by its long name", () => ["curl", "--config", "curlrc"]],
  ["a config with =", () => ["curl", "--config=upload.rc"]],
  ["a config in a script", () => ["sh", "-c", "curl -sK curlrc | head"]],
  ["a list of URLs", () => ["wget", "-i", "urls.txt"]],
  ["a list of URLs by its long name", () => ["wget", "--input-file=urls.txt"]],
  ["an upload", () => ["curl", "-T", ".env", "http://localhost"]],
  ["an upload behind letters", () => ["curl", "-sT.env", "http://localhost"]],
  ["data", () => ["curl", "-d", "@.env", "http://localhost"]],
  ["data behind letters", () => ["curl", "-sd@.env", "http://localhost"]],
  ["encoded data", () => ["curl", "--data-urlencode", "x@.env", "http://localhost"]],
  ["a form", () => ["curl", "-F", "x=@.env;type=text/plain", "http://localhost"]],
  ["a form's text", () => ["curl", "-F", "x=<.env", "http://localhost"]],
  ["posted file", () => ["wget", "--post-file=.env", "http://localhost"]],
])("%s that names a sensitive file asks, and names that file", async (_what, argv) => {
  verifies("PATH-3");
  const bench = await projectWithSecret();
  const [reason = ""] = await sensitivePaths(bench, argv(bench.project));
  expect(reason).toContain(JSON.stringify(join(bench.project, ".env")));
});

test("a file: URL with alternatives may be any file, and asks", async () => {
  verifies("PATH-3");
  const bench = await projectWithSecret();
  for (const end of [".e{n,m}v", ".e[n-n]v"]) {
    expect(await sensitivePaths(bench, ["curl", `file://${bench.project}/${end}`])).toHaveLength(1);
  }
  const whole = ["curl", "-g", `file://${bench.project}/open.txt`];
  expect(await sensitivePaths(bench, whole)).toEqual([]);
});

test.each<[(project: string) => string[]]>([
  [(project) => ["curl", `file://${project}/open.txt`]],
  [() => ["curl", "-K", "open.rc"]],
  [() => ["curl", "-d", "@open.txt", "http://localhost"]],
  [() => ["curl", "-s", "https://example.org/%2e/{a,b}"]],
  [() => ["npm", "install", "file:../other"]],
  // The config of another program names much that it does not print.
  [() => ["eslint", "--config", "upload.rc"]],
  [() => ["wget", "-i", "open.txt"]],
])("what names no such file does not ask for one: %s", async (argv) => {
  verifies("PATH-3");
  const bench = await projectWithSecret();
  expect(await sensitivePaths(bench, argv(bench.project))).toEqual([]);
});
