import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileSensitivePaths } from "@soong/core";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { proveReadOnly, type CommandToProve } from "./prove-read-only.ts";
import { READ_ONLY_GIT_COMMANDS } from "./git-table.ts";
import { programTable, provenPrograms } from "./programs.ts";
import { SYSTEM_DIRECTORIES } from "@soong/platform";

// Programs of our own stand for those of the system, so that it does not matter which are installed.
const ground = realpathSync(mkdtempSync(join(tmpdir(), "soong-proof-")));
const system = join(ground, "system");
const project = join(ground, "project");
const writable = join(ground, "writable");
const outside = join(ground, "outside");
const places: CommandToProve["places"] = {
  roots: { project, write: [writable] },
  sensitiveBy: compileSensitivePaths({ home: join(ground, "home"), project }),
  restrictedGlobs: () => [],
};

beforeAll(() => {
  for (const folder of [system, join(project, "src"), writable, outside]) {
    mkdirSync(folder, { recursive: true });
  }
  const names = [...provenPrograms(), ...UNKNOWN_PROGRAMS, "git"];
  for (const name of names) program(join(system, name));
  for (const name of ["a.txt", "b.txt", "src/x.ts", ".env", "server.pem", "name with space"]) {
    writeFileSync(join(project, name), "text\n");
  }
  writeFileSync(join(writable, "w.txt"), "text\n");
  writeFileSync(join(outside, "o.txt"), "text\n");
  symlinkSync(join(outside, "o.txt"), join(project, "out"));
  symlinkSync(outside, join(project, "outdir"));
  symlinkSync(".env", join(project, "innocent"));
  symlinkSync("a.txt", join(project, "inside"));
  symlinkSync("a.txt", join(project, "called.pem"));
  mkdirSync(`${project}-beside`);
  execFileSync("mkfifo", [join(project, "pipe")]);
  execFileSync("git", ["init", "-q", project], {
    env: { PATH: process.env["PATH"], HOME: ground },
  });
});
afterAll(() => rmSync(ground, { recursive: true, force: true }));

const UNKNOWN_PROGRAMS = `xargs env tee rm mv cp sh zsh fd xxd dd npm npx curl ssh
  sudo nice timeout egrep ps kill touch chmod tar make2`.split(/\s+/);

