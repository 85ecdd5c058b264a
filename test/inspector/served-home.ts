// A home with a real store, served by a real inspector, and the ways a page or a stranger asks it.

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKernel, defineTool, type AnyTool, type Session } from "@soong/core";
import {
  serveInspector,
  type Inspector,
  type InspectorOptions,
  type Problem,
} from "@soong/inspector";
import { openStore, type OpenSession, type Store } from "@soong/store";

export { createFactWriter } from "../../packages/store/conformance/fact-writer.ts";

export const TOKEN = "a-token-of-this-test-0123456789";

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  json(): unknown;
}

export interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Default: the right one. */
  readonly token?: string | null;
}

export interface ServedHome {
  readonly directory: string;
  /** Another handle than the inspector's, for writing. */
  readonly store: Store;
  readonly inspector: Inspector;
  /** As any program could, with headers that no page may set. */
  ask(path: string, asking?: Asking): Promise<Answered>;
  /** A record, as the page gets it; throws for a Problem. */
  get<T>(path: string): Promise<T>;
  close(): Promise<void>;
}

export async function serveHome(options: Partial<InspectorOptions> = {}): Promise<ServedHome> {
  const directory = await mkdtemp(join(tmpdir(), "soong-inspector-"));
  const home = join(directory, "home");
  const store = await openStore({ directory: home });
  const assets = join(directory, "page");
  await mkdir(assets);
  await writeFile(join(assets, "index.html"), "<!doctype html><title>page</title>");
  await writeFile(join(assets, "page.js"), "export {};");
  const inspector = await serveInspector({
    store: () => openStore({ directory: home, readOnly: true }),
    home,
    cwd: directory,
    version: "1.2.3",
    assets,
    token: TOKEN,
    ...options,
  });

  return {
    directory,
    store,
    inspector,
    ask,
    async get<T>(path: string) {
      const answered = await ask(path);
      if (answered.status !== 200) throw new Error(`${path}: ${answered.text}`);
      return answered.json() as T;
    },
    async close() {
      await inspector.close();
      await store.close();
      await rm(directory, { recursive: true, force: true });
    },
  };

  function ask(path: string, { method = "GET", headers, body, token = TOKEN }: Asking = {}) {
    return new Promise<Answered>((resolve, reject) => {
      const asked = httpRequest(
        {
          host: "127.0.0.1",
          port: inspector.port,
          path,
          method,
          agent: false,
          headers: {
            ...(token === null ? {} : { authorization: `Bearer ${token}` }),
            ...(body === undefined ? {} : { "content-type": "application/json" }),
            ...headers,
          },
        },
        (response) => {
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (chunk: string) => (text += chunk));
          response.on("error", reject);
          response.on("end", () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text,
              json: () => JSON.parse(text) as unknown,
            }),
          );
        },
      );
      asked.on("error", reject);
      asked.end(body);
    });
  }
}

export function problemIn(answered: Answered): Problem {
  return answered.json() as Problem;
}

export interface KeptSession {
  readonly kept: OpenSession;
  readonly session: Session;
  close(): Promise<void>;
}

export async function keepSession(
  store: Store,
  tools: readonly AnyTool[] = [echo],
  title = "a session",
): Promise<KeptSession> {
  const kept = await store.createSession({ title, project: "/project" });
  const session = await createKernel({ tools }).openSession(kept);
  return {
    kept,
    session,
    async close() {
      await session.close();
      await kept.close();
    },
  };
}

/** Says what it is told. */
export const echo: AnyTool = defineTool({
  name: "test.echo",
  description: "Says what it is told",
  input_schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  permission: "readonly",
  handler: (input) => (input as { text: string }).text,
});
