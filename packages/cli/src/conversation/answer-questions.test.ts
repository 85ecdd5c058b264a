// The questions with a terminal that answers on its own: what is hard to arrange at a real one.

import { setImmediate as soon } from "node:timers/promises";
import type { PermissionRequest } from "@soong/core";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { createApprovalBroker } from "@soong/control";
import { coloursFor } from "../output/index.ts";
import type { PressedKey, ReadInput, ReadKey, Terminal, Typed } from "../terminal/terminal.ts";
import { answerQuestions } from "./answer-questions.ts";
import { createKeyboard } from "./keyboard.ts";

function requestOf(given: Partial<PermissionRequest> = {}): PermissionRequest {
  return {
    request_id: "ask_1",
    session_id: "s",
    run_id: "run_1",
    agent_id: "agent_1",
    role: "main",
    tool_call_id: "c1",
    tool_name: "code.write_file",
    description: "",
    permission: "write",
    tags: [],
    arguments: {},
    preview: {
      kind: "diff",
      path: "a.txt",
      diff: "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-old\n+new\n",
    },
    resources: [],
    scopes: [{ kind: "path", path: "/p/a.txt", access: "write" }],
    session_scope: "write exactly a.txt",
    cwd: "/p",
    network_hosts: [],
    dangerous: false,
    destructive: true,
    marks: ["destructive"],
    hook_results: [],
    reason: "writes ask",
    chain: [],
    suggested_decision: "allow_once",
    digest: "d",
    ...given,
  };
}

const FORM = {
  mode: "form",
  message: "Which branch?",
  requested_schema: { type: "object", properties: { branch: { type: "string" } } },
  tool_name: "mcp.github.release",
  tool_call_id: "c1",
} as const;

function atTerminal(rows = 40) {
  const printed: string[] = [];
  const reads: ReadInput[] = [];
  const asked: (ReadKey & { press(pressed: PressedKey): void })[] = [];
  const typed: Typed[] = [];
  let interrupts = 0;
  const terminal: Terminal = {
    columns: 80,
    colours: coloursFor({}, {}),
    write: () => {},
    print: (text) => void printed.push(text),
    live: () => {},
    hasScreen: false,
    pin: () => {},
    async readInput(options) {
      reads.push(options);
      return typed.shift() ?? { kind: "end" };
    },
    readKey: (options) =>
      new Promise((resolve) => {
        asked.push({ ...options, press: resolve });
        options.signal?.addEventListener("abort", () => resolve({ kind: "aborted" }));
      }),
    readChoice: () => Promise.reject(new Error("no list is shown")),
    onInterrupt: () => () => {},
    onShortcut: () => () => {},
    close: () => {},
  };
  const broker = createApprovalBroker();
  const keyboard = createKeyboard(terminal);
  broker.addResponder(
    answerQuestions({
      terminal,
      keyboard,
      rows: () => rows,
      interrupt: () => {
        interrupts += 1;
      },
    }),
  );
  const controller = new AbortController();
  const ask = (given?: Partial<PermissionRequest>) =>
    Promise.resolve(broker.ask(requestOf(given), { signal: controller.signal }));
  const question = async (n: number) => {
    while (asked.length < n) await soon();
    return asked[n - 1]!;
  };
  const elicit = () => Promise.resolve(broker.elicit({ ...FORM }, { signal: controller.signal }));
  return {
    printed,
    reads,
    elicit,
    asked,
    typed,
    broker,
    ask,
    question,
    controller,
    interrupts: () => interrupts,
  };
}

