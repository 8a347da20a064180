import { withWholeCharacters } from '../content/whole-characters.ts';

/**
 * Encodes one unmasked text message as servers send it (RFC 6455, 5.2). The frame can be written to any number of
 * sockets.
 */
export function encodeTextFrame(text: string): Buffer {
  const json = withWholeCharacters(text);
  const length = Buffer.byteLength(json);
  const start = headerBytes(length);
  const frame = Buffer.allocUnsafe(start + length);
  frame[0] = FINAL_TEXT;
  writeLength(frame, length);
  // An ASCII text has as many bytes as characters; copying it costs half as much as encoding.
  frame.write(json, start, length === json.length ? 'latin1' : 'utf8');
  return frame;
}

/**
 * The same for a message whose parts are encoded, as pieces to be written one after the other: to join thirty kilobytes
 * for each client takes longer than everything else that a handshake needs.
 */
export function toTextFrame(parts: readonly Buffer[]): Buffer[] {
  let length = 0;
  for (const part of parts) length += part.length;
  const header = Buffer.allocUnsafe(headerBytes(length));
  header[0] = FINAL_TEXT;
  writeLength(header, length);
  return [header, ...parts];
}

const FINAL_TEXT = 0x81;

function headerBytes(length: number): number {
  if (length < 126) return 2;
  return length < 65_536 ? 4 : 10;
}

function writeLength(frame: Buffer, length: number): void {
  if (length < 126) {
    frame[1] = length;
  } else if (length < 65_536) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeUInt16BE(0, 2);
    frame.writeUIntBE(length, 4, 6);
  }
}
