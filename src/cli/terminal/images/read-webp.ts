import { readFile } from 'node:fs/promises';
import { MOST_PIXELS, type Pixels } from './pixels.ts';

/** The pixels of a WebP that is not animated; undefined for others. `codeUrl`: where the WebAssembly that decodes it lies. */
export async function readWebp(bytes: Uint8Array, codeUrl: URL): Promise<Pixels | undefined> {
  const { default: start } = await import('@jsquash/webp/codec/dec/webp_dec.js'); // few images are WebP
  const decoder = await start({ wasmBinary: await readFile(codeUrl) });
  const image = decoder.decode(bytes);
  if (image === null || image.width * image.height > MOST_PIXELS) return undefined;
  const { width, height, data } = image;
  return { width, height, rgba: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) };
}
