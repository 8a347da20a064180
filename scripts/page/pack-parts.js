import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { compressed } from '../precompress.js';

/**
 * Replaces a folder of parts by one file, `<folder>.bin`, which a start reads at once: its first line lists for each part
 * `[name, bytes of its text, in brotli, in gzip]`, and the three follow in this order.
 */
export async function packParts(folder) {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.js')).sort();
  const parts = await Promise.all(
    names.map(async (name) => {
      const text = await readFile(`${folder}/${name}`);
      const { br, gzip } = await compressed(text);
      return { row: [name, text.length, br.length, gzip.length], bytes: [text, br, gzip] };
    }),
  );
  const list = Buffer.from(`${JSON.stringify(parts.map(({ row }) => row))}\n`);
  await writeFile(`${folder}.bin`, Buffer.concat([list, ...parts.flatMap(({ bytes }) => bytes)]));
  await rm(folder, { recursive: true });
}
