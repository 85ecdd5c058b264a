// The system calls that a process in the sandbox does without, as a seccomp program for the kernel (classic BPF): what looks
// into other processes, mounts, opens new kernel interfaces, or reaches programs outside through a socket. Mounts and
// namespaces close the files; this closes what they leave. The numbers for arm64 come from its header and are untested.

interface SystemCalls {
  /** AUDIT_ARCH_…: numbers of another architecture mean other calls, so those are not judged but killed. */
  readonly architecture: number;
  readonly clone: number;
  readonly ioctl: number;
  readonly socket: number;
  readonly denied: readonly number[];
}

/** The same numbers everywhere, as all calls from 424 on. */
const CLONE3 = 435;
const DENIED_EVERYWHERE = [
  425,
  426,
  427, // io_uring_setup, io_uring_enter, io_uring_register
  428,
  429,
  430,
  431,
  432,
  433, // open_tree, move_mount, fsopen, fsconfig, fsmount, fspick
  438, // pidfd_getfd
  442,
  443, // mount_setattr, quotactl_fd
  467, // open_tree_attr
];
/** file_setattr. What a newer kernel adds is not known here, and programs can do without it. */
const LAST_KNOWN = 469;

const X64: SystemCalls = {
  architecture: 0xc000_003e,
  clone: 56,
  ioctl: 16,
  socket: 41,
  denied: [
    101,
    310,
    311,
    312, // ptrace, process_vm_readv, process_vm_writev, kcmp
    248,
    249,
    250, // add_key, request_key, keyctl
    298,
    321,
    323, // perf_event_open, bpf, userfaultfd
    155,
    161,
    165,
    166,
    272,
    308, // pivot_root, chroot, mount, umount2, unshare, setns
    174,
    175,
    176,
    177,
    178,
    313, // create_module, init_module, delete_module, get_kernel_syms, query_module, finit_module
    246,
    320,
    167,
    168,
    169, // kexec_load, kexec_file_load, swapon, swapoff, reboot
    103,
    153,
    163,
    179,
    180,
    212, // syslog, vhangup, acct, quotactl, nfsservctl, lookup_dcookie
    159,
    164,
    227,
    305, // adjtimex, settimeofday, clock_settime, clock_adjtime
    300,
    303,
    304, // fanotify_init, name_to_handle_at, open_by_handle_at
    172,
    173, // iopl, ioperm
  ],
};

const ARM64: SystemCalls = {
  architecture: 0xc000_00b7,
  clone: 220,
  ioctl: 29,
  socket: 198,
  denied: [
    117,
    270,
    271,
    272, // ptrace, process_vm_readv, process_vm_writev, kcmp
    217,
    218,
    219, // add_key, request_key, keyctl
    241,
    280,
    282, // perf_event_open, bpf, userfaultfd
    39,
    40,
    41,
    51,
    97,
    268, // umount2, mount, pivot_root, chroot, unshare, setns
    105,
    106,
    273, // init_module, delete_module, finit_module
    104,
    294,
    224,
    225,
    142, // kexec_load, kexec_file_load, swapon, swapoff, reboot
    18,
    42,
    58,
    60,
    89,
    116, // lookup_dcookie, nfsservctl, vhangup, quotactl, acct, syslog
    112,
    170,
    171,
    266, // clock_settime, settimeofday, adjtimex, clock_adjtime
    262,
    264,
    265, // fanotify_init, name_to_handle_at, open_by_handle_at
  ],
};

const BY_ARCHITECTURE: Readonly<Record<string, SystemCalls>> = { x64: X64, arm64: ARM64 };

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NAMESPACES = 0x7e02_0000;
/** Put input into a terminal (TIOCSTI, TIOCLINUX), take the console's output, load a line discipline. */
const DENIED_IOCTLS = [0x5412, 0x541c, 0x541d, 0x5423];
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
/** Names of interfaces and addresses; the other protocols configure the kernel. */
const NETLINK_ROUTE = 0;

/** For bubblewrap's `--seccomp`; undefined for a processor whose numbers are not known here. */
export function seccompProgram(architecture: string = process.arch): Buffer | undefined {
  const calls = BY_ARCHITECTURE[architecture];
  return calls === undefined ? undefined : assemble(programFor(calls));
}

