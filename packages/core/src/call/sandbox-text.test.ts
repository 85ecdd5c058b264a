import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import type { PlannedSandbox } from "../tool/index.ts";
import { describeSandbox, listSandbox } from "./sandbox-text.ts";

const CLOSED: PlannedSandbox = {
  state: "applied",
  backend: "bubblewrap",
  roots: ["/work/app"],
  masked: ["/home/me/.ssh", "/work/app/.env"],
  network: "closed",
};

describe("the sandbox of a planned command", () => {
  test.each<[PlannedSandbox | undefined, string | undefined]>([
    [CLOSED, "Sandbox: writes in . only, network closed, 2 paths masked"],
    [
      {
        ...CLOSED,
        roots: ["/work/app", "/work/app/out", "/srv/a", "/srv/b", "/srv/c"],
        masked: ["/work/app/.env"],
        network: { hosts: ["registry.npmjs.org", "*.example.org"] },
      },
      "Sandbox: writes in ., out, /srv/a and 2 more only, network open to registry.npmjs.org, *.example.org, 1 path masked",
    ],
    [
      { ...CLOSED, roots: [], masked: [], masked_more: 0 },
      "Sandbox: writes nowhere, network closed",
    ],
    [{ state: "off", by: "rules[2]" }, "Outside the sandbox (rules[2])"],
    [
      { state: "missing", why: "bubblewrap is not installed" },
      "No sandbox: bubblewrap is not installed",
    ],
    [{ state: "off", by: "sandbox.mode" }, undefined],
    [undefined, undefined],
  ])("is one line: %j", (sandbox, line) => {
    verifies("CMD-6");
    expect(describeSandbox({ sandbox, project: "/work/app" })).toBe(line);
  });

  test("is listed whole, with what was not recorded counted", () => {
    verifies("CMD-6", "PERM-19");
    const sandbox = { ...CLOSED, masked_more: 1, network: { hosts: ["a.org"] } };
    expect(listSandbox({ sandbox, project: "/work/app" })).toEqual([
      "writes in .",
      "network open to a.org",
      "masked: /home/me/.ssh",
      "masked: .env",
      "masked: 1 more",
    ]);
    expect(listSandbox({ sandbox: { state: "off", by: "rules[0]" } })).toEqual([]);
  });

  test("is escaped, and what another version wrote is dropped", () => {
    verifies("CMD-6", "PERM-19");
    const odd = {
      ...CLOSED,
      roots: ["/work/\u202Egnp"],
      masked: ["/a\nb", 3],
      masked_more: "x",
      network: { hosts: ["a\u200B.org"] },
    } as unknown as PlannedSandbox;
    expect(describeSandbox({ sandbox: odd })).toBe(
      "Sandbox: writes in /work/\\u202egnp only, network open to a\\u200b.org, 1 path masked",
    );
    expect(listSandbox({ sandbox: odd })).toContain("masked: /a\\nb");
    expect(describeSandbox({ sandbox: { state: "off", by: "\u001b[2J" } })).not.toContain("\u001b");
    const other = { state: "other" } as unknown as PlannedSandbox;
    expect(describeSandbox({ sandbox: other })).toBeUndefined();
  });
});
