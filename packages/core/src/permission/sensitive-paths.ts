// Which paths hold secrets (PATH-3): a built-in list and the user's own. The evaluator asks here, and
// so does a search that omits sensitive files: there is one list.

import { compileGlob, escapeGlob, globProblem, literalPrefix } from "./glob.ts";
import { composed, throughLinks, type PatternPlaces } from "./path-pattern.ts";
import { baseName, foldCase, isWithin, joined } from "./path.ts";

export interface SensitivePathOptions extends PatternPlaces {
  /** Further globs: a name, `~/…`, an absolute path, or one relative to the project. */
  readonly extra?: readonly string[];
}

/** Finds the pattern a canonical path falls under. */
export interface SensitivePaths {
  (path: string): string | undefined;
  /** The `extra` patterns as absolute globs. */
  readonly globs: readonly string[];
}

/** Check `extra` with `sensitivePatternProblem` first. */
export function compileSensitivePaths(options: SensitivePathOptions): SensitivePaths {
  const { caseInsensitive = false, extra = [] } = options;
  const fold = caseInsensitive ? foldCase : composed;
  const home = options.home === undefined ? undefined : fold(options.home);
  const underHome = caseInsensitive ? BY_FIRST_NAME_FOLDED : BY_FIRST_NAME;
  const own = extra.flatMap((pattern) =>
    anchorPattern(pattern, options)
      .flatMap((glob) => [glob, ...throughLinks(glob, options)])
      .map((glob) => ({ pattern, glob, matches: compileGlob(fold(glob)) })),
  );

  return Object.assign(sensitiveBy, { globs: own.map(({ glob }) => glob) });

  function sensitiveBy(given: string): string | undefined {
    const path = fold(given);
    const name = baseName(path);
    if (NAMES.has(name)) return name;
    const dot = name.lastIndexOf(".");
    if (dot !== -1 && EXTENSIONS.has(name.slice(dot))) return `*${name.slice(dot)}`;
    if (name.startsWith(".env.")) return ".env.*";
    if (name.includes(".tfstate.")) return "*.tfstate.*";
    if (name.endsWith(".json")) {
      const key = KEY_FILES.find((begin) => name.startsWith(begin));
      if (key !== undefined) return `${key}*.json`;
    }
    // `id_work` and `id_rsa.bak` are keys; `id_map.ts` is source code.
    if (name.startsWith("id_") && (dot === -1 || KEY_TYPE.test(name))) return "id_*";
    if (path.includes("/.")) {
      for (const rest of pathsBelowAHome(path, home)) {
        const slash = rest.indexOf("/");
        const near = underHome.get(slash === -1 ? rest : rest.slice(0, slash));
        const hit = near?.find(({ place }) => isWithin(place, rest));
        if (hit !== undefined) return `~/${hit.entry}`;
      }
    }
    // Where `/etc` is a link, on macOS, the canonical path has its target.
    const system = path.replace(/^\/private(?=\/etc\/)/, "");
    const inSystem = SYSTEM_PLACE.test(system)
      ? systemGlobs(caseInsensitive).find(({ matches }) => matches(system))
      : undefined;
    return (inSystem ?? own.find(({ matches }) => matches(path)))?.pattern;
  }
}

/** The literal parts of `extra` whose links decide what they mean. */
export function linkedSensitivePrefixes(options: SensitivePathOptions): string[] {
  return (options.extra ?? [])
    .flatMap((pattern) => anchorPattern(pattern, options))
    .map((glob) => literalPrefix(glob).path);
}

export function sensitivePatternProblem(
  pattern: string,
  options: SensitivePathOptions,
): string | undefined {
  if (pattern.startsWith("~/") && options.home === undefined) {
    return 'begins with "~/", and the home directory is not known';
  }
  if (isRelative(pattern) && options.project === undefined) {
    return "is relative, and there is no project directory";
  }
  return anchorPattern(pattern, options)
    .map(globProblem)
    .find((problem) => problem !== undefined);
}

/** For users and records: what is sensitive without any configuration. */
export function builtInSensitivePaths(): string[] {
  return [
    ...NAMES,
    ".env.*",
    "*.tfstate.*",
    "id_*",
    ...KEY_FILES.map((begin) => `${begin}*.json`),
    ...[...EXTENSIONS].map((extension) => `*${extension}`),
    ...UNDER_HOME.map((path) => `~/${path}`),
    ...SYSTEM,
  ];
}

const NAMES: ReadonlySet<string> = new Set(
  `.env .envrc .netrc _netrc .npmrc .pypirc .pgpass .my.cnf .htpasswd .git-credentials .dockercfg
  .vault-token .terraformrc credentials.tfrc.json kubeconfig .s3cfg .boto .bash_history
  .zsh_history .sh_history .ash_history .ksh_history fish_history .python_history
  .node_repl_history .irb_history .psql_history .mysql_history .sqlite_history .rediscli_history
  application_default_credentials.json`.split(/\s+/),
);

