import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { lessZod } from './less-zod.js';

const bundled = (contents: string) =>
  build({
    stdin: { contents, resolveDir: fileURLToPath(new URL('..', import.meta.url)), loader: 'ts' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile: 'bundle.js',
    write: false,
    plugins: [lessZod],
    logLevel: 'silent',
  });

test('a bundle that uses a part of zod that is left out cannot be built', async () => {
  const left = /zod is not in the bundle/;
  await assert.rejects(bundled("import { z } from 'zod'; export const parser = z.compile(z.string());"), left);
  await assert.rejects(bundled("import { z } from 'zod'; export const schema = z.core.compile(z.string());"), left);
  await assert.rejects(
    bundled("import * as z from 'zod/v4'; export const schema = z.fromJSONSchema({});"),
    /will always be undefined/,
  );
  await assert.rejects(bundled("import { fromJSONSchema } from 'zod'; fromJSONSchema({});"), /No matching export/);
});

test('a bundle without them has neither their code nor their names', async () => {
  const { outputFiles } = await bundled("export { z } from 'zod';");
  const text = outputFiles[0]?.text ?? '';
  assert.deepEqual(
    [/\bsafeParse\b/, /\bcompileFn\b/, /\bfromJSONSchema\b/, /\bZodCompile/].map((name) => name.test(text)),
    [true, false, false, false],
  );
});
