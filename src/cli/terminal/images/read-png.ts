import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import { MOST_PIXELS, type Pixels } from './pixels.ts';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
/** How many values a pixel has, by the kind of the image: grey, colours, palette, grey and opacity, colours and opacity. */
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

interface Head {
  width: number;
  height: number;
  depth: number;
  kind: number;
  channels: number;
}

/** The pixels of a PNG. Undefined for one that is damaged, interlaced, too large or of 16 bits. */
export async function readPng(bytes: Uint8Array): Promise<Pixels | undefined> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const head = readHead(file);
  if (head === undefined) return undefined;
  const chunks = readChunks(file);
  const rowBytes = Math.ceil((head.width * head.channels * head.depth) / 8);
  const size = (rowBytes + 1) * head.height;
  const packed = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data));
  const raw = await promisify(inflate)(packed, { maxOutputLength: size }).catch(() => undefined);
  if (raw?.length !== size || !unfilter(raw, rowBytes, Math.max(1, (head.channels * head.depth) >> 3)))
    return undefined;
  const find = (name: string) => chunks.find(({ type }) => type === name)?.data;
  return toPixels(raw, head, { palette: find('PLTE'), opacity: find('tRNS') });
}

function readHead(file: Buffer): Head | undefined {
  if (file.length < 33 || !file.subarray(0, 8).equals(SIGNATURE)) return undefined;
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
  const [depth = 0, kind = 0, , , interlaced = 0] = file.subarray(24, 29);
  const channels = CHANNELS[kind];
  const fits = width > 0 && height > 0 && width * height <= MOST_PIXELS && depth <= 8 && interlaced === 0;
  return fits && channels !== undefined ? { width, height, depth, kind, channels } : undefined;
}

function readChunks(file: Buffer): { type: string; data: Buffer }[] {
  const chunks: { type: string; data: Buffer }[] = [];
  for (let at = 8; at + 12 <= file.length; ) {
    const end = at + 8 + file.readUInt32BE(at);
    if (end + 4 > file.length) break;
    chunks.push({ type: file.toString('latin1', at + 4, at + 8), data: file.subarray(at + 8, end) });
    at = end + 4;
  }
  return chunks;
}

/** Each row says how it differs from its left and upper neighbours. False for an unknown way. */
function unfilter(raw: Buffer, rowBytes: number, step: number): boolean {
  let above = raw.subarray(0, 0);
  for (let at = 0; at < raw.length; at += rowBytes + 1) {
    const filter = byteAt(raw, at);
    if (filter > 4) return false;
    const row = raw.subarray(at + 1, at + 1 + rowBytes);
    if (filter > 0) unfilterRow(row, { above, filter, step });
    above = row;
  }
  return true;
}

function unfilterRow(row: Buffer, { above, filter, step }: { above: Buffer; filter: number; step: number }): void {
  for (let at = 0; at < row.length; at += 1) {
    const near = { left: byteAt(row, at - step), above: byteAt(above, at), corner: byteAt(above, at - step) };
    row[at] = byteAt(row, at) + predicted(filter, near); // keeps the lowest eight bits
  }
}

/** Outside of the image, all is zero. */
const byteAt = (bytes: Uint8Array, at: number): number => (at < 0 ? 0 : (bytes[at] ?? 0));

function predicted(filter: number, { left, above, corner }: { left: number; above: number; corner: number }): number {
  if (filter === 1) return left;
  if (filter === 2) return above;
  if (filter === 3) return (left + above) >> 1;
  const [a, b, c] = [Math.abs(above - corner), Math.abs(left - corner), Math.abs(left + above - 2 * corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? above : corner;
}

interface Colours {
  palette: Buffer | undefined;
  /** Of the colours of the palette. */
  opacity: Buffer | undefined;
}

function toPixels(raw: Buffer, head: Head, { palette, opacity }: Colours): Pixels {
  const { width, height, channels, kind } = head;
  const rgba = new Uint8Array(width * height * 4);
  const values = toValues(raw, head);
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const at = pixel * channels;
    const place = byteAt(values, at);
    if (kind === 3 && palette) copyColour(palette, { from: place * 3, step: 1 }, { into: rgba, pixel });
    else copyColour(values, { from: at, step: channels < 3 ? 0 : 1 }, { into: rgba, pixel });
    const own = channels % 2 === 0 ? values[at + channels - 1] : undefined;
    rgba[pixel * 4 + 3] = (kind === 3 ? opacity?.[place] : own) ?? 255;
  }
  return { width, height, rgba };
}

/** Red, green and blue; with the step 0 all of them are the same value. */
function copyColour(
  source: Uint8Array,
  { from, step }: { from: number; step: 0 | 1 },
  { into, pixel }: { into: Uint8Array; pixel: number },
): void {
  for (let part = 0; part < 3; part += 1) into[pixel * 4 + part] = byteAt(source, from + part * step);
}

/** One byte for each value. Values of a palette are places in it; all others are stretched to eight bits. */
function toValues(raw: Buffer, { width, height, depth, channels, kind }: Head): Uint8Array {
  const perRow = width * channels;
  const rowBytes = raw.length / height;
  const most = 2 ** depth - 1;
  const stretch = kind === 3 ? 1 : 255 / most;
  const values = new Uint8Array(perRow * height);
  for (let y = 0; y < height; y += 1) {
    const row = raw.subarray(y * rowBytes + 1, (y + 1) * rowBytes);
    for (let at = 0; at < perRow; at += 1) {
      const bit = at * depth;
      values[y * perRow + at] = ((byteAt(row, bit >> 3) >> (8 - depth - (bit & 7))) & most) * stretch;
    }
  }
  return values;
}
