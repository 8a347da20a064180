// What esbuild leaves out of the bundles of the daemon, or evaluates later, so that the daemon starts fast and stays small.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { defaultConfig } from './default-config.js';
import { lateSchemas } from './late-schemas.js';
import { lazyShapes } from './lazy-shapes.js';
import { lessZod } from './less-zod.js';
import { newestSchema } from './newest-schema.js';

/** Leaves out Express's body parsers, which would load tables of character sets at every start. The daemon reads bodies itself. */
const noBodyParser = {
  name: 'no-body-parser',
  setup(builder) {
    builder.onResolve({ filter: /^body-parser$/ }, () => ({ path: 'body-parser', namespace: 'left-out' }));
    builder.onLoad({ filter: /./, namespace: 'left-out' }, () => ({
      contents: `const leftOut = () => { throw new Error('body-parser is not in this bundle'); };
        module.exports = { json: leftOut, raw: leftOut, text: leftOut, urlencoded: leftOut };`,
    }));
  },
};

/** Leaves out the client of Prometheus's push gateway, which would load `node:https` at every start. */
const noPushgateway = {
  name: 'no-pushgateway',
  setup(builder) {
    builder.onResolve({ filter: /^\.\/lib\/pushgateway$/ }, () => ({
      path: 'pushgateway',
      namespace: 'no-pushgateway',
    }));
    builder.onLoad({ filter: /./, namespace: 'no-pushgateway' }, () => ({ contents: '' }));
  },
};

/** Leaves out zod's messages in other languages, half of its code. */
const onlyEnglish = {
  name: 'only-english',
  setup(builder) {
    builder.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: `export { default as en } from './en.js';`,
    }));
  },
};

/**
 * Modules of Node that an `import` by name evaluates completely, with every property that Node would load at its first use.
 * For `node:http`, this is undici, which takes 30 ms; for the others together 10 ms.
 */
const requiredModules = {
  name: 'required-modules',
  setup(builder) {
    builder.onResolve({ filter: /^(node:)?(fs|http|process|util|zlib)$/ }, ({ path: name, kind }) =>
      kind === 'import-statement' ? { path: name.replace(/^(node:)?/, 'node:'), namespace: 'required' } : undefined,
    );
    // Its properties are inherited, because esbuild copies own ones, which makes Node load what they stand for. The methods of
    // `process` need itself.
    builder.onLoad({ filter: /./, namespace: 'required' }, ({ path: name }) => ({
      contents: `module.exports = ${name === 'node:process' ? `require('${name}')` : `Object.create(require('${name}'))`};`,
    }));
  },
};

/** Loads TLS when `ws` opens a connection with it, as its server never does. It takes 4 ms, for the lists of ciphers and such. */
const lateTls = {
  name: 'late-tls',
  setup(builder) {
    builder.onResolve({ filter: /^(https|tls)$/ }, ({ path: name, importer }) =>
      /[\\/]node_modules[\\/]ws[\\/]/.test(importer) ? { path: name, namespace: 'late-tls' } : undefined,
    );
    builder.onLoad({ filter: /./, namespace: 'late-tls' }, ({ path: name }) => ({
      contents: `for (const key of ['connect', 'get', 'request'])
        Object.defineProperty(exports, key, { get: () => require('node:${name}')[key] });`,
    }));
  },
};

/** Packages whose exports the daemon never uses, because only settings that it does not have lead to them. Their code took 250 kB. */
const UNUSED = {
  // Names types of content for methods of Express's response that the daemon does not call, from a list of 2,500.
  'mime-types': ['charset', 'contentType', 'extension', 'lookup'],
  // Prometheus's client looks for the current span only if exemplars are switched on.
  '@opentelemetry/api': ['context', 'trace'],
  // Express parses queries with it only if it is told to; the daemon parses them itself.
  qs: ['parse', 'stringify'],
  // The library for notifications loads it only to send through a proxy; the daemon sends by itself.
  'https-proxy-agent': ['HttpsProxyAgent'],
};