const SAFE = `
awk 1 a.txt
awk {print} a.txt b.txt
awk -F: -v x=1 $1==x||NR<5{print$2} a.txt
jq . a.txt
jq -r .a[0].b a.txt
jq -n --indent 2 1+1
less a.txt
less -N -S a.txt
more a.txt
grep -r text .
grep -rn text src
grep --recursive text
grep -rn --include=*.ts --exclude-dir=node_modules text src
rg text
rg text src
rg -n -i text src a.txt
rg --files
rg --files src
rg -g *.ts -t ts -A 3 text src
rg text src -l
sed -n 1,5p a.txt
sed -n $p a.txt
sed -n /text/,/x/p a.txt b.txt
sed s/a/b/g a.txt
sed -n -e 1p -e 3p a.txt
sleep 1
sleep 0.5 2m
test -f a.txt
test ! -d src
test a = b
test -n text
[ -f a.txt ]
[ -f a.txt -a -d src ]
[ 1 -eq 1 ]
printenv PATH
printenv HOME LANG
which ls
which -a ls cat
whereis -b ls
ls
ls -la
ls -l -a -h
ls -la --color=never src
ls src -l
ls -1 -- src
ls -R src
ls --sort=time --time-style=long-iso
ls --hide=*.txt
ls inside
ls ${writable}
ls ${project}
ls .
ls src/..
ls pipe
ls missing
find
find .
find . -name *.ts
find src -type f -name *.ts -print
find . ( -name a -o -name b ) -not -empty -maxdepth 2
find . -mtime -1 -size +10k -print0
find . ! -newer a.txt
find . -type f,d -printf %p\\n
tree
tree -a -L 2 src
tree -I node_modules
tree -aI node_modules src
du -sh
du -h -d 1 src
du --max-depth=1 src
df -h
df -h .
stat a.txt
stat -c %s a.txt
stat --format=%n a.txt b.txt
file a.txt
file -b --mime-type a.txt
readlink -f inside
realpath src/x.ts
basename /any/where/x.ts .ts
dirname /any/where/x.ts
cat
cat a.txt
cat -n a.txt b.txt
cat a.txt -n
cat inside
cat -- a.txt
cat -
cat missing
tac a.txt
rev a.txt
head a.txt
head -5 a.txt
head -n 5 a.txt
head -n5 a.txt
head -n -5 a.txt
head -c 1K a.txt
head --lines=5 a.txt
head a.txt -n 5
tail -20 a.txt
tail -n +2 a.txt
nl -b a a.txt
wc -l a.txt b.txt
wc -lwc a.txt
grep text a.txt
grep -n text a.txt
grep -in -A 2 -B2 text a.txt
grep -e /etc/passwd a.txt
grep -f a.txt b.txt
grep -E foo|bar a.txt
grep --color=always -c text a.txt
grep -- -r a.txt
grep -3 text a.txt
grep .env a.txt
sort a.txt
sort -u -k 2,2n -t : a.txt
sort -rn a.txt
uniq -c a.txt
uniq
cut -d : -f 1,2 a.txt
cut -d= -f2 a.txt
tr a-z A-Z
tr -d \\n
paste -d , a.txt b.txt
comm -12 a.txt b.txt
fold -w 80 a.txt
expand -t 4 a.txt
column -t a.txt
cmp a.txt b.txt
cmp -s a.txt b.txt
diff a.txt b.txt
diff -u a.txt b.txt
diff -U 5 a.txt b.txt
diff --unified=5 --color=never a.txt b.txt
od -c a.txt
od -A x -t x1 -N 16 a.txt
hexdump -C -n 64 a.txt
base64 a.txt
base64 -d a.txt
cksum a.txt
md5sum a.txt
sha1sum a.txt
sha224sum a.txt
sha256sum a.txt src/x.ts
sha384sum -b a.txt
sha512sum --tag a.txt
b2sum a.txt
pwd
pwd -P
whoami
id
id -un
id -u root
groups
uname -a
uname -srm
arch
hostname
nproc
uptime
date
date -u
date +%s
date -u +%Y-%m-%d
date --date=yesterday +%F
date -Iseconds
echo hello
echo -n hello /etc/passwd
printf %s\\n x
true
false
bash --version
node --version
node -v
python --version
python3 -V
perl --version
ruby --version
gcc --version
make --version
cmake --version
git --version
git version
git status
git status -s
git status -sb
git status --porcelain=v2 --branch
git status -uno
git status --untracked-files=all src
git --no-pager log
git log --oneline
git log --oneline -5
git log -n 5 --stat
git log -n5 main..dev
git log --since=yesterday --author someone
git log --format=%h%x09%an%x09%s
git log --pretty=format:%H,%ad --date=short
git log --pretty=oneline --graph --all --decorate
git log main --format=%s
git log HEAD~3 -- src/x.ts
git log --follow -- a.txt
git log -M90% --name-status
git log --grep=fix -i
git log -g
git show --stat
git show --stat HEAD~2^2
git show -s --format=%B
git show --name-only HEAD
git diff --stat
git diff --stat HEAD
git diff --cached --name-only
git diff --name-status main...dev
git diff --numstat HEAD~1 HEAD -- src
git diff --quiet
git blame a.txt
git blame -L 10,20 a.txt
git blame HEAD~2 -- src/x.ts
git shortlog -sn HEAD
git rev-parse HEAD
git rev-parse --abbrev-ref HEAD
git rev-parse --show-toplevel
git rev-parse --short=8 HEAD
git rev-list --count HEAD
git rev-list --count main..dev
git ls-files
git ls-files -m
git ls-files --others --exclude-standard
git ls-files src
git clean -n
git clean -nd src
git clean --dry-run
git ls-tree -r --name-only HEAD
git ls-tree HEAD src
git check-ignore -v a.txt
git branch
git branch -a
git branch -vv
git branch --show-current
git branch --list feature
git branch --merged main
git branch --contains=HEAD
git branch --format=%(refname:short)
git tag
git tag -l
git tag -l v1*
git tag -n5 --sort=-creatordate
git tag --contains HEAD
git for-each-ref --format=%(objectname:short) refs/heads
git show-ref --heads
git symbolic-ref HEAD
git symbolic-ref --short HEAD
git merge-base main dev
git name-rev HEAD
git describe --tags --always
git describe --match v* --abbrev=0
git count-objects -v
git remote
git remote -v
git remote get-url origin
git stash list
git reflog
git worktree list
git worktree list --porcelain
`;

