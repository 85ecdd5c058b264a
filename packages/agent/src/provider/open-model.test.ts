import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { loadPackage, modelFromEnvironment, openModel } from "./open-model.ts";

describe("opening a model by its name", () => {
  test.each([
    ["anthropic:claude-sonnet-5", { ANTHROPIC_API_KEY: "key-of-test" }, "anthropic"],
    ["openai:gpt-5.5", { OPENAI_API_KEY: "key-of-test" }, "openai"],
    ["google:gemini-2.5-flash", { GEMINI_API_KEY: "key-of-test" }, "google"],
    ["google:gemini-2.5-flash", { GOOGLE_GENERATIVE_AI_API_KEY: "key-of-test" }, "google"],
    ["openai-compatible:qwen3:8b", { OPENAI_BASE_URL: "http://127.0.0.1:1" }, "openai-compatible"],
  ])("%s has its provider's profile", async (name, env, profile) => {
    verifies("MODEL-1", "MODEL-2");
    const model = await openModel(name, { env });
    expect(model.id).toBe(name);
    expect(model.profile.id).toBe(profile);
  });

  test.each([
    [
      "mistral:large",
      {},
      'No provider of that name: "mistral:large". Name the model as one of anthropic:MODEL',
    ],
    ["claude-sonnet-5", {}, "No provider of that name"],
    ["", {}, "No provider of that name"],
    ["anthropic", {}, 'No model is named in "anthropic"'],
    ["anthropic:", {}, 'No model is named in "anthropic:"'],
    ["anthropic:x", {}, "No key for the model anthropic:x: set ANTHROPIC_API_KEY."],
    ["anthropic:x", { ANTHROPIC_API_KEY: "  " }, "set ANTHROPIC_API_KEY."],
    ["google:x", {}, "set GEMINI_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY."],
    ["openai-compatible:x", {}, "set SOONG_OPENAI_BASE_URL or OPENAI_BASE_URL"],
  ])("%s says what is missing", async (name, env, message) => {
    verifies("MODEL-1");
    await expect(openModel(name, { env })).rejects.toThrow(message);
  });

  test("asks for the variable that should hold the key", async () => {
    verifies("MODEL-1");
    const options = { env: { ANTHROPIC_API_KEY: "key-of-test" }, apiKeyEnv: "WORK_KEY" };
    await expect(openModel("anthropic:x", options)).rejects.toThrow("set WORK_KEY.");
    const local = { env: {}, baseURL: "http://127.0.0.1:1", apiKeyEnv: "WORK_KEY" };
    await expect(openModel("openai-compatible:x", local)).rejects.toThrow("set WORK_KEY.");
  });

  test.each([
    [{ OPENAI_BASE_URL: "http://a", OPENAI_API_KEY: "key-of-openai" }, {}, "Bearer key-of-openai"],
    [{ SOONG_OPENAI_BASE_URL: "http://a", OPENAI_API_KEY: "key-of-openai" }, {}, null],
    [{ OPENAI_API_KEY: "key-of-openai" }, { baseURL: "http://a" }, null],
    [{ OLLAMA_HOST: "http://a", OPENAI_API_KEY: "key-of-openai" }, { baseURL: "http://a" }, null],
    [{ SOONG_OPENAI_API_KEY: "key-of-mine" }, { baseURL: "http://a" }, "Bearer key-of-mine"],
    [{ WORK: "key-of-work" }, { baseURL: "http://a", apiKeyEnv: "WORK" }, "Bearer key-of-work"],
  ])("%#: gives a key only to the address it belongs to", async (env, options, expected) => {
    verifies("MODEL-1");
    const sent: { url: string; key: string | null }[] = [];
    const refuse: typeof fetch = (url, init) => {
      const key = new Headers(init?.headers).get("authorization");
      sent.push({ url: url as string, key });
      return Promise.resolve(new Response("{}", { status: 400 }));
    };
    const model = await openModel("openai-compatible:x", { env, ...options, fetch: refuse });
    const request = { index: 1, system: [], messages: [], tools: [] };
    for await (const event of model.stream(request, new AbortController().signal)) {
      expect(event).toMatchObject({ type: "failed", error: { kind: "invalid_request" } });
    }
    expect(sent).toEqual([{ url: "http://a/chat/completions", key: expected }]);
  });

  test("says which package to install, and leaves other failures alone", async () => {
    verifies("MODEL-1");
    const missing = "@ai-sdk/not-there";
    await expect(loadPackage(missing, () => import(missing) as Promise<unknown>)).rejects.toThrow(
      `The package ${missing} is not installed. Install it beside Soong: npm install ${missing}`,
    );
    const broken = new Error("Cannot find package 'zod'");
    const load = () => Promise.reject(Object.assign(broken, { code: "ERR_MODULE_NOT_FOUND" }));
    await expect(loadPackage(missing, load)).rejects.toBe(broken);
    const other = new Error(`'${missing}' is broken`);
    await expect(loadPackage(missing, () => Promise.reject(other))).rejects.toBe(other);
  });
});

