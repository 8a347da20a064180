import assert from 'node:assert/strict';
import { test } from 'node:test';
import JSON5 from 'json5';
import { maskText, maskValue, unmaskText } from './config-secrets.ts';

const TEXT = `// the old key was sk-fast-1
{
  models: {
    fast: { provider: 'openai', apiKey: 'sk-fast-1', }, /* sk-fast-1 too */
    "big": { "provider": "openai", "apiKey": "sk-\\u0062ig" },
  },
  channels: { webhook: { ops: { url: 'https://x.example//y', secret: "don't tell" } } },
  workdir: '/srv/sk-fast',
}`;
const PARSED = JSON5.parse(TEXT);

test('secrets are masked where they stand, comments included, and everything else stays as it is', () => {
  const masked = maskText(TEXT, PARSED);
  assert.doesNotMatch(masked, /sk-fast-1|big"\s*}|tell/);
  assert.deepEqual(JSON5.parse(masked), maskValue(PARSED));
  assert.equal(
    masked.replaceAll(/"?<secret:[^>]*>"?/g, 'S'),
    TEXT.replaceAll("'sk-fast-1'", 'S')
      .replaceAll('sk-fast-1', 'S')
      .replace('"sk-\\u0062ig"', 'S')
      .replace('"don\'t tell"', 'S'),
  );
});

test('a masked text written back says what the file said', () => {
  assert.deepEqual(JSON5.parse(unmaskText(maskText(TEXT, PARSED), PARSED)), PARSED);
});

test('a mask may move with its text, and one that stands for nothing is refused by name', () => {
  const moved = `{ models: { other: { provider: 'openai', apiKey: '<secret:models.fast.apiKey>' } } }`;
  assert.equal(JSON5.parse(unmaskText(moved, PARSED)).models.other.apiKey, 'sk-fast-1');
  assert.throws(
    () => unmaskText('{ a: "<secret:models.gone.apiKey>" }', PARSED),
    /<secret:models\.gone\.apiKey> stands for/,
  );
});

test('secrets of a text that cannot be parsed are masked as well', () => {
  const masked = maskText(`{ models: { a: { apiKey: 'sk-1', "secret" : "s-2" oops`, undefined);
  assert.equal(masked, `{ models: { a: { apiKey: "<secret:>", "secret" : "<secret:>" oops`);
});

test('values are masked at any depth, empty ones and other keys are not', () => {
  assert.deepEqual(maskValue({ a: [{ apiKey: 'k' }], secret: '', apiKeyEnv: 'NAME', n: null }), {
    ...{ a: [{ apiKey: '<secret:a.0.apiKey>' }], secret: '', apiKeyEnv: 'NAME', n: null },
  });
});
