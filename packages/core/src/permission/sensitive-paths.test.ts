import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import {
  builtInSensitivePaths,
  compileSensitivePaths,
  sensitivePatternProblem,
} from "./sensitive-paths.ts";

const sensitive = compileSensitivePaths({ home: "/srv/homes/u", project: "/p" });

describe("sensitive paths", () => {
  test.each([
    "/srv/homes/u/.ssh",
    "/srv/homes/u/.ssh/config",
    "/srv/homes/u/.gnupg/pubring.kbx",
    "/srv/homes/u/.aws/credentials",
    "/srv/homes/u/.config/gcloud/x/y",
    "/home/other/.ssh/known_hosts",
    "/root/.kube/config",
    "/Users/u/.docker/config.json",
    "/Users/u/Library/Keychains/login.keychain-db",
    "/p/.env",
    "/p/deep/.env.local",
    "/p/server.pem",
    "/p/server.key",
    "/p/.netrc",
    "/p/.npmrc",
    "/p/id_rsa",
    "/p/id_ed25519.old",
    "/p/id_work",
    "/etc/shadow",
    "/private/etc/shadow",
    "/etc/ssl/private/x",
    "/proc/self/environ",
    "/proc/12/task/13/environ",
    "/p/.git/config",
    "/p/.git/modules/a/b/config",
    "/p/infra/terraform.tfstate",
    "/p/infra/prod.tfstate.backup",
    "/p/infra/prod.tfstate.1700000000.backup",
    "/p/deploy/kubeconfig",
    "/srv/homes/u/.mcp-auth/mcp-remote-0.1.18/a_tokens.json",
    "/p/service-account-prod.json",
    "/p/client_secret_1.json",
    "/srv/homes/u/.bash_history",
    "/srv/homes/u/.local/share/fish/fish_history",
    "/srv/homes/u/.codex/auth.json",
    "/srv/homes/u/.claude/.credentials.json",
    "/srv/homes/u/.claude.json",
    "/srv/homes/u/.gemini/oauth_creds.json",
    "/srv/homes/u/.local/share/opencode/auth.json",
    "/srv/homes/u/.config/gh/hosts.yml",
    "/home/other/.soong-agent/store.db",
  ])("%s is one", (path) => {
    verifies("PATH-3", "PATH-6");
    expect(sensitive(path)).toBeTypeOf("string");
  });

  test.each([
    "/",
    "/p",
    "/p/src/index.ts",
    "/p/.aws/task-definition.json",
    "/p/environment",
    "/p/.environment",
    "/p/id_map.ts",
    "/p/key",
    "/p/keys.ts",
    "/p/pem.md",
    "/srv/homes/u",
    "/srv/homes/u/.sshd/x",
    "/srv/homes/u/.config/gcloudish",
    "/home/other",
    "/etc/shadows",
    "/proc/self/status",
    "/p/.git/HEAD",
    "/p/service-accounts.ts",
    "/srv/homes/u/.codex/config.toml",
  ])("%s is none", (path) => {
    verifies("PATH-3");
    expect(sensitive(path)).toBeUndefined();
  });

  test("case counts only where the disk distinguishes cases", () => {
    verifies("PATH-3");
    const folded = compileSensitivePaths({ home: "/Home/U", caseInsensitive: true });
    for (const path of ["/home/u/.SSH/id", "/p/.ENV", "/p/X.PEM", "/p/ID_RSA", "/ETC/Shadow"]) {
      expect(folded(path), path).toBeTypeOf("string");
      expect(sensitive(path), path).toBeUndefined();
    }
  });

  test("without a known home every directory might be one", () => {
    verifies("PATH-3");
    const anywhere = compileSensitivePaths({});
    expect(anywhere("/srv/data/.ssh/config")).toBe("~/.ssh");
    expect(anywhere("/p/src/a.ts")).toBeUndefined();
  });

  test("a home at the root of the disk is a home", () => {
    verifies("PATH-3");
    expect(compileSensitivePaths({ home: "/" })("/.ssh/config")).toBe("~/.ssh");
  });

  test("the user's own patterns are added, with everything below a match", () => {
    verifies("PATH-3");
    const own = compileSensitivePaths({
      home: "/h",
      project: "/p[1]",
      extra: ["vault", "config/secrets", "~/private/*.txt", "/data/x/**"],
    });
    expect(own("/any/vault/a/b")).toBe("vault");
    expect(own("/any/vault")).toBe("vault");
    expect(own("/p[1]/config/secrets/a")).toBe("config/secrets");
    expect(own("/q/config/secrets/a")).toBeUndefined();
    expect(own("/h/private/a.txt")).toBe("~/private/*.txt");
    expect(own("/data/x/y")).toBe("/data/x/**");
    expect(own("/p[1]/.env")).toBe(".env");
  });

  test("a pattern that could not mean anything is refused", () => {
    verifies("PATH-3");
    expect(sensitivePatternProblem("~/x", {})).toContain("home");
    expect(sensitivePatternProblem("a/b", {})).toContain("project");
    expect(sensitivePatternProblem("a[b]", {})).toContain("not a wildcard");
    expect(sensitivePatternProblem("vault", {})).toBeUndefined();
  });

  test("the built-in list can be printed", () => {
    verifies("PATH-3");
    expect(builtInSensitivePaths()).toEqual(
      expect.arrayContaining([
        ".env",
        ".env.*",
        "*.pem",
        "*.key",
        "~/.ssh",
        "~/.config/gcloud",
        "id_*",
      ]),
    );
  });
});
