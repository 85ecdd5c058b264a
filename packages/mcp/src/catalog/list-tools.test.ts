import { expect, test } from "vitest";
import { verifies } from "#laws";
import { McpRequestFailure } from "../connection/failure.ts";
import type { ToolsPage } from "../connection/connected-server.ts";
import { listTools } from "./list-tools.ts";

const limits = { maxPages: 5, maxTools: 10, maxChars: 2_000 };

function pagesOf(page: (cursor: string | undefined, count: number) => ToolsPage) {
  const asked: (string | undefined)[] = [];
  return {
    asked,
    listToolsPage(cursor: string | undefined): Promise<ToolsPage> {
      asked.push(cursor);
      return Promise.resolve(page(cursor, asked.length));
    },
  };
}

test("pages are walked to their end, in order", async () => {
  verifies("MCP-3");
  const server = pagesOf((_cursor, count) => ({
    tools: [{ name: `t${count}` }],
    next_cursor: count < 3 ? `c${count}` : undefined,
  }));
  const listed = await listTools(server, undefined, limits);
  expect(listed).toEqual({ tools: [{ name: "t1" }, { name: "t2" }, { name: "t3" }] });
  expect(server.asked).toEqual([undefined, "c1", "c2"]);
});

test("a cursor that comes again ends the walk with a word about it, whether next or later", async () => {
  verifies("MCP-3");
  const same = pagesOf(() => ({ tools: [{}], next_cursor: "again" }));
  const listed = await listTools(same, undefined, limits);
  expect(same.asked).toEqual([undefined, "again"]);
  expect(listed.tools).toHaveLength(2);
  expect(listed.cutShort).toContain("repeats a cursor");

  const cycle = pagesOf((_cursor, count) => ({ tools: [], next_cursor: `c${count % 3}` }));
  expect((await listTools(cycle, undefined, limits)).cutShort).toContain("repeats a cursor");
  expect(cycle.asked).toHaveLength(4);
});

test("an empty cursor is a cursor like any other", async () => {
  const server = pagesOf((_cursor, count) => ({
    tools: [{}],
    next_cursor: count === 1 ? "" : undefined,
  }));
  expect((await listTools(server, undefined, limits)).tools).toHaveLength(2);
});

test("endless pages, too many tools and too much of them each end the walk and keep what came before", async () => {
  verifies("MCP-3");
  const endless = pagesOf((_cursor, count) => ({ tools: [{}], next_cursor: `c${count}` }));
  const pages = await listTools(endless, undefined, limits);
  expect(endless.asked).toHaveLength(5);
  expect(pages).toMatchObject({ cutShort: "its tools have more than 5 pages" });
  expect(pages.tools).toHaveLength(5);

  const many = pagesOf(() => ({
    tools: Array.from({ length: 11 }, () => ({})),
    next_cursor: undefined,
  }));
  const tools = await listTools(many, undefined, limits);
  expect(tools.tools).toHaveLength(10);
  expect(tools.cutShort).toBe("it lists more than 10 tools");

  const exactly = pagesOf(() => ({
    tools: Array.from({ length: 10 }, () => ({})),
    next_cursor: undefined,
  }));
  expect((await listTools(exactly, undefined, limits)).cutShort).toBeUndefined();

  const large = pagesOf(() => ({
    tools: [{ name: "small" }, { name: "x".repeat(3_000) }, { name: "after" }],
    next_cursor: undefined,
  }));
  const sized = await listTools(large, undefined, limits);
  expect(sized.tools).toEqual([{ name: "small" }]);
  expect(sized.cutShort).toBe("its tools are larger than 2000 characters");
});

test("a later page that is refused costs the rest; a first one, or a server that is gone, costs the list", async () => {
  const refused = new McpRequestFailure("rpc_error", "no\u001B[31m more", { code: -32603 });
  const lost = new McpRequestFailure("lost", "it ended");
  const failing = (at: number, error: Error) =>
    pagesOf((_cursor, count) => {
      if (count === at) throw error;
      return { tools: [{}], next_cursor: `c${count}` };
    });
  const listed = await listTools(failing(2, refused), undefined, limits);
  expect(listed.tools).toHaveLength(1);
  expect(listed.cutShort).toBe("page 2 of its tools could not be had: no\uFFFD[31m more");
  await expect(listTools(failing(1, refused), undefined, limits)).rejects.toBe(refused);
  await expect(listTools(failing(2, lost), undefined, limits)).rejects.toBe(lost);
});

test("a server without tools has an empty list, not a failure", async () => {
  const none = pagesOf(() => {
    throw new McpRequestFailure("rpc_error", "Method not found", { code: -32601 });
  });
  expect(await listTools(none)).toEqual({ tools: [], cutShort: "it offers no tools" });
});
