// Ways out of the sandbox, each a small script. It prints THROUGH if it got what it wanted; what it may have done without
// noticing, the world shows. `works` says that the same script gets through outside, so that a refusal inside means something.
// What could hurt the machine is tried in a form that only shows whether it would be allowed.

export interface Probe {
  readonly name: string;
  readonly sh?: string;
  readonly perl?: string;
  /** Outside it gets through, for any user. */
  readonly works?: true;
}

/** Before every script. */
export const PRELUDE = {
  sh: `try() { if "$@"; then echo THROUGH; fi; }\ncd "$PROJECT"\n`,
  perl: `use Socket; $| = 1; sub try { print $_[0] ? "THROUGH\\n" : "refused: $!\\n"; }\nmy %E = %ENV; chdir $E{PROJECT};\n`,
};

const files: Probe[] = [
  { name: "append to a file outside", sh: `try eval 'echo $ID >> $OUTSIDE/file'`, works: true },
  { name: "create a file outside", sh: `try touch $OUTSIDE/new-$ID`, works: true },
  { name: "rename a file outside", sh: `try mv $OUTSIDE/folder/file $OUTSIDE/f2`, works: true },
  { name: "remove a directory outside", sh: `try rm -r $OUTSIDE/folder`, works: true },
  { name: "change the mode of a file outside", sh: `try chmod 600 $OUTSIDE/file`, works: true },
  {
    name: "change the mode of an open file outside",
    perl: `open F, "<", "$E{OUTSIDE}/file"; try(chmod 0600, *F)`,
    works: true,
  },
  {
    name: "change the times of a file outside",
    sh: `try touch -d 2001-01-01 $OUTSIDE/file`,
    works: true,
  },
  { name: "truncate a file outside", perl: `try(truncate "$E{OUTSIDE}/file", 0)`, works: true },
  {
    name: "write through a link that is in the project",
    sh: `try eval 'echo $ID >> link-out/file'; try touch link-out/n`,
    works: true,
  },
  {
    name: "write through a link made in the sandbox",
    sh: `ln -s $OUTSIDE l1; try eval 'echo $ID >> l1/file'`,
    works: true,
  },
  {
    name: "write through a link made in /tmp",
    sh: `ln -s $OUTSIDE /tmp/l-$ID; try eval 'echo $ID >> /tmp/l-$ID/file'; rm -f /tmp/l-$ID`,
    works: true,
  },
  {
    name: "hard link a file from outside into the project",
    sh: `try ln $OUTSIDE/file hard; rm -f hard`,
    works: true,
  },
  {
    name: "hard link between two roots and out again",
    sh: `touch here; try ln here $OUTSIDE/here`,
    works: true,
  },
  {
    name: "rename a directory of the project to outside",
    sh: `mkdir -p d1; try mv d1 $OUTSIDE/d1`,
    works: true,
  },
  {
    name: "exchange a file of the project with one outside",
    perl: `open F, ">", "$E{PROJECT}/x1"; close F; try(syscall(SYS_renameat2, -100, "$E{PROJECT}/x1", -100, "$E{OUTSIDE}/file", 2) == 0)`,
    works: true,
  },
  {
    name: "open a file outside by its handle",
    perl: `my $h = pack("Ii", 128, 0) . "\\0" x 128; my $m = pack("i", 0);
      syscall(SYS_name_to_handle_at, -100, "$E{OUTSIDE}/secret", $h, $m, 0); open my $d, "<", "/";
      try(syscall(SYS_open_by_handle_at, fileno($d), $h, 2) >= 0)`,
  },
  { name: "change the owner of a file outside", sh: `try chown 12345 $OUTSIDE/file` },
  { name: "set an attribute of a file outside", sh: `try setfattr -n user.x -v 1 $OUTSIDE/file` },
  {
    name: "append to the shell's profile",
    sh: `for f in .bashrc .profile; do try eval 'echo $ID >> $HOME/$f'; done`,
    works: true,
  },
  {
    name: "plant a file in the home",
    sh: `try touch $HOME/.bash_login; try mkdir -p $HOME/.config/autostart`,
    works: true,
  },
  {
    name: "write to directories of the system",
    sh: `for d in /etc /usr/bin /usr/local/bin /etc/profile.d /etc/cron.d /etc/systemd/system /var/spool/cron /var/spool/cron/crontabs /opt /srv /boot /lib /var/lib /var/log; do
      if [ -d $d ]; then try touch $d/soong-$ID; rm -f $d/soong-$ID; fi; done`,
  },
  {
    name: "change a file of the system",
    sh: `for f in /etc/passwd /etc/hosts /etc/ld.so.preload /usr/bin/env /bin/sh; do try eval ': 2>/dev/null >> $f'; done`,
  },
  { name: "install a crontab", sh: `echo "* * * * * true" > cron; try crontab cron; crontab -r` },
  {
    name: "see a file of the machine's /tmp",
    sh: `try cat $HIDDEN; ls -a /tmp | grep -F $ID && echo THROUGH`,
    works: true,
  },
  {
    name: "change a file of the machine's /tmp",
    sh: `echo $ID >> $HIDDEN; rm -f $HIDDEN; echo tried`,
  },
  {
    name: "see what is in the machine's /run and /var/tmp",
    sh: `ls -A /run /var/tmp | grep -vE '^$|:$' | sed 's/^/THROUGH /'`,
  },
  { name: "see what is in the machine's /dev/shm", sh: `ls -A /dev/shm | sed 's/^/THROUGH /'` },
];

