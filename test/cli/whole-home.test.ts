// A model searches the whole home of a user with no one there to ask (PATH-3, PATH-6): it finds what is open, and
// nothing of the keys, logins, histories and tokens that programs keep there.

import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { bundleCli, type CliBundle } from "./cli-bundle.ts";

const CREDENTIALS = `
.ssh/id_ed25519 .ssh/config .ssh/work_key .gnupg/private-keys-v1.d/0A.key .gnupg/trustlist.txt .password-store/bank.gpg
.local/share/keyrings/login.keyring .config/op/config .config/sops/age/keys.txt .vault-token wallet.kdbx
.aws/credentials .aws/sso/cache/a.json .azure/msal_token_cache.json .config/gcloud/credentials.db .oci/config
.kube/config .docker/config.json .dockercfg .config/containers/auth.json .minikube/ca.key
.config/gh/hosts.yml .config/glab-cli/config.yml .config/hub .git-credentials .config/git/credentials work/.git/config
.netrc _netrc .npmrc .yarnrc.yml .pypirc .cargo/credentials.toml .gem/credentials .bundle/config .m2/settings.xml
.gradle/gradle.properties .nuget/NuGet/NuGet.Config .composer/auth.json .config/composer/auth.json
.codex/auth.json .claude/.credentials.json .claude.json .gemini/oauth_creds.json .local/share/opencode/auth.json
.config/github-copilot/apps.json .cursor/mcp.json .pi/agent/auth.json .config/goose/secrets.yaml
.bash_history .zsh_history .local/share/fish/fish_history .python_history .node_repl_history .psql_history .mysql_history
.config/nushell/history.txt
.pgpass .my.cnf .databrickscfg .snowflake/config.toml .dbt/profiles.yml
.terraform.d/credentials.tfrc.json work/terraform.tfstate work/terraform.tfstate.backup .pulumi/credentials.json
.config/rclone/rclone.conf .s3cfg .boto .config/doctl/config.yaml .config/hcloud/cli.toml .config/linode-cli
.fly/config.yml .config/netlify/config.json .local/share/com.vercel.cli/auth.json .config/.wrangler/config/default.toml
.config/configstore/firebase-tools.json .config/heroku/config.json .supabase/access-token .config/stripe/config.toml
.config/ngrok/ngrok.yml .ngrok2/ngrok.yml .huggingface/token .cache/huggingface/token .kaggle/kaggle.json
.mozilla/firefox/a/logins.json .config/google-chrome/Default/Logins .config/BraveSoftware/Default/Logins .thunderbird/a/logins.json
.subversion/auth/svn.simple/a .htpasswd
work/.env work/.env.production work/.envrc work/server.pem work/tls.key work/service-account-prod.json work/client_secret_1.json
`
  .trim()
  .split(/\s+/);

/** Settings that hold no secret: no one is helped if these are missing. */
const OPEN =
  "notes.txt work/main.ts work/README.md .gitconfig .config/app/settings.toml work/.github/ci.yml".split(
    " ",
  );

let bundle: CliBundle;
beforeAll(async () => {
  bundle = await bundleCli();
});
afterAll(() => bundle.remove());

/** `secret-zqx<file>` is in each credential file, `open-zqx<file>` in the others. */
async function fakeHome() {
  const place = await bundle.place();
  const home = join(place.project, "home");
  const agentHome = join(home, ".agent-home");
  for (const file of CREDENTIALS) await place.write(join(home, file), `secret-zqx<${file}>\n`);
  for (const file of OPEN) await place.write(join(home, file), `open-zqx<${file}>\n`);
  for (const file of ["mcp.json", "memory/a.md", "mcp-logins/a.json", "store/journal.txt"]) {
    const text = file === "mcp.json" ? "{}" : "";
    await place.write(join(agentHome, file), `${text}// secret-zqx<agent ${file}>\n`);
  }
  return { place, home, env: { HOME: home, SOONG_AGENT_HOME: agentHome } };
}

describe("a search of the whole home with no one there", () => {
  it.each(["the home", "a folder of it"])(
    "shows no credential file to a run in %s",
    async (from) => {
      verifies("PATH-3", "PATH-6");
      const { place, home, env } = await fakeHome();
      const calls = [
        { tool: "code.search", input: { query: "zqx<", path: home, hidden: true, ignored: true } },
        { tool: "code.search", input: { query: "cret-z", path: home, hidden: true, limit: 1000 } },
        { tool: "code.run_command", input: { argv: ["grep", "-rn", "zqx<", home] } },
        { tool: "code.run_command", input: { argv: ["grep", "-rh", "zqx<", "."] } },
        { tool: "code.search", input: { query: "zqx<", path: join(home, ".ssh") } },
      ];
      const turns = calls.map((call) => ({ calls: [call] }));
      const script = join(place.project, "script.json");
      await place.write(script, JSON.stringify({ turns: [...turns, { text: "Done." }] }));
      const cwd = from === "the home" ? home : join(home, "work");
      const { stdout, stderr } = await place.run(
        ["run", "--model", `script:${script}`, "--json", "look around"],
        { env, cwd },
      );
      expect(stdout).toContain("run.completed");
      const leaked = [...(stdout + stderr).matchAll(/secret-zqx<([^>]*)>/g)].map(
        ([, file]) => file,
      );
      expect([...new Set(leaked)]).toEqual([]);
      const found = OPEN.filter((file) => stdout.includes(`open-zqx<${file}>`));
      // From a folder of it the home is outside of the project: that alone is a question, and commands read whole trees.
      expect(found).toEqual(from === "the home" ? OPEN : []);
    },
  );
});
