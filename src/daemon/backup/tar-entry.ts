/** A file of an archive, as its header describes it. */
export interface Entry {
  /** With slashes, relative to the home. */
  name: string;
  bytes: number;
  /** Permissions, such as 0o600. */
  mode: number;
  mtimeMs: number;
}

/** The archive is not what a backup wrote. */
export class DamagedArchive extends Error {
  override readonly name = 'DamagedArchive';
}

/** A tar file consists of blocks of this size. */
export const BLOCK = 512;
const NAME_BYTES = 100;
/** The largest size that fits into 11 octal digits. */
const MOST_OCTAL = 0o77777777777;

/** The zeros that complete the last block of a file. */
export const paddingOf = (bytes: number): Buffer => Buffer.alloc((BLOCK - (bytes % BLOCK)) % BLOCK);

/** The header of a file in the format ustar, preceded by an extended header (pax) if the name is long. */
export function toHeader(entry: Entry): Buffer {
  const name = Buffer.from(entry.name);
  if (name.length <= NAME_BYTES) return toBlock(entry, '0');
  const record = toRecord('path', entry.name);
  const extended = toBlock({ ...entry, name: 'name', bytes: record.length }, 'x');
  return Buffer.concat([extended, record, paddingOf(record.length), toBlock(entry, '0')]);
}

function toBlock({ name, bytes, mode, mtimeMs }: Entry, type: '0' | 'x'): Buffer {
  const block = Buffer.alloc(BLOCK);
  Buffer.from(name).copy(block, 0, 0, NAME_BYTES);
  writeOctal(block, mode & 0o777, { at: 100, digits: 7 });
  for (const at of [108, 116]) writeOctal(block, 0, { at, digits: 7 }); // no owner: whoever restores it
  writeSize(block, bytes);
  writeOctal(block, Math.max(0, Math.min(Math.floor(mtimeMs / 1000), MOST_OCTAL)), { at: 136, digits: 11 });
  block.write(type, 156, 'latin1');
  block.write('ustar\u000000', 257, 'latin1');
  writeOctal(block, checksumOf(block), { at: 148, digits: 6 });
  block.write('\0 ', 154, 'latin1');
  return block;
}

/** Larger sizes are binary, as GNU tar writes them. */
function writeSize(block: Buffer, bytes: number): void {
  if (bytes <= MOST_OCTAL) {
    writeOctal(block, bytes, { at: 124, digits: 11 });
  } else {
    block[124] = 0x80;
    block.writeBigUInt64BE(BigInt(bytes), 128);
  }
}

function writeOctal(block: Buffer, value: number, { at, digits }: { at: number; digits: number }): void {
  block.write(`${value.toString(8).padStart(digits, '0')}\0`, at, 'latin1');
}

/** The sum of all bytes, with its own field as spaces. */
function checksumOf(block: Buffer): number {
  let sum = 0;
  for (const [at, byte] of block.entries()) sum += at >= 148 && at < 156 ? 0x20 : byte;
  return sum;
}

/** A record of an extended header: its length counts itself. */
function toRecord(key: string, value: string): Buffer {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest;
  while (length !== rest + String(length).length) length = rest + String(length).length;
  return Buffer.from(`${length} ${key}=${value}\n`);
}

/** Reads a header; undefined for the block of zeros at the end. Throws DamagedArchive for everything that `toHeader` does not write. */
export function parseHeader(block: Buffer): { entry: Entry; isExtended: boolean } | undefined {
  if (block.every((byte) => byte === 0)) return undefined;
  if (block.toString('latin1', 257, 262) !== 'ustar') throw new DamagedArchive('it is not a tar file');
  if (readOctal(block, { at: 148, digits: 6 }) !== checksumOf(block))
    throw new DamagedArchive('the header of a file does not match its checksum');
  const end = block.indexOf(0);
  const name = block.toString('utf8', 0, end < 0 || end > NAME_BYTES ? NAME_BYTES : end);
  const type = block.toString('latin1', 156, 157);
  if (type !== '0' && type !== 'x')
    throw new DamagedArchive(`${JSON.stringify(name)} is no plain file (type ${JSON.stringify(type)})`);
  const entry: Entry = {
    name,
    bytes: readSize(block),
    mode: readOctal(block, { at: 100, digits: 7 }),
    mtimeMs: readOctal(block, { at: 136, digits: 11 }) * 1000,
  };
  return { entry, isExtended: type === 'x' };
}

function readSize(block: Buffer): number {
  if (block[124] !== 0x80) return readOctal(block, { at: 124, digits: 11 });
  const bytes = Number(block.readBigUInt64BE(128));
  if (!Number.isSafeInteger(bytes)) throw new DamagedArchive('the size of a file is impossible');
  return bytes;
}

function readOctal(block: Buffer, { at, digits }: { at: number; digits: number }): number {
  const text = block.toString('latin1', at, at + digits);
  if (!/^[0-7]+$/.test(text)) throw new DamagedArchive('the header of a file is unreadable');
  return Number.parseInt(text, 8);
}

/** The name in an extended header. */
export function parsePath(record: Buffer): string {
  const text = record.toString('utf8');
  const [, length, name] = /^(\d+) path=(.+)\n$/s.exec(text) ?? [];
  if (name === undefined || Number(length) !== record.length) throw new DamagedArchive('a long name is unreadable');
  return name;
}
