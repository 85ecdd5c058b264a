// Which paths hold secrets (PATH-3): a built-in list and the user's own. The evaluator asks here, and
// so does whoever leaves sensitive files out of a search: there is one list.

import { compileGlob, escapeGlob, globProblem, literalPrefix } from "./glob.ts";
import { composed, throughLinks } from "./path-pattern.ts";
import { baseName, foldCase, isWithin, joined } from "./path.ts";

export interface SensitivePathOptions {
  /** Further globs: a name, `~/…`, an absolute path, or one relative to the project. */
  readonly extra?: readonly string[];
  readonly home?: string;
  readonly project?: string;
  readonly caseInsensitive?: boolean;
  /** Where the links in a path lead; undefined where they are not known. */
  readonly resolvePath?: (path: string) => string | undefined;
}

/** Finds the pattern a canonical path falls under. */
export interface SensitivePaths {
  (path: string): string | undefined;
  /** The `extra` patterns as absolute globs. */
  readonly globs: readonly string[];
}

/** Check `extra` with `sensitivePatternProblem` first. */
export function compileSensitivePaths(options: SensitivePathOptions): SensitivePaths {
  const fold = options.caseInsensitive === true ? foldCase : composed;
  const home = options.home === undefined ? undefined : fold(options.home);
  const underHome = UNDER_HOME.map((pattern) => ({ pattern: `~/${pattern}`, path: fold(pattern) }));
  const names = new Set(NAMES);
  const extensions = new Set(EXTENSIONS);
  const globsOf = (pattern: string): string[] =>
    anchored(pattern, options).flatMap((glob) => [glob, ...throughLinks(glob, options)]);
  const extra = (options.extra ?? []).flatMap(globsOf);
  const globs = [...SYSTEM, ...(options.extra ?? [])].flatMap((pattern) =>
    globsOf(pattern).map((glob) => ({ pattern, matches: compileGlob(fold(glob)) })),
  );

  return Object.assign(sensitiveBy, { globs: extra });

  function sensitiveBy(given: string): string | undefined {
    const path = fold(given);
    const name = baseName(path);
    if (names.has(name)) return name;
    const dot = name.lastIndexOf(".");
    if (dot !== -1 && extensions.has(name.slice(dot))) return `*${name.slice(dot)}`;
    if (name.startsWith(".env.")) return ".env.*";
    if (name.includes(".tfstate.")) return "*.tfstate.*";
    if (name.endsWith(".json")) {
      const key = KEY_FILES.find((begin) => name.startsWith(begin));
      if (key !== undefined) return `${key}*.json`;
    }
    if (name.startsWith("id_") && isKeyName(name, dot)) return "id_*";
    if (path.includes("/.")) {
      for (const rest of pathsBelowAHome(path, home)) {
        const hit = underHome.find((entry) => isWithin(entry.path, rest));
        if (hit !== undefined) return hit.pattern;
      }
    }
    return globs.find((glob) => glob.matches(path))?.pattern;
  }
}

/** The literal parts of `extra` whose links decide what they mean. */
export function linkedSensitivePrefixes(options: SensitivePathOptions): string[] {
  return (options.extra ?? [])
    .flatMap((pattern) => anchored(pattern, options))
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
  return anchored(pattern, options)
    .map(globProblem)
    .find((problem) => problem !== undefined);
}

/** For people and records: what is sensitive without any configuration. */
export function builtInSensitivePaths(): string[] {
  return [
    ...NAMES,
    ".env.*",
    "*.tfstate.*",
    "id_*",
    ...KEY_FILES.map((begin) => `${begin}*.json`),
    ...EXTENSIONS.map((extension) => `*${extension}`),
    ...UNDER_HOME.map((path) => `~/${path}`),
    ...SYSTEM,
  ];
}

const NAMES: readonly string[] = [
  ".env",
  ".envrc",
  ".netrc",
  "_netrc",
  ".npmrc",
  ".pypirc",
  ".pgpass",
  ".my.cnf",
  ".htpasswd",
  ".git-credentials",
  ".dockercfg",
  ".vault-token",
  ".terraformrc",
  "credentials.tfrc.json",
  "kubeconfig",
  ".s3cfg",
  ".boto",
  ".bash_history",
  ".zsh_history",
  ".sh_history",
  ".ash_history",
  ".ksh_history",
  "fish_history",
  ".python_history",
  ".node_repl_history",
  ".irb_history",
  ".psql_history",
  ".mysql_history",
  ".sqlite_history",
  ".rediscli_history",
  "application_default_credentials.json",
];