const UNSAFE = `
awk BEGIN{system("id")} a.txt
awk {print>"x"} a.txt
awk {print|"id"} a.txt
awk {"id"|getline} a.txt
awk {getline<"/etc/passwd"} a.txt
awk BEGIN{ARGV[1]="/etc/passwd"} a.txt
awk BEGIN{print(ENVIRON["X"])}
awk @load"x"
awk -f a.txt b.txt
awk 1 /etc/passwd
awk 1 .env
jq . /etc/passwd
jq . .env
jq env
jq $ENV.X
jq include"x";. a.txt
jq -f a.txt b.txt
jq -L . . a.txt
jq --slurpfile x /etc/passwd . a.txt
less .env
less +!id a.txt
less -o x a.txt
less -k x a.txt
less /etc/passwd
more +!id a.txt
which /etc/passwd
whereis -B /etc -f x
ls /etc
ls ..
ls ../outside
ls out
ls outdir
ls outdir/..
ls .env
ls -la .env
ls innocent
ls src ${outside}
ls -L src
ls -H src
ls --unknown
ls --col
ls -lZ
ls -- /etc
ls --color always /etc
ls -w
find /etc
find .. -name x
find . /etc
find . -exec rm {} ;
find . -execdir rm {} ;
find . -ok rm {} ;
find . -okdir rm {} ;
find . -delete
find . -fprint x
find . -fprint0 x
find . -fprintf x %p
find . -fls x
find . -newer /etc/passwd
find . -newer .env
find -files0-from a.txt
find -L .
find -H . -name x
find . -follow
find . -name
find . -name x src
find -f . 
find -- .
find .env
tree -o out.txt
tree -Io nothing src/x.ts
tree -aPo x a.txt
tree -l
tree --fromfile a.txt
du -L
du -X a.txt
du --files0-from=a.txt
stat /etc/passwd
stat -f x a.txt
file -f a.txt
file -m a.txt b.txt
file -C
file .env
file src
cat .env
cat server.pem
cat innocent
cat called.pem
cat ../project-beside/x
ls ../project-beside
cat out
cat /etc/passwd
cat ../outside/o.txt
cat ${ground}/project/../outside/o.txt
cat a.txt .env
cat -- .env
cat pipe
cat src
cat --unknown a.txt
cat ./.env
cat src/../.env
head -n 5 .env
head -n .env
head --lines=x a.txt
head -5x a.txt
head -n
tail -f a.txt
tail -F a.txt
tail --follow a.txt
tail --follow=name a.txt
tail -5f a.txt
tail --retry a.txt
tail --pid=1 a.txt
tail -n 5 -f a.txt
wc --files0-from=a.txt
grep -r text ..
grep -r text pipe
grep -r text outdir
grep -R text
grep -rR text src
grep -rn text src .env
grep --include=*.ts text src
grep -d recurse text src
grep --directories=recurse text
grep text src
grep text .env
grep text a.txt .env
grep -f .env a.txt
grep --file=.env a.txt
grep -e text .env
grep text a.txt -e .env
grep text a.txt -f b.txt
grep -Z text a.txt
sort -o out a.txt
sort -oout a.txt
sort --output=out a.txt
sort --compress-program=sh a.txt
sort -T /tmp a.txt
sort --files0-from=a.txt
sort --random-source=.env a.txt
sort a.txt -k .env
sort a.txt -t .env
sort .env
uniq a.txt b.txt
uniq a.txt out.txt
cut -f 1 .env
cut -f 1 a.txt -d .env
paste a.txt .env
diff -r src src
diff --recursive src src
diff a.txt src
diff src src
diff a.txt .env
diff -l a.txt b.txt
diff --from-file=.env a.txt
diff --to-file=.env a.txt
cmp a.txt .env
od .env
hexdump -f a.txt b.txt
hexdump -C .env
base64 .env
base64 -o out a.txt
md5sum -c a.txt
sha256sum --check a.txt
sha256sum .env
pwd x
whoami --x
hostname new-name
hostname -F a.txt
uname x
date -s yesterday
date --set=yesterday
date 010203042026
date +%s 010203042026
date -f a.txt
date -d x
date -r a.txt
bash
bash -c ls
bash a.txt
bash --version -c ls
node
node a.txt
node -e 1
node --version a.txt
node -p 1
python3
python3 -c 1
python3 -m http.server
perl -e 1
ruby -e 1
make
make all
gcc a.txt
./ls
src/ls
bin/ls
../system/ls
sed -n 1p .env
sed -n 1p src
sed -i s/a/b/ a.txt
sed -n --in-place p a.txt
sed -n -i p a.txt
sed -ni p a.txt
sed 1e a.txt
sed s/a/b/e a.txt
sed s/a/b/w a.txt
sed 1w a.txt
sed 1r.env a.txt
sed -n 1p;1w a.txt
sed -f a.txt b.txt
sed -n p a.txt -i
sleep -x
sleep $HOME
test -f .env
test -e /etc/shadow
test -f a.txt /etc/shadow
test a.txt -nt /etc/shadow
test -t 0
[ -e ../outside/o.txt ]
[ -f out ]
xargs ls
env
env ls
tee x
rm a.txt
mv a.txt b.txt
cp a.txt c.txt
sh -c ls
zsh -c ls
rg text ..
rg text .env
rg text pipe
rg --pre cat text
rg --pre=cat text
rg --pre-glob x text
rg -z text
rg --search-zip text
rg -L text
rg --follow text
rg --hidden text
rg -uu text
rg --no-ignore text
rg --ignore-file .env text
rg -f .env
rg --hostname-bin x text
rg --config x
fd x
xxd a.txt out
dd if=a.txt
npm ls
npx x
curl x
ssh x
sudo ls
nice ls
timeout 5 ls
egrep x a.txt
printenv
printenv -0
printenv TOKEN
printenv PATH NPM_TOKEN
ps aux
kill 1
touch x
chmod 777 a.txt
tar tf a.txt
make2
missing-program
git
git -C .. status
git -c core.fsmonitor=x status
git --git-dir=/x status
git --work-tree=/ status
git --exec-path=/x status
git -p log
git --paginate log
git --no-pager -c a=b log
git status -v
git status --verbose
git status --column
git status --help
git status /etc
git log -p
git log --patch
git log -u
git log -U3
git log -L 1,2:a.txt
git log -S secret
git log -G secret
git log --output=x
git log --ext-diff
git log --textconv
git log --show-signature
git log --format=%G?
git log --format=%h%GS
git log --format=%+G?
git log --pretty=format:%(describe)
git log --pretty=mine
git log --stdin
git log -- .env
git log -- ../outside
git log :/fix
git show
git show HEAD
git show HEAD:a.txt
git show --stat HEAD:.env
git show --stat 1234567890abcdef
git show --stat main
git show --stat v1
git show -p --stat
git diff
git diff HEAD
git diff --stat -p
git diff --stat --no-index a.txt b.txt
git diff --no-index --stat /etc/passwd /etc/shadow
git diff --stat /etc/passwd /etc/shadow
git diff --stat --ext-diff
git diff --stat --textconv
git diff --stat --output=x
git diff --stat -O a.txt
git diff --stat --submodule=diff
git diff --check
git diff --word-diff --stat
git blame .env
git blame innocent
git blame /etc/passwd
git blame --contents a.txt b.txt
git blame -S a.txt b.txt
git blame --ignore-revs-file=a.txt b.txt
git blame HEAD:.env
git cat-file -p HEAD:.env
git grep secret
git archive HEAD
git rev-parse HEAD:.env
git rev-parse --parseopt
git rev-parse --show-superproject-working-tree
git ls-files -X a.txt
git ls-files --recurse-submodules
git check-ignore --stdin
git branch new
git branch -d old
git branch -D old
git branch -m a b
git branch -v new
git branch --edit-description
git branch -l new
git branch --set-upstream-to=x
git tag v1
git tag -a v1
git tag -d v1
git tag -v v1
git tag --verify v1
git for-each-ref --format=%(signature)
git for-each-ref --shell
git symbolic-ref HEAD refs/heads/x
git symbolic-ref -d HEAD
git merge-base --fork-point main
git describe --dirty
git describe --broken
git remote show origin
git remote update
git remote add a b
git remote -v update
git remote get-url --push origin extra
git stash
git stash list -p
git stash pop
git stash show
git stash show -p
git reflog expire --all
git reflog delete
git worktree add x
git worktree prune
git checkout main
git switch main
git commit -m x
git add .
git fetch
git pull
git push
git clone x
git config --list
git config user.name x
git gc
git clean -fd
git reset --hard
git clean
git clean -f
git clean -nx
git clean -fd
git submodule status
git bisect log
git var GIT_EDITOR
git help log
git my-alias
`;

