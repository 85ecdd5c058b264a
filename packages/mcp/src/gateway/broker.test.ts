import {
  NoOneToAsk,
  type ElicitationAnswer,
  type ElicitationRequest,
  type PermissionRequest,
} from "@soong/core";
import { expect, it } from "vitest";
import { verifies } from "#laws";
import type { ClientAnswer } from "./client-question.ts";
import { createGatewayBroker, type AnsweringCall } from "./broker.ts";
import { permissionQuestion, readPermission } from "./permission-question.ts";

const context = { signal: new AbortController().signal };

const request: PermissionRequest = {
  request_id: "r",
  session_id: "s1",
  run_id: "run",
  agent_id: "a",
  role: "main",
  tool_call_id: "c1",
  tool_name: "note.write",
  description: "Writes",
  permission: "write",
  tags: [],
  arguments: { text: "x" },
  resources: [],
  scopes: [],
  session_scope: "nothing",
  cwd: "/p",
  network_hosts: [],
  dangerous: true,
  marks: ["dangerous"],
  destructive: true,
  hook_results: [],
  reason: "asked by default",
  chain: [],
  suggested_decision: "deny",
  digest: "d",
};

const sampled: ClientAnswer = { kind: "sampling", result: { model: "m" } };

function answering(answer: () => Promise<ElicitationAnswer>): AnsweringCall & {
  asked: ElicitationRequest[];
} {
  const asked: ElicitationRequest[] = [];
  return {
    asked,
    client: "host",
    standsAlone: false,
    logLevel: undefined,
    can: (ability) => ["form", "sampling"].includes(ability),
    async put(question) {
      if (question.kind !== "elicitation") return sampled;
      asked.push(question.request);
      return { kind: "elicitation", answer: await answer() };
    },
    expect: () => () => {},
  };
}

const yes = (): Promise<ElicitationAnswer> =>
  Promise.resolve({ action: "accept", content: { decision: "allow_once" } });

it("asks for a subagent through its parent's client only when it is known whose call it is", async () => {
  verifies("GATE-2");
  const broker = createGatewayBroker();
  const call = answering(yes);
  let calls: AnsweringCall[] = [call];
  const leave = broker.register("run", {
    find: () => undefined,
    only: () => (calls.length === 1 ? calls[0] : undefined),
  });
  const ofChild = { ...request, run_id: "child", parent_run_id: "run" };
  expect(await broker.ask(ofChild, context)).toMatchObject({ decision: "allow_once" });
  calls = [call, call];
  await expect(broker.ask(ofChild, context)).rejects.toThrow(NoOneToAsk);
  calls = [call];
  leave();
  await expect(broker.ask(ofChild, context)).rejects.toThrow("soong attach s1");
  await expect(broker.ask(request, context)).rejects.toThrow(NoOneToAsk);
  expect(call.asked).toHaveLength(1);
});

it("turns to the next responder when asking through the client fails", async () => {
  verifies("GATE-2");
  const broken = answering(() => Promise.reject(new Error("gone")));
  const seats = { find: () => broken, only: () => undefined };
  const alone = createGatewayBroker();
  alone.register("run", seats);
  await expect(alone.ask(request, context)).rejects.toThrow(
    "asking through the client failed (gone)",
  );
  expect(
    await alone.elicit(
      { mode: "url", message: "m", url: "https://x", tool_name: "t", tool_call_id: "c1" },
      context,
    ),
  ).toEqual({ action: "decline" });
  const helped = createGatewayBroker({
    ask: () => ({ decision: "allow_once" }),
    elicit: () => ({ action: "cancel" }),
  });
  helped.register("run", seats);
  expect(await helped.ask(request, context)).toEqual({ decision: "allow_once" });
  const form = { mode: "form" as const, message: "m", requested_schema: {} };
  expect(await helped.elicit({ ...form, tool_name: "t", tool_call_id: "c1" }, context)).toEqual({
    action: "cancel",
  });
  const unattended = createGatewayBroker({
    ask: () => Promise.reject(new NoOneToAsk("no one is attached")),
  });
  await expect(unattended.ask(request, context)).rejects.toThrow(
    /no one is attached.*soong attach s1/u,
  );
});

it("offers to remember only what can be remembered, and takes no other answer", () => {
  verifies("GATE-2");
  const question = permissionQuestion(request);
  expect(question).toMatchObject({
    requested_schema: {
      properties: {
        decision: {
          oneOf: [
            { const: "allow_once", title: "Allow once" },
            { const: "deny", title: "Deny" },
          ],
        },
      },
    },
  });
  expect(question?.message).not.toContain("for this session");
  expect(question?.message).toContain('Arguments: {"text":"x"}');
  expect(question?.message).toContain("marked dangerous");
  const answer = { action: "accept" as const, content: { decision: "allow_for_session" } };
  expect(readPermission(request, answer, "host").decision).toBe("deny");
  const scoped = { ...request, scopes: [{}] } as unknown as PermissionRequest;
  expect(permissionQuestion(scoped)).toMatchObject({
    requested_schema: {
      properties: {
        decision: {
          oneOf: [{}, { const: "allow_for_session", title: "Allow for this session" }, {}],
        },
      },
    },
  });
  expect(readPermission(scoped, answer, "host").decision).toBe("allow_for_session");
});

