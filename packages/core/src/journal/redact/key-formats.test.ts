import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { createRedactor } from "./redactor.ts";

const numRuns = process.env["SOONG_TEST_FULL"] === "1" ? 10_000 : 300;

/** Keys in the shape of real ones, put together here so that no scanner takes them for such. */
const body = (length: number) => "a1B2c3D4e5F6g7H8i9J0".repeat(10).slice(0, length);
const EXAMPLE_ID = "IOSFODNN7EXAMPLE";
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
  inspector_token: `soong_inspect_${body(20)}-_${body(21)}`,
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

  test("are recognised wherever a key can be, behind escapes and colours too", () => {
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

  test("are left unchanged where only known values are replaced", () => {
    verifies("REDACT-1");
    const redactor = createRedactor({ secrets: [{ name: "N", value: "not in any of these" }] });
    for (const key of [...Object.values(KEYS), ...MORE_KEYS]) {
      expect(redactor.text(key, "known_values")).toBe(key);
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
});
