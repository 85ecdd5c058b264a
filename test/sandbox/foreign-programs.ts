// Programs that enter the kernel as another architecture does, past the numbers that a filter of system calls may know.
// There need not be a compiler: a program of x64 is a header and a few instructions.

/** Where they are loaded. */
const AT = 0x40_0000;

/** Each exits with what the call answered: below 100 it got through, else it was refused or killed. */
export const foreignPrograms: readonly { name: string; bytes: Buffer }[] =
  process.arch === "x64"
    ? [
        { name: "unshare by the entry of 32 bits", bytes: elf64(call32(310, 0x1000_0000)) },
        { name: "open a unix socket by the entry of 32 bits", bytes: elf64(call32(359, 1, 1, 0)) },
        { name: "use keyctl by the entry of 32 bits", bytes: elf64(call32(288, 0, -3, 0)) },
        { name: "open a unix socket as a program of 32 bits", bytes: elf32(call32(359, 1, 1, 0)) },
      ]
    : [];

/** `int 0x80`, then `exit` with its answer by the same way. */
function call32(number: number, ...args: number[]): Buffer {
  const [b = 0, c = 0, d = 0] = args;
  return Buffer.concat([
    Buffer.from([0xb8]),
    word(number),
    Buffer.from([0xbb]),
    word(b),
    Buffer.from([0xb9]),
    word(c),
    Buffer.from([0xba]),
    word(d),
    // int 0x80; and what is not an error becomes small: mov ebx, eax
    Buffer.from([0xcd, 0x80, 0x89, 0xc3]),
    // cmp eax, 0; jl +5; mov ebx, 7; then exit
    Buffer.from([0x83, 0xf8, 0x00, 0x7c, 0x05, 0xbb]),
    word(7),
    Buffer.from([0xb8]),
    word(1),
    Buffer.from([0xcd, 0x80]),
  ]);
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value | 0);
  return bytes;
}

function elf64(code: Buffer): Buffer {
  const head = Buffer.alloc(120);
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]).copy(head);
  head.writeUInt16LE(2, 16);
  head.writeUInt16LE(62, 18);
  head.writeUInt32LE(1, 20);
  head.writeBigUInt64LE(BigInt(AT + 120), 24);
  head.writeBigUInt64LE(64n, 32);
  head.writeUInt16LE(64, 52);
  head.writeUInt16LE(56, 54);
  head.writeUInt16LE(1, 56);
  head.writeUInt32LE(1, 64);
  head.writeUInt32LE(5, 68);
  head.writeBigUInt64LE(BigInt(AT), 80);
  head.writeBigUInt64LE(BigInt(AT), 88);
  head.writeBigUInt64LE(BigInt(120 + code.length), 96);
  head.writeBigUInt64LE(BigInt(120 + code.length), 104);
  head.writeBigUInt64LE(0x1000n, 112);
  return Buffer.concat([head, code]);
}

function elf32(code: Buffer): Buffer {
  const head = Buffer.alloc(84);
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 1, 1, 1]).copy(head);
  head.writeUInt16LE(2, 16);
  head.writeUInt16LE(3, 18);
  head.writeUInt32LE(1, 20);
  head.writeUInt32LE(AT + 84, 24);
  head.writeUInt32LE(52, 28);
  head.writeUInt16LE(52, 40);
  head.writeUInt16LE(32, 42);
  head.writeUInt16LE(1, 44);
  head.writeUInt32LE(1, 52);
  head.writeUInt32LE(AT, 60);
  head.writeUInt32LE(AT, 64);
  head.writeUInt32LE(84 + code.length, 68);
  head.writeUInt32LE(84 + code.length, 72);
  head.writeUInt32LE(5, 76);
  head.writeUInt32LE(0x1000, 80);
  return Buffer.concat([head, code]);
}