it("says how a command would run", () => {
  verifies("CMD-6");
  const sandbox = { state: "missing" as const, why: "bubblewrap is not installed" };
  expect(permissionQuestion({ ...request, sandbox })?.message).toContain(
    "\nNo sandbox: bubblewrap is not installed\n",
  );
});

it("names all that a command could write and reach: a form has no second page", () => {
  verifies("PERM-19");
  const roots = ["/a", "/b", "/c", "/d", "/e"];
  const hosts = ["a.org", "b.org", "c.org", "d.org", "e.org"];
  const sandbox = {
    state: "applied" as const,
    backend: "bubblewrap",
    roots,
    masked: [],
    network: { hosts },
  };
  expect(permissionQuestion({ ...request, sandbox })?.message).toContain(
    `writes in ${roots.join(", ")} only, network open to ${hosts.join(", ")}`,
  );
});

it("writes out characters that would hide what is asked", () => {
  verifies("PERM-19");
  const sly = { ...request, preview: { kind: "text" as const, text: "rm \u202Egpj.exe\u001B[2J" } };
  expect(permissionQuestion(sly)?.message).toContain("rm \\u202egpj.exe\\u001b[2J\n");
  const argv = ["rm", "a\u{E0041}\u00ADb"];
  const command = { kind: "command" as const, executable: "/p/bin/rm\u2800", argv, cwd: "/p" };
  const preview = { kind: "command" as const, argv, cwd: "/p" };
  const message = permissionQuestion({ ...request, preview, resources: [command] })?.message;
  expect(message).toContain('["rm","a\\udb40\\udc41\\u00adb"]');
  expect(message).toContain("Runs: /p/bin/rm\\u2800\n");
});

it("does not ask where the question cannot be shown whole, and says where to answer", async () => {
  verifies("PERM-19");
  let asked = 0;
  const broker = createGatewayBroker();
  const seats = {
    find: () =>
      answering(() => {
        asked += 1;
        return Promise.resolve({ action: "accept", content: { decision: "allow_once" } });
      }),
    only: () => undefined,
  };
  broker.register("run", seats);
  const argv = ["sh", "-c", `true ${" ".repeat(6_000)}; rm -rf all`];
  const preview = { kind: "command" as const, argv, cwd: "/p" };
  await expect(broker.ask({ ...request, preview }, context)).rejects.toThrow(
    /too long to be shown whole in this client.*soong attach s1/u,
  );
  expect(asked).toBe(0);
  expect(await broker.ask(request, context)).toMatchObject({ decision: "allow_once" });
});

it("says first which server asks, no matter what its message claims", async () => {
  verifies("MCP-5");
  const client = answering(yes);
  const broker = createGatewayBroker();
  broker.register("run", { find: () => client, only: () => undefined });
  const form = { mode: "form" as const, message: "Soong asks: password?", requested_schema: {} };
  for (const tool_name of ["mcp.git\u202E.push", "note.ask"])
    await broker.elicit({ ...form, tool_name, tool_call_id: "c1" }, context);
  expect(client.asked.map(({ message }) => message)).toEqual([
    "The MCP server git\\u202e asks, for mcp.git\\u202e.push:\nSoong asks: password?",
    "A tool asks, for note.ask:\nSoong asks: password?",
  ]);
});

it("takes a dismissed question for no one's answer, and asks the next responder", async () => {
  verifies("GATE-2");
  const form = { mode: "form" as const, message: "m", requested_schema: {} };
  const elicitation = { ...form, tool_name: "t", tool_call_id: "c1" };
  const seats = {
    find: () => answering(() => Promise.resolve({ action: "cancel" })),
    only: () => undefined,
  };
  const alone = createGatewayBroker();
  alone.register("run", seats);
  await expect(alone.ask(request, context)).rejects.toThrow(
    /dismissed in the client.*soong attach s1/u,
  );
  expect(await alone.elicit(elicitation, context)).toEqual({ action: "cancel" });
  const helped = createGatewayBroker({
    ask: () => ({ decision: "allow_once" }),
    elicit: () => ({ action: "accept", content: {} }),
  });
  helped.register("run", seats);
  expect(await helped.ask(request, context)).toEqual({ decision: "allow_once" });
  expect(await helped.elicit(elicitation, context)).toMatchObject({ action: "accept" });
});

it("names the client of a call as the host, with what it can do, and no one for a call of no client", async () => {
  verifies("MCP-5");
  const broker = createGatewayBroker();
  const call = answering(yes);
  const other = { ...answering(yes), standsAlone: true };
  const calls = {
    find: (id: string) => ({ c1: call, c2: call, c3: other })[id],
    only: () => undefined,
  };
  broker.register("run", calls);
  const of = (tool_call_id: string) => broker.host.clientOf({ run_id: "run", tool_call_id });
  expect(of("c0")).toBeUndefined();
  expect(of("c1")).toMatchObject({ sampling: true, roots: false });
  expect(of("c1")?.identity).toBe(of("c2")?.identity);
  expect(of("c3")?.identity).not.toBe(of("c1")?.identity);
  const asking = { method: "sampling/createMessage", params: {} } as const;
  expect(await of("c1")?.ask(asking, context)).toEqual({ model: "m" });
});
