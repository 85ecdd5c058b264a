// A strict reader of a repository's git config: every line has to be understood, and every key be one that
// starts no program, reads no other file and reaches no remote, for any value.

/** A star matches the name of a remote, a branch or a submodule. */
const HARMLESS_KEYS =
  `core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase core.precomposeunicode core.symlinks
  core.autocrlf core.eol core.safecrlf core.quotepath core.abbrev core.commentchar core.longpaths core.protecthfs core.protectntfs
  user.name user.email remote.*.url remote.*.pushurl remote.*.fetch remote.*.push remote.*.tagopt remote.*.prune remote.*.mirror
  remote.*.gh-resolved branch.*.remote branch.*.pushremote branch.*.merge branch.*.rebase branch.*.description
  branch.*.vscode-merge-base branch.*.gh-merge-base submodule.url submodule.active submodule.*.url submodule.*.active
  extensions.worktreeconfig extensions.objectformat init.defaultbranch pull.rebase pull.ff push.default push.autosetupremote
  push.followtags fetch.prune fetch.prunetags merge.conflictstyle merge.ff rebase.autosquash rebase.autostash rerere.enabled
  rerere.autoupdate color.ui lfs.repositoryformatversion`.split(/\s+/);

const HARMLESS_KEY = new RegExp(
  `^(?:${HARMLESS_KEYS.join("|").replaceAll(".", "\\.").replaceAll("*", "[^\\n]*")})$`,
);

const BLANK = /^\s*(?:[#;].*)?$/;
const SECTION = /^\s*\[([A-Za-z][A-Za-z0-9-]*)(?: "([^"\\\n]*)")?\]\s*$/;
const ENTRY = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=(.*))?$/;

export function isHarmlessGitConfig(text: string): boolean {
  return parseSettings(text).every(
    (setting) => setting !== undefined && HARMLESS_KEY.test(setting.key),
  );
}

/** The first setting by which git runs a program, as a clause: for a config that the user wrote, so nothing else counts. */
export function settingThatRuns(text: string): string | undefined {
  for (const setting of parseSettings(text)) {
    if (setting === undefined) return "has a line that is not understood";
    const { key, value } = setting;
    if (!RUNS_A_PROGRAM.test(key)) continue;
    const usual = USUAL_VALUES.find(([name]) => name.test(key))?.[1];
    if (value === undefined || usual?.test(value) !== true) return `sets ${key}`;
  }
  return undefined;
}

/** Aliases are not here: no alias replaces a command of git, and another name is not covered by an allow anyway. */
const RUNS_A_PROGRAM =
  /^(?:core\.(?:fsmonitor|sshcommand|gitproxy|askpass|editor|alternaterefscommand|worktree)|sequence\.editor|diff\.external|diff\..*\.(?:command|textconv)|merge\..*\.driver|filter\..*\.(?:clean|smudge|process)|gpg\.(?:.*\.)?(?:program|defaultkeycommand)|credential\.(?:.*\.)?helper|interactive\.difffilter|sendemail\..*cmd|remote\..*\.(?:uploadpack|receivepack|vcs)|uploadpack\.packobjectshook|include\.path|includeif\..*|trailer\..*\.(?:cmd|command)|submodule\..*\.update|protocol\.(?:.*\.)?allow|hook\..*|gc\.recentobjectshook|(?:difftool|mergetool|browser|man)\..*\.(?:cmd|path))$/;

/** What users set in a repository, and what runs nothing of the project's. */
const USUAL_VALUES: readonly (readonly [key: RegExp, value: RegExp])[] = [
  [/^core\.fsmonitor$/, /^(?:true|false|0|1|yes|no)$/],
  [
    /^core\.sshcommand$/,
    /^ssh(?: +(?:-i *[\w./~-]+|-p *\d+|-4|-6|-q|-v|-o *(?:IdentitiesOnly|IdentityFile|User|Port)[= ][\w./~-]+))*$/,
  ],
  [/^filter\.lfs\./, /^git[- ]lfs [\w -]*(?:%f)?$/],
  [/^credential\./, /^(?:store|cache|osxkeychain|manager|manager-core|libsecret|wincred)?$/],
  [/^submodule\./, /^(?:checkout|rebase|merge|none)$/],
];

export interface GitSetting {
  /** Section and name in lower case. */
  readonly key: string;
  /** Undefined where a quick look is not enough. */
  readonly value: string | undefined;
}

/** Undefined: a line that is not understood. */
export function parseSettings(text: string): (GitSetting | undefined)[] {
  const settings: (GitSetting | undefined)[] = [];
  let section = "";
  for (const given of text.split("\n")) {
    const line = given.endsWith("\r") ? given.slice(0, -1) : given;
    const header = SECTION.exec(line);
    const [, name, value] = ENTRY.exec(line) ?? [];
    // A backslash at its end would make the next line part of this one.
    if (line.endsWith("\\") || hasControlCharacters(line)) settings.push(undefined);
    else if (BLANK.test(line)) continue;
    else if (header !== null) {
      const [, title = "", subsection] = header;
      section = title.toLowerCase() + (subsection === undefined ? "" : `.${subsection}`);
    } else if (name === undefined) settings.push(undefined);
    else {
      const isPlain = value !== undefined && !/["\\#;]/.test(value);
      settings.push({
        key: `${section}.${name.toLowerCase()}`,
        value: isPlain ? value.trim() : undefined,
      });
    }
  }
  return settings;
}

/** Git and JavaScript do not agree on what ends a line or counts as blank beyond a tab and a space. */
function hasControlCharacters(line: string): boolean {
  return /(?!\t)[\p{Cc}\p{Zl}\p{Zp}\u00a0\ufeff]/u.test(line);
}
