import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** A text in gzip, with maximum compression. */
export const toGzip = (text) => promisify(gzip)(text, { level: constants.Z_BEST_COMPRESSION });

/** Writes `file.br` and `file.gzip` next to a file, with maximum compression. */
export async function precompress(file) {
  const text = await readFile(file);
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
  };
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(text, { params }), // at the highest quality, which is the default
    toGzip(text),
  ]);
  await Promise.all([writeFile(`${file}.br`, br), writeFile(`${file}.gzip`, gz)]);
}