const EXTENSIONS: readonly string[] = [
  ".pem",
  ".key",
  ".p12",
  ".pfx",
  ".jks",
  ".keystore",
  ".kdbx",
  ".ppk",
  ".tfstate",
];

/** JSON files that begin like this are keys of a service: `service-account-prod.json`. */
const KEY_FILES: readonly string[] = ["service-account", "service_account", "client_secret"];

/** Directories with all that is in them, and single files. All of them begin with a dot. */
const UNDER_HOME: readonly string[] = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".password-store",
  ".docker/config.json",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".gem/credentials",
  ".config/gcloud",
  ".config/gh",
  ".config/git/credentials",
  ".config/op",
  ".local/share/keyrings",
  // Other agents.
  ".soong-agent",
  ".codex/auth.json",
  ".claude/.credentials.json",
  ".claude.json",
  ".gemini/oauth_creds.json",
  ".local/share/opencode/auth.json",
  ".config/github-copilot",
  ".cursor/mcp.json",
  ".pi/agent/auth.json",
  ".config/goose/secrets.yaml",
  ".mcp-auth",
  // Further tools that keep tokens and passwords.
  ".config/glab-cli",
  ".config/hub",
  ".config/doctl",
  ".config/hcloud",
  ".config/rclone",
  ".config/containers/auth.json",
  ".config/composer/auth.json",
  ".composer/auth.json",
  ".config/stripe",
  ".config/sops",
  ".config/heroku",
  ".config/netlify",
  ".config/ngrok",
  ".config/linode-cli",
  ".config/.wrangler",
  ".config/configstore",
  ".local/share/com.vercel.cli",
  ".fly",
  ".ngrok2",
  ".oci",
  ".supabase/access-token",
  ".databrickscfg",
  ".snowflake",
  ".dbt/profiles.yml",
  ".kaggle",
  ".subversion/auth",
  ".config/google-chrome",
  ".config/chromium",
  ".config/BraveSoftware",
  ".config/microsoft-edge",
  ".config/nushell/history.txt",
  ".mozilla",
  ".thunderbird",
  ".yarnrc.yml",
  ".bundle/config",
  ".nuget/NuGet/NuGet.Config",
  ".m2/settings.xml",
  ".gradle/gradle.properties",
  ".pulumi/credentials.json",
  ".huggingface/token",
  ".cache/huggingface/token",
];

const SYSTEM: readonly string[] = [
  // The address of a remote may hold a password.
  "/**/.git/config",
  "/**/.git/modules/**/config",
  "/etc/shadow",
  "/etc/gshadow",
  "/etc/ssl/private/**",
  "/proc/*/environ",
  "/proc/*/task/*/environ",
  "/proc/*/mem",
  "/Users/*/Library/Keychains/**",
];

const KEY_TYPES = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_xmss"] as const;

/** `id_work` and `id_rsa.bak` are keys; `id_map.ts` is somebody's source. */
function isKeyName(name: string, dot: number): boolean {
  return dot === -1 || KEY_TYPES.some((type) => name.startsWith(type));
}

/**
 * What is left of a path below each home directory it may be in. Other people's homes count, too; when
 * our own is not known, every directory might be one.
 */
function pathsBelowAHome(path: string, home: string | undefined): string[] {
  const rests: string[] = [];
  if (home !== undefined && isWithin(home, path)) {
    rests.push(path.slice(home === "/" ? 1 : home.length + 1));
  }
  if (home === undefined) {
    for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) {
      rests.push(path.slice(at + 1));
    }
  } else if (path.startsWith("/root/")) rests.push(path.slice(6));
  else if (path.startsWith("/home/")) rests.push(afterSegment(path, 6));
  else if (path.startsWith("/Users/") || path.startsWith("/users/")) {
    rests.push(afterSegment(path, 7));
  }
  return rests;
}

function afterSegment(path: string, start: number): string {
  const slash = path.indexOf("/", start);
  return slash === -1 ? "" : path.slice(slash + 1);
}

function isRelative(pattern: string): boolean {
  return pattern.includes("/") && !pattern.startsWith("/") && !pattern.startsWith("~/");
}

/** A pattern as absolute globs. What is below a match is as sensitive as the match. */
function anchored(pattern: string, options: SensitivePathOptions): string[] {
  let glob = pattern;
  if (pattern.startsWith("~/")) glob = joined(escapeGlob(options.home ?? "/"), pattern.slice(2));
  else if (isRelative(pattern)) glob = joined(escapeGlob(options.project ?? "/"), pattern);
  else if (!pattern.includes("/")) glob = `/**/${pattern}`;
  return glob.endsWith("/") || glob.endsWith("/**") ? [glob] : [glob, `${glob}/**`];
}