test("several at once come one after the other and say which they are", async () => {
  verifies("CLI-1");
  const { ask, question, printed, asked } = atTerminal();
  const answers = [ask(), ask({ tool_name: "b.c" }), ask({ tool_name: "d.e" })];
  await soon();
  expect(asked).toHaveLength(1);
  expect(printed[0]).toMatch(
    /^Question 1 of 3\nOverwrite a\.txt \(\+1 −1\) \(destructive\)\na\.txt\n/,
  );
  (await question(1)).press({ kind: "key", key: "y" });
  const second = await question(2);
  expect(printed[1]).toMatch(/^Question 2 of 3\nb\.c/);
  second.press({ kind: "key", key: "s" });
  (await question(3)).press({ kind: "end" });
  expect(await Promise.all(answers)).toEqual([
    { decision: "allow_once", answered_by: "terminal" },
    { decision: "allow_for_session", answered_by: "terminal" },
    { decision: "deny", answered_by: "terminal" },
  ]);
  const alone = ask();
  (await question(4)).press({ kind: "key", key: "y" });
  await alone;
  expect(printed.at(-1)).toMatch(/^Overwrite a\.txt/);
});

test("a no may have a reason, and Ctrl-C is a no that stops the turn", async () => {
  verifies("CLI-1", "PERM-4");
  const { ask, question, typed, interrupts } = atTerminal();
  typed.push({ kind: "text", text: " use b.txt " }, { kind: "text", text: "" });
  const first = ask();
  (await question(1)).press({ kind: "key", key: "n" });
  expect(await first).toMatchObject({ decision: "deny", reason: "use b.txt" });
  const second = ask();
  (await question(2)).press({ kind: "key", key: "n" });
  expect(await second).toEqual({ decision: "deny", answered_by: "terminal" });
  expect(interrupts()).toBe(0);
  const third = ask();
  (await question(3)).press({ kind: "interrupt" });
  expect(await third).toMatchObject({ decision: "deny" });
  expect(interrupts()).toBe(1);
});

test("a question that someone else answers leaves the screen, and one that still waits is never shown", async () => {
  verifies("CLI-1", "CLI-8");
  const { ask, question, broker, asked, printed } = atTerminal();
  const answers = [ask(), ask({ tool_name: "b.c" }), ask({ tool_name: "d.e" })];
  await question(1);
  const [first, second] = broker.open();
  await broker.answer(second!.question_id, { decision: "deny", answered_by: "elsewhere" });
  await broker.answer(first!.question_id, { decision: "allow_once", answered_by: "elsewhere" });
  const third = await question(2);
  expect(asked[0]?.signal?.aborted).toBe(true);
  third.press({ kind: "key", key: "y" });
  expect(await Promise.all(answers)).toMatchObject([
    { answered_by: "elsewhere" },
    { answered_by: "elsewhere" },
    { answered_by: "terminal" },
  ]);
  expect(printed.filter((text) => text.includes("b.c"))).toEqual([]);
});

test("a long preview is cut to the screen until it is asked for, and every answer is still there", async () => {
  verifies("CLI-1", "PERM-6");
  const { ask, question, printed } = atTerminal(20);
  const lines = Array.from({ length: 50 }, (_, i) => `+line ${i}`).join("\n");
  const answer = ask({
    preview: { kind: "diff", path: "a.txt", diff: `@@ -0,0 +1,50 @@\n${lines}\n` },
  });
  const first = await question(1);
  expect(first.keys).toEqual(["y", "n", "s", "a"]);
  expect(printed[0]).toContain("… 44 more lines");
  expect(printed[0]).toContain("Asked because: writes ask");
  expect(printed[0]).not.toContain("line 10");
  first.press({ kind: "key", key: "a" });
  const second = await question(2);
  expect(printed[1]).toContain("line 49");
  expect(second.keys).toEqual(["y", "n", "s"]);
  second.press({ kind: "key", key: "y" });
  expect(await answer).toMatchObject({ decision: "allow_once" });
});

