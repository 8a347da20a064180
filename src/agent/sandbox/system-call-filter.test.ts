import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toSystemCallFilter } from './system-call-filter.ts';

interface Call {
  audit: number;
  number: number;
  args?: readonly [bigint, bigint];
}

/** Runs the program like the kernel: a small interpreter for the classic BPF instructions that it uses. */
function judge(program: Buffer, { audit, number, args = [0n, 0n] }: Call): string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(audit, 4);
  for (const [i, value] of args.entries()) data.writeBigUInt64LE(value, 16 + i * 8);
  let accumulator = 0;
  const steps: Record<number, (operand: number) => boolean | undefined> = {
    [LOAD]: (operand) => {
      accumulator = data.readUInt32LE(operand);
      return undefined;
    },
    [AND]: (operand) => {
      accumulator = (accumulator & operand) >>> 0;
      return undefined;
    },
    [IF_EQUAL]: (operand) => accumulator === operand,
    [IF_AT_LEAST]: (operand) => accumulator >= operand,
    [IF_ANY]: (operand) => (accumulator & operand) !== 0,
  };
  for (let at = 0; at < program.length; at += 8) {
    const [code, operand] = [program.readUInt16LE(at), program.readUInt32LE(at + 4)];
    if (code === RETURN) return ACTIONS[operand] ?? `returns ${operand.toString(16)}`;
    const isTaken = steps[code]?.(operand);
    if (isTaken !== undefined) at += program.readUInt8(at + (isTaken ? 2 : 3)) * 8;
  }
  throw new Error('the program has no end');
}

const [LOAD, AND, RETURN, IF_EQUAL, IF_AT_LEAST, IF_ANY] = [0x20, 0x54, 0x06, 0x15, 0x35, 0x45];

const ACTIONS: Record<number, string> = {
  2147418112: 'allowed',
  2147483648: 'killed',
  327777: 'EAFNOSUPPORT',
  327681: 'EPERM',
  327718: 'ENOSYS',
};

const MACHINES = {
  x64: {
    audit: 0xc000_003e,
    foreign: 0x4000_0003,
    socket: 41,
    socketpair: 53,
    keys: [248, 249, 250],
    clone: 56,
    ioctl: 16,
    unshare: 272,
  },
  arm64: {
    audit: 0xc000_00b7,
    foreign: 0x4000_0028,
    socket: 198,
    socketpair: 199,
    keys: [217, 218, 219],
    clone: 220,
    ioctl: 29,
    unshare: 97,
  },
} as const;

for (const [architecture, { audit, foreign, socket, socketpair, keys, clone, ioctl, unshare }] of Object.entries(
  MACHINES,
)) {
  test(`${architecture}: Unix sockets, io_uring, keyrings, namespaces, mounts and other architectures are refused, connected pairs and the rest are not`, () => {
    const program = toSystemCallFilter(architecture === 'x64' ? 'x64' : 'arm64') ?? Buffer.alloc(0);
    const call = (number: number, args?: [bigint, bigint]) =>
      judge(program, { audit, number, ...(args !== undefined && { args }) });
    const flags = 0x8_0800n; // SOCK_CLOEXEC and SOCK_NONBLOCK
    assert.deepEqual(
      {
        unixStream: call(socket, [1n, 1n | flags]),
        unixDatagram: call(socket, [1n, 2n]),
        unixInTheLowerHalf: call(socket, [0xdead_beef_0000_0001n, 1n]),
        inet: [call(socket, [2n, 1n]), call(socket, [10n, 1n]), call(socket, [16n, 3n])],
        pairs: [call(socketpair, [1n, 1n | flags]), call(socketpair, [1n, 5n])],
        datagramPairs: [call(socketpair, [1n, 2n | flags]), call(socketpair, [1n, 3n])],
        uring: [425, 426, 427].map((number) => call(number)),
        keyrings: keys.map((number) => call(number)),
        otherFamilies: [17, 38, 40].map((family) => call(socket, [BigInt(family), 1n])),
        processes: [call(clone, [0x120_0011n, 0n]), call(clone, [0x1000_0011n, 0n]), call(435), call(unshare)],
        mounts: [428, 429, 430, 442].map((number) => call(number)),
        terminals: [call(ioctl, [0n, 0x5401n]), call(ioctl, [0n, 0x5412n]), call(ioctl, [0n, 0x541cn])],
        others: [0, 1, 59, 1_000].map((number) => call(number)),
        x32: [call(0x4000_0029, [1n, 1n]), call(0xffff_ffff)],
        foreign: judge(program, { audit: foreign, number: 102, args: [1n, 0n] }),
      },
      {
        unixStream: 'EAFNOSUPPORT',
        unixDatagram: 'EAFNOSUPPORT',
        unixInTheLowerHalf: 'EAFNOSUPPORT',
        inet: ['allowed', 'allowed', 'allowed'],
        pairs: ['allowed', 'allowed'],
        datagramPairs: ['EAFNOSUPPORT', 'EAFNOSUPPORT'],
        uring: ['EPERM', 'EPERM', 'EPERM'],
        keyrings: ['EPERM', 'EPERM', 'EPERM'],
        otherFamilies: ['EAFNOSUPPORT', 'EAFNOSUPPORT', 'EAFNOSUPPORT'],
        processes: ['allowed', 'EPERM', 'ENOSYS', 'EPERM'],
        mounts: ['EPERM', 'EPERM', 'EPERM', 'EPERM'],
        terminals: ['allowed', 'EPERM', 'EPERM'],
        others: ['allowed', 'allowed', 'allowed', 'allowed'],
        x32: ['ENOSYS', 'ENOSYS'],
        foreign: 'killed',
      },
    );
  });
}

test('architectures without known system call numbers have no filter', () => {
  assert.equal(toSystemCallFilter('s390x'), undefined);
});
