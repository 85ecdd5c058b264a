import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import type { JsonObject, ToolFailure } from "@soong/core";
import { verifies } from "#laws";
import { anyCharacter } from "../../../../test/any-character.ts";
import { compileShell, renderShell, type ShellTemplate } from "./command-template.ts";
import { findSchemaField } from "./schema-field.ts";

const schema = {
  type: "object",
  properties: {
    x: { type: "string" },
    y: { type: ["string", "integer"] },
    maybe: { type: "string" },
    list: { type: "array", items: { type: "string" } },
    flag: { type: "string", enum: ["-l"] },
  },
  required: ["x", "y", "flag"],
};

const folder = mkdtempSync(join(tmpdir(), "soong-shell-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function compile(
  script: string,
): { ok: true; template: ShellTemplate } | { ok: false; problems: string[] } {
  const problems: string[] = [];
  const template = compileShell(
    script,
    (path) => findSchemaField({ schema, sensitive: [] }, path),
    (message) => problems.push(message),
  );
  return template === undefined ? { ok: false, problems } : { ok: true, template };
}

function rendered(script: string, input: JsonObject): string {
  const compiled = compile(script);
  if (!compiled.ok) return compiled.problems.join("\n");
  try {
    return renderShell(compiled.template, input);
  } catch (error) {
    return (error as ToolFailure).message;
  }
}

/** Every shell there is, as the one behind /bin/sh could be any of them. */
const SHELLS = [
  ["/bin/sh"],
  ["/bin/dash"],
  ["/bin/bash", "--posix"],
  ["/bin/bash"],
  ["/bin/busybox", "sh"],
].filter(([shell = ""]) => existsSync(shell));

function run([shell = "", ...options]: readonly string[], script: string): string {
  const { stdout } = spawnSync(shell, [...options, "-c", script], {
    cwd: folder,
    env: { PATH: "/usr/bin:/bin", SHLVL: "1", x: "a" },
    encoding: "utf8",
    timeout: 10_000,
    input: "",
  });
  return stdout;
}

describe("values in a script", () => {
  test.each([
    ["in single quotes", "cat {{args.x}}", { x: "a b" }, "cat 'a b'"],
    ["with their own quotes", "cat {{args.x}}", { x: "it's" }, "cat 'it'\\''s'"],
    ["numbers, too", "head -n{{args.y}}", { y: 5 }, "head -n'5'"],
    ["inside a longer word", 'cat a{{args.x}}"b"', { x: "1" }, "cat a'1'\"b\""],
    ["a list as several words", "cat {{args.list}} z", { list: ["a b", "c"] }, "cat 'a b' 'c' z"],
    ["an empty list as none", "cat {{args.list}};", { list: [] }, "cat ;"],
    ["an absent one as none", "cat {{args.maybe}}|wc", {}, "cat |wc"],
    ["an empty text as an empty word", "cat {{args.x}}", { x: "" }, "cat ''"],
    ["as the target of a redirection", "echo 1 >{{args.x}}", { x: "-f" }, "echo 1 >'-f'"],
    ["as an assignment", 'v={{args.x}} w=1; echo "$v"', { x: "-f" }, "v='-f' w=1; echo \"$v\""],
    [
      "in a loop",
      'for f in {{args.list}}; do echo "$f"; done',
      { list: ["a"] },
      "for f in 'a'; do echo \"$f\"; done",
    ],
    [
      "in a plain substitution",
      "echo $(cat {{args.x}}) {{args.y}}",
      { x: "a", y: "b" },
      "echo $(cat 'a') 'b'",
    ],
    ["behind closed options", "rm -- {{args.x}}", { x: "-f" }, "rm -- '-f'"],
    ["an option the schema lists", "ls {{args.flag}}", { flag: "-l" }, "ls '-l'"],
    [
      "beside quoted templates' look-alikes",
      "echo '{x}' \"$HOME\" ${x:-1} $((1+2)) `pwd` {{args.x}}",
      { x: "a" },
      "echo '{x}' \"$HOME\" ${x:-1} $((1+2)) `pwd` 'a'",
    ],
    [
      "behind a comment's end",
      "echo a # it's\necho {{args.x}}",
      { x: "b" },
      "echo a # it's\necho 'b'",
    ],
    ["behind a redirection", "2>/dev/null grep a {{args.x}}", { x: "b" }, "2>/dev/null grep a 'b'"],
    [
      "in a case",
      "case {{args.x}} in a) echo b;; esac",
      { x: "a" },
      "case 'a' in a) echo b;; esac",
    ],
  ])("%s", (_, script, input, expected) => {
    verifies("DECL-3");
    expect(rendered(script, input as JsonObject)).toBe(expected);
  });

  test.each([
    ["double quotes", 'echo "{{args.x}}"', "in double quotes"],
    ["double quotes, behind an escaped one", 'echo "a\\"{{args.x}}"', "in double quotes"],
    ["single quotes", "echo '{{args.x}}'", "in single quotes"],
    ["a comment", "echo a # {{args.x}}", "in a comment"],
    ["a comment at the beginning", "#{{args.x}}\necho", "in a comment"],
    ["a comment behind an operator", "echo;#{{args.x}}", "in a comment"],
    ["a comment behind a line that continues", "echo \\\n#{{args.x}}", "in a comment"],
    ["backticks", "echo `cat {{args.x}}`", "no template can be quoted safely"],
    ["a here-document", "cat <<E\n{{args.x}}\nE", "here-document"],
    ["the line of a here-document", "cat <<E {{args.x}}\nE", "here-document"],
    ["anything behind a here-document", "cat <<E\nE\necho {{args.x}}", "here-document"],
    ["an expansion", "echo ${a:-{{args.x}}}", "no template can be quoted safely"],
    ["arithmetic", "echo $(( {{args.y}} + 1 ))", "no template can be quoted safely"],
    ["arithmetic of bash", "(( a = {{args.y}} ))", "no template can be quoted safely"],
    [
      "a substitution in double quotes",
      'echo "$(cat {{args.x}})"',
      "no template can be quoted safely",
    ],
    [
      "quotes in a substitution in quotes",
      'echo "$(cat "{{args.x}}")"',
      "no template can be quoted safely",
    ],
    ["a script with an odd quote", "echo 'a; echo {{args.x}}", "never closed"],
    ["a script with an odd double quote", 'echo "a; echo {{args.x}}', "never closed"],
    ["a backslash's reach", "echo \\{{args.x}}", "after a backslash"],
    ["a dollar's reach", "echo ${{args.x}}", 'behind "$"'],
    ["quotes with escapes", "echo $'a\\'' {{args.x}}", "no template can be quoted safely"],
    ["translated quotes", 'echo $"a" {{args.x}}', "no template can be quoted safely"],
    ["the place of a program", "{{args.x}} a", "would be run as a program"],
    ["part of a program", "./{{args.x}} a", "would be run as a program"],
    ["the place of a program behind an assignment", "a=1 {{args.x}}", "would be run as a program"],
    [
      "the place of a program behind a redirection",
      "2>&1 >a {{args.x}}",
      "would be run as a program",
    ],
    ["the place of a program in a pipe", "echo a | {{args.x}}", "would be run as a program"],
    [
      "the place of a program behind then",
      "if true; then {{args.x}}; fi",
      "would be run as a program",
    ],
    ["the place of a program in a substitution", "echo $({{args.x}})", "would be run as a program"],
    [
      "the place of a program behind a line's end",
      "echo a\n{{args.x}}",
      "would be run as a program",
    ],
    ["the place of a descriptor", "echo >&{{args.x}}", "would choose a file descriptor"],
    ["eval", "eval echo {{args.x}}", 'read by "eval" as part of a script'],
    ["exec", "exec {{args.x}}", 'read by "exec"'],
    ["a script for another shell", "sh -c {{args.x}}", 'read by "sh" as part of a script'],
    ["a script for another shell, by path", "/bin/bash -ec {{args.x}}", 'read by "/bin/bash"'],
    ["the name of a variable", "export {{args.x}}", 'choose a variable of "export"'],
    [
      "quotes behind a case in a substitution in quotes",
      'echo "$(case a in a) echo "{{args.x}}";; esac)"',
      "no template can be quoted safely",
    ],
    ["case beside a substitution", "a=$(case b in b) echo {{args.x}};; esac)", '"case" beside'],
  ])("in %s is refused when the tool is loaded", (_, script, message) => {
    verifies("DECL-3");
    expect(compile(script)).toMatchObject({ ok: false });
    expect(rendered(script, { x: "a", y: 1 })).toContain(message);
  });

  test.each([
    [
      "an optional one in a longer word",
      "echo a{{args.maybe}}",
      "may be absent, so it must be a separate word",
    ],
    ["an optional target", "echo >{{args.maybe}}", "which a redirection cannot take"],
    [
      "a list in a longer word",
      "echo {{args.list}}a",
      "may be a list, so it must be a separate word",
    ],
    ["a list beside another value", "echo {{args.x}}{{args.list}}", "may be a list"],
    ["a list as a target", "echo > {{args.list}}", "which a redirection cannot take"],
    ["an undeclared field", "echo {{args.zz}}", "names no field"],
    ["another template", "echo {{x}}", "between double braces"],
  ])("%s is refused when the tool is loaded", (_, script, message) => {
    verifies("DECL-3");
    expect(rendered(script, {})).toContain(message);
  });

  test.each([
    ["a NUL character", { x: "\0", y: "" }, "NUL"],
    ["half a character", { x: "\udc00", y: "" }, "half a character"],
    ["an option", { x: "-f", y: "" }, "would be taken for an option"],
    ["an option behind an empty value", { x: "", y: "-f" }, "would be taken for an option"],
    ["more than fits", { x: "'".repeat(40_000), y: "" }, "too long for a command line"],
  ])("%s is refused at the call", (_, input, message) => {
    verifies("DECL-3");
    expect(rendered("cat {{args.x}}{{args.y}}", input)).toContain(message);
  });

  test("a script without templates may be anything", () => {
    verifies("DECL-3");
    for (const script of ['echo "$(a "b")"', "cat <<E\n'\nE", "((1))", "echo 'a"]) {
      expect(rendered(script, {})).toBe(script);
    }
  });
});

test("every shell reads back exactly the values that were given", () => {
  verifies("DECL-3");
  const unit = fc.constantFrom(
    ..."'\"\\$`!*?[]{}()<>|&;#~= \n\t\r-aä%^".split(""),
    "😀",
    "\u007f",
    "\u0001",
  );
  const value = fc.oneof(
    fc.string({ unit, maxLength: 12 }),
    fc.string({ unit: anyCharacter, maxLength: 6 }),
  );
  const clean = value.filter((text) => !/[\0\p{Surrogate}]/u.test(text));
  fc.assert(
    fc.property(clean, fc.array(clean, { maxLength: 60 }), (x, list) => {
      const script = rendered("printf '%s\\001' -- a{{args.x}} {{args.list}} | od -An -v -tx1", {
        x,
        list,
      });
      const expected = ["--", `a${x}`, ...list].map((text) => `${text}\u0001`).join("");
      for (const shell of SHELLS) {
        const hex = run(shell, script).replaceAll(/\s/g, "");
        expect(Buffer.from(hex, "hex").toString("utf8")).toBe(expected);
      }
    }),
    { numRuns: process.env.SOONG_TEST_FULL === "1" ? 500 : 8 },
  );
});

/**
 * Scripts put together from the signs that matter, most of them nonsense. What is let through must be
 * safe: no value may create the file it tries to create.
 */
test("in no script that is accepted does a value become anything but a value", () => {
  verifies("DECL-3");
  const pieces = [
    ..."'\"`\\$#(){};&|<>\n =!~*-".split(""),
    "{{args.x}}",
    " {{args.x}} ",
    "$(",
    "$((",
    "))",
    "${",
    "echo ",
    "a=",
    "case a in ",
    ") ",
    ";;",
    "esac",
    "<<E\n",
    "\nE\n",
    "if ",
    "then ",
    "fi",
    "eval ",
    "for i in ",
    "do ",
    "done",
    "\\\n",
    '"$x"',
    "$x",
    "true ",
    "[ ",
    " ]",
    "`echo`",
    '"$(echo)"',
    "1",
    "2>",
    ">&",
    "sh -c ",
    "x",
  ];
  const script = fc
    .array(fc.constantFrom(...pieces), { maxLength: 12 })
    .map((parts) => `echo ${parts.join("")}`)
    .filter((text) => text.includes("{{args.x}}"));
  const attacks = ["$(>pwned)`>pwned`", "';>pwned;'", "\n>pwned\n", '";>pwned #'];
  const full = process.env.SOONG_TEST_FULL === "1";
  const count = full ? 5000 : 400;
  fc.assert(
    fc.property(fc.array(script, { minLength: count, maxLength: count }), (scripts) => {
      const safe = scripts.flatMap((text) => {
        const compiled = compile(text);
        if (!compiled.ok) return [];
        return attacks.flatMap((x) => {
          try {
            return [renderShell(compiled.template, { x })];
          } catch {
            return [];
          }
        });
      });
      expect(safe.length).toBeGreaterThan(count / 10);
      for (const shell of ["/bin/sh", "/bin/bash"]) expect(runAll(shell, safe)).toEqual([]);
    }),
    { numRuns: 1, endOnFailure: true },
  );
});

/** Runs each script in a subshell of one shell; those by which something was planted. */
function runAll(shell: string, scripts: readonly string[]): string[] {
  const all =
    'for s do (eval "$s") </dev/null >/dev/null 2>&1; [ ! -e pwned ] || { rm pwned; printf "%s\\0" "$s"; }; done';
  const planted: string[] = [];
  for (let at = 0; at < scripts.length; at += 200) {
    const { stdout } = spawnSync(shell, ["-c", all, "sh", ...scripts.slice(at, at + 200)], {
      cwd: folder,
      env: { PATH: "/usr/bin:/bin", SHLVL: "1", x: "a" },
      encoding: "utf8",
      timeout: 30_000,
      stdio: ["ignore", "pipe", "ignore"],
    });
    planted.push(...stdout.split("\0").filter((text) => text !== ""));
  }
  return planted;
}
