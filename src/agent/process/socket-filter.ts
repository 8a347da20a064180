/**
 * A seccomp program for `bwrap --seccomp` that prevents commands from opening Unix sockets, by path or abstract,
 * because the services behind them act outside the sandbox (Docker, ssh-agent, D-Bus, databases). Connected pairs are
 * allowed, since programs talk to their children over them. The filter also closes the ways around it: io_uring and the
 * system calls of other architectures. It blocks the kernel's keyrings, which no namespace separates and which may hold
 * the user's secrets. Undefined for architectures without known numbers.
 */
export function toSocketFilter(architecture: NodeJS.Architecture): Buffer | undefined {
  const numbers = ARCHITECTURES[architecture];
  if (numbers === undefined) return undefined;
  return assemble([
    ['load', OFFSET.architecture],
    ['unless', numbers.audit, 'kill'],
    ['load', OFFSET.number],
    // On x86_64, numbers from here on belong to x32. Other architectures have none there.
    ['ifAtLeast', 0x4000_0000, 'unknown'],
    ...[...IO_URING, ...numbers.keys].map((call): Line => ['if', call, 'denied']),
    ['if', numbers.socketpair, 'pair'],
    ['unless', numbers.socket, 'allow'],
    ['load', OFFSET.firstArgument],
    ['if', AF_UNIX, 'unsupported'],
    ['return', ALLOW],
    // One of a pair of datagram sockets can still send to any address.
    ['load', OFFSET.secondArgument, 'pair'],
    ['and', SOCK_TYPE_MASK],
    ['if', SOCK_STREAM, 'allow'],
    ['if', SOCK_SEQPACKET, 'allow'],
    ['return', failWith(EAFNOSUPPORT), 'unsupported'],
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
  /** add_key, request_key and keyctl. */
  keys: readonly number[];
}

/** From linux/audit.h and the tables of system calls. Both are little-endian. */
const ARCHITECTURES: Partial<Record<NodeJS.Architecture, SystemCalls>> = {
  x64: { audit: 0xc000_003e, socket: 41, socketpair: 53, keys: [248, 249, 250] },
  arm64: { audit: 0xc000_00b7, socket: 198, socketpair: 199, keys: [217, 218, 219] },
};
/** io_uring_setup, io_uring_enter and io_uring_register, with the same numbers everywhere. */
const IO_URING = [425, 426, 427];

/**
 * Offsets in `struct seccomp_data`. Of the 64 bits of an argument the kernel uses the lower half, because its type is
 * `int`.
 */
const OFFSET = { number: 0, architecture: 4, firstArgument: 16, secondArgument: 24 };

const AF_UNIX = 1;
const SOCK_STREAM = 1;
const SOCK_SEQPACKET = 5;
const SOCK_TYPE_MASK = 0xf;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;
const ALLOW = 0x7fff_0000;
const KILL = 0x8000_0000;
const failWith = (errno: number): number => 0x0005_0000 | errno;

/** An operation, its operand, and a label: the target for jumps, the own label for others. */
type Line = readonly [operation: keyof typeof CODES, operand: number, label?: string];

/** From linux/bpf_common.h. */
const CODES = { load: 0x20, and: 0x54, return: 0x06, if: 0x15, unless: 0x15, ifAtLeast: 0x35 };
const JUMPS: ReadonlySet<string> = new Set(['if', 'unless', 'ifAtLeast']);

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