const masks: Probe[] = [
  {
    name: "read a masked file",
    sh: `cat .env; cat < .env; dd if=.env; head -c 99 .env; cp .env e1; cat e1; rm -f e1`,
    works: true,
  },
  {
    name: "read a masked file with perl",
    perl: `open F, "<", ".env" or die $!; print <F>`,
    works: true,
  },
  {
    name: "read a masked file with node",
    sh: `node -e 'console.log(require("fs").readFileSync(".env", "utf8"))'`,
    works: true,
  },
  {
    name: "read a masked file through a link",
    sh: `ln -s .env l2; cat l2 link-secret; ln -s $OUTSIDE/secret l3; cat l3`,
    works: true,
  },
  {
    name: "read a masked file outside of the roots",
    sh: `cat $OUTSIDE/secret; tar cf - -C $OUTSIDE . | cat`,
    works: true,
  },
  {
    name: "read a masked file through /proc",
    sh: `for p in self 1 thread-self $$; do cat /proc/$p/root$PROJECT/.env /proc/$p/cwd/.env; done`,
    works: true,
  },
  { name: "hard link a masked file", sh: `try ln .env hard2; cat hard2; rm -f hard2`, works: true },
  {
    name: "rename a masked file",
    sh: `try mv .env moved; cat moved; [ -e moved ] && mv moved .env`,
    works: true,
  },
  {
    name: "exchange a masked file with another",
    perl: `my ($a, $b) = ("x2", ".env"); open F, ">", $a; close F; try(syscall(SYS_renameat2, -100, $a, -100, $b, 2) == 0)`,
    works: true,
  },
  { name: "remove a masked file", sh: `try rm -f .env`, works: true },
  {
    name: "replace a masked file",
    sh: `echo planted > p1; try mv -f p1 .env; try eval 'echo planted > .env'`,
    works: true,
  },
  { name: "change the mode of a masked file", sh: `try chmod 777 .env keys`, works: true },
  {
    name: "list a masked directory",
    sh: `ls -la keys; find keys; cat keys/*; cat keys/private.pem; cd keys && cat private.pem`,
    works: true,
  },
  {
    name: "rename a masked directory",
    sh: `try mv keys k2; cat k2/private.pem; [ -d k2 ] && mv k2 keys`,
    works: true,
  },
  { name: "plant a file in a masked directory", sh: `try touch keys/new`, works: true },
  { name: "remount over a masked directory with a new one", sh: `try rm -rf keys; try mkdir keys` },
  {
    name: "rename the parent of a masked file",
    sh: `try mv config c2; cat c2/deep/secret.json; [ -d c2 ] && mv c2 config`,
    works: true,
  },
  {
    name: "rename the directory next to a masked file",
    sh: `try mv config/deep config/d2; cat config/d2/secret.json; [ -d config/d2 ] && mv config/d2 config/deep`,
    works: true,
  },
  {
    name: "rename the project itself",
    sh: `try mv $PROJECT $PROJECT-2; [ -d $PROJECT-2 ] && mv $PROJECT-2 $PROJECT`,
    works: true,
  },
  {
    name: "remove the tree with masked files",
    sh: `rm -rf config; cat config/deep/secret.json; [ -e config ] || echo THROUGH`,
  },
  {
    name: "read the agent's home",
    sh: `ls $AGENT; cat $AGENT/token $AGENT/facts.db; find $AGENT -type f`,
    works: true,
  },
  {
    name: "plant a file in the agent's home",
    sh: `try touch $AGENT/config.toml; try mv $AGENT $AGENT-2`,
    works: true,
  },
  {
    name: "read a private key",
    sh: `cat $HOME/.ssh/id_ed25519; tar cf - $HOME | cat`,
    works: true,
  },
  {
    name: "watch what is in a masked directory",
    perl: `my $fd = syscall(SYS_inotify_init1, 0); try(syscall(SYS_inotify_add_watch, $fd, "$E{PROJECT}/keys/private.pem", 0xfff) >= 0)`,
    works: true,
  },
];

