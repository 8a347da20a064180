import type { Pixels } from './pixels.ts';

/**
 * How a camera was held, as Exif counts it: 1 is upright, 3 upside down, 6 and 8 are on a side; the others are mirrored. From 5
 * on, width and height are exchanged.
 */
export type Orientation = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

/** The tag of the orientation. */
const TAG = 0x0112;
const ENTRY_BYTES = 12;

/** What a JPEG says about it in its first directory of Exif data; upright if it says nothing that can be read. */
export function readOrientation(file: Buffer): Orientation {
  try {
    return findOrientation(file) ?? 1;
  } catch {
    return 1; // it ends too early
  }
}

function findOrientation(file: Buffer): Orientation | undefined {
  for (let at = 2; file[at] === 0xff && file[at + 1] !== 0xda; at += 2 + file.readUInt16BE(at + 2)) {
    const isExif = file[at + 1] === 0xe1 && file.toString('latin1', at + 4, at + 10) === 'Exif\0\0';
    if (isExif) return ofTiff(file.subarray(at + 10, at + 2 + file.readUInt16BE(at + 2)));
  }
  return undefined;
}

/** Exif data is a TIFF file, in either order of bytes. */
function ofTiff(tiff: Buffer): Orientation | undefined {
  const isLittle = tiff.toString('latin1', 0, 2) === 'II';
  const short = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const start = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  const end = start + 2 + short(start) * ENTRY_BYTES;
  for (let at = start + 2; at < end; at += ENTRY_BYTES) if (short(at) === TAG) return toOrientation(short(at + 8));
  return undefined;
}

const toOrientation = (value: number): Orientation | undefined => ORIENTATIONS.find((one) => one === value);
const ORIENTATIONS: readonly Orientation[] = [1, 2, 3, 4, 5, 6, 7, 8];

/** Whether width and height are exchanged. */
export const isOnItsSide = (orientation: Orientation): boolean => orientation >= 5;

const [FROM_RIGHT, FROM_BELOW] = [new Set<Orientation>([2, 3, 7, 8]), new Set<Orientation>([3, 4, 6, 7])];

/** The image as the camera saw it. */
export function setUpright(image: Pixels, orientation: Orientation): Pixels {
  if (orientation === 1) return image;
  const { width, height } = image;
  const [right, below] = [FROM_RIGHT.has(orientation), FROM_BELOW.has(orientation)];
  const [stepX, stepY] = [right ? -1 : 1, below ? -width : width];
  const start = (right ? width - 1 : 0) + (below ? (height - 1) * width : 0);
  const turned = isOnItsSide(orientation)
    ? { width: height, height: width, across: stepY, down: stepX }
    : { width, height, across: stepX, down: stepY };
  // Four bytes at once: an image has millions of pixels.
  const from = new Uint32Array(image.rgba.slice().buffer);
  const to = new Uint32Array(from.length);
  for (let y = 0, at = 0; y < turned.height; y += 1)
    for (let x = 0, source = start + y * turned.down; x < turned.width; x += 1, at += 1, source += turned.across)
      to[at] = from[source] ?? 0;
  return { width: turned.width, height: turned.height, rgba: new Uint8Array(to.buffer) };
}
