import fc from "fast-check";
import { parse } from "smol-toml";
import { describe, expect, test } from "vitest";
import { positionFinder } from "./problem.ts";
import { tomlPlaces, type TomlNode } from "./toml.ts";

const bareName = fc.constantFrom("a", "b", "c-d", "e_1", "7", "true");
const quotedName = fc.constantFrom(
  '"a"',
  "'b'",
  '"x.y"',
  "'p]q'",
  '"h#i"',
  '"é\\u0041"',
  '"="',
  '""',
);
const key = fc
  .array(fc.oneof({ weight: 3, arbitrary: bareName }, quotedName), { minLength: 1, maxLength: 3 })
  .chain((names) => fc.constantFrom(names.join("."), names.join(" . "), names.join("\t.")));

const scalar = fc.constantFrom(
  "0",
  "-1_000",
  "0xff",
  "6.5e3",
  "inf",
  "true",
  "1979-05-27",
  "1979-05-27 07:32:00",
  "07:32:00",
  '""',
  "''",
  '"a # b"',
  '"x = [1, {"',
  '"\\"quoted\\" \\\\"',
  "'C:\\path\\'",
  "'it is \"so\" # yes'",
  '"""one\ntwo # three\n[four]\n"""',
  '"""\\\n   joined"""',
  '"""ends in \\""""',
  '"""ends in two"""""',
  "'''raw \\\n'quoted' \"\"\"\n'''",
  "'''ends in one''''",
);
const gap = fc.constantFrom("", " ", "\t", "\n", " # a ] } , comment\n", "\r\n  ");

const { value } = fc.letrec<{ value: string; list: string; table: string }>((tie) => ({
  value: fc.oneof({ depthSize: "small", withCrossShrink: true }, scalar, tie("list"), tie("table")),
  list: fc
    .tuple(fc.array(fc.tuple(gap, tie("value"), gap), { maxLength: 3 }), fc.boolean(), gap)
    .map(([items, trailing, end]) => {
      const inside = items.map((parts) => parts.join("")).join(",");
      return `[${inside}${trailing && items.length > 0 ? "," : ""}${end}]`;
    }),
  table: fc
    .array(fc.tuple(key, tie("value")), { maxLength: 3 })
    .map((members) => `{ ${members.map(([name, held]) => `${name} = ${held}`).join(", ")} }`),
}));

const statement = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(key, value).map(([name, held]) => `${name} = ${held}`) },
  { weight: 2, arbitrary: key.map((name) => `[${name}]`) },
  { weight: 2, arbitrary: key.map((name) => `[[ ${name} ]]`) },
  fc.constantFrom("", "# comment [x]", "  # 'indented'"),
);
const document = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom("", "  "), statement, fc.constantFrom("", " # end"))),
    fc.constantFrom("\n", "\r\n", "\n\n"),
  )
  .map(([statements, lineEnd]) =>
    soundPart(
      statements.map((parts) => parts.join("")),
      lineEnd,
    ),
  );

/** Leaves out every statement that the ones before it forbid. */
function soundPart(statements: readonly string[], lineEnd: string): string {
  let text = "";
  for (const next of statements) {
    if (isToml(`${text}${next}${lineEnd}`)) text += `${next}${lineEnd}`;
  }
  return text;
}

function isToml(text: string): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}

function isTable(held: unknown): held is Record<string, unknown> {
  return typeof held === "object" && held !== null && !(held instanceof Date);
}

function expectSame(text: string, node: TomlNode, held: unknown): void {
  if (Array.isArray(held)) {
    expect(node.items).toHaveLength(held.length);
    for (const [index, item] of held.entries())
      expectSame(text, node.items[index] as TomlNode, item);
  } else if (isTable(held)) {
    expect([...node.members.keys()].toSorted()).toEqual(Object.keys(held).toSorted());
    for (const [name, member] of node.members) {
      expect(nameAt(text, member.start)).toBe(name);
      expectSame(text, member, held[name]);
    }
  }
  if (node.value === undefined) {
    expect(isTable(held)).toBe(true);
  } else {
    const written = text.slice(node.value.start, node.value.end);
    expect(parse(`v = ${written}`).v).toEqual(held);
  }
}

function nameAt(text: string, start: number): unknown {
  const [name = ""] = /^(?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+)/.exec(text.slice(start)) ?? [];
  return Object.keys(parse(`${name} = 0`))[0];
}

describe("the places of a TOML text", () => {
  test("are those of the very keys and values the parser reads, in any document", () => {
    fc.assert(
      fc.property(document, (text) => expectSame(text, tomlPlaces(text).root, parse(text))),
      { numRuns: 400 },
    );
  });

  test("can be asked for of the lines before a mistake, wherever those end", () => {
    fc.assert(
      fc.property(document, fc.nat(), (text, cut) => {
        const lines = text.split("\n");
        tomlPlaces(lines.slice(0, cut % (lines.length + 1)).join("\n"));
      }),
      { numRuns: 200 },
    );
  });

  test("are lines and columns from 1, of the key and of the value", () => {
    const places = tomlPlaces(
      [
        "# first",
        "top = 1",
        "[a.b]",
        '  "c d".e =   [ 1,',
        "    { f = 2, g.h = 'x' } ]",
        "[[rules]]",
        "[[rules]]",
        "tool = '*'",
      ].join("\r\n"),
    );
    expect(places.positionOf(["top"], "key")).toEqual({ line: 2, column: 1 });
    expect(places.positionOf(["top"], "value")).toEqual({ line: 2, column: 7 });
    expect(places.positionOf(["a", "b"], "key")).toEqual({ line: 3, column: 4 });
    expect(places.positionOf(["a", "b"], "value")).toEqual({ line: 3, column: 4 });
    expect(places.positionOf(["a", "b", "c d", "e"], "key")).toEqual({ line: 4, column: 9 });
    expect(places.positionOf(["a", "b", "c d", "e", 0], "value")).toEqual({ line: 4, column: 17 });
    expect(places.positionOf(["a", "b", "c d", "e", 1, "g", "h"], "key")).toEqual({
      line: 5,
      column: 16,
    });
    expect(places.positionOf(["a", "b", "c d", "e", 1, "g", "h"], "value")).toEqual({
      line: 5,
      column: 20,
    });
    expect(places.positionOf(["rules", 1], "key")).toEqual({ line: 7, column: 3 });
    expect(places.positionOf(["rules", 1, "tool"], "value")).toEqual({ line: 8, column: 8 });
    expect(places.openTable).toEqual(["rules", 1]);
  });

  test("of what is not written are those of what is next above it", () => {
    const places = tomlPlaces("x = 1\n[a]\nb = 1\n");
    expect(places.positionOf(["a", "missing", "further"], "key")).toEqual({ line: 2, column: 2 });
    expect(places.positionOf(["nothing"], "key")).toEqual({ line: 1, column: 1 });
    expect(places.has(["a", "b"])).toBe(true);
    expect(places.has(["a", "missing"])).toBe(false);
  });

  test("fit any offset of any text", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "\n", "é")), fc.nat(), (chars, cut) => {
        const text = chars.join("");
        const offset = cut % (text.length + 1);
        const lines = text.slice(0, offset).split("\n");
        expect(positionFinder(text)(offset)).toEqual({
          line: lines.length,
          column: (lines.at(-1) ?? "").length + 1,
        });
      }),
    );
  });
});