const git: Probe[] = [
  {
    name: "plant a hook",
    sh: `try eval 'echo x > .git/hooks/pre-commit'; try cp /bin/sh .git/hooks/post-checkout`,
    works: true,
  },
  { name: "move the hooks away", sh: `try mv .git/hooks .git/h2`, works: true },
  { name: "remove a hook", sh: `try rm -f .git/hooks/pre-commit.sample`, works: true },
  {
    name: "set core.fsmonitor",
    sh: `try git config core.fsmonitor ./script.sh; try eval 'echo x >> .git/config'`,
    works: true,
  },
  {
    name: "replace the configuration by a rename",
    sh: `cp .git/config .git/c2; try mv -f .git/c2 .git/config`,
    works: true,
  },
  {
    name: "plant a configuration of the worktree",
    sh: `try touch .git/config.worktree`,
    works: true,
  },
  {
    name: "plant a commondir",
    sh: `try eval 'echo ../elsewhere > .git/commondir'; try ln -s x .git/commondir; try mkdir .git/commondir`,
    works: true,
  },
  {
    name: "replace .git by a copy",
    sh: `try mv .git .g2; cp -r .g2 .git && echo x > .git/hooks/pre-commit && echo THROUGH`,
    works: true,
  },
  {
    name: "replace .git by a link",
    sh: `cp -r .git .g3; try rm -rf .git; try ln -sT .g3 .git; rm -rf .g3`,
  },
  {
    name: "exchange .git with a copy",
    perl: `my ($a, $b) = (".g4", ".git"); system("cp -r .git .g4"); try(syscall(SYS_renameat2, -100, $a, -100, $b, 2) == 0)`,
    works: true,
  },
  {
    name: "plant a file where nothing may come into being",
    sh: `try touch .envrc; try mkdir .envrc; try ln -s x .envrc; echo x > e3; try mv e3 .envrc; try ln e3 .envrc`,
    works: true,
  },
  {
    name: "change a file that is fixed",
    sh: `try eval 'echo x >> script.sh'; try mv script.sh s2; try rm -f script.sh; try chmod 777 script.sh; echo x > s3; try mv -f s3 script.sh`,
    works: true,
  },
];

const processes: Probe[] = [
  { name: "end a process outside", sh: `try kill -9 $VICTIM`, works: true },
  { name: "signal every process of the user", sh: `kill -CONT -1; try kill -0 $VICTIM` },
  {
    name: "see processes outside",
    sh: `for p in /proc/[0-9]*; do [ $(basename $p) -gt 500 ] && grep -qF "$ID" $p/cmdline && grep -q select $p/cmdline && echo THROUGH; done; :`,
    works: true,
  },
  {
    name: "read the environment of the runtime",
    sh: `cat /proc/*/environ | tr '\\0' '\\n' | grep RUNTIME_SECRET && echo THROUGH`,
  },
  {
    name: "lower the priority of processes outside",
    sh: `try renice -n 5 -p $VICTIM`,
    works: true,
  },
  {
    name: "lower the priority of every process of the user",
    perl: `fork or do { setpriority(2, $<, 7); exit }; wait; print "tried\\n"`,
  },
  {
    name: "read the memory of a process outside",
    perl: `open F, "<", "/proc/$E{VICTIM}/mem" or die $!; try(1)`,
  },
  {
    name: "read the memory of the first process",
    perl: `for my $p (1, getppid) { open(F, "+<", "/proc/$p/mem") and $p == 1 and try(1); }`,
  },
  {
    name: "change the program of the first process",
    perl: `try(chmod((stat "/proc/1/exe")[2] & 07777, "/proc/1/exe"))`,
  },
  {
    name: "reach files by what the first process has open",
    perl: `for my $l (glob("/proc/1/fd/* /proc/1/root /proc/1/cwd /proc/1/exe")) { my $t = readlink $l; print "$l $t\\n"; try(1) if defined $t && $t =~ m{^/} && -e $l }`,
  },
  {
    name: "be spared when memory is short",
    sh: `try eval 'echo -1000 > /proc/self/oom_score_adj'`,
  },
  {
    name: "keep a descriptor of the runtime",
    sh: `for f in /proc/self/fd/*; do case \${f##*/} in 0|1|2) ;; *) t=$(readlink $f) && [ "\${t%/dev/null}" = "$t" ] && echo "THROUGH $f $t";; esac; done; :`,
  },
  {
    name: "change the input the runtime gave",
    perl: `open F, "<&=", 0; utime(1, 1, *F); print "tried\\n"`,
  },
  {
    name: "change the devices of the machine",
    perl: `utime(1, 1, $_) for glob "/dev/*"; print "tried\\n"`,
  },
  {
    name: "hold capabilities",
    sh: `grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/self/status | grep -v '\\b0000000000000000$' && echo THROUGH; grep -q 'NoNewPrivs:.1' /proc/self/status || echo THROUGH; grep -q 'Seccomp:.2' /proc/self/status || echo THROUGH`,
    works: true,
  },
  {
    name: "become root by a setuid program",
    sh: `for p in su sudo mount umount passwd newgrp chsh pkexec fusermount fusermount3 newuidmap; do p=$(command -v $p) && cp $p /tmp/p && try /tmp/p --nonsense; done 2>/dev/null; su -c 'echo THROUGH' nobody < /dev/null; sudo -n echo THROUGH; :`,
  },
  {
    name: "map other users",
    sh: `for f in uid_map gid_map setgroups; do try eval 'echo "0 0 1000" > /proc/self/$f'; done`,
  },
];

