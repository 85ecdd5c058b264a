import { expect, test, vi } from "vitest";
import type { SessionCommand } from "../contract/cluster.ts";
import { followCommands } from "./session-commands.ts";

const HELD = [{ session_id: "s1", session_no: 1, epoch: 3 }];
const ROW = { command_no: 7, session_no: 1, command: '{"kind":"abort","reason":"stop"}' };

test("a command that could not be marked is found again, and not taken again", async () => {
  const statements: string[] = [];
  let isAway = true;
  const query = vi.fn(async ({ text }: { text: string }) => {
    statements.push(text.split(" ", 1)[0] ?? "");
    if (text.startsWith("UPDATE") && isAway) throw new Error("it is away");
    return { rows: [ROW] };
  });
  const commands = followCommands({ query: query as never }, () => HELD);
  const taken = vi.fn<(command: SessionCommand) => void>();
  const forget = commands.add("s1", taken);
  await commands.look();
  await commands.look();
  isAway = false;
  await commands.look();
  expect(taken.mock.calls).toEqual([[{ kind: "abort", reason: "stop" }]]);
  expect(statements).toEqual(["SELECT", "UPDATE", "SELECT", "UPDATE", "SELECT", "UPDATE"]);
  forget();
  expect(commands.statement()).toEqual({ text: "SELECT 1 WHERE false" });
});

test("only what is for this holder of a session is looked for", () => {
  const commands = followCommands({ query: vi.fn() as never }, () => HELD);
  commands.add("s1", () => {});
  commands.add("held elsewhere", () => {});
  expect(commands.statement().values).toEqual([[1], [3]]);
});
