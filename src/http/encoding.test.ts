import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { chooseEncoding, compress } from './encoding.ts';

test('the client’s weights decide; for equal weights brotli comes first', () => {
  const cases: [string | undefined, string | undefined][] = [
    [undefined, undefined],
    ['', undefined],
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0, gzip;q=0', undefined],
    ['BR ; Q=0.3, GZIP;q=0.2', 'br'],
    ['x-gzip', 'gzip'],
    ['*', 'br'],
    ['*;q=0', undefined],
    ['br;q=0, *', 'gzip'],
    ['identity', undefined],
    ['identity, gzip;q=0.5', undefined],
    ['identity;q=0.5, gzip', 'gzip'],
    ['identity;q=0', undefined],
    ['deflate, zstd', undefined],
    ['br;q=2', undefined],
    ['br;q=-1, gzip;q=x', undefined],
    ['gzip;q=0.001', 'gzip'],
    [',,;q=1,', undefined],
  ];
  assert.deepEqual(
    cases.map(([header]) => [header, chooseEncoding(header)]),
    cases,
  );
});

test('compressed text decompresses to the original', async () => {
  const bytes = Buffer.from('a text – with more than ASCII. '.repeat(200));
  const [br, gzip] = await Promise.all([compress(bytes, 'br'), compress(bytes, 'gzip')]);
  assert.deepEqual([brotliDecompressSync(br ?? ''), gunzipSync(gzip ?? '')], [bytes, bytes]);
});

test('beyond the limit, texts stay uncompressed; later ones are compressed again', async () => {
  const bytes = Buffer.alloc(100_000, 'text ');
  const all = await Promise.all(Array.from({ length: 40 }, () => compress(bytes, 'br')));
  assert.equal(all.filter((coded) => coded !== undefined).length, 8);
  assert.notEqual(await compress(bytes, 'gzip'), undefined);
});
