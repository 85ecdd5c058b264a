// Programs whose arguments are themselves programs: shells, interpreters, wrappers, and those that run
// others by an option. Trusting one of them by its name trusts everything, so a grant for such a
// program is for the whole argv (PERM-5). The list errs on the long side: its price is one more question.

import { baseName } from "./path.ts";

/** Known by base name, with or without a version (`python3.11`) or a Windows suffix (`cmd.exe`). */
export function runsOtherPrograms(executable: string): boolean {
  const name = baseName(executable.replaceAll("\\", "/")).toLowerCase().replace(SUFFIX, "");
  const digit = name.search(/[0-9]/);
  const unversioned = digit === -1 ? name : name.slice(0, digit).replace(/[-_.]+$/, "");
  return PROGRAMS.has(name) || PROGRAMS.has(unversioned);
}

const SUFFIX = /\.(?:exe|cmd|bat|com|ps1)$/;

const SHELLS = `sh bash rbash zsh dash ash ksh mksh pdksh yash fish csh tcsh rc es elvish nu nushell
  xonsh osh ysh pwsh powershell cmd command wsl busybox toybox coreutils`;

const INTERPRETERS = `python pythonw pypy ipython node nodejs deno bun tsx ts-node qjs perl ruby irb jruby
  php php-cgi lua luajit tclsh wish expect r rscript julia ghc ghci runghc runhaskell ocaml elixir iex mix
  erl escript java javaw jshell groovy scala kotlin kotlinc clojure clj bb lein guile racket sbcl clisp
  gforth swift dotnet mono fsi csi osascript awk gawk mawk nawk sed ed ex vi vim nvim view emacs nano
  less more man sqlite sqlite3 psql mysql mariadb mongosh redis-cli bc dc gnuplot m4 octave`;

const WRAPPERS = `env sudo sudoedit doas su runuser setpriv pkexec xargs parallel nice ionice chrt taskset
  numactl timeout gtimeout nohup setsid stdbuf unbuffer script scriptreplay time strace ltrace gdb lldb
  valgrind perf watch watchexec entr nodemon flock chroot unshare nsenter setarch linux64 bwrap firejail
  systemd-run at batch crontab tmux screen dbus-run-session xvfb-run fakeroot fakechroot proot catchsegv
  start direnv mise asdf nix nix-shell exec eval builtin ld.so ld-linux ld-linux-x`;

const BY_OPTION = `git hg svn jj gh find fd fdfind rg tar bsdtar zip unzip sort make gmake cmake ctest
  ninja meson bazel buck gradle gradlew mvn mvnw ant sbt just rake task scons gcc g++ cc c++ cpp clang
  clang++ ld as go cargo rustc rustup npm npx pnpm pnpx yarn yarnpkg corepack bunx pip pipx poetry uv uvx
  hatch tox nox conda mamba gem bundle bundler composer brew apt apt-get aptitude dpkg rpm dnf yum pacman
  apk snap flatpak ssh scp sftp ssh-keygen rsync nc ncat netcat socat telnet ftp curl wget openssl docker
  docker-compose podman nerdctl kubectl helm terraform tofu ansible ansible-playbook vagrant aws gcloud
  az pytest jest vitest mocha eslint tsc prettier turbo nx lerna vite webpack rollup`;

const PROGRAMS: ReadonlySet<string> = new Set(
  [SHELLS, INTERPRETERS, WRAPPERS, BY_OPTION].flatMap((names) => names.split(/\s+/)),
);
