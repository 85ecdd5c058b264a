import { expect, test } from "vitest";
import { verifies } from "#laws";
import { createRedactor } from "./redactor.ts";

const body = (length: number) => "a1B2c3D4e5F6g7H8i9J0".repeat(10).slice(0, length);

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