test("the sandbox of a command is one line, and all that it opens and closes is there when asked for", async () => {
  verifies("CMD-6", "PERM-19");
  const { ask, question, printed } = atTerminal();
  const answer = ask({
    project: "/p",
    sandbox: {
      state: "applied",
      backend: "bubblewrap",
      roots: ["/p"],
      masked: ["/home/me/.ssh"],
      network: "closed",
    },
  });
  const first = await question(1);
  expect(first.keys).toEqual(["y", "n", "s", "a"]);
  expect(printed[0]).toContain("\nSandbox: writes in . only, network closed, 1 path masked\n");
  expect(printed[0]).not.toContain(".ssh");
  first.press({ kind: "key", key: "a" });
  const second = await question(2);
  expect(printed[1]).toContain("masked: /home/me/.ssh");
  second.press({ kind: "key", key: "y" });
  expect(await answer).toMatchObject({ decision: "allow_once" });
});

test("what covers nothing offers two answers, and what a child asks says whose it is", async () => {
  verifies("CLI-1", "PERM-6");
  const { ask, question, printed } = atTerminal();
  const answer = ask({
    scopes: [],
    session_scope: "can only be allowed for this one call.",
    role: "sub",
    agent_id: "agent_2",
    parent_agent_id: "agent_1",
    tool_name: "code.run_command",
    arguments: { description: "Tidy\u001b[2J up" },
    preview: { kind: "command", argv: ["rm", "two words"], cwd: "/p/sub" },
    project: "/p",
    dangerous: true,
    marks: [],
  });
  const asked = await question(1);
  expect(asked.keys).toEqual(["y", "n"]);
  expect(asked.question).not.toContain("session");
  expect(printed[0]).toMatch(/^Run `rm 'two words'` in sub\n/);
  expect(printed[0]).toContain("The model says: Tidy\\u001b[2J up\n");
  expect(printed[0]).toContain("Asked by the sub agent agent_2, started by agent_1, in run_1");
  expect(printed[0]).toContain("\nin /p/sub\n");
  expect(printed[0]).not.toContain("$ rm");
  expect(printed[0]).not.toContain("For this session");
  asked.press({ kind: "key", key: "n" });
  expect(await answer).toMatchObject({ decision: "deny" });
});

test.each([
  ["once where the first line has all of it", "a".repeat(100), false],
  ["whole below a first line that is cut", "b".repeat(300), true],
])("a command is shown %s", async (_where, argument, isBelow) => {
  verifies("PERM-19");
  const { ask, question, printed } = atTerminal();
  const command = { argv: ["echo", argument], cwd: "/p" };
  const answer = ask({
    tool_name: "code.run_command",
    preview: { kind: "command", ...command },
    resources: [{ kind: "command", executable: "/bin/my echo", ...command }],
    scopes: [{ kind: "argv", executable: "/bin/my echo", ...command }],
    project: "/p",
  });
  const asked = await question(1);
  expect(printed[0]?.split(argument)).toHaveLength(2);
  expect(printed[0]?.includes(`\n$ echo ${argument}\n`)).toBe(isBelow);
  expect(printed[0]).toContain("\nruns '/bin/my echo' in /p\n");
  expect(printed[0]).toContain('"For this session" covers exactly this command');
  asked.press({ kind: "key", key: "n" });
  expect(await answer).toMatchObject({ decision: "deny" });
});

const CHOICES: PermissionRequest["scope_choices"] = [
  {
    id: "exact",
    scopes: [{ kind: "argv", executable: "/npm", argv: ["npm", "test"], cwd: "/p" }],
    session_scope: "may run exactly it.",
    always_rule: {
      tool: "code.run_command",
      argv: ["npm", "test"],
      exact_argv: true,
      decision: "allow",
    },
  },
  {
    id: "prefix",
    scopes: [{ kind: "argv_prefix", executable: "/npm", argv: ["npm", "te\u202est"], cwd: "/p" }],
    session_scope: "may run all that begin so.",
    always_rule: { tool: "code.run_command", argv: ["npm", "test", "**"], decision: "allow" },
  },
];

