import type { Frame } from '../../../protocol/frames.ts';
import type { Wire } from '../connections/wire.ts';

/** A wire that records its calls. With `isStalled` it accepts writes, but nothing is read until `drain`. */
export function fakeWire({ isStalled = false } = {}) {
  const writes: Buffer[] = [];
  const calls: string[] = [];
  let unread: { bytes: number; onWritten(): void }[] = [];
  const write: Wire['write'] = (chunk, onWritten) => {
    writes.push(chunk);
    if (isStalled) unread.push({ bytes: chunk.length, onWritten });
    else onWritten();
  };
  const wire: Wire = {
    write,
    writeTogether: (pieces, onWritten) => write(Buffer.concat(pieces), onWritten),
    get pendingBytes() {
      return unread.reduce((sum, { bytes }) => sum + bytes, 0);
    },
    close: (code, reason) => void calls.push(`close ${code} ${reason}`.trim()),
    terminate: () => void calls.push('terminate'),
    ping: () => void calls.push('ping'),
    pause: () => void calls.push('pause'),
    resume: () => void calls.push('resume'),
    setMaxPayload: (bytes) => void calls.push(`maxPayload ${bytes}`),
  };
  return {
    wire,
    writes,
    calls,
    frames: (): Frame[] => writes.flatMap(framesOf),
    drain() {
      const written = unread;
      unread = [];
      for (const { onWritten } of written) onWritten();
    },
  };
}

/** The messages in a chunk of unmasked text frames. */
export function framesOf(chunk: Buffer): Frame[] {
  if (chunk.length === 0) return [];
  const short = chunk.readUInt8(1);
  const start = short < 126 ? 2 : short === 126 ? 4 : 10;
  const length = short < 126 ? short : short === 126 ? chunk.readUInt16BE(2) : chunk.readUIntBE(4, 6);
  const frame: Frame = JSON.parse(chunk.toString('utf8', start, start + length));
  return [frame, ...framesOf(chunk.subarray(start + length))];
}
