import { describe, expect, it } from "vitest";
import { createApi, buildRequest, RequestFailed } from "./client.ts";
import { readPastedToken, takeToken, findToken } from "./token.ts";

describe("a request", () => {
  it("has its parts in the path, the query and the body, and the token as its bearer", () => {
    const asked = {
      path: { run_id: "a/b c" },
      query: { q: "x&y", none: undefined },
      body: { n: 1 },
    };
    const { method, url, init } = buildRequest("POST /api/runs/:run_id/abort", asked, "secret");
    expect(method).toBe("POST");
    expect(url).toBe("/api/runs/a%2Fb%20c/abort?q=x%26y");
    expect(init.headers).toEqual({
      authorization: "Bearer secret",
      "content-type": "application/json",
    });
    expect(init.body).toBe('{"n":1}');
  });

  it("is answered", async () => {
    const { api, events } = apiWith(() => Promise.resolve(json(200, { tasks: [] })));
    expect(await api.ask("GET /api/tasks", {})).toEqual({ tasks: [] });
    expect(events).toEqual(["reached"]);
  });

  it("fails with the sentence of the server", async () => {
    const problem = { error: { code: "settled", message: "Somebody else answered." } };
    const { api, events } = apiWith(() => Promise.resolve(json(409, problem)));
    await expect(api.ask("GET /api/tasks", {})).rejects.toMatchObject({
      code: "settled",
      message: "Somebody else answered.",
    });
    expect(events).toEqual(["reached"]);
  });

  it("reports a wrong token", async () => {
    const { api, events } = apiWith(() => Promise.resolve(new Response("no", { status: 401 })));
    await expect(api.ask("GET /api/tasks", {})).rejects.toMatchObject({ code: "unauthorized" });
    expect(events).toEqual(["unauthorized"]);
  });

  it("reports when no one answers", async () => {
    const { api, events } = apiWith(() => Promise.reject(new TypeError("Failed to fetch")));
    await expect(api.ask("GET /api/tasks", {})).rejects.toBeInstanceOf(RequestFailed);
    expect(events).toEqual(["unreachable"]);
  });

  it("reports when no one answers in time, and not when it was given up", async () => {
    const late = apiWith(() => Promise.reject(new DOMException("", "TimeoutError")));
    await expect(late.api.ask("GET /api/tasks", {})).rejects.toMatchObject({ code: "unreachable" });
    const given = apiWith(() => Promise.reject(new DOMException("", "AbortError")));
    await expect(given.api.ask("GET /api/tasks", {})).rejects.toMatchObject({ name: "AbortError" });
    expect(given.events).toEqual([]);
  });

  it("fails in words when the answer is none that this page understands", async () => {
    for (const response of [new Response("<html>", { status: 200 }), json(500, { error: 1 })]) {
      const { api } = apiWith(() => Promise.resolve(response));
      await expect(api.ask("GET /api/tasks", {})).rejects.toMatchObject({
        code: "failed",
        message: expect.stringContaining(`status ${response.status}`) as string,
      });
    }
  });
});

describe("the token", () => {
  it("is taken from the address, kept, and not shown any more", () => {
    const kept = new Map<string, string>();
    const shown: string[] = [];
    const places = placesOf("#token=abc-_123", kept, shown);
    expect(takeToken(places)).toBe("abc-_123");
    expect(shown).toEqual(["/#/"]);
    expect(takeToken(placesOf("#/session/s/timeline", kept, shown))).toBe("abc-_123");
    expect(shown).toHaveLength(1);
  });

  it("is missing where none was given", () => {
    expect(takeToken(placesOf("#/session/s/timeline?token=x", new Map(), []))).toBeUndefined();
    expect(takeToken(placesOf("", new Map(), []))).toBeUndefined();
  });

  it("is found in any part of the printed line", () => {
    const address = "http://127.0.0.1:4321/#token=abcDEF-_0123456789";
    for (const text of [
      address,
      ` Open ${address}\n`,
      "#token=abcDEF-_0123456789",
      "token=abcDEF-_0123456789",
    ]) {
      expect(readPastedToken(text)).toBe("abcDEF-_0123456789");
    }
    expect(readPastedToken("abcDEF-_0123456789")).toBe("abcDEF-_0123456789");
    expect(readPastedToken("http://127.0.0.1:4321/")).toBeUndefined();
    expect(readPastedToken("")).toBeUndefined();
    expect(findToken("#token=%")).toBeUndefined();
  });
});

function apiWith(fetch: () => Promise<Response>) {
  const events: string[] = [];
  const api = createApi({
    token: "secret",
    fetch,
    onReached: () => events.push("reached"),
    onUnreachable: () => events.push("unreachable"),
    onUnauthorized: () => events.push("unauthorized"),
  });
  return { api, events };
}

function json(status: number, body: unknown): Response {
  return new Response(JSON.stringify(body), { status });
}

function placesOf(hash: string, kept: Map<string, string>, shown: string[]) {
  return {
    storage: {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
      removeItem: (key: string) => void kept.delete(key),
    },
    location: { hash, pathname: "/" },
    history: {
      replaceState: (_: unknown, __: string, url?: string | URL | null) =>
        void shown.push(String(url)),
    },
  };
}