type Verdict = "allow" | "refuse" | "unknown" | "kill";
type Step =
  | { readonly load: number }
  | {
      readonly test: "equal" | "at_least" | "any_bit";
      readonly value: number;
      readonly yes?: Target;
      readonly no?: Target;
    };
/** A verdict, or how many of the next steps are skipped. */
type Target = Verdict | number;

const NUMBER = 0;
const ARCHITECTURE = 4;
/**
 * Of 64 bits the lower half, on these little-endian machines. For a flag, a request and a family that is all the kernel
 * looks at: to compare the upper half too would let a call through that has something there.
 */
const argument = (index: number) => 16 + 8 * index;

function programFor(calls: SystemCalls): Step[] {
  const isNumber = (value: number, length: number): Step => ({ test: "equal", value, no: length });
  const clone: Step[] = [
    { load: argument(0) },
    { test: "any_bit", value: NAMESPACES, yes: "refuse", no: "allow" },
  ];
  const ioctl: Step[] = [
    { load: argument(1) },
    ...DENIED_IOCTLS.map((value): Step => ({ test: "equal", value, yes: "refuse" })),
    { test: "at_least", value: 0, yes: "allow" },
  ];
  const socket: Step[] = [
    { load: argument(0) },
    { test: "equal", value: AF_INET, yes: "allow" },
    { test: "equal", value: AF_INET6, yes: "allow" },
    { test: "equal", value: AF_NETLINK, no: "refuse" },
    { load: argument(2) },
    { test: "equal", value: NETLINK_ROUTE, yes: "allow", no: "refuse" },
  ];
  return [
    { load: ARCHITECTURE },
    { test: "equal", value: calls.architecture, no: "kill" },
    { load: NUMBER },
    // x32: the same calls under other numbers.
    { test: "at_least", value: 0x4000_0000, yes: "kill" },
    { test: "at_least", value: LAST_KNOWN + 1, yes: "unknown" },
    // Its flags are in memory, where they cannot be looked at; the C library then uses clone.
    { test: "equal", value: CLONE3, yes: "unknown" },
    ...[...DENIED_EVERYWHERE, ...calls.denied].map((value): Step => ({
      test: "equal",
      value,
      yes: "refuse",
    })),
    isNumber(calls.clone, clone.length),
    ...clone,
    isNumber(calls.ioctl, ioctl.length),
    ...ioctl,
    isNumber(calls.socket, socket.length),
    ...socket,
    { test: "at_least", value: 0, yes: "allow" },
  ];
}

const LOAD_WORD = 0x20;
const TESTS = { equal: 0x15, at_least: 0x35, any_bit: 0x45 };
const RETURN = 0x06;
const EPERM = 1;
const ENOSYS = 38;
const VERDICTS: readonly [Verdict, number][] = [
  ["allow", 0x7fff_0000],
  ["refuse", 0x0005_0000 + EPERM],
  ["unknown", 0x0005_0000 + ENOSYS],
  ["kill", 0x8000_0000],
];

function assemble(steps: readonly Step[]): Buffer {
  const program = Buffer.alloc((steps.length + VERDICTS.length) * 8);
  const write = (at: number, code: number, yes: number, no: number, value: number) => {
    program.writeUInt16LE(code, at * 8);
    // Throws for a distance over 255, which no jump can have.
    program.writeUInt8(yes, at * 8 + 2);
    program.writeUInt8(no, at * 8 + 3);
    program.writeUInt32LE(value, at * 8 + 4);
  };
  const distance = (at: number, target: Target = 0) =>
    typeof target === "number"
      ? target
      : steps.length + VERDICTS.findIndex(([verdict]) => verdict === target) - at - 1;
  for (const [at, step] of steps.entries()) {
    if ("load" in step) write(at, LOAD_WORD, 0, 0, step.load);
    else write(at, TESTS[step.test], distance(at, step.yes), distance(at, step.no), step.value);
  }
  for (const [index, [, value]] of VERDICTS.entries())
    write(steps.length + index, RETURN, 0, 0, value);
  return program;
}
