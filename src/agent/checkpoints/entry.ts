/** Why the content of a file is not in a snapshot. */
export type LeftOutReason = 'size' | 'total' | 'unreadable';

/**
 * What a snapshot knows about one name. Names, paths and targets of links are binary strings: one character per byte,
 * because names on disk need not be UTF-8.
 */
export type Entry =
  | { kind: 'file'; mode: number; hash: string; size: number }
  | { kind: 'link'; target: string }
  | { kind: 'left_out'; reason: LeftOutReason };

/** The permission bits that a snapshot keeps. */
export const MODE_BITS = 0o777;

/** Whether two entries are the same content; undefined: there is nothing. */
export function isSameEntry(one: Entry | undefined, other: Entry | undefined): boolean {
  if (one?.kind === 'file' && other?.kind === 'file') return one.hash === other.hash && one.mode === other.mode;
  if (one?.kind === 'link' && other?.kind === 'link') return one.target === other.target;
  return one === undefined && other === undefined;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A binary string for people: UTF-8 where it is that; other bytes as `\xff`. */
export const toShownPath = (binary: string): string => binary.split('/').map(toShownName).join('/');

function toShownName(binary: string): string {
  try {
    return UTF8.decode(Buffer.from(binary, 'latin1'));
  } catch {
    return binary.replaceAll(/[\u0080-\u00ff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`);
  }
}

export const toBinary = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** The bytes of a binary string, as the file system takes them. */
export const toPath = (binary: string): Buffer => Buffer.from(binary, 'latin1');
