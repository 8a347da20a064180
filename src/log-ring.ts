/** The newest lines of the daemon's log, up to a limit; older lines were only written to stderr. */
export interface LogRing {
  /** Adds one line of JSON. */
  add(line: string): void;
  /** The lines after a cursor of this start of the daemon; otherwise the newest lines. */
  tail(asked: { cursor?: string | undefined; limit: number; maxBytes: number }): LogTail;
}

export interface LogTail {
  /** For the next call. */
  cursor: string;
  /** Bytes kept. */
  size: number;
  lines: string[];
  /** Lines between the cursor and the first of `lines` were dropped or left out. */
  truncated: boolean;
  /** The cursor belongs to another start of the daemon. */
  reset: boolean;
}

const MAX_BYTES = 2 * 1024 * 1024;
/** Longer lines are cut: an error with a long stack must not push out all others. */
const MAX_LINE_CHARS = 16 * 1024;

/** `start` identifies this start of the daemon. */
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
      // Drop a quarter at once: removing single lines would move the rest each time.
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