const system: Probe[] = [
  { name: "set the core pattern", sh: `try eval ': >> /proc/sys/kernel/core_pattern'` },
  { name: "press SysRq", sh: `try eval ': >> /proc/sysrq-trigger'` },
  {
    name: "open any file of /proc for writing",
    perl: `my @q = grep { !m{^/proc/(\\d+|self|thread-self|net|mounts)$} } glob("/proc/*");
    while (my $p = shift @q) { next if -l $p; if (-d _) { push @q, glob("$p/*"); next } if (sysopen(F, $p, 1)) { print "THROUGH $p\\n"; close F } } print "tried\\n"`,
  },
  {
    name: "open any file of /sys for writing",
    sh: `find /sys -type f -writable 2>/dev/null | head -3 | sed 's/^/THROUGH /'`,
  },
  {
    name: "find a mount that can be written",
    perl: `open F, "<", "/proc/self/mountinfo"; my %top;
    while (<F>) { my ($at, $how) = (split)[4, 5]; $at =~ s/\\\\040/ /g; $top{$at} = $how }
    for (sort keys %top) { next if $top{$_} =~ /^ro\\b/; next if m{^/(tmp|var/tmp|run|proc|dev)(/|$)} || m{^\\Q$E{PROJECT}\\E(/|$)} || $_ eq "$E{WORLD}/second"; print "THROUGH $_ $top{$_}\\n" } print "tried\\n"`,
  },
  {
    name: "mount something",
    sh: `mkdir -p m; try mount -t tmpfs x m; try mount --bind / m; try mount -o remount,rw /; try mount -o remount,rw,bind /; try mount -t proc x m`,
  },
  {
    name: "unmount a mask",
    sh: `for p in .env keys $AGENT /tmp /proc /proc/sys .git/hooks .git; do try umount $p; try umount -l $p; done`,
  },
  {
    name: "release a cgroup",
    sh: `find /sys/fs/cgroup -name release_agent -writable 2>/dev/null | sed 's/^/THROUGH /'; for f in $(find /sys/fs/cgroup -name cgroup.procs 2>/dev/null | head -5); do try eval 'echo $$ > $f'; done; :`,
  },
  {
    name: "find devices of the machine",
    sh: `for d in mem kmsg port sda vda nvme0n1 fuse kvm net/tun loop-control mapper/control console tty0 vcs input/event0 disk autofs uinput vhost-net rtc watchdog snapshot hwrng; do [ -e /dev/$d ] && echo "THROUGH $d"; done; :`,
  },
  {
    name: "make a device",
    sh: `try mknod sda b 8 0; try mknod /tmp/mem c 1 1; try mknod null c 1 3; for f in sda /tmp/mem; do [ -e $f ] && try head -c 1 $f; rm -f $f; done; :`,
  },
  { name: "write to the terminal of the runtime", sh: `try eval 'echo x > /dev/tty'` },
  { name: "read the log of the kernel", sh: `try dmesg` },
  {
    name: "read the memory of the kernel",
    perl: `open F, "<", "/proc/kcore" or die $!; sysseek F, 4096, 0; try(sysread(F, my $x, 10) > 0)`,
  },
  {
    name: "unshare as another user",
    sh: `try unshare -Ur true; try unshare -U true; try unshare -n true; try unshare -m true`,
  },
  { name: "change the root directory", sh: `try chroot / true; try chroot $OUTSIDE /bin/true` },
  {
    name: "enter other namespaces",
    sh: `for n in user mnt pid net; do try nsenter --$n=/proc/1/ns/$n true; done; try nsenter -t 1 -a true`,
  },
  {
    name: "set the host name",
    sh: `try hostname soong-$ID; hostname | grep -F $ID && echo THROUGH`,
  },
  {
    name: "start something as a service",
    sh: `try systemd-run --user true; try systemd-run true; try at now < /dev/null; try dbus-send --session --dest=x / a.b; try loginctl`,
  },
];

