// Files that something runs on its own (PATH-6): a shell when it starts, an editor that opens a folder, git or a package
// manager on its next command. To write one is to run a program later, without approval; so writing one requires approval,
// even if a rule about its path allows it. Files that run only when someone runs them (Makefile, package.json) are not here.

import { baseName, foldCase } from "./path.ts";

/** The part of a canonical path that makes it such a file. Case is ignored: some disks ignore it. */
export function selfRunningBy(given: string): string | undefined {
  const path = foldCase(given);
  const name = baseName(path);
  if (NAMES.has(name) || name.endsWith(".code-workspace")) return name;
  // Before every command all names of a project come here: most of them are in no such place, which costs less to see (70 ms of 50 000).
  if (!path.includes("/.") && !path.includes("/library/")) return undefined;
  const closed = `${path}/`;
  return PLACES.find((place) => closed.includes(place))?.slice(1, -1);
}

const NAMES: ReadonlySet<string> = new Set(
  `.bashrc .bash_aliases .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin
  .zlogout .kshrc .cshrc .tcshrc .login .xprofile .xinitrc .xsession .envrc .gitconfig .npmrc
  .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs bunfig.toml mise.toml .mise.toml mise.local.toml
  .mise.local.toml .pre-commit-config.yaml .pre-commit-config.yml lefthook.yml lefthook.yaml
  .lefthook.yml .vimrc .gvimrc .exrc .nvimrc .nvim.lua .emacs .dir-locals.el .gdbinit .lldbinit
  .pdbrc .irbrc .rprofile .tmux.conf .screenrc sitecustomize.py usercustomize.py .mcp.json
  .pnp.cjs .pnp.loader.mjs .devcontainer.json opencode.json opencode.jsonc`.split(/\s+/),
);

/** Files, and directories with all that is in them. */
const PLACES =
  `/.git /.hg /.husky /.vscode/tasks.json /.vscode/settings.json /.vscode/launch.json /.idea
  /.cargo/config /.cargo/config.toml /.yarn/releases /.yarn/plugins /.mise /.config/mise
  /.devcontainer /.emacs.d /.vim /.config/nvim /.config/fish /.config/git /.config/autostart
  /.config/systemd /library/launchagents /.claude /.codex
  /.gemini /.kiro /.roo /.vscode/mcp.json /.cursor
  /.opencode /.zed /.helix`
    .split(/\s+/)
    .map((place) => `${place}/`);
