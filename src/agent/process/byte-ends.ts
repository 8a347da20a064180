const NEWLINE = 0x0a;

/** The first part of `bytes`, up to both limits; never ends inside a character. */
export function takeHead(bytes: Buffer, { maxBytes, maxLines }: TextLimits): Buffer {
  let end = Math.min(bytes.length, maxBytes);
  if (end < bytes.length) while (end > 0 && isContinuation(bytes[end])) end -= 1;
  let lines = 0;
  for (let at = 0; at < end; at += 1) {
    if (bytes[at] === NEWLINE) lines += 1;
    if (lines === maxLines) return bytes.subarray(0, at + 1);
  }
  return bytes.subarray(0, end);
}

/** The last part of `bytes`, up to both limits; never begins inside a character. */
export function takeTail(bytes: Buffer, { maxBytes, maxLines }: TextLimits): Buffer {
  let start = Math.max(0, bytes.length - maxBytes);
  if (start > 0) while (start < bytes.length && isContinuation(bytes[start])) start += 1;
  let lines = 0;
  // The newline at the very end does not begin another line.
  for (let at = bytes.length - 2; at >= start; at -= 1) {
    if (bytes[at] === NEWLINE) lines += 1;
    if (lines === maxLines) return bytes.subarray(at + 1);
  }
  return bytes.subarray(start);
}

interface TextLimits {
  maxBytes: number;
  maxLines: number;
}

/** Counts the newlines in `bytes`. */
export function countNewlines(bytes: Buffer): number {
  let count = 0;
  const { length } = bytes; // reading it in the loop would take twice as long, and this reads gigabytes
  for (let at = 0; at < length; at += 1) if (bytes[at] === NEWLINE) count += 1;
  return count;
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;
