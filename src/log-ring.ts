/** The newest lines of the daemon's log, bounded; older ones are where stderr went. */
export interface LogRing {
  /** One line of JSON, as it was written. */
  add(line: string): void;
  /** Lines after a cursor of the same start; without one, or with one of another start, the newest. */
  tail(asked: { cursor?: string | undefined; limit: number; maxBytes: number }): LogTail;
}

export interface LogTail {
  /** For the next call. */
  cursor: string;
  /** Bytes kept. */
  size: number;
  lines: string[];
  /** Lines between the cursor and the first one here are gone or left out. */
  truncated: boolean;
  /** The cursor was of another start of the daemon. */
  reset: boolean;
}

const MAX_BYTES = 2 * 1024 * 1024;
/** Of one line: an error with a long stack must not push out all others. */
const MAX_LINE_CHARS = 16 * 1024;

/** `start` tells one start of the daemon from another. */
export function createLogRing(start: string): LogRing {
  let kept: { line: string; bytes: number }[] = [];
  let dropped = 0;
  let size = 0;
  return {
    add(text) {
      const line = text.trimEnd().slice(0, MAX_LINE_CHARS);
      const bytes = Buffer.byteLength(line);
      kept.push({ line, bytes });
      size += bytes;
      if (size <= MAX_BYTES) return;
      // A quarter at once: taking lines one by one off the front would move the rest each time.
      let gone = 0;
      while (size > (MAX_BYTES * 3) / 4) size -= kept[gone++]?.bytes ?? 0;
      kept = kept.slice(gone);
      dropped += gone;
    },
    tail({ cursor, limit, maxBytes }) {
      const [from, at] = cursor?.split(':') ?? [];
      const reset = cursor !== undefined && from !== start;
      const after = cursor !== undefined && !reset ? Number(at) : dropped;
      const fresh = kept.slice(Math.max(0, after - dropped));
      const newest = newestWithin(fresh, { limit, maxBytes });
      return {
        cursor: `${start}:${dropped + kept.length}`,
        size,
        lines: newest.map(({ line }) => line),
        truncated: after < dropped || newest.length < fresh.length,
        reset,
      };
    },
  };
}

function newestWithin<T extends { bytes: number }>(
  lines: T[],
  { limit, maxBytes }: { limit: number; maxBytes: number },
): T[] {
  let first = lines.length;
  for (let bytes = 0; first > Math.max(0, lines.length - limit); first--) {
    bytes += lines[first - 1]?.bytes ?? 0;
    if (bytes > maxBytes) break;
  }
  return lines.slice(first);
}
