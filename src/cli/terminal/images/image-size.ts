import { isOnItsSide, readOrientation } from './orientation.ts';

interface ImageSize {
  width: number;
  height: number;
}

/** The size in which a PNG, GIF, JPEG or WebP is shown, from its first bytes; undefined if they do not say it. */
export function readImageSize(bytes: Uint8Array): ImageSize | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const size = sizeOf(file);
    return size && size.width > 0 && size.height > 0 ? size : undefined;
  } catch {
    return undefined; // it ends too early
  }
}

function sizeOf(file: Buffer): ImageSize | undefined {
  if (file.toString('latin1', 1, 4) === 'PNG') return { width: file.readUInt32BE(16), height: file.readUInt32BE(20) };
  if (file.toString('latin1', 0, 3) === 'GIF') return { width: file.readUInt16LE(6), height: file.readUInt16LE(8) };
  if (file.readUInt16BE(0) === 0xffd8) return jpegSize(file);
  return file.toString('latin1', 8, 12) === 'WEBP' ? webpSize(file) : undefined;
}

/** In the first segment that begins an image; those before it have other data. */
function jpegSize(file: Buffer): ImageSize | undefined {
  for (let at = 2; at + 9 < file.length && file[at] === 0xff; at += 2 + file.readUInt16BE(at + 2)) {
    const kind = file[at + 1] ?? 0;
    const isFrame = kind >= 0xc0 && kind <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(kind);
    if (!isFrame) continue;
    const [height, width] = [file.readUInt16BE(at + 5), file.readUInt16BE(at + 7)];
    return isOnItsSide(readOrientation(file)) ? { height: width, width: height } : { height, width };
  }
  return undefined;
}

function webpSize(file: Buffer): ImageSize | undefined {
  switch (file.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: file.readUIntLE(24, 3) + 1, height: file.readUIntLE(27, 3) + 1 };
    case 'VP8 ':
      return { width: file.readUInt16LE(26) & 0x3fff, height: file.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = file.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    default:
      return undefined;
  }
}
