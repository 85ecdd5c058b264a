import { verifies } from "#laws";
import { expect, test } from "vitest";
import { seatbeltProfile } from "./seatbelt.ts";

test("the profile for macOS opens the roots, and closes what is masked inside of them", () => {
  verifies("CMD-6");
  const text = seatbeltProfile({
    writable: ["/Users/me/p", "/Users/me/p/keys/open"],
    fixed: ["/Users/me/p/.git/hooks"],
    masked: ["/Users/me/p/keys", '/Users/me/p/a/"odd\\'],
    absent: ["/Users/me/p/.vscode"],
    absentFiles: [{ path: "/Users/me/p/.git/commondir", text: "." }],
    readable: ["/Users/me/p/keys/readable"],
  });
  const rules = text.split("\n");
  const from = rules.indexOf('(allow file-read* file-write* (subpath "/Users/me/p"))');
  expect(rules.slice(from)).toEqual([
    '(allow file-read* file-write* (subpath "/Users/me/p"))',
    '(deny file-read* file-write* (subpath "/Users/me/p/keys"))',
    '(deny file-write* (subpath "/Users/me/p/.vscode"))',
    '(deny file-read* file-write* (subpath "/Users/me/p/a/\\"odd\\\\"))',
    '(allow file-read* file-write* (subpath "/Users/me/p/keys/open"))',
    '(deny file-write* (subpath "/Users/me/p/.git/hooks"))',
    '(allow file-read* (subpath "/Users/me/p/keys/readable"))',
    '(deny file-write* (subpath "/Users/me/p/.git/commondir"))',
    '(deny file-write-unlink (literal "/Users/me/p/.git"))',
    '(deny file-write-unlink (literal "/Users/me/p/a"))',
  ]);
  expect(rules.slice(0, 4)).toEqual([
    "(version 1)",
    "(allow default)",
    "(deny network*)",
    "(deny file-write*)",
  ]);
});