describe("the table of read-only commands", () => {
  for (const line of linesOf(SAFE)) {
    test(`"${shown(line)}" only reads`, () => {
      verifies("CMD-4");
      expect(isProven(wordsOf(line))).toBe(true);
    });
  }
  for (const line of linesOf(UNSAFE)) {
    test(`"${shown(line)}" is not proven to only read`, () => {
      verifies("CMD-4");
      expect(isProven(wordsOf(line))).toBe(false);
    });
  }

  test("every row is met by a command that only reads", () => {
    const firstWords = linesOf(SAFE).map((line) => wordsOf(line));
    const commands = new Set(firstWords.map(([name]) => name));
    expect(provenPrograms().filter((name) => !commands.has(name))).toEqual([]);
    const git = firstWords
      .filter(([name]) => name === "git")
      .map((words) =>
        words
          .slice(1)
          .filter((word) => word !== "--no-pager")
          .join(" "),
      );
    const unmet = Object.keys(READ_ONLY_GIT_COMMANDS).filter(
      (row) => !git.some((words) => words === row || words.startsWith(`${row} `)),
    );
    expect(unmet).toEqual([]);
  });

  test("an option no row knows makes any command unsafe, wherever it is", () => {
    verifies("CMD-4");
    const safe = linesOf(SAFE).map((line) => wordsOf(line));
    const unknown = fc.constantFrom("--zz-unknown", "--zz=1", "-!", "-\u00e9", "--", "---x", "--=");
    fc.assert(
      fc.property(fc.constantFrom(...safe), unknown, (argv, option) => {
        const options = option === "--" ? ["--", "/etc/passwd:"] : [option];
        const [program = "", ...rest] = argv;
        const words = program === "git" ? wordsThatSelect(rest) : 0;
        const early = [program, ...rest.slice(0, words), ...options, ...rest.slice(words)];
        // These two print all that they are given, once options have ended.
        const printsAnything = ["echo", "printf", "basename", "dirname", "tr", "id", "groups"];
        if (option === "--" && printsAnything.includes(program)) return;
        if (option === "--" && ["grep", "rg", "date", "awk", "jq"].includes(program)) return;
        expect(isProven(early)).toBe(false);
        const endsInOptions = !argv.includes("--");
        if (endsInOptions) expect(isProven([...argv, ...options])).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  test("a sensitive file or one outside is never read, with anything else added", () => {
    verifies("CMD-4", "PATH-3");
    const readers = ["cat", "head", "tail", "wc", "sort", "cut", "nl", "od", "base64", "sha256sum"];
    const bad = [".env", "server.pem", "innocent", "out", "/etc/passwd", "../outside/o.txt", "src"];
    const command = fc.constantFrom(...readers).chain((name) => {
      const flags = [...programTable(name, "proven").options.values()]
        .filter(({ value }) => value === "none")
        .map((option) => option.name);
      const argument = fc.constantFrom("a.txt", "b.txt", "-", "--", "-5", ...flags);
      const some = fc.array(argument, { maxLength: 4 });
      return fc.tuple(fc.constant(name), some, fc.constantFrom(...bad), some);
    });
    fc.assert(
      fc.property(command, ([name, before, path, after]) => {
        expect(isProven([name, ...before, path, ...after])).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("where a command is and where it comes from", () => {
  test("a command is proven in a write root, too, and nowhere else", () => {
    verifies("CMD-4");
    expect(isProven(["cat", "w.txt"], { cwd: writable })).toBe(true);
    expect(isProven(["pwd"], { cwd: outside })).toBe(false);
  });

  test("a working directory that is sensitive proves nothing", () => {
    verifies("CMD-4", "PATH-3");
    const secret = join(project, "keys");
    mkdirSync(secret, { recursive: true });
    const sensitiveBy = (path: string) => (path === secret ? "keys" : undefined);
    expect(isProven(["ls"], { cwd: secret, places: { ...places, sensitiveBy } })).toBe(false);
    expect(isProven(["ls"], { cwd: secret })).toBe(true);
  });

  test("an absolute name is taken when it is where the name alone would be found", () => {
    verifies("CMD-4");
    expect(isProven([join(system, "ls")])).toBe(true);
    expect(isProven([`${system}/../system/ls`])).toBe(false);
    expect(isProven([`${system}//ls`])).toBe(false);
  });

  test("a program in the project is never trusted, wherever the PATH finds it", () => {
    verifies("CMD-4");
    const bin = join(project, "bin");
    mkdirSync(bin, { recursive: true });
    program(join(bin, "ls"));
    symlinkSync(join(system, "cat"), join(bin, "cat"));
    const env = { PATH: `${bin}:${system}` };
    expect(isProven(["ls"], { env })).toBe(false);
    expect(isProven(["cat"], { env })).toBe(false);
    expect(isProven(["./bin/cat"])).toBe(false);
    expect(isProven(["pwd"], { env })).toBe(true);
    expect(isProven(["ls"], { env, systemDirectories: [bin, system] })).toBe(false);
  });

  test("a project that contains the directories of the system proves nothing", () => {
    verifies("CMD-4");
    const roots = { project: ground, write: [] };
    expect(isProven(["ls"], { places: { ...places, roots } })).toBe(false);
    const write = { project, write: [system] };
    expect(isProven(["ls"], { places: { ...places, roots: write } })).toBe(false);
  });

  test("a program that leads out of the system, or into the project, is not trusted", () => {
    verifies("CMD-4");
    const odd = join(ground, "odd");
    mkdirSync(odd, { recursive: true });
    program(join(outside, "ls"));
    symlinkSync(join(outside, "ls"), join(odd, "ls"));
    symlinkSync(join(system, "rm"), join(odd, "cat"));
    program(join(odd, "busybox"));
    symlinkSync("busybox", join(odd, "pwd"));
    symlinkSync(join(system, "python3"), join(odd, "python"));
    const env = { PATH: odd };
    const systemDirectories = [odd, system];
    expect(isProven(["ls"], { env, systemDirectories })).toBe(false);
    expect(isProven(["cat"], { env, systemDirectories })).toBe(false);
    expect(isProven(["pwd"], { env, systemDirectories })).toBe(true);
    expect(isProven(["python", "--version"], { env, systemDirectories })).toBe(true);
  });

  test("what others may write to is not the system's", () => {
    verifies("CMD-4");
    const loose = join(ground, "loose");
    mkdirSync(loose, { recursive: true });
    for (const name of ["ls", "cat"]) program(join(loose, name));
    const about = { env: { PATH: loose }, systemDirectories: [loose] };
    expect(isProven(["ls"], about)).toBe(true);
    chmodSync(join(loose, "ls"), 0o775);
    expect(isProven(["ls"], about)).toBe(false);
    chmodSync(join(loose, "ls"), 0o757);
    expect(isProven(["ls"], about)).toBe(false);
    chmodSync(join(loose, "ls"), 0o755);
    expect(isProven(["ls"], about)).toBe(true);
    chmodSync(loose, 0o777);
    expect(isProven(["ls"], about)).toBe(false);
    expect(isProven(["cat"], about)).toBe(false);
  });

  test("a script is not trusted: it takes its parts from the PATH", () => {
    verifies("CMD-4");
    const scripts = join(ground, "scripts");
    mkdirSync(scripts, { recursive: true });
    writeFileSync(join(scripts, "ls"), "#!/bin/sh\n", { mode: 0o755 });
    const about = { env: { PATH: scripts }, systemDirectories: [scripts] };
    expect(isProven(["ls"], about)).toBe(false);
    // This one consists of builtins.
    writeFileSync(join(scripts, "which.debianutils"), "#! /bin/sh\n", { mode: 0o755 });
    symlinkSync("which.debianutils", join(scripts, "which"));
    expect(isProven(["which", "ls"], about)).toBe(true);
  });

  test("variables that change what programs do are noticed", () => {
    verifies("CMD-4");
    const names = [
      "LD_PRELOAD",
      "DYLD_INSERT_LIBRARIES",
      "GIT_DIR",
      "GIT_CONFIG_COUNT",
      "NODE_OPTIONS",
    ];
    for (const name of [...names, "BASH_ENV", "PYTHONSTARTUP", "GREP_OPTIONS", "GCONV_PATH"]) {
      expect(isProven(["ls"], { env: { PATH: system, [name]: "x" } })).toBe(false);
    }
    expect(isProven(["ls"], { env: { PATH: system, CI: "1", LANG: "C" } })).toBe(true);
    expect(isProven(["ls"], { env: {} })).toBe(false);
  });

  test("trees are not listed through a home", () => {
    verifies("CMD-4", "PATH-3");
    const home = join(project, "home");
    mkdirSync(join(home, "sub"), { recursive: true });
    const env = { PATH: system, HOME: home };
    for (const argv of [
      ["find"],
      ["find", "."],
      ["ls", "-R"],
      ["du", "-a"],
      ["tree", "home"],
      ["grep", "-r", "x"],
      ["rg", "/x"],
    ]) {
      expect(isProven(argv, { env })).toBe(false);
    }
    for (const argv of [["ls"], ["find", "home/sub"], ["ls", "-R", "src"], ["tree", "src"]]) {
      expect(isProven(argv, { env })).toBe(true);
    }
    const roots = { project: "/", write: [] };
    expect(isProven(["find", "/"], { places: { ...places, roots }, env })).toBe(false);
  });

  test("trees are not listed through a sensitive directory of the config or the agent's home", () => {
    verifies("CMD-4", "PATH-6");
    const kept = join(project, "kept");
    mkdirSync(kept, { recursive: true });
    const sensitiveBy = compileSensitivePaths({ extra: [kept, "src/*.csv"], project });
    const through = { ...places, sensitiveBy, restrictedGlobs: () => sensitiveBy.globs };
    for (const argv of [["find"], ["find", "."], ["ls", "-R"], ["du", "-a"], ["tree"]]) {
      expect(isProven(argv, { places: through })).toBe(false);
    }
    for (const argv of [["ls"], ["find", "src"], ["ls", "-R", "src"]]) {
      expect(isProven(argv, { places: through })).toBe(true);
    }
  });

  test("on this machine ls is the system's own", () => {
    verifies("CMD-4");
    const about = { env: { PATH: "/usr/bin:/bin" }, systemDirectories: SYSTEM_DIRECTORIES };
    expect(isProven(["ls"], about)).toBe(true);
    expect(isProven(["ls", "/etc"], about)).toBe(false);
  });
});

function isProven(
  argv: readonly string[],
  about: Partial<Omit<Parameters<typeof proveReadOnly>[0], "argv">> = {},
): boolean {
  const env = { PATH: system, HOME: join(ground, "home") };
  const systemDirectories = [system];
  return proveReadOnly({ cwd: project, env, places, systemDirectories, ...about, argv }).read_only;
}

/** Anything that is no script; nothing here is ever run. */
function program(path: string): void {
  writeFileSync(path, "\u007fELF", { mode: 0o755 });
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}

function wordsOf(line: string): string[] {
  return line.trim().split(" ");
}

/** How many of git's arguments say what it is to do. */
function wordsThatSelect(args: readonly string[]): number {
  const start = args[0] === "--no-pager" ? 1 : 0;
  const two = args.slice(start, start + 2).join(" ");
  return start + (Object.hasOwn(READ_ONLY_GIT_COMMANDS, two) ? 2 : 1);
}

/** Without the folder of this very run, so that a test has the same name every time. */
function shown(line: string): string {
  return line.replaceAll(ground, "…");
}
