/**
 * A seccomp program for `bwrap --seccomp`. It refuses sockets other than those of the internet, because the services
 * behind Unix sockets act outside the sandbox (Docker, ssh-agent, D-Bus, databases) and others reach the host of a
 * virtual machine. Connected pairs are allowed, since programs talk to their children over them. It also refuses what
 * would get around it or around the mounts: io_uring, system calls of other architectures, new namespaces and mounts;
 * and what no namespace separates: keyrings, BPF, performance counters, kernel modules, the terminal's input queue.
 * Undefined for architectures without known numbers.
 */
export function toSystemCallFilter(architecture: NodeJS.Architecture): Buffer | undefined {
  const numbers = ARCHITECTURES[architecture];
  if (numbers === undefined) return undefined;
  return assemble([
    ['load', OFFSET.architecture],
    ['unless', numbers.audit, 'kill'],
    ['load', OFFSET.number],
    // On x86_64, numbers from here on belong to x32. Other architectures have none there.
    ['ifAtLeast', 0x4000_0000, 'unknown'],
    ...[...EVERYWHERE.denied, ...numbers.denied].map((call): Line => ['if', call, 'denied']),
    // Its flags lie in memory, which a filter cannot read. The C library then uses `clone`.
    ['if', EVERYWHERE.clone3, 'unknown'],
    ['if', numbers.clone, 'clone'],
    ['if', numbers.ioctl, 'ioctl'],
    ['if', numbers.socketpair, 'pair'],
    ['unless', numbers.socket, 'allow'],
    ['load', OFFSET.firstArgument],
    ['if', AF_INET, 'allow'],
    ['if', AF_INET6, 'allow'],
    ['if', AF_NETLINK, 'allow'],
    ['return', failWith(EAFNOSUPPORT)],
    // One of a pair of datagram sockets can still send to any address.
    ['load', OFFSET.secondArgument, 'pair'],
    ['and', SOCK_TYPE_MASK],
    ['if', SOCK_STREAM, 'allow'],
    ['if', SOCK_SEQPACKET, 'allow'],
    ['return', failWith(EAFNOSUPPORT)],
    ['load', OFFSET.firstArgument, 'clone'],
    ['ifAny', NEW_NAMESPACES, 'denied'],
    ['return', ALLOW],
    ['load', OFFSET.secondArgument, 'ioctl'],
    ['if', TIOCSTI, 'denied'],
    ['if', TIOCLINUX, 'denied'],
    ['return', ALLOW, 'allow'],
    ['return', failWith(EPERM), 'denied'],
    ['return', failWith(ENOSYS), 'unknown'],
    ['return', KILL, 'kill'],
  ]);
}

interface SystemCalls {
  audit: number;
  socket: number;
  socketpair: number;
  clone: number;
  ioctl: number;
  /**
   * Keyrings (3), unshare, setns, mount, umount2, pivot_root, bpf, perf_event_open, userfaultfd, kexec (2), kernel modules
   * (3), open_by_handle_at, acct, swapon, swapoff, reboot, quotactl.
   */
  denied: readonly number[];
}

/** From linux/audit.h and the tables of system calls. Both are little-endian. */
const ARCHITECTURES: Partial<Record<NodeJS.Architecture, SystemCalls>> = {
  x64: {
    audit: 0xc000_003e,
    socket: 41,
    socketpair: 53,
    clone: 56,
    ioctl: 16,
    denied: [
      ...[248, 249, 250, 272, 308, 165, 166, 155, 321, 298, 323, 246, 320, 175, 313, 176, 304, 163, 167, 168, 169, 179],
      ...[172, 173], // iopl and ioperm exist only here
    ],
  },
  arm64: {
    audit: 0xc000_00b7,
    socket: 198,
    socketpair: 199,
    clone: 220,
    ioctl: 29,
    denied: [217, 218, 219, 97, 268, 40, 39, 41, 280, 241, 282, 104, 294, 105, 273, 106, 265, 89, 224, 225, 142, 60],
  },
};

/** With the same numbers everywhere: io_uring (3), and the newer calls for mounts, of which mount_setattr is the last. */
const EVERYWHERE = { denied: [425, 426, 427, 428, 429, 430, 431, 432, 433, 442], clone3: 435 };

/**
 * Offsets in `struct seccomp_data`. Of the 64 bits of an argument the kernel uses the lower half, because its type is
 * `int`, or because the flags in question lie there.
 */
const OFFSET = { number: 0, architecture: 4, firstArgument: 16, secondArgument: 24 };

const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const SOCK_STREAM = 1;
const SOCK_SEQPACKET = 5;
const SOCK_TYPE_MASK = 0xf;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NEW_NAMESPACES = 0x7e02_0000;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;
const ALLOW = 0x7fff_0000;
const KILL = 0x8000_0000;
const failWith = (errno: number): number => 0x0005_0000 | errno;

/** An operation, its operand, and a label: the target for jumps, the own label for others. */
type Line = readonly [operation: keyof typeof CODES, operand: number, label?: string];

/** From linux/bpf_common.h. */
const CODES = { load: 0x20, and: 0x54, return: 0x06, if: 0x15, unless: 0x15, ifAtLeast: 0x35, ifAny: 0x45 };
const JUMPS: ReadonlySet<string> = new Set(['if', 'unless', 'ifAtLeast', 'ifAny']);

function assemble(lines: readonly Line[]): Buffer {
  const program = Buffer.alloc(lines.length * 8);
  for (const [i, [operation, operand, label]] of lines.entries()) {
    const isJump = JUMPS.has(operation);
    const target = lines.findIndex(([other, , name]) => name === label && !JUMPS.has(other));
    const distance = isJump ? target - i - 1 : 0;
    const isInverted = operation === 'unless';
    program.writeUInt16LE(CODES[operation], i * 8);
    program.writeUInt8(isInverted ? 0 : distance, i * 8 + 2);
    program.writeUInt8(isInverted ? distance : 0, i * 8 + 3);
    program.writeUInt32LE(operand, i * 8 + 4);
  }
  return program;
}
