import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import type { JsonValue } from "../schema/index.ts";
import { createRedactor } from "./redact.ts";

const numRuns = process.env["SOONG_TEST_FULL"] === "1" ? 10_000 : 300;

const TOKEN = 'q8Zr/f+7 Lp"2\\w\nÄ😀';
const withToken = () => createRedactor({ secrets: [{ name: "MY_TOKEN", value: TOKEN }] });

/** Keys in the shape of real ones, put together here so that no scanner takes them for such. */
const body = (length: number) => "a1B2c3D4e5F6g7H8i9J0".repeat(10).slice(0, length);
const EXAMPLE_ID = "IOSFODNN7EXAMPLE";
const EXAMPLE_KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const KEYS: Record<string, string> = {
  aws_access_key: `AKIA${EXAMPLE_ID}`,
  github_token: `ghp_${body(36)}`,
  anthropic_key: `sk-ant-api03-${body(80)}-_AA`,
  api_key: `sk-proj-${body(60)}_${body(10)}`,
  google_key: `AIza${body(35)}`,
  google_token: `ya29.${body(60)}`,
  slack_token: `xoxb-123456789012-123456789012-${body(24)}`,
  stripe_key: `sk_live_${body(24)}`,
  npm_token: `npm_${body(36)}`,
  gitlab_token: `glpat-${body(20)}`,
  huggingface_token: `hf_${body(34)}`,
  sendgrid_key: `SG.${body(22)}.${body(43)}`,
  digitalocean_token: `dop_v1_${"0123456789abcdef".repeat(4)}`,
  jwt: `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${body(43)}`,
};
const MORE_KEYS = [
  ...["gho_", "ghu_", "ghs_", "ghr_"].map((prefix) => prefix + body(36)),
  `github_pat_${body(22)}_${body(59)}`,
  `ASIA${EXAMPLE_ID}`,
  `sk-${body(48)}`,
  `sk-or-v1-${"0123456789abcdef".repeat(4)}`,
  `rk_live_${body(24)}`,
  `xapp-1-A0123456789-1234567890123-${body(64)}`,
  `gsk_${body(52)}`,
  `hvs.${body(24)}`,
];

/** What real source, logs and prose are full of. */
const HARMLESS = [
  "token: string",
  "const password: string = readPassword(prompt);",
  "interface Auth { apiKey: string; secret?: string }",
  "OpenAI keys begin with sk- and Anthropic's with sk-ant-, GitHub's with ghp_, AWS's with AKIA.",
  "task-runner-configuration-file-2024 risk-assessment-matrix-version-12 desk-reservation-system-00",
  "sk-loading-indicator-container-wide sk-folding-cube sk-admin-panel-navigation-item",
  "commit 3f786850e387550fdab836ed7e6dc881de23001b",
  "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  "id 123e4567-e89b-12d3-a456-426614174000",
  `data:image/png;base64,iVBORw0KGgo${"AAAANSUhEUgAAAAUAAAAFCAYAAACN/eyJ+AKIA/sk".repeat(20)}`,
  "npm_config_registry npm_package_version npm_lifecycle_event_with_a_long_name",
  "headers: { Authorization: `Bearer ${token}` }",
  "Authorization: Bearer <your-token-goes-in-here>",
  "Authorization: Basic authentication is described below, bearer of the authorization.",
  "postgres://${USER}:${PASSWORD}@localhost/db and https://user:<password>@host",
  "git@github.com:owner/name.git, http://localhost:8080/@scope/name, mailto:someone@example.org",
  'const HEADER = "-----BEGIN PRIVATE KEY-----"; const FOOTER = "-----END PRIVATE KEY-----";',
  "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBa\n-----END CERTIFICATE-----",
  "eyJust.some.words and eyJhbGciOiJIUzI1NiJ9 alone",
  "AKIAIOSFODNN7EXAMPLEANDMORE xAKIAIOSFODNN7EXAMPLE",
  "process.env.AWS_SECRET_ACCESS_KEY ?? options.secretAccessKey",
  "node_modules/@noble/hashes/sha2.js 2024-01-01T00:00:00.000Z v1.2.3-beta.4+build.5",
];

