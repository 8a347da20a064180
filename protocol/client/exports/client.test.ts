import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/** The size and the packages of a page that uses only this import of `headgate/client`. */
async function bundleFor(code: string) {
  const { outputFiles, metafile } = await build({
    stdin: { contents: code, resolveDir: import.meta.dirname },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    metafile: true,
  });
  const packages = Object.keys(metafile.inputs).filter((path) => path.includes('node_modules'));
  return { gzippedBytes: gzipSync(outputFiles[0]?.contents ?? '').byteLength, packages };
}

test('the WebSocket client is at most 12 kB gzipped and contains no package', async () => {
  const { gzippedBytes, packages } = await bundleFor("export { createGatewayClient } from './client.ts';");
  assert.deepEqual(packages, []);
  assert.ok(gzippedBytes > 1_000 && gzippedBytes <= 12_000, `${gzippedBytes} bytes`);
});

test('a page that uses only the errors does not load the client', async () => {
  const { gzippedBytes } = await bundleFor("export { RequestError } from './client.ts';");
  assert.ok(gzippedBytes < 400, `${gzippedBytes} bytes`);
});

test('the HTTP client contains the parser of event streams and no other package', async () => {
  const { packages } = await bundleFor("export { createHttpClient, endpoints } from './http.ts';");
  assert.deepEqual(
    [...new Set(packages.map((path) => path.replace(/^.*node_modules\/([^/]+)\/.*$/, '$1')))],
    ['eventsource-parser'],
  );
});
