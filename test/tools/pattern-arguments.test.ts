// Arguments that are patterns or text and no paths (PERM-15, PATH-3): an expression of grep is not taken for a file of that name.

import { expect, onTestFinished, test } from "vitest";
import type { PermissionRule } from "@soong/core";
import { verifies } from "#laws";
import { explainCommand, allowCode, createWorkbench, type Workbench } from "./workbench.ts";

async function open(rules: readonly PermissionRule[] = []): Promise<Workbench> {
  const bench = await createWorkbench({ rules: [...allowCode, ...rules] });
  onTestFinished(() => bench.close());
  await bench.write("x", "x\n");
  await bench.write("prod.env", "");
  await bench.write("names", ".env\n");
  await bench.write("ab.env", "");
  await bench.write("src/a.ts", "");
  await bench.write("app/.env", "");
  return bench;
}

async function decided(bench: Workbench, argv: string[]) {
  const { judgements } = await explainCommand(bench, argv);
  return judgements?.[0]?.decision;
}

const DENY: PermissionRule = { path: "**/*.env", decision: "deny" };

test("what a program is known to take for a pattern or text names no path", async () => {
  verifies("PERM-15", "PATH-3");
  const denying = await open([DENY]);
  const plain = await open();
  for (const argv of [
    ["grep", "a[bc]*.env", "x"],
    ["grep", "prod.env", "x"],
    ["grep", "-n", "-e", "prod.env", "-e", ".env", "x"],
    ["grep", "-rn", ".env", "src"],
    ["grep", "-r", "--include=*.ts", ".env", "src"],
    ["egrep", "-i", "(prod|dev).env", "x"],
    ["sed", "s/prod.env/.env/", "x"],
    ["sed", "-n", "/a[bc]*.env/p", "x"],
    ["sed", "-E", "-e", "s/.env/y/g", "x"],
    ["awk", "/a[bc]*.env/ { print $1 }", "x"],
    ["echo", "copy prod.env to .env"],
    ["printf", "%s\\n", ".env"],
    ["tr", ".env", "x"],
    ["find", "src", "-name", "*.env"],
    ["jq", ".env", "x"],
  ]) {
    expect([argv, await decided(denying, argv)]).toEqual([argv, "allow"]);
    expect([argv, await decided(plain, argv)]).toEqual([argv, "allow"]);
  }
  for (const argv of [
    ["rg", "-n", ".env", "src"],
    ["rg", "-t", "ts", "-e", ".env", "src"],
    ["git", "commit", "-m", "Read .env before prod.env"],
    ["git", "commit", "-am", "Read .env"],
    ["git", "commit", "--message=Read .env"],
    ["git", "tag", "-m", "With .env", "v1"],
    ["grep", "-r", "--exclude=.env", "TOKEN", "app"],
    ["cp", "-a", "names", "copy"],
    ["ls", "-a", "names"],
  ]) {
    expect([argv, await decided(plain, argv)]).toEqual([argv, "allow"]);
  }
});

test("the files beside a pattern are judged as before", async () => {
  verifies("PERM-15", "PATH-3");
  const denying = await open([DENY]);
  const plain = await open();
  for (const argv of [
    ["grep", "x", "prod.env"],
    ["grep", "-e", "x", "prod.env"],
    ["grep", "-f", "prod.env", "x"],
    ["grep", "-fprod.env", "x"],
    ["grep", "-A", "3", "x", "prod.env"],
    ["grep", "--unknown", "prod.env", "x"],
    ["grep", "x", "--file=prod.env"],
    ["rg", "x", "prod.env"],
    ["sed", "p", "prod.env"],
    ["sed", "-e", "p", "prod.env"],
    ["sed", "-n", "r prod.env", "x"],
    ["sed", "-f", "prod.env", "x"],
    ["awk", "1", "prod.env"],
    ["awk", '{ getline < "prod.env" }', "x"],
    ["jq", ".", "prod.env"],
    ["git", "commit", "-F", "prod.env"],
    ["git", "commit", "prod.env"],
    ["sh", "-c", "cat *.env"],
    ["sh", "-c", "echo x > prod.env"],
  ]) {
    expect([argv, await decided(denying, argv)]).toEqual([argv, "deny"]);
  }
  for (const argv of [
    ["grep", "x", ".env"],
    ["grep", "-e", "x", ".env"],
    ["sed", "-n", "p", ".env"],
    ["git", "commit", "-F", ".env"],
    ["git", "show", "HEAD:.env"],
    ["sh", "-c", "cat .env"],
  ]) {
    expect([argv, await decided(plain, argv)]).toEqual([argv, "ask"]);
  }
});

test("a pattern where a file was expected asks at most", async () => {
  verifies("PERM-15");
  const denying = await open([DENY]);
  for (const argv of [
    ["grep", "--some-option", "a[bc]*.env", "x"],
    ["cat", "a*.env"],
  ]) {
    expect([argv, await decided(denying, argv)]).toEqual([argv, "ask"]);
  }
});