describe("known values", () => {
  test("become a placeholder with their name, the same one every time", () => {
    verifies("REDACT-1");
    const redactor = createRedactor({
      secrets: [
        { name: "GITHUB_TOKEN", value: "hunter-two-2" },
        { name: "odd name!", value: "another-one" },
      ],
    });
    expect(redactor.text("a hunter-two-2 b hunter-two-2")).toBe(
      "a [redacted:GITHUB_TOKEN] b [redacted:GITHUB_TOKEN]",
    );
    expect(redactor.text("xanother-onex")).toBe("x[redacted:odd_name_]x");
    expect(redactor.count).toBe(3);
  });

  test("go in both scopes and in every spelling", () => {
    verifies("REDACT-1");
    const spellings = [
      TOKEN,
      JSON.stringify(TOKEN),
      JSON.stringify({ body: JSON.stringify({ token: TOKEN }) }),
      JSON.stringify(JSON.stringify(JSON.stringify(TOKEN))),
      asciiJson(TOKEN),
      allEscaped(TOKEN),
      allEscaped(TOKEN).replace(/[0-9a-f]{4}/g, (hex) => hex.toUpperCase()),
      encodeURIComponent(TOKEN),
      encodeURIComponent(TOKEN).replace(/%../g, (byte) => byte.toLowerCase()),
      encodeURIComponent(encodeURIComponent(TOKEN)),
      encodeURIComponent(JSON.stringify(TOKEN)),
      new URLSearchParams({ token: TOKEN }).toString(),
      Buffer.from(TOKEN).toString("base64"),
      Buffer.from(TOKEN).toString("base64url"),
      encodeURIComponent(Buffer.from(TOKEN).toString("base64")),
      JSON.stringify(Buffer.from(TOKEN).toString("base64")).replaceAll("/", "\\/"),
      `Authorization: Basic ${Buffer.from(`user:${TOKEN}`).toString("base64")}`,
      Buffer.from(`{"a":"${TOKEN}"}`).toString("base64"),
    ];
    for (const spelling of spellings) {
      for (const scope of ["full", "known_values"] as const) {
        const redacted = withToken().text(`before ${spelling} after`, scope);
        expect(redacted).toContain("[redacted:MY_TOKEN]");
        expect(redacted).toMatch(/^before .* after$/);
        // Nothing but what surrounds the value in these spellings, and an end of base64, is left.
        expect(redacted.replace("[redacted:MY_TOKEN]", "").length).toBeLessThan(70);
      }
    }
  });

  test("of which one contains the other go as the longer one", () => {
    verifies("REDACT-1");
    const redactor = createRedactor({
      secrets: [
        { name: "SHORT", value: "abcdef" },
        { name: "LONG", value: "abcdef-ghijkl" },
        { name: "OTHER", value: "ijklmnop" },
      ],
    });
    expect(redactor.text("abcdef-ghijkl abcdef")).toBe("[redacted:LONG] [redacted:SHORT]");
    expect(redactor.text("abcdef-ghijklmnop")).toBe("[redacted:LONG]");
  });

  test("that are short, or stand-ins, or listed twice, mangle nothing", () => {
    verifies("REDACT-1");
    const redactor = createRedactor({
      secrets: [
        { name: "A", value: "" },
        { name: "B", value: "12345" },
        { name: "C", value: "password" },
        { name: "D", value: "undefined" },
        { name: "E", value: "redacted" },
        { name: "FIRST", value: "the-same" },
        { name: "SECOND", value: "the-same" },
      ],
    });
    const text = "password: 12345, undefined, redacted";
    expect(redactor.text(text)).toBe(text);
    expect(redactor.text("the-same")).toBe("[redacted:FIRST]");
  });

  test("do not show in a placeholder either, whatever their names are", () => {
    verifies("REDACT-1");
    const redactor = createRedactor({
      secrets: [
        { name: "my-secret-value", value: "my-secret-value" },
        { name: "B", value: "access_key" },
      ],
    });
    expect(redactor.text("x my-secret-value")).toBe("x [redacted:x]");
    expect(redactor.text(KEYS["aws_access_key"] as string)).toBe("[redacted:x]");
  });

  test("no known value survives in any text, in any spelling, and twice redacted is once redacted", () => {
    verifies("REDACT-1");
    const char = fc.oneof(
      fc.constantFrom(...Array.from("ab1%2\\\"'/+ -_\n\tué😀[:]")),
      fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    );
    const piece = fc.string({ unit: char, maxLength: 12 });
    // Ends in a letter: a last backslash or percent sign would run into whatever follows.
    const secret = fc.string({ unit: char, minLength: 6, maxLength: 24 }).map((text) => `${text}x`);
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 4 }),
        fc.array(fc.tuple(piece, fc.nat(), fc.constantFrom(...SPELLINGS)), { maxLength: 4 }),
        fc.constantFrom("full" as const, "known_values" as const),
        (values, parts, scope) => {
          const secrets = values.map((value, i) => ({ name: `N${i}`, value }));
          const redactor = createRedactor({ secrets });
          const used = parts.map(([, pick, spell]) =>
            spell(values[pick % values.length] as string),
          );
          // A blank before each: half an escape in front would make it another spelling.
          const text = parts.map(([before], i) => `${before} ${used[i]}`).join(" ");
          const redacted = redactor.text(text, scope);
          for (const value of values) expect(redacted).not.toContain(value);
          for (const spelled of used) expect(redacted).not.toContain(spelled);
          expect(redactor.text(redacted, scope)).toBe(redacted);
        },
      ),
      { numRuns },
    );
  });
});