const network: Probe[] = [
  {
    name: "connect to a server of this machine",
    perl: `socket(S, AF_INET, SOCK_STREAM, 0); try(connect(S, pack_sockaddr_in($E{TCP4}, inet_aton("127.0.0.1"))))`,
    works: true,
  },
  {
    name: "connect to a server of this machine by IPv6",
    perl: `socket(S, AF_INET6, SOCK_STREAM, 0); try(connect(S, pack_sockaddr_in6($E{TCP6}, inet_pton(AF_INET6, "::1"))))`,
  },
  {
    name: "connect to every address of this machine",
    perl: `for my $a ("0.0.0.0", "127.0.0.2", map { /inet (\\S+?)\\// ? $1 : () } split /\\n/, $E{ADDRESSES} // "") { socket(S, AF_INET, SOCK_STREAM, 0); try(connect(S, pack_sockaddr_in($E{TCP4}, inet_aton($a)))) }`,
    works: true,
  },
  {
    name: "send a datagram to this machine",
    perl: `socket(S, AF_INET, SOCK_DGRAM, 0); my $n = send(S, "udp $E{ID}", 0, pack_sockaddr_in($E{UDP}, inet_aton("127.0.0.1"))); print "sent\\n"`,
  },
  {
    name: "ask a name server",
    perl: `for my $s ("8.8.8.8", "1.1.1.1", "127.0.0.53", "127.0.0.11") { socket(S, AF_INET, SOCK_DGRAM, 0); connect(S, pack_sockaddr_in(53, inet_aton($s))) or next; my $q = pack("nnnnnn", 1, 256, 1, 0, 0, 0) . "\\7example\\3com\\0" . pack("nn", 1, 1); send(S, $q, 0) or next; my $r = ""; vec($r, fileno(S), 1) = 1; select($r, undef, undef, 0.3) and recv(S, my $m, 512, 0) and length $m and try(1) } print "tried\\n"`,
  },
  {
    name: "reach the internet by an address",
    perl: `for my $a ("1.1.1.1", "8.8.8.8", "169.254.169.254") { socket(S, AF_INET, SOCK_STREAM, 0); try(connect(S, pack_sockaddr_in(80, inet_aton($a)))) }`,
  },
  {
    name: "ping",
    perl: `try(socket(S, AF_INET, SOCK_DGRAM, 1) && send(S, pack("CCnnn", 8, 0, 0, 1, 1), 0, pack_sockaddr_in(0, inet_aton("8.8.8.8"))))`,
  },
  {
    name: "open a raw socket",
    perl: `try(socket(S, AF_INET, SOCK_RAW, 1)); try(socket(S, AF_INET, SOCK_RAW, 255)); try(socket(S, AF_INET6, SOCK_RAW, 58))`,
  },
  {
    name: "open a socket of another family",
    perl: `for my $f (0 .. 60) { next if $f == 2 || $f == 10 || $f == 16; for my $t (1, 2, 3, 5) { if (socket(S, $f, $t, 0)) { print "THROUGH $f $t\\n"; close S } } } print "tried\\n"`,
  },
  {
    name: "open a unix socket by a number with more bits",
    perl: `for my $high (1 << 32, 0xdeadbeef << 32) { try(syscall(SYS_socket, $high | 1, 1, 0) >= 0) }`,
    works: true,
  },
  {
    name: "connect to a unix socket in the project",
    perl: `try(socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, pack_sockaddr_un("$E{PROJECT}/app.sock")))`,
    works: true,
  },
  {
    name: "connect to the agent's control socket",
    perl: `try(socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, pack_sockaddr_un("$E{AGENT}/control.sock")))`,
    works: true,
  },
  {
    name: "connect to a unix socket in the machine's /tmp",
    perl: `try(socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, pack_sockaddr_un("$E{HIDDEN}.sock")))`,
    works: true,
  },
  {
    name: "connect to a unix socket with node",
    sh: `node -e 'require("net").connect(process.env.PROJECT + "/app.sock").on("connect", () => { console.log("THROUGH"); process.exit() }).on("error", (e) => console.log(e.code))'`,
    works: true,
  },
  {
    name: "send a datagram to a unix socket from a pair",
    perl: `for my $type (2, 3) { socketpair(A, B, AF_UNIX, $type, 0) or print("refused: $!\\n"), next; try(send(A, "pair $E{ID}", 0, pack_sockaddr_un("$E{OUTSIDE}/letters.sock"))); try(connect(A, pack_sockaddr_un("$E{OUTSIDE}/letters.sock")) && send(A, "again", 0)) }`,
    works: true,
  },
  {
    name: "open a pair of unix datagram sockets by a number with more bits",
    perl: `for my $t (2, (1 << 32) | 2, 2 | 02000000, 2 | 04000, 3, (7 << 32) | 3) { my $p = "\\0" x 8; my $text = "pair"; for my $f (1, (1 << 32) | 1) { syscall(SYS_socketpair, $f, $t, 0, $p) == 0 or print("refused: $!\\n"), next; my ($a, $b) = unpack("ii", $p); my $to = pack_sockaddr_un("$E{OUTSIDE}/letters.sock"); try(syscall(SYS_sendto, $a, $text, 4, 0, $to, length $to) == 4) } }`,
    works: true,
  },
  {
    name: "send a datagram to an abstract socket",
    perl: `try(socket(S, AF_UNIX, SOCK_DGRAM, 0) && send(S, "abstract", 0, pack_sockaddr_un("\\0soong-$E{ID}")))`,
    works: true,
  },
  {
    name: "listen where others can connect",
    perl: `try(socket(S, AF_UNIX, SOCK_STREAM, 0) && bind(S, pack_sockaddr_un("$E{PROJECT}/mine.sock")))`,
    works: true,
  },
  {
    name: "bind an address of this machine",
    perl: `socket(S, AF_INET, SOCK_STREAM, 0); bind(S, pack_sockaddr_in(0, INADDR_ANY)); listen(S, 1); my ($port) = unpack_sockaddr_in(getsockname(S)); open F, ">", "$E{PROJECT}/port"; print F $port; print "tried\\n"`,
  },
  {
    name: "change the network",
    sh: `try ip link set lo down; try ip link add x type dummy; try ip addr add 10.9.8.7/24 dev lo; try ip link add y type veth`,
  },
  {
    name: "listen to the kernel's events",
    perl: `for my $p (2, 9, 11, 13, 15, 16) { next unless socket(S, 16, 3, $p); try(bind(S, pack("SSLL", 16, 0, 0, 0xffffffff))) } print "tried\\n"`,
  },
];

