import jpeg from 'jpeg-js';
import { GifReader } from 'omggif';
import { readImageSize } from './image-size.ts';
import { readOrientation, setUpright } from './orientation.ts';
import { MOST_PIXELS, type Pixels } from './pixels.ts';
import { readPng } from './read-png.ts';
import { readWebp } from './read-webp.ts';

/** What a JPEG may take while it is decoded. */
const MOST_MEGABYTES = 512;

/**
 * The pixels of a PNG, a JPEG, a WebP or the first frame of a GIF. Undefined for everything else, and for one that is damaged
 * or too large. `webpUrl`: where the code that decodes WebP lies.
 */
export async function readImage(bytes: Uint8Array, webpUrl: URL): Promise<Pixels | undefined> {
  const size = readImageSize(bytes);
  if (size === undefined || size.width * size.height > MOST_PIXELS) return undefined;
  const kind = Buffer.from(bytes.subarray(0, 3)).toString('latin1');
  try {
    if (kind === 'GIF') return readGif(bytes);
    if (kind === 'RIF') return await readWebp(bytes, webpUrl);
    return bytes[0] === 0xff ? readJpeg(bytes) : await readPng(bytes);
  } catch {
    return undefined; // it is damaged
  }
}

function readJpeg(bytes: Uint8Array): Pixels {
  const { width, height, data } = jpeg.decode(bytes, {
    useTArray: true,
    maxResolutionInMP: MOST_PIXELS / 1_000_000,
    maxMemoryUsageInMB: MOST_MEGABYTES,
  });
  return setUpright(
    { width, height, rgba: data },
    readOrientation(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
  );
}

/** Its frame may claim another size than the image. */
function readGif(bytes: Uint8Array): Pixels | undefined {
  const gif = new GifReader(bytes);
  const { width, height } = gif;
  if (gif.numFrames() === 0) return undefined;
  const frame = gif.frameInfo(0);
  if (frame.x + frame.width > width || frame.y + frame.height > height) return undefined;
  const rgba = new Uint8Array(width * height * 4);
  gif.decodeAndBlitFrameRGBA(0, rgba);
  return { width, height, rgba };
}