describe("the model of an environment", () => {
  test.each([
    ["anthropic", { ANTHROPIC_API_KEY: "k" }],
    ["openai", { OPENAI_API_KEY: "k" }],
    ["google", { GEMINI_API_KEY: "k" }],
  ])("of %s is one its package knows", async (name, env) => {
    verifies("MODEL-1");
    const types = new URL(import.meta.resolve(`@ai-sdk/${name}`));
    const text = await readFile(new URL("index.d.ts", types), "utf8");
    expect(text).toContain(`'${modelFromEnvironment(env)?.slice(name.length + 1)}'`);
  });

  test.each([
    ["http://box:1234", "http://box:1234/v1/models"],
    ["https://box", "https://box/v1/models"],
    ["box:1234", "http://box:1234/v1/models"],
    ["box", "http://box:11434/v1/models"],
    [":1234", "http://127.0.0.1:1234/v1/models"],
    ["0.0.0.0", "http://127.0.0.1:11434/v1/models"],
    ["[::]:80", "http://[::1]/v1/models"],
    ["http://box/ollama/v1/", "http://box/ollama/v1/models"],
  ])("at OLLAMA_HOST=%s is looked for at %s", async (OLLAMA_HOST, url) => {
    verifies("MODEL-1");
    const asked: { url: string; key: string | null }[] = [];
    const list: typeof fetch = (at, init) => {
      asked.push({ url: at as string, key: new Headers(init?.headers).get("authorization") });
      const data = [{ id: "nomic-embed-text" }, null, { id: "bad\u001bid" }, { id: "qwen3:8b" }];
      return Promise.resolve(Response.json({ data }));
    };
    const env = { OLLAMA_HOST, OPENAI_API_KEY: "key-of-openai" };
    const model = await openModel("openai-compatible:*", { env, fetch: list });
    expect(model.id).toBe("openai-compatible:qwen3:8b");
    expect(asked).toEqual([{ url, key: null }]);
  });

  test.each([
    ["refuses", () => Promise.resolve(new Response("", { status: 401 })), "it answered with 401"],
    ["lists nothing", () => Promise.resolve(Response.json({ data: [] })), "it lists none"],
    ["lists no list", () => Promise.resolve(Response.json(null)), "it lists none"],
    ["does not list at all", () => Promise.resolve(new Response("<html>")), "not valid JSON"],
    [
      "is not there",
      () => Promise.reject(Object.assign(new Error("x"), { cause: { code: "ECONNREFUSED" } })),
      "nothing listens there",
    ],
  ])("that %s is reported with what to do", async (_, list, why) => {
    verifies("MODEL-1");
    const env = { OPENAI_BASE_URL: "http://a/v1/" };
    const opening = openModel("openai-compatible:*", { env, fetch: list });
    await expect(opening).rejects.toThrow(
      new RegExp(`^No model could be chosen at http://a/v1/models: .*${why}.*SOONG_MODEL\\.$`),
    );
  });

  test.each([
    ["anthropic:x", { ANTHROPIC_BASE_URL: "http://a", ANTHROPIC_API_KEY: "k" }, "http://a/v1/"],
    ["anthropic:x", { ANTHROPIC_BASE_URL: "http://a/b", ANTHROPIC_API_KEY: "k" }, "http://a/b/"],
    ["google:x", { GOOGLE_GEMINI_BASE_URL: "http://a/", GEMINI_API_KEY: "k" }, "http://a/v1beta/"],
    ["openai:x", { OPENAI_BASE_URL: "http://a/v1", OPENAI_API_KEY: "k" }, "http://a/v1/"],
  ])("%s is asked where %j says", async (name, env, begins) => {
    verifies("MODEL-1");
    const urls: string[] = [];
    const refuse: typeof fetch = (url) => {
      urls.push(url as string);
      return Promise.resolve(new Response("{}", { status: 400 }));
    };
    const model = await openModel(name, { env, fetch: refuse });
    const content = [{ type: "text" as const, text: "hi" }];
    const messages = [{ role: "user" as const, content }];
    const request = { index: 1, system: [], messages, tools: [] };
    for await (const event of model.stream(request, new AbortController().signal)) {
      expect(event.type).toBe("failed");
    }
    expect(urls[0]?.startsWith(begins)).toBe(true);
  });

  test.each([
    [{}, undefined],
    [{ ANTHROPIC_API_KEY: "" }, undefined],
    [{ SOONG_MODEL: "qwen3:8b" }, undefined],
    [{ OPENAI_BASE_URL: "http://localhost:11434/v1" }, /^openai-compatible:\*$/],
    [{ OLLAMA_HOST: "127.0.0.1:11434" }, /^openai-compatible:\*$/],
    [{ OLLAMA_HOST: " " }, undefined],
    [{ OLLAMA_HOST: "127.0.0.1", GEMINI_API_KEY: "k" }, /^google:./],
    [{ OLLAMA_HOST: "127.0.0.1", SOONG_MODEL: "qwen3:8b" }, /^openai-compatible:qwen3:8b$/],
    [{ OPENAI_BASE_URL: "http://a", OPENAI_API_KEY: "k" }, /^openai:./],
    [{ SOONG_OPENAI_BASE_URL: "http://a", ANTHROPIC_API_KEY: "k" }, /^openai-compatible:\*$/],
    [{ GEMINI_API_KEY: "k", OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" }, /^anthropic:./],
    [{ GEMINI_API_KEY: "k", OPENAI_API_KEY: "k" }, /^openai:./],
    [{ GEMINI_API_KEY: "k" }, /^google:./],
    [{ GOOGLE_GENERATIVE_AI_API_KEY: "k" }, /^google:./],
    [{ OPENAI_BASE_URL: "http://a", SOONG_MODEL: "qwen3:8b" }, /^openai-compatible:qwen3:8b$/],
    [
      { SOONG_OPENAI_BASE_URL: "http://a", SOONG_MODEL: "q", OPENAI_API_KEY: "k" },
      /^openai-compatible:q$/,
    ],
    [{ SOONG_MODEL: "google:gemini-x", ANTHROPIC_API_KEY: "k" }, /^google:gemini-x$/],
  ])("%#", (env, expected) => {
    verifies("MODEL-1");
    const found = modelFromEnvironment(env);
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(expected);
  });
});
