import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { compressed } from '../precompress.js';

/**
 * Replaces a folder of parts by one file, `<folder>.bin`, which a start reads at once: its first line lists for each part
 * `[name, bytes of its text, in brotli, in gzip]`, and the three follow in this order. A part that a file of an earlier
 * build, `before`, has with the same text is taken from there, because compressing takes seconds.
 */
export async function packParts(folder, before = `${folder}.bin`) {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.js')).sort();
  const known = await unpack(before);
  const parts = await Promise.all(
    names.map(async (name) => {
      const text = await readFile(`${folder}/${name}`);
      const same = known.get(name);
      const { br, gzip } = same?.text.equals(text) ? same : await compressed(text);
      return { row: [name, text.length, br.length, gzip.length], bytes: [text, br, gzip] };
    }),
  );
  const list = Buffer.from(`${JSON.stringify(parts.map(({ row }) => row))}\n`);
  await writeFile(`${folder}.bin`, Buffer.concat([list, ...parts.flatMap(({ bytes }) => bytes)]));
  await rm(folder, { recursive: true });
}

/** The parts of an earlier file by name; none if there is no such file, or if it is not whole. */
async function unpack(file) {
  const none = new Map();
  const packed = await readFile(file).catch(() => undefined); // it was never built, perhaps
  if (packed === undefined) return none;
  const listed = packed.indexOf('\n') + 1;
  let at = listed;
  const take = (bytes) => {
    at += bytes;
    return packed.subarray(at - bytes, at);
  };
  try {
    const rows = JSON.parse(packed.toString('utf8', 0, listed));
    const parts = rows.map(([name, ...sizes]) => {
      const [text, br, gzip] = sizes.map(take);
      return [name, { text, br, gzip }];
    });
    return at === packed.length ? new Map(parts) : none;
  } catch {
    return none;
  }
}
