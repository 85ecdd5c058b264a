import { expect, test } from "vitest";
import { verifies } from "#laws";
import { asConnectError } from "./postgres-error.ts";

test.each([
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "unable to verify", "in the URL: &sslrootcert=FILE"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "self-signed certificate", "in the URL: &sslrootcert=FILE"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "self-signed certificate", "in the URL: &sslrootcert=FILE"],
  [
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "is not in the cert's list: ",
    "use a name that the certificate",
  ],
  ["CERT_HAS_EXPIRED", "certificate has expired", "renew it on the server (CERT_HAS_EXPIRED)."],
])("a certificate that is refused (%s) is reported with what to do", (code, message, advice) => {
  verifies("STORE-1");
  const error = asConnectError(Object.assign(new Error(message), { code }), "postgres://db/soong");
  expect(error).toMatchObject({
    code: "store_unavailable",
    message: expect.stringContaining(advice) as string,
  });
  expect(error.message).toMatch(/^The store postgres:\/\/db\/soong: its certificate .*\.$/);
});
