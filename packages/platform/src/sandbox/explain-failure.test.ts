import { expect, test } from "vitest";
import { explainFailure } from "./explain-failure.ts";

test.each([
  ["loopback: Failed RTM_NEWADDR: Operation not permitted", /AppArmor/, /sysctl/],
  ["setting up uid map: Permission denied", /AppArmor/, /profile/],
  [
    "No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces. See <https://deb.li/bubblewrap> or <file:///usr/share/doc/bubblewrap/README.Debian.gz>.",
    /create namespaces/,
    /container/,
  ],
  ["No permissions to creating new namespace, likely because …", /create namespaces/, /container/],
  ["Creating new namespace failed: Operation not permitted", /create namespaces/, /container/],
  ["Creating new namespace failed: No space left on device", /limit/, /max_user_namespaces/],
  [
    "Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
    /limit/,
    /max_user_namespaces/,
  ],
  ["Creating new namespace failed: Invalid argument", /kernel/, /CONFIG_USER_NS/],
  ["Can't mount proc on /newroot/proc: Operation not permitted", /mount \/proc/, /container/],
  ["setting up uid map: Operation not permitted", /user ids/, /container/],
  ["Unknown option --perms", /too old/, /0\.6/],
  ["prctl(PR_SET_SECCOMP): Invalid argument", /seccomp/, /kernel/],
  ["execvp /tmp/tool: No such file or directory", /cannot be run inside/, /project/],
  ["Can't chdir to /tmp/x: No such file or directory", /working directory/, /project/],
  ["something new", /bubblewrap failed: something new/, /terminal/],
])("%s", (words, missing, fix) => {
  const explained = explainFailure(`bwrap: ${words}\n`, 1);
  expect(explained.missing).toMatch(missing);
  expect(explained.missing).toContain(words.slice(0, 60));
  expect(explained.fix).toMatch(fix);
});

test("without a word, how it ended", () => {
  expect(explainFailure("", 127).missing).toBe("bubblewrap failed: it ended with 127");
});
