// The system calls that a process in the sandbox does without, as a seccomp program for the kernel (classic BPF): what looks
// into other processes, mounts, opens new kernel interfaces, or reaches programs outside through a socket. Mounts and
// namespaces close the files; this closes what they leave. The numbers for arm64 come from its header and are untested.

/** Of the architectures in this order. Calls that are younger than number 423 have one number everywhere. */
const NUMBERS: Readonly<Record<string, readonly [x64: number, arm64?: number]>> = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  unshare: [272, 97],
  setns: [308, 268],
  create_module: [174],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  get_kernel_syms: [177],
  query_module: [178],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  syslog: [103, 116],
  vhangup: [153, 58],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  nfsservctl: [180, 42],
  lookup_dcookie: [212, 18],
  iopl: [172],
  ioperm: [173],
  adjtimex: [159, 171],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  fanotify_init: [300, 262],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
};
const SPECIAL = {
  clone: [56, 220],
  ioctl: [16, 29],
  socket: [41, 198],
  socketpair: [53, 199],
} as const;
const CLONE3 = 435;
/** file_setattr. What a newer kernel adds is not known here, and programs can do without it. */
const LAST_KNOWN = 469;

/** AUDIT_ARCH_…, in the order of the numbers. Those of another one mean other calls: they are not judged but killed. */
const ARCHITECTURES = [
  ["x64", 0xc000_003e],
  ["arm64", 0xc000_00b7],
] as const;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NAMESPACES = 0x7e02_0000;
/** Put input into a terminal (TIOCSTI, TIOCLINUX), take the console's output, load a line discipline. */
const DENIED_IOCTLS = [0x5412, 0x541c, 0x541d, 0x5423];
/** In SOCK_DGRAM and SOCK_RAW, which AF_UNIX takes for the same; not in SOCK_STREAM and SOCK_SEQPACKET. */
const DATAGRAM = 2;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
/** Names of interfaces and addresses; the other protocols configure the kernel. */
const NETLINK_ROUTE = 0;

/** For bubblewrap's `--seccomp`; undefined for a processor whose numbers are not known here. */
export function seccompProgram(architecture: string = process.arch): Buffer | undefined {
  const index = ARCHITECTURES.findIndex(([name]) => name === architecture);
  return index === -1 ? undefined : assemble(programFor(index as 0 | 1));
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

function programFor(index: 0 | 1): Step[] {
  const denied = Object.values(NUMBERS).flatMap((numbers) => numbers[index] ?? []);
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
  // A pair is for processes of the command among each other. But one of datagrams can send to any address of the file
  // system, and connect to it.
  const socketpair: Step[] = [
    { load: argument(1) },
    { test: "any_bit", value: DATAGRAM, yes: "refuse", no: "allow" },
  ];
  return [
    { load: ARCHITECTURE },
    { test: "equal", value: ARCHITECTURES[index][1], no: "kill" },
    { load: NUMBER },
    // x32: the same calls under other numbers.
    { test: "at_least", value: 0x4000_0000, yes: "kill" },
    { test: "at_least", value: LAST_KNOWN + 1, yes: "unknown" },
    // Its flags are in memory, where they cannot be looked at; the C library then uses clone.
    { test: "equal", value: CLONE3, yes: "unknown" },
    ...denied.map((value): Step => ({
      test: "equal",
      value,
      yes: "refuse",
    })),
    isNumber(SPECIAL.clone[index], clone.length),
    ...clone,
    isNumber(SPECIAL.ioctl[index], ioctl.length),
    ...ioctl,
    isNumber(SPECIAL.socket[index], socket.length),
    ...socket,
    isNumber(SPECIAL.socketpair[index], socketpair.length),
    ...socketpair,
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