test("for a command the user chooses what a yes for the session covers, and sees it before", async () => {
  verifies("PERM-5", "PERM-6", "PERM-19");
  const { ask, question, printed } = atTerminal();
  const answer = ask({ scope_choices: CHOICES });
  (await question(1)).press({ kind: "key", key: "s" });
  const scope = await question(2);
  expect(printed.at(-1)).toBe(
    "In /p:\n  e  exactly `npm test`\n  s  those that start with `npm 'te\\u202est'`, naming nothing outside the project",
  );
  expect(scope.question).toBe(
    "For this session: [e]xactly this command / all that [s]tart so / [b]ack: ",
  );
  scope.press({ kind: "key", key: "b" });
  (await question(3)).press({ kind: "key", key: "s" });
  (await question(4)).press({ kind: "key", key: "s" });
  expect(await answer).toEqual({
    decision: "allow_for_session",
    scope: "prefix",
    answered_by: "terminal",
  });
  const exactly = ask({ scope_choices: CHOICES });
  (await question(5)).press({ kind: "key", key: "s" });
  (await question(6)).press({ kind: "key", key: "e" });
  expect(await exactly).toEqual({ decision: "allow_for_session", answered_by: "terminal" });
});

test("always asks the same of its rule, which is shown and may be changed", async () => {
  verifies("PERM-18");
  const { ask, question, printed, typed } = atTerminal();
  const answer = ask({ scope_choices: CHOICES, always_rule: CHOICES[0]?.always_rule });
  (await question(1)).press({ kind: "key", key: "w" });
  (await question(2)).press({ kind: "key", key: "s" });
  const keep = await question(3);
  expect(printed.join("\n")).toContain('argv = ["npm", "test", "**"]');
  expect(printed.at(-1)).toBe('The last "**" covers any further arguments, also options.');
  typed.push({
    kind: "text",
    text: '{ tool = "code.run_command", argv = ["npm", "test", "--", "**"], decision = "allow" }',
  });
  keep.press({ kind: "key", key: "c" });
  (await question(4)).press({ kind: "key", key: "p" });
  expect(await answer).toMatchObject({
    decision: "allow_for_session",
    scope: "prefix",
    always: { where: "project", rule: { argv: ["npm", "test", "--", "**"] } },
  });
});

test("a call that is cancelled takes its question along", async () => {
  verifies("CLI-1");
  const { ask, question, controller } = atTerminal();
  const answer = ask();
  const asked = await question(1);
  controller.abort();
  await expect(answer).rejects.toThrow("gone");
  expect(asked.signal?.aborted).toBe(true);
});

test("a form is filled in at the line, of which nothing goes into a history, after what was asked before", async () => {
  verifies("MCP-5", "CLI-1");
  const { ask, elicit, question, typed, reads, printed } = atTerminal();
  const allowed = ask();
  const filled = elicit();
  (await question(1)).press({ kind: "key", key: "y" });
  await allowed;
  typed.push({ kind: "text", text: "main" });
  (await question(2)).press({ kind: "key", key: "a" });
  (await question(3)).press({ kind: "key", key: "s" });
  expect(await filled).toEqual({ action: "accept", content: { branch: "main" } });
  expect(reads.map(({ prompt, history }) => [prompt, history])).toEqual([
    ["│ branch: ", undefined],
  ]);
  expect(printed.join("\n")).toContain("The MCP server github asks, for mcp.github.release:");
});

test("a form ends with Ctrl-C, which stops the turn, and goes when someone else has answered", async () => {
  verifies("MCP-5", "CLI-8");
  const { elicit, question, broker, asked, printed, controller, interrupts } = atTerminal();
  const dismissed = elicit();
  (await question(1)).press({ kind: "interrupt" });
  expect(await dismissed).toEqual({ action: "cancel" });
  expect(interrupts()).toBe(1);
  const answered = elicit();
  await question(2);
  const [open] = broker.openElicitations();
  await broker.answerElicitation(open!.question_id, { action: "decline" });
  expect(await answered).toEqual({ action: "decline" });
  expect(asked[1]?.signal?.aborted).toBe(true);
  const givenUp = elicit();
  await question(3);
  controller.abort();
  await expect(givenUp).rejects.toThrow("the call is gone");
  await soon();
  expect(printed.at(-1)).toBe("The call is gone, and with it the question.");
});