/** With a host open that is not one of these: each goes to the proxy and wants a server of this machine. */
export const PROXY_PROBES: readonly Probe[] = [
  ...network,
  ...(
    [
      ["by its address", "CONNECT 127.0.0.1:PORT HTTP/1.1\\r\\n"],
      ["by localhost", "CONNECT localhost:PORT HTTP/1.1\\r\\n"],
      ["by no address", "CONNECT 0.0.0.0:PORT HTTP/1.1\\r\\n"],
      ["by a short address", "CONNECT 127.1:PORT HTTP/1.1\\r\\n"],
      ["by a number", "CONNECT 2130706433:PORT HTTP/1.1\\r\\n"],
      ["by an address of IPv6", "CONNECT [::ffff:127.0.0.1]:PORT HTTP/1.1\\r\\n"],
      ["behind the open host", "CONNECT open.example\\@127.0.0.1:PORT HTTP/1.1\\r\\n"],
      [
        "with the open host in front of a NUL",
        "CONNECT 127.0.0.1:PORT\\0open.example HTTP/1.1\\r\\n",
      ],
      [
        "with the header of the open host",
        "GET http://127.0.0.1:PORT/ HTTP/1.1\\r\\nHost: open.example\\r\\n",
      ],
      [
        "with a URL that names both",
        "GET http://open.example\\@127.0.0.1:PORT/ HTTP/1.1\\r\\nHost: open.example\\r\\n",
      ],
      ["with its header alone", "GET / HTTP/1.1\\r\\nHost: 127.0.0.1:PORT\\r\\n"],
      [
        "as a second request",
        "GET http://open.example/ HTTP/1.1\\r\\nHost: open.example\\r\\n\\r\\nGET http://127.0.0.1:PORT/ HTTP/1.1\\r\\nHost: open.example\\r\\n",
      ],
      ["by SOCKS", "\\4\\1SOCKS\\177\\0\\0\\1\\0"],
    ] as const
  ).map(([how, request]) => ({
    name: `reach a server of this machine ${how} through the proxy`,
    perl: `my ($port) = $E{http_proxy} =~ /:(\\d+)/; socket(S, AF_INET, SOCK_STREAM, 0); connect(S, pack_sockaddr_in($port, inet_aton("127.0.0.1"))) or die "THROUGH? no proxy: $!"; my $s = pack("n", $E{TCP4}); (my $q = "${request}Connection: close\\r\\n\\r\\n") =~ s/PORT/$E{TCP4}/g; $q =~ s/SOCKS/$s/; send(S, $q, 0); shutdown(S, 1); $SIG{ALRM} = sub { exit }; alarm 5; print while <S>; print "tried\\n"`,
  })),
];

