/** A line is longer than allowed. */
export class TooLong extends Error {
  override readonly name = 'TooLong';
}

/** Splits bytes into lines. A line that is not complete is kept as it came, so that a long one is copied once. */
export function createMessageLines(mostBytes: number): { write(bytes: Buffer): Generator<string> } {
  let held: Buffer[] = [];
  let heldBytes = 0;
  const hold = (bytes: Buffer) => {
    heldBytes += bytes.length;
    if (heldBytes > mostBytes) {
      held = [];
      throw new TooLong();
    }
    if (bytes.length > 0) held.push(bytes);
  };
  return {
    *write(bytes) {
      let at = 0;
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, at)) {
        hold(bytes.subarray(at, end));
        const line = Buffer.concat(held).toString('utf8').trim();
        held = [];
        heldBytes = 0;
        at = end + 1;
        if (line !== '') yield line;
      }
      hold(bytes.subarray(at));
    },
  };
}

const NEWLINE = 10;
