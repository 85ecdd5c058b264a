import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { anyCharacter } from "../../../../test/any-character.ts";
import { PORTABLE_NAMES, wireNameOf, wireNames, type NameProfile } from "./wire-name.ts";

const numRuns = process.env["SOONG_TEST_FULL"] === "1" ? 10_000 : 500;

const PROFILES: NameProfile[] = [
  PORTABLE_NAMES,
  { first_chars: "A-Za-z_", chars: "A-Za-z0-9_.:-", max_length: 128 },
  { first_chars: "a-z", chars: "a-z0-9_", max_length: 40 },
  { first_chars: "a-zA-Z", chars: "a-zA-Z0-9-", max_length: 64 },
  { first_chars: "A-Z", chars: "A-Z0-9", max_length: 32 },
  { first_chars: "a-zA-Z0-9_-", chars: "a-zA-Z0-9_-", max_length: 16 },
  { first_chars: "a-z", chars: "a-z", max_length: 24 },
  { first_chars: "_", chars: "a-f0-9_", max_length: 48 },
  { first_chars: "x", chars: "0-9", max_length: 30 },
  { first_chars: "-a-z", chars: "a-z0-9-", max_length: 20 },
];
const anyProfile = fc.constantFrom(...PROFILES);

/** Names that differ in nothing but what a careless mapping loses. */
const anyName = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "b", "A", "_", ".", "-", "1"), maxLength: 9 }),
  fc.string({ unit: fc.constantFrom("a", "_", ".", "é", "/", "😀"), maxLength: 60 }),
  fc.string({ unit: anyCharacter, maxLength: 20 }),
  fc
    .array(fc.constantFrom("mcp", "git", "list_refs", "list__refs", "_", "read-file"), {
      minLength: 2,
      maxLength: 20,
    })
    .map((segments) => segments.join(".")),
  fc.constantFrom("__proto__", "constructor", "mcp.a.__proto__", "a.b", "a__b", "a_.b", "a._b"),
);
const anyNames = fc.uniqueArray(anyName, { maxLength: 30 });