describe("key formats", () => {
  test("are recognised, each distinct key with its own number", () => {
    verifies("REDACT-1");
    const redactor = createRedactor();
    for (const [label, key] of Object.entries(KEYS)) {
      expect(redactor.text(`key = "${key}"`)).toBe(`key = "[redacted:${label}#1]"`);
    }
    for (const key of MORE_KEYS)
      expect(redactor.text(`(${key})`)).toMatch(/^\(\[redacted:\w+#\d\]\)$/);
    const other = `ghp_${body(40)}`;
    expect(redactor.text(`${KEYS["github_token"]} ${other}`)).toMatch(
      /^\[redacted:github_token#1\] \[redacted:github_token#\d\]$/,
    );
  });

  test("are recognised wherever a key can stand, behind escapes and colours too", () => {
    verifies("REDACT-1");
    const key = KEYS["aws_access_key"] as string;
    for (const before of [
      "",
      " ",
      "=",
      "_",
      "-",
      "/",
      "'",
      "\\n",
      "\\u0022",
      "%3D",
      "\u001b[0;32m",
    ]) {
      for (const after of ["", " ", "\\n", "%20", "_", ".", "\u001b[0m"]) {
        const redacted = createRedactor().text(before + key + after);
        expect(redacted).toBe(`${before}[redacted:aws_access_key#1]${after}`);
      }
    }
  });

  test("are not seen in source code, prose, hashes, ids and images", () => {
    verifies("REDACT-1");
    const redactor = createRedactor({ secrets: [{ name: "N", value: "not in any of these" }] });
    for (const text of HARMLESS) expect(redactor.text(text)).toBe(text);
    expect(redactor.count).toBe(0);
  });

  test("are left alone where only known values are replaced", () => {
    verifies("REDACT-1");
    const redactor = withToken();
    for (const key of [...Object.values(KEYS), ...MORE_KEYS]) {
      expect(redactor.text(key, "known_values")).toBe(key);
    }
  });

  test("credentials in headers, connection strings and URLs go by what stands before them", () => {
    verifies("REDACT-1");
    const cases: [text: string, secret: string][] = [
      ["Authorization: Bearer 0123456789abcdef", "0123456789abcdef"],
      ['"authorization":"bearer abc.DEF_1~x+/="', "abc.DEF_1~x+/="],
      ["authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"],
      ['\\"Proxy-Authorization\\": \\"Basic dXNlcjpwYXNz\\"', "dXNlcjpwYXNz"],
      ["postgres://user:s3cr:t!@db.example.org/x", "s3cr:t!"],
      ["redis://:s3cret@host", "s3cret"],
      [`AWS_SECRET_ACCESS_KEY=${EXAMPLE_KEY}`, EXAMPLE_KEY],
      [`"SecretAccessKey": "${EXAMPLE_KEY}"`, EXAMPLE_KEY],
      [`DefaultEndpointsProtocol=https;AccountName=x1y;AccountKey=${body(86)}==;`, `${body(86)}==`],
    ];
    for (const [text, secret] of cases) {
      const [before, after] = text.split(secret) as [string, string];
      const redacted = createRedactor().text(text);
      expect(redacted.startsWith(before)).toBe(true);
      expect(redacted.endsWith(after)).toBe(true);
      expect(redacted.slice(before.length, redacted.length - after.length)).toMatch(
        /^\[redacted:\w+#1\]$/,
      );
    }
  });

  test("a private key loses its body, whole or cut off, plain or escaped", () => {
    verifies("REDACT-1");
    const lines = Array.from({ length: 5 }, () => body(64));
    for (const kind of ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "]) {
      const pem = [
        `-----BEGIN ${kind}PRIVATE KEY-----`,
        ...lines,
        `-----END ${kind}PRIVATE KEY-----`,
      ];
      const whole = createRedactor().text(`a\n${pem.join("\n")}\nb`);
      expect(whole).toBe(
        `a\n-----BEGIN ${kind}PRIVATE KEY-----[redacted:private_key#1]-----END ${kind}PRIVATE KEY-----\nb`,
      );
      for (const text of [
        pem.slice(0, 3).join("\n"),
        JSON.stringify(pem.join("\n")),
        pem.join("\n+"),
      ]) {
        expect(createRedactor().text(text)).not.toContain(body(16));
      }
    }
  });

  test("redacting any mixture of keys and text twice is redacting it once", () => {
    verifies("REDACT-1");
    const secrets = [
      { name: "A", value: "Xsecret" },
      { name: "B", value: "eyJhbGci" },
      { name: "C", value: "@host]" },
    ];
    const piece = fc.oneof(
      fc.constantFrom(...Object.values(KEYS), ...MORE_KEYS, ...HARMLESS),
      fc.constantFrom(
        "Xsecret",
        "eyJhbGci",
        "@host]",
        "https://u:",
        "@h",
        "[redacted:A]",
        "]",
        "[redacted:",
      ),
      fc.string({ maxLength: 8 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const redactor = createRedactor({ secrets });
        const redacted = redactor.text(pieces.join(""));
        const before = redactor.count;
        expect(redactor.text(redacted)).toBe(redacted);
        expect(redactor.finds(redacted)).toBe(false);
        expect(redactor.count).toBe(before);
        for (const { value } of secrets) expect(redacted).not.toContain(value);
      }),
      { numRuns },
    );
  });

  test("a text made to be slow is not", () => {
    verifies("REDACT-1");
    // A pattern that goes back over what it has read would not come to an end on these.
    const redactor = createRedactor({ secrets: [{ name: "N", value: "\\\\\\\\\\\\\\\\x" }] });
    const seeds = ["-eyJaaaaaaaaa", ".eyJaaaaaaaaa", "sk-ant-", "sk-admin-", "://a:", "Bearer "];
    const more = [
      "-----BEGIN PRIVATE KEY-----",
      "\\",
      "%25",
      "\\u005c",
      "Authorization: Basic ",
      "xoxb-",
    ];
    for (const seed of [...seeds, ...more]) {
      const redacted = redactor.text(seed.repeat(300_000 / seed.length));
      expect(redacted.length).toBeGreaterThan(0);
    }
  });

  test("more distinct keys than a run can number share a placeholder", () => {
    const redactor = createRedactor();
    const keys = Array.from({ length: 10_002 }, (_, i) => `npm_${body(30)}${i}`);
    const redacted = redactor.text(keys.join(" ")).split(" ");
    expect(redacted[9_999]).toBe("[redacted:npm_token#10000]");
    expect(redacted.slice(10_000)).toEqual(["[redacted:npm_token]", "[redacted:npm_token]"]);
  });
});

describe("values", () => {
  test("are searched through and copied only where something was found", () => {
    verifies("REDACT-1");
    const value = { a: ["clean", { b: "has Xsecret in it" }], c: { d: "clean" }, n: 1, z: null };
    const before = JSON.stringify(value);
    const redactor = createRedactor({ secrets: [{ name: "X", value: "Xsecret" }] });
    const redacted = redactor.value(value);
    expect(redacted).toEqual({ ...value, a: ["clean", { b: "has [redacted:X] in it" }] });
    expect(JSON.stringify(value)).toBe(before);
    expect(redacted.c).toBe(value.c);
    expect(redactor.value(redacted)).toBe(redacted);
    expect(redactor.count).toBe(1);
  });

  test("that are clean come back as the same reference", () => {
    verifies("REDACT-1");
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const redactor = createRedactor({ secrets: [{ name: "N", value: "\u0000never\u0000" }] });
        expect(redactor.value(value as JsonValue)).toBe(value);
      }),
    );
  });

  test("lose secrets in keys too, and no entry with them", () => {
    verifies("REDACT-1");
    const redactor = createRedactor({ secrets: [{ name: "X", value: "Xsecret" }] });
    const escaped = Buffer.from("Xsecret").toString("base64");
    const redacted = redactor.value({ Xsecret: 1, "[redacted:X]": 2, [escaped]: 3, other: 4 });
    expect(Object.values(redacted)).toEqual([1, 2, 3, 4]);
    expect(JSON.stringify(redacted)).not.toMatch(/Xsecret/);
    const parsed = JSON.parse('{"__proto__": {"a": "Xsecret"}, "Xsecret": {}}') as JsonValue;
    expect(JSON.stringify(redactor.value(parsed))).toBe(
      '{"__proto__":{"a":"[redacted:X]"},"[redacted:X]":{}}',
    );
  });

  test("hide a known value that stands there as a number", () => {
    verifies("REDACT-1");
    const redactor = createRedactor({ secrets: [{ name: "PIN", value: "86753099" }] });
    expect(redactor.value({ pin: 86753099, n: 8675309 })).toEqual({
      pin: "[redacted:PIN]",
      n: 8675309,
    });
    const { redacted, restore } = redactor.reversible([86753099]);
    expect(restore(JSON.parse(JSON.stringify(redacted)) as JsonValue)).toEqual([86753099]);
  });

  test("that are nested without end are cut, not a crash", () => {
    verifies("REDACT-1");
    let deep: JsonValue = "Xsecret";
    for (let i = 0; i < 100_000; i += 1) deep = i % 2 === 0 ? [deep] : { deep };
    const redactor = createRedactor({ secrets: [{ name: "X", value: "Xsecret" }] });
    const redacted = JSON.stringify(redactor.value(deep));
    expect(redacted).toContain("[redacted:too_deep]");
    expect(redacted).not.toContain("Xsecret");
  });

  test("fields a schema calls sensitive go whatever they hold", () => {
    verifies("REDACT-2");
    const redactor = createRedactor();
    const value = {
      password: "hunter2",
      nested: { pin: 1234, other: 1 },
      users: [
        { name: "a", keys: ["k"] },
        { name: "b", keys: null },
      ],
      headers: { any: "x", thing: "y" },
    };
    const sensitive = [
      ["password"],
      ["nested", "pin"],
      ["users", "*", "keys"],
      ["headers", "*"],
      ["absent"],
    ];
    const redacted = redactor.value(value, { sensitive });
    const hidden = "[redacted:sensitive]";
    expect(redacted).toEqual({
      password: hidden,
      nested: { pin: hidden, other: 1 },
      users: [
        { name: "a", keys: hidden },
        { name: "b", keys: hidden },
      ],
      headers: { any: hidden, thing: hidden },
    });
    expect(redactor.count).toBe(6);
    expect(redactor.value(redacted, { sensitive })).toBe(redacted);
    expect(redactor.value(value, { sensitive, scope: "known_values" })).toEqual(redacted);
    expect(redactor.value<JsonValue>({ a: 1 }, { sensitive: [[]] })).toBe(hidden);
    expect(redactor.value(["a", "b"], { sensitive: [["1"]] })).toEqual(["a", hidden]);
  });
});

describe("a reversible copy", () => {
  const secrets = [{ name: "X", value: "Xsecret" }];

  test("gives back the real values where placeholders come back, moved or not", () => {
    verifies("REDACT-1");
    const value = { url: "http://h/?t=Xsecret", list: ["keep"], Xsecret: { id: "Xsecret" } };
    const { redacted, restore } = createRedactor({ secrets }).reversible(value);
    expect(JSON.stringify(redacted)).not.toContain("Xsecret");
    expect(restore(redacted)).toBe(value);
    const copy = JSON.parse(JSON.stringify(redacted)) as Record<string, JsonValue>;
    expect(restore(copy)).toEqual(value);
    copy["url"] = "https://other/?t=[redacted:X]&u=$&";
    copy["list"] = ["new", "[redacted:X]"];
    expect(restore(copy)).toEqual({
      url: "https://other/?t=Xsecret&u=$&",
      list: ["new", "Xsecret"],
      Xsecret: { id: "Xsecret" },
    });
  });

  test("puts nothing in place of what it did not make", () => {
    verifies("REDACT-1");
    const redactor = createRedactor({ secrets });
    redactor.reversible({ other: "Xsecret" });
    const { restore } = redactor.reversible({ a: "clean" });
    expect(restore({ a: "[redacted:X]" })).toEqual({ a: "[redacted:X]" });
    const second = redactor.reversible({ a: "Xsecret", b: KEYS["npm_token"] as string });
    expect(
      second.restore({ a: "[redacted:Y] [redacted:npm_token#2] [redacted:sensitive]" }),
    ).toEqual({
      a: "[redacted:Y] [redacted:npm_token#2] [redacted:sensitive]",
    });
  });

  test("never turns a placeholder that stood there literally into the secret", () => {
    verifies("REDACT-1");
    const value = { real: "Xsecret", model: "write [redacted:X] here", "[redacted:X]": 1 };
    const { redacted, restore } = createRedactor({ secrets }).reversible(value);
    expect(restore(JSON.parse(JSON.stringify(redacted)) as JsonValue)).toEqual(value);
    expect(restore({ model: "now write [redacted:X] here" })).toEqual({
      model: "now write [redacted:X] here",
    });
  });

  test("knows sensitive fields by their place, and by their placeholder when there is only one", () => {
    verifies("REDACT-2");
    const redactor = createRedactor();
    const one = redactor.reversible({ password: { deep: 1 }, to: "x" }, [["password"]]);
    expect(one.redacted).toEqual({ password: "[redacted:sensitive]", to: "x" });
    expect(one.restore({ moved: "[redacted:sensitive]" })).toEqual({ moved: { deep: 1 } });
    const literal = redactor.reversible({ a: "[redacted:sensitive]", b: "p" }, [["a"], ["b"]]);
    expect(literal.restore({ c: "[redacted:sensitive]" })).toEqual({ c: "[redacted:sensitive]" });
    expect(one.restore({ text: "is [redacted:sensitive]" })).toEqual({
      text: "is [redacted:sensitive]",
    });
    const two = redactor.reversible({ a: "p", b: "q", c: 1 }, [["a"], ["b"]]);
    expect(two.restore({ b: "[redacted:sensitive]", c: 2, d: "[redacted:sensitive]" })).toEqual({
      b: "q",
      c: 2,
      d: "[redacted:sensitive]",
    });
  });

  test("for any value, what comes back unchanged is the value", () => {
    verifies("REDACT-1");
    const text = fc
      .array(
        fc.constantFrom("Xsecret", "a", "[redacted:X]", "WHNlY3JldA==", KEYS["jwt"] as string),
        {
          maxLength: 4,
        },
      )
      .map((parts) => parts.join(" "));
    const { tree } = fc.letrec<{ tree: JsonValue }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.integer(),
        fc.constant(null),
        fc.array(tie("tree"), { maxLength: 3 }),
        fc.dictionary(fc.oneof(text, fc.constantFrom("__proto__", "k")), tie("tree"), {
          maxKeys: 4,
        }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        const { redacted, restore } = createRedactor({ secrets }).reversible(value, [
          ["k"],
          ["*", "k"],
        ]);
        expect(JSON.stringify(redacted)).not.toContain("Xsecret");
        expect(restore(redacted)).toEqual(value);
        const copied = JSON.parse(JSON.stringify(redacted)) as JsonValue;
        expect(JSON.stringify(restore(copied))).toBe(JSON.stringify(value));
      }),
      { numRuns },
    );
  });
});

/** As a serialiser that only writes ASCII does. */
function asciiJson(text: string): string {
  return JSON.stringify(text)
    .slice(1, -1)
    .replace(/[^ -~]/g, (char) => unicodeEscape(char));
}

function allEscaped(text: string): string {
  return text.split("").map(unicodeEscape).join("");
}

function unicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function wellFormed(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}

const SPELLINGS: ((text: string) => string)[] = [
  (text) => text,
  (text) => JSON.stringify(text).slice(1, -1),
  (text) => JSON.stringify(JSON.stringify(text)).slice(3, -3),
  asciiJson,
  allEscaped,
  (text) => encodeURIComponent(wellFormed(text)),
  (text) => Buffer.from(text).toString("base64"),
  (text) => Buffer.from(text).toString("base64url"),
];
