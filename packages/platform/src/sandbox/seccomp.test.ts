// The program is run here by a small interpreter of what the kernel runs, for both architectures. Whether the kernel takes it
// and what it closes then is tested with real processes in test/sandbox.

import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { seccompProgram } from "./seccomp.ts";

const ALLOW = 0x7fff_0000;
const EPERM = 0x0005_0001;
const ENOSYS = 0x0005_0026;
const KILL = 0x8000_0000;

interface Call {
  number: number;
  args?: readonly bigint[];
  architecture?: number;
}

/** The words of classic BPF that the program uses, on the kernel's record of a call. */
function judge(program: Buffer, { number, args = [], architecture = 0 }: Call): number {
  const call = Buffer.alloc(64);
  call.writeUInt32LE(number, 0);
  call.writeUInt32LE(architecture, 4);
  for (const [index, arg] of args.entries()) call.writeBigUInt64LE(arg, 16 + 8 * index);
  let value = 0;
  for (let at = 0; at < program.length; at += 8) {
    const [code, operand] = [program.readUInt16LE(at), program.readUInt32LE(at + 4)];
    if (code === 0x06) return operand;
    if (code === 0x20) {
      value = call.readUInt32LE(operand);
      continue;
    }
    const tests: Record<number, boolean> = {
      0x15: value === operand,
      0x35: value >= operand,
      0x45: (value & operand) !== 0,
    };
    expect(tests).toHaveProperty([code]);
    at += 8 * program.readUInt8(at + (tests[code] === true ? 2 : 3));
  }
  throw new Error("the program does not end");
}

const MACHINES = [
  {
    name: "x64",
    architecture: 0xc000_003e,
    read: 0,
    socketpair: 53,
    calls: { clone: 56, ioctl: 16, socket: 41 },
    refused: {
      ptrace: 101,
      process_vm_readv: 310,
      process_vm_writev: 311,
      keyctl: 250,
      bpf: 321,
      mount: 165,
      umount2: 166,
      pivot_root: 155,
      chroot: 161,
      unshare: 272,
      setns: 308,
      init_module: 175,
      finit_module: 313,
      kexec_load: 246,
      reboot: 169,
      open_by_handle_at: 304,
      perf_event_open: 298,
      userfaultfd: 323,
      clock_settime: 227,
    },
  },
  {
    name: "arm64",
    architecture: 0xc000_00b7,
    read: 63,
    socketpair: 199,
    calls: { clone: 220, ioctl: 29, socket: 198 },
    refused: {
      ptrace: 117,
      process_vm_readv: 270,
      process_vm_writev: 271,
      keyctl: 219,
      bpf: 280,
      mount: 40,
      umount2: 39,
      pivot_root: 41,
      chroot: 51,
      unshare: 97,
      setns: 268,
      init_module: 105,
      finit_module: 273,
      kexec_load: 104,
      reboot: 142,
      open_by_handle_at: 265,
      perf_event_open: 241,
      userfaultfd: 282,
      clock_settime: 112,
    },
  },
];

describe.each(MACHINES)("the filter for $name", (machine) => {
  const { architecture, calls } = machine;
  const program = seccompProgram(machine.name) ?? Buffer.alloc(0);
  const verdict = (number: number, ...args: bigint[]) =>
    judge(program, { number, args, architecture });

  test("refuses what leads out of the sandbox", () => {
    verifies("CMD-6");
    const sameEverywhere = { io_uring_setup: 425, open_tree: 428, fsmount: 432, pidfd_getfd: 438 };
    for (const [name, number] of Object.entries({ ...machine.refused, ...sameEverywhere })) {
      expect([name, verdict(number)]).toEqual([name, EPERM]);
    }
    expect([verdict(machine.read), verdict(machine.socketpair, 1n)]).toEqual([ALLOW, ALLOW]);
  });

  test("kills a call by numbers of another architecture", () => {
    verifies("CMD-6");
    for (const other of [0x4000_0003, 0x4000_0028, 0]) {
      expect(judge(program, { number: machine.read, architecture: other })).toBe(KILL);
    }
    expect([verdict(0x4000_0000), verdict(0x4000_0065), verdict(0xffff_ffff)]).toEqual(
      Array(3).fill(KILL),
    );
  });

  test("lets programs do without calls it cannot judge", () => {
    expect([verdict(435), verdict(470), verdict(600)]).toEqual(Array(3).fill(ENOSYS));
  });

  test("lets processes be started, and no namespaces made", () => {
    verifies("CMD-6");
    const [threads, fork] = [0x3d_0f00n, 0x120_0011n];
    expect([verdict(calls.clone, threads), verdict(calls.clone, fork)]).toEqual([ALLOW, ALLOW]);
    for (const bit of [17n, 25n, 26n, 27n, 28n, 29n, 30n]) {
      expect(verdict(calls.clone, fork | (1n << bit))).toBe(EPERM);
    }
  });

  test("refuses to put input into a terminal, with any upper half of the request", () => {
    verifies("CMD-6");
    const [read, put, linux, upper] = [0x5401n, 0x5412n, 0x541cn, 1n << 40n];
    expect([verdict(calls.ioctl, 0n, read), verdict(calls.ioctl, 0n, read | upper)]).toEqual([
      ALLOW,
      ALLOW,
    ]);
    for (const request of [put, put | upper, linux, linux | upper]) {
      expect(verdict(calls.ioctl, 0n, request)).toBe(EPERM);
    }
  });

  test("opens sockets of the internet, and no others", () => {
    verifies("CMD-6");
    const [inet, inet6, netlink] = [2n, 10n, 16n];
    for (const family of [inet, inet6, netlink]) expect(verdict(calls.socket, family)).toBe(ALLOW);
    // Unix, packets, crypto, virtual machines, Bluetooth; and Unix with something in the upper half.
    for (const family of [0n, 1n, 17n, 38n, 40n, 31n, 1n | (1n << 32n)]) {
      expect(verdict(calls.socket, family)).toBe(EPERM);
    }
    expect(verdict(calls.socket, netlink, 3n, 12n)).toBe(EPERM);
  });
});

test("there is no filter for a processor whose numbers are not known", () => {
  expect(seccompProgram("riscv64")).toBeUndefined();
});