const EXTENSIONS: ReadonlySet<string> = new Set(
  ".pem .key .p12 .pfx .jks .keystore .kdbx .ppk .tfstate".split(" "),
);

/** JSON files that begin like this are keys of a service: `service-account-prod.json`. */
const KEY_FILES: readonly string[] = ["service-account", "service_account", "client_secret"];

/** Directories with all that is in them, and single files. All of them begin with a dot. */
const UNDER_HOME =
  `.ssh .gnupg .aws .azure .kube .password-store .docker/config.json .cargo/credentials
  .cargo/credentials.toml .gem/credentials .config/gcloud .config/gh .config/git/credentials
  .config/op .local/share/keyrings .soong-agent .codex/auth.json .claude/.credentials.json
  .claude.json .gemini/oauth_creds.json .local/share/opencode/auth.json .config/github-copilot
  .cursor/mcp.json .pi/agent/auth.json .config/goose/secrets.yaml .mcp-auth .config/glab-cli
  .config/hub .config/doctl .config/hcloud .config/rclone .config/containers/auth.json
  .config/composer/auth.json .composer/auth.json .config/stripe .config/sops .config/heroku
  .config/netlify .config/ngrok .config/linode-cli .config/.wrangler .config/configstore
  .local/share/com.vercel.cli .fly .ngrok2 .oci .supabase/access-token .databrickscfg .snowflake
  .dbt/profiles.yml .kaggle .subversion/auth .config/google-chrome .config/chromium
  .config/BraveSoftware .config/microsoft-edge .config/nushell/history.txt .mozilla .thunderbird
  .yarnrc.yml .bundle/config .nuget/NuGet/NuGet.Config .m2/settings.xml .gradle/gradle.properties
  .pulumi/credentials.json .huggingface/token .cache/huggingface/token`.split(/\s+/);

/** Few paths begin with one of these names, and each is looked up for every file of a walk. */
const BY_FIRST_NAME = byFirstName((path) => path);
const BY_FIRST_NAME_FOLDED = byFirstName((path) => path.toLowerCase());

function byFirstName(fold: (path: string) => string) {
  const groups = new Map<string, { entry: string; place: string }[]>();
  for (const entry of UNDER_HOME) {
    const place = fold(entry);
    const [first = ""] = place.split("/", 1);
    groups.set(first, [...(groups.get(first) ?? []), { entry, place }]);
  }
  return groups;
}

/** The address of a remote may hold a password. */
const SYSTEM =
  `/**/.git/config /**/.git/modules/**/config /etc/shadow /etc/gshadow /etc/ssl/private/**
  /proc/*/environ /proc/*/task/*/environ /proc/*/mem /Users/*/Library/Keychains/**`.split(/\s+/);

/** Where all of these are: few paths are, so the patterns are compiled when one is. */
const SYSTEM_PLACE = /\/\.git\/|^\/(?:etc|proc|users)\//i;

type CompiledPattern = { readonly pattern: string; readonly matches: (path: string) => boolean };
const compiledSystem = new Map<boolean, readonly CompiledPattern[]>();

function systemGlobs(caseInsensitive: boolean): readonly CompiledPattern[] {
  const known = compiledSystem.get(caseInsensitive);
  if (known !== undefined) return known;
  const fold = caseInsensitive ? foldCase : composed;
  const compiled = SYSTEM.flatMap((pattern) =>
    anchorPattern(pattern, {}).map((glob) => ({ pattern, matches: compileGlob(fold(glob)) })),
  );
  compiledSystem.set(caseInsensitive, compiled);
  return compiled;
}

const KEY_TYPE = /^id_(?:rsa|dsa|ecdsa|ed25519|xmss)/;

/**
 * What is left of a path below each home directory it may be in. Homes of other users count, too; when
 * our own is not known, every directory might be one.
 */
function pathsBelowAHome(path: string, home: string | undefined): string[] {
  const names = path.split("/");
  if (home === undefined) return names.map((_, index) => names.slice(index + 1).join("/"));
  const own = isWithin(home, path) ? [path.slice(home === "/" ? 1 : home.length + 1)] : [];
  const [, other] = /^\/(?:root|(?:home|[Uu]sers)\/[^/]*)\/(.*)$/s.exec(path) ?? [];
  return other === undefined ? own : [...own, other];
}

function isRelative(pattern: string): boolean {
  return pattern.includes("/") && !pattern.startsWith("/") && !pattern.startsWith("~/");
}

/** A pattern as absolute globs. What is below a match is as sensitive as the match. */
function anchorPattern(pattern: string, options: SensitivePathOptions): string[] {
  let glob = pattern;
  if (pattern.startsWith("~/")) glob = joined(escapeGlob(options.home ?? "/"), pattern.slice(2));
  else if (isRelative(pattern)) glob = joined(escapeGlob(options.project ?? "/"), pattern);
  else if (!pattern.includes("/")) glob = `/**/${pattern}`;
  return glob.endsWith("/") || glob.endsWith("/**") ? [glob] : [glob, `${glob}/**`];
}