describe("wire names", () => {
  test("a dot becomes two underscores", () => {
    verifies("NAME-3");
    expect(wireNameOf("code.read_file", PORTABLE_NAMES)).toBe("code__read_file");
    expect(wireNameOf("mcp.my-server.do_it", PORTABLE_NAMES)).toBe("mcp__my-server__do_it");
    expect(wireNameOf("_notes._read", PORTABLE_NAMES)).toMatch(/^notes___[a-z0-9]{12}_read$/);
  });

  test("a name that this would confuse with another is distinguished by a hash, its tail readable", () => {
    verifies("NAME-3");
    expect(wireNameOf("mcp.git.list__refs")).toMatch(/^mcp_git___[a-z0-9]{12}_list_refs$/);
    expect(wireNameOf("mcp.git.list_.refs")).toMatch(/^mcp_git_list___[a-z0-9]{12}_refs$/);
    expect(wireNameOf("mcp.git.größe")).toMatch(/^mcp_git___[a-z0-9]{12}_gr_e$/);
    expect(wireNameOf("mcp.git.größe")).not.toBe(wireNameOf("mcp.git.grüße"));
    expect(wireNameOf("9lives.count")).toMatch(/^t9lives___[a-z0-9]{12}_count$/);
  });

  test("a name that is too long is shortened around a hash, tail before head", () => {
    verifies("NAME-3");
    const long = `mcp.${"server_".repeat(12)}x.search_the_whole_archive`;
    const wire = wireNameOf(long);
    expect(wire).toMatch(/^mcp_server_[a-z_]*___[a-z0-9]{12}_search_the_whole_archive$/);
    expect(wire.length).toBeLessThanOrEqual(64);
    expect(wireNameOf(long, { ...PORTABLE_NAMES, max_length: 24 })).toMatch(
      /^m[a-z_]*___[a-z0-9]{12}_archive$/,
    );
    expect(wireNameOf(`a.${"b".repeat(300)}`)).toMatch(/^a___[a-z0-9]{12}_b{47}$/);
  });

  test("a wire name is the same today as it was when it was first recorded", () => {
    verifies("NAME-3");
    expect(wireNameOf("mcp.git.list__refs")).toMatchInlineSnapshot(
      `"mcp_git___jqllcfcr4foq_list_refs"`,
    );
    expect(wireNameOf("mcp.git.list__refs", PROFILES[4])).toMatchInlineSnapshot(
      `"A9GBB252HU5EGMCPGITLISTREFS"`,
    );
  });

  test("no wire name holds a dot, even where the provider would take one", () => {
    verifies("NAME-3");
    const dotted = { first_chars: "a-z.", chars: "a-z0-9_.", max_length: 64 };
    expect(wireNameOf("a.b", dotted)).toBe("a__b");
    expect(wireNameOf("a..b", dotted)).not.toContain(".");
  });

  test("every name of any set has its own wire name, one the provider takes, and comes back", () => {
    verifies("NAME-3");
    fc.assert(
      fc.property(anyNames, anyProfile, (names, profile) => {
        const table = wireNames(names, profile);
        const wires = names.map((name) => table.toWire(name));
        expect(new Set(wires).size).toBe(names.length);
        for (const wire of wires) expect(wire).toSatisfy(fits(profile));
        expect(wires.map((wire) => table.toCanonical(wire))).toEqual(names);
      }),
      { numRuns },
    );
  });

  test("a name's wire name does not depend on the other names, nor on their order", () => {
    verifies("NAME-3");
    fc.assert(
      fc.property(anyNames, anyNames, anyProfile, (names, others, profile) => {
        const table = wireNames([...others, ...names].toReversed(), profile);
        for (const name of names) {
          expect(table.toWire(name)).toBe(wireNameOf(name, profile));
          expect(wireNames([name], profile).toWire(name)).toBe(wireNameOf(name, profile));
        }
      }),
      { numRuns },
    );
  });

  test("plain and hashed names never meet", () => {
    verifies("NAME-3");
    fc.assert(
      fc.property(anyName, anyProfile, (name, profile) => {
        // A tool may well be called what another one's wire name is.
        const wire = wireNameOf(name, profile);
        if (wire !== name) expect(wireNameOf(wire, profile)).not.toBe(wire);
      }),
      { numRuns },
    );
  });

  test("what is not in the table has no canonical name, even if objects inherit it", () => {
    verifies("NAME-3");
    const table = wireNames(["code.read_file"]);
    for (const wire of ["code.read_file", "code__write_file", "__proto__", "constructor", ""]) {
      expect(table.toCanonical(wire)).toBeUndefined();
    }
    const odd = wireNames(["__proto__", "constructor"]);
    expect(odd.toCanonical(odd.toWire("__proto__"))).toBe("__proto__");
    expect(odd.toCanonical("constructor")).toBe("constructor");
  });

  test("a tool that is no longer offered keeps its wire name, and cannot be called by it", () => {
    verifies("NAME-3");
    const table = wireNames(["code.read_file"]);
    expect(table.toWire("code.write_file")).toBe("code__write_file");
    expect(table.toCanonical("code__write_file")).toBeUndefined();
  });

  test("where hashes are too short to differ, later names are hashed again and none is lost", () => {
    verifies("NAME-3");
    const tiny: NameProfile = { first_chars: "a", chars: "a-h", max_length: 3 };
    const names = Array.from({ length: 60 }, (_, i) => `tool.number_${i}`);
    const table = wireNames(names, tiny);
    const wires = names.map((name) => table.toWire(name));
    expect(new Set(wires).size).toBe(60);
    expect(wires.map((wire) => table.toCanonical(wire))).toEqual(names);
    const reversed = wireNames(names.toReversed(), tiny);
    expect(names.map((name) => reversed.toWire(name))).toEqual(wires);
    expect(() =>
      wireNames(
        Array.from({ length: 65 }, (_, i) => `t.${i}`),
        tiny,
      ),
    ).toThrow(RangeError);
  });

  test("a profile that cannot distinguish names is refused with a reason", () => {
    for (const profile of [
      { first_chars: "", chars: "a-z", max_length: 64 },
      { first_chars: "a-z", chars: "_", max_length: 64 },
      { first_chars: "a-z", chars: "a-z_", max_length: 4 },
      { first_chars: "a-z", chars: "a-z_", max_length: Number.NaN },
    ]) {
      expect(() => wireNameOf("a.b", profile)).toThrow(/no tool can be named/);
    }
  });
});

function fits({ first_chars, chars, max_length }: NameProfile): (wire: string) => boolean {
  const pattern = new RegExp(`^[${first_chars}][${chars}]{0,${max_length - 1}}$`);
  return (wire) => pattern.test(wire) && !wire.includes(".");
}
