/*
 * Reads SQLite's WAL-mode file format (https://sqlite.org/walformat.html). The log consists of frames, each a page with
 * a checksum over everything before it. Its index is shared memory in a file. The file survives a killed process and has
 * the number of committed frames.
 */

const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const INDEX_VERSION = 3_007_000;
const INDEX_HEADER_BYTES = 48;
const MAGIC = 0x377f0682;

/** The files next to a database; undefined if missing. */
interface LogFiles {
  log: Buffer | undefined;
  index: Buffer | undefined;
}

/**
 * Whether commits are missing from the log of a daemon that did not stop in an orderly way. A write interrupted by a
 * kill is not a loss.
 */
export function findLogLoss({ log, index }: LogFiles): 'damaged' | 'missing' | undefined {
  const known = index && readIndex(index);
  const held = log && readLog(log);
  if (known === undefined) return held === 'damaged' || held?.endsIn === 'damage' ? 'damaged' : undefined;
  if (known.unmoved === 0) return undefined;
  if (log === undefined || log.length === 0) return 'missing';
  if (held === undefined || held === 'damaged' || !held.salts.equals(known.salts)) return 'damaged';
  return held.committed < known.frames ? 'damaged' : undefined;
}

interface LogIndex {
  /** How many frames of the log are valid. */
  frames: number;
  /** How many of them are not in the database yet. */
  unmoved: number;
  salts: Buffer;
}

/** Undefined when it is invalid: it is written twice, so that an incomplete change is detected. */
function readIndex(index: Buffer): LogIndex | undefined {
  const header = index.subarray(0, INDEX_HEADER_BYTES);
  if (index.length < 2 * INDEX_HEADER_BYTES + 4) return undefined;
  if (!header.equals(index.subarray(INDEX_HEADER_BYTES, 2 * INDEX_HEADER_BYTES))) return undefined;
  const words = new Uint32Array(new Uint8Array(index.subarray(0, 2 * INDEX_HEADER_BYTES + 4)).buffer); // in the byte order of this machine
  if (words[0] !== INDEX_VERSION || header[12] !== 1) return undefined;
  const [frames = 0, moved = 0] = [words[4], words[24]];
  return { frames, unmoved: Math.max(0, frames - moved), salts: header.subarray(32, 40) };
}

interface LogContent {
  salts: Buffer;
  /** The frames up to the last complete transaction. */
  committed: number;
  /** What follows the last valid frame: nothing, or data from an earlier use of the file. */
  endsIn: 'nothing' | 'damage';
}

/** Undefined while its first page is not written. */
function readLog(log: Buffer): LogContent | 'damaged' | undefined {
  if (log.length < LOG_HEADER_BYTES) return undefined;
  const magic = log.readUInt32BE(0);
  if (magic !== MAGIC && magic !== MAGIC + 1) return 'damaged';
  const sum = createChecksum(log, magic === MAGIC);
  sum.add(0, 24);
  if (!sum.equals(24)) return 'damaged';
  const frameBytes = FRAME_HEADER_BYTES + log.readUInt32BE(8);
  const salts = log.subarray(16, 24);
  let committed = 0;
  for (let n = 1, at = LOG_HEADER_BYTES; at + frameBytes <= log.length; n += 1, at += frameBytes) {
    if (!log.subarray(at + 8, at + 16).equals(salts)) break;
    sum.add(at, 8);
    sum.add(at + FRAME_HEADER_BYTES, frameBytes - FRAME_HEADER_BYTES);
    if (!sum.equals(at + 16)) return { salts, committed, endsIn: 'damage' };
    if (log.readUInt32BE(at + 4) > 0) committed = n;
  }
  return { salts, committed, endsIn: 'nothing' };
}

/** The running checksum of a log, over words in the byte order given by its magic number. */
function createChecksum(log: Buffer, isLittleEndian: boolean) {
  const view = new DataView(log.buffer, log.byteOffset, log.byteLength);
  let [first, second] = [0, 0];
  return {
    add(from: number, bytes: number): void {
      for (let at = from; at < from + bytes; at += 8) {
        first = (first + view.getUint32(at, isLittleEndian) + second) >>> 0;
        second = (second + view.getUint32(at + 4, isLittleEndian) + first) >>> 0;
      }
    },
    equals: (at: number): boolean => view.getUint32(at) === first && view.getUint32(at + 4) === second,
  };
}