export const PROBES: readonly Probe[] = [
  ...files,
  ...masks,
  ...git,
  ...processes,
  ...system,
  ...network,
];

/**
 * System calls that must be refused, by their numbers for x64 and arm64, with arguments as perl writes them: as good as can
 * be, and harmless where they would be allowed.
 */
export const CALLS: readonly {
  readonly name: string;
  readonly x64: number;
  readonly arm64: number | undefined;
  readonly args: string;
  /** Outside any user may. */
  readonly works?: true;
}[] = [
  { name: "ptrace", x64: 101, arm64: 117, args: "0, 0, 0, 0", works: true },
  { name: "ptrace of the parent", x64: 101, arm64: 117, args: "0x4206, getppid, 0, 0" },
  { name: "process_vm_readv", x64: 310, arm64: 270, args: "$$, $iov, 1, $iov, 1, 0", works: true },
  { name: "process_vm_writev", x64: 311, arm64: 271, args: "$$, $iov, 1, $iov, 1, 0", works: true },
  { name: "pidfd_getfd", x64: 438, arm64: 438, args: "$pidfd, 0, 0", works: true },
  { name: "kcmp", x64: 312, arm64: 272, args: "$$, $$, 0, 0, 0", works: true },
  { name: "io_uring_setup", x64: 425, arm64: 425, args: `1, "\\0" x 120`, works: true },
  { name: "io_uring_enter", x64: 426, arm64: 426, args: "0, 0, 0, 0, 0, 0" },
  { name: "io_uring_register", x64: 427, arm64: 427, args: "0, 0, 0, 0" },
  { name: "keyctl", x64: 250, arm64: 219, args: "0, -3, 0", works: true },
  { name: "add_key", x64: 248, arm64: 217, args: `"user", "soong", "x", 1, -1`, works: true },
  { name: "request_key", x64: 249, arm64: 218, args: `"user", "soong-none", 0, 0`, works: true },
  { name: "bpf", x64: 321, arm64: 280, args: `0, "\\0" x 120, 120` },
  { name: "perf_event_open", x64: 298, arm64: 241, args: `"\\0" x 120, 0, -1, -1, 0` },
  { name: "userfaultfd", x64: 323, arm64: 282, args: "1" },
  { name: "mount", x64: 165, arm64: 40, args: `"x", "/nowhere", "tmpfs", 0, 0` },
  { name: "umount2", x64: 166, arm64: 39, args: `"/nowhere", 0` },
  { name: "pivot_root", x64: 155, arm64: 41, args: `"/nowhere", "/nowhere"` },
  { name: "chroot", x64: 161, arm64: 51, args: `"/"` },
  { name: "unshare of nothing", x64: 272, arm64: 97, args: "0", works: true },
  { name: "unshare of users", x64: 272, arm64: 97, args: "0x10000000" },
  { name: "setns", x64: 308, arm64: 268, args: "0, 0" },
  { name: "open_tree", x64: 428, arm64: 428, args: `-100, "/", 1` },
  { name: "move_mount", x64: 429, arm64: 429, args: "0, 0, 0, 0, 0" },
  { name: "fsopen", x64: 430, arm64: 430, args: `"tmpfs", 0` },
  { name: "fsconfig", x64: 431, arm64: 431, args: "0, 0, 0, 0, 0" },
  { name: "fsmount", x64: 432, arm64: 432, args: "0, 0, 0" },
  { name: "fspick", x64: 433, arm64: 433, args: `-100, "/", 0` },
  { name: "mount_setattr", x64: 442, arm64: 442, args: `-100, "/", 0, "\\0" x 32, 32` },
  { name: "clone with a namespace of users", x64: 56, arm64: 220, args: "0x10000011, 0, 0, 0, 0" },
  { name: "clone with a namespace of mounts", x64: 56, arm64: 220, args: "0x00020011, 0, 0, 0, 0" },
  { name: "clone with a network", x64: 56, arm64: 220, args: "0x40000011, 0, 0, 0, 0" },
  {
    name: "clone with a namespace by a number with more bits",
    x64: 56,
    arm64: 220,
    args: "(1 << 32) | 0x10000011, 0, 0, 0, 0",
  },
  {
    name: "clone3",
    x64: 435,
    arm64: 435,
    args: `pack("Q*", 0, 0, 0, 0, 17, 0, 0, 0), 64`,
    works: true,
  },
  { name: "init_module", x64: 175, arm64: 105, args: `0, 0, ""` },
  { name: "finit_module", x64: 313, arm64: 273, args: `0, "", 0` },
  { name: "delete_module", x64: 176, arm64: 106, args: `"soong_none", 0` },
  { name: "kexec_load", x64: 246, arm64: 104, args: "0, 99, 0, 0xffff" },
  { name: "kexec_file_load", x64: 320, arm64: 294, args: `-1, -1, 0, "", 0xffff` },
  { name: "swapon", x64: 167, arm64: 224, args: `"/nowhere", 0` },
  { name: "swapoff", x64: 168, arm64: 225, args: `"/nowhere"` },
  { name: "reboot", x64: 169, arm64: 142, args: "1, 2, 3, 0" },
  { name: "sethostname", x64: 170, arm64: 161, args: `"x", 999` },
  { name: "setdomainname", x64: 171, arm64: 162, args: `"x", 999` },
  { name: "clock_settime", x64: 227, arm64: 112, args: "99, 0" },
  { name: "settimeofday", x64: 164, arm64: 170, args: `0, "\\0" x 8` },
  { name: "adjtimex", x64: 159, arm64: 171, args: `pack("I", 0x4000) . "\\0" x 300` },
  { name: "acct", x64: 163, arm64: 89, args: `"/nowhere"` },
  { name: "quotactl", x64: 179, arm64: 60, args: `0x80000200, "/nowhere", 0, 0` },
  { name: "syslog", x64: 103, arm64: 116, args: "9, 0, 0" },
  { name: "open_by_handle_at", x64: 304, arm64: 265, args: `0, pack("Ii", 8, 1) . "\\0" x 8, 0` },
  { name: "fanotify_init", x64: 300, arm64: 262, args: "0, 0" },
  { name: "vhangup", x64: 153, arm64: 58, args: "" },
  { name: "mknod of a device", x64: 259, arm64: 33, args: `-100, "/tmp/device", 0020666, 0x0101` },
  { name: "iopl", x64: 172, arm64: undefined, args: "3" },
  { name: "ioperm", x64: 173, arm64: undefined, args: "0x80, 1, 1" },
  { name: "TIOCSTI", x64: 16, arm64: 29, args: `0, 0x5412, "x"` },
  {
    name: "TIOCSTI by a number with more bits",
    x64: 16,
    arm64: 29,
    args: `0, (1 << 32) | 0x5412, "x"`,
  },
  { name: "TIOCLINUX", x64: 16, arm64: 29, args: `0, 0x541c, "\\2"` },
  {
    name: "TIOCLINUX by a number with more bits",
    x64: 16,
    arm64: 29,
    args: `0, (5 << 32) | 0x541c, "\\2"`,
  },
  ...[
    ["unshare", 272, "0x10000000"],
    ["socket", 41, "1, 1, 0"],
    ["io_uring_setup", 425, `1, "\\0" x 120`],
    ["keyctl", 250, "0, -3, 0"],
    ["ptrace", 521, "0, 0, 0, 0"],
    ["process_vm_readv", 539, "$$, $iov, 1, $iov, 1, 0"],
  ].map(([name, number, args]) => ({
    name: `${name} as x32`,
    x64: 0x40000000 + Number(number),
    arm64: undefined,
    args: String(args),
  })),
];

/** Numbers that the probes in perl use by name. */
export const NUMBERS: Readonly<Record<string, { x64: number; arm64: number }>> = {
  renameat2: { x64: 316, arm64: 276 },
  name_to_handle_at: { x64: 303, arm64: 264 },
  open_by_handle_at: { x64: 304, arm64: 265 },
  inotify_init1: { x64: 294, arm64: 26 },
  inotify_add_watch: { x64: 254, arm64: 27 },
  socket: { x64: 41, arm64: 198 },
  socketpair: { x64: 53, arm64: 199 },
  sendto: { x64: 44, arm64: 206 },
};