const noUnusedPackages = {
  name: 'no-unused-packages',
  setup(builder) {
    builder.onResolve(
      { filter: /^(mime-types|@opentelemetry\/api|qs|https-proxy-agent)$/ },
      ({ path: name, importer }) =>
        // Tracing uses its own package completely, in a chunk of its own.
        name === '@opentelemetry/api' && !importer.includes('prom-client')
          ? undefined
          : { path: name, namespace: 'unused' },
    );
    builder.onLoad({ filter: /./, namespace: 'unused' }, ({ path: name }) => ({
      contents: `const leftOut = () => { throw new Error('${name} is not in this bundle'); };
        ${UNUSED[name].map((key) => `Object.defineProperty(exports, '${key}', { get: leftOut });`).join('\n')}`,
    }));
  },
};

/**
 * Leaves out the schema compiler of the packages for tool servers, which the daemon never uses, and their source maps, which
 * name files that are in no package.
 */
const noSchemaCompiler = {
  name: 'no-schema-compiler',
  setup(builder) {
    builder.onResolve({ filter: /^@modelcontextprotocol\/(client|server)\/_shims$/ }, () => ({
      path: 'shims',
      namespace: 'no-schema-compiler',
    }));
    builder.onLoad({ filter: /./, namespace: 'no-schema-compiler' }, () => ({
      contents: `export { default as process } from 'node:process';
        export const CORS_IS_POSSIBLE = false;
        export class DefaultJsonSchemaValidator {
          constructor() { throw new Error('the schema compiler is not in this bundle'); }
        }`,
    }));
    builder.onLoad(
      { filter: /[\\/]@modelcontextprotocol[\\/](client|server)[\\/]dist[\\/].*\.mjs$/ },
      async ({ path: file }) => ({
        contents: (await readFile(file, 'utf8')).replace(/\n\/\/# sourceMappingURL=.*/, ''),
        loader: 'js',
      }),
    );
  },
};

/**
 * What `string-width` and `wrap-ansi` make when they are loaded: the list of all emoji, and the rules of where characters end.
 * They take 60 ms, half of what a chat did before its prompt, and plain text needs neither.
 */
const LATE_VALUES = {
  'string-width': [
    /const segmenter = (new Intl\.Segmenter\(\));/,
    /const (?:emojiPrefixRegex|rgiEmojiRegex) = (\/.*\/v);/,
  ],
  'wrap-ansi': [/const segmenter = (new Intl\.Segmenter\(\));/],
};

const lateWidths = {
  name: 'late-widths',
  setup(builder) {
    builder.onLoad({ filter: /[\\/](string-width|wrap-ansi)[\\/]index\.js$/ }, async ({ path: file }) => {
      const found = LATE_VALUES[path.basename(path.dirname(file))];
      return { contents: found.reduce(withLateValue, await readFile(file, 'utf8')), loader: 'js' };
    });
  },
};

/** Makes the value of a constant at its first use. Its lines keep their numbers. */
export function withLateValue(source, pattern) {
  const [whole, value] = pattern.exec(source) ?? [];
  if (whole === undefined) throw new Error(`no line ${pattern}: look how the new version of the package is written`);
  const name = whole.split(' ')[1];
  const method = (called) => `${called}(text) { return (made ??= ${value}).${called}(text); }`;
  return source.replace(
    whole,
    () => `const ${name} = (() => { let made; return { ${['test', 'exec', 'segment'].map(method).join(', ')} }; })();`,
  );
}

export const PLUGINS = [
  lateWidths,
  lazyShapes,
  lateSchemas,
  lessZod,
  newestSchema,
  defaultConfig,
  noSchemaCompiler,
  noUnusedPackages,
  noBodyParser,
  noPushgateway,
  onlyEnglish,
  requiredModules,
  lateTls,
];

/** Leaves out a package that is in a file of its own. */
export const loadedFrom = (file, name) => ({
  name: 'loaded-from',
  setup(builder) {
    builder.onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: file, external: true }));
  },
});

/** Imports the two halves of the command line from the files that these bundles have for them. */
export const bundledBefore = (metafiles, root) => ({
  name: 'bundled-before',
  setup(builder) {
    builder.onResolve({ filter: /^\.\/(start-command|program)\.ts$/ }, ({ path: name, resolveDir }) => {
      const source = path.relative(root, path.join(resolveDir, name));
      const outputs = metafiles.flatMap((metafile) => Object.entries(metafile.outputs));
      const [file] = outputs.find(([, { entryPoint }]) => entryPoint === source);
      return { path: `./${path.relative('dist', file)}`, external: true };
    });
  },
});
