// Leaves out parts of zod that the daemon never uses, but every start would load: 65 kB.
import { readFile } from 'node:fs/promises';

/** The exports of its compiler of schemas and of its reader of JSON Schema. */
const UNUSED = [
  'compile',
  'withParser',
  'INVALID',
  'ZodCompileAsyncError',
  'ZodCompileUnsupportedError',
  'fromJSONSchema',
];

/** A bundle that uses them cannot be built: esbuild finds what is imported, and `onEnd` finds uses such as `z.compile`. */
export const lessZod = {
  name: 'less-zod',
  setup(builder) {
    // For `import * as z`.
    builder.initialOptions.logOverride = { ...builder.initialOptions.logOverride, 'import-is-undefined': 'error' };
    builder.onLoad({ filter: /[\\/]zod[\\/]v4[\\/](core[\\/]compile|classic[\\/]from-json-schema)\.js$/ }, () => ({
      contents: 'export {};',
    }));
    builder.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]classic[\\/]external\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replaceAll(new RegExp(`\\b(${UNUSED.join('|')})\\b,? ?`, 'g'), ''),
    }));
    builder.onEnd(({ outputFiles = [] }) => ({ errors: outputFiles.flatMap(({ path, text }) => usesIn(path, text)) }));
  },
};

/** With the names that esbuild gives to `z` and `z.core`. */
const USE = new RegExp(`\\b(?:external|core)_exports\\d*(?:\\??\\.core)?\\??\\.(${UNUSED.join('|')})\\b`, 'g');

const usesIn = (path, text) =>
  path.endsWith('.js')
    ? [...text.matchAll(USE)].map(([, name]) => ({
        text: `${name} of zod is not in the bundle: see scripts/less-zod.js`,
      }))
    : [];
