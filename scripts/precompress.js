import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** A text in gzip, with maximum compression. */
export const toGzip = (text) => promisify(gzip)(text, { level: constants.Z_BEST_COMPRESSION });

/** A text in each coding that the daemon serves, with maximum compression. */
export async function compressed(text) {
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
  };
  const [br, gzipped] = await Promise.all([
    promisify(brotliCompress)(text, { params }), // at the highest quality, which is the default
    toGzip(text),
  ]);
  return { br, gzip: gzipped };
}

/** Writes `file.br` and `file.gzip` next to a file. */
export async function precompress(file) {
  const encoded = await compressed(await readFile(file));
  await Promise.all(Object.entries(encoded).map(([coding, bytes]) => writeFile(`${file}.${coding}`, bytes)));
}
