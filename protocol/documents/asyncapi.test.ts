import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import specifications from '@asyncapi/specs';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { GATEWAY_EVENTS } from '../events/gateway.ts';
import { CONTRACTS } from '../index.ts';
import { asyncApiDocument } from './asyncapi.ts';

const readJson = async (path: string) => JSON.parse(await readFile(new URL(path, import.meta.url), 'utf8'));
const { version } = await readJson('../../package.json');
const written = (value: unknown) => JSON.parse(JSON.stringify(value));
const document = written(asyncApiDocument(version));

test('the committed AsyncAPI document matches the rows', async () => {
  const hint = 'protocol/generated is not what the rows give: run `npm run generate` and commit the result';
  assert.deepEqual(await readJson('../generated/asyncapi.json'), document, hint);
});

test('the AsyncAPI document is valid AsyncAPI 3.0', () => {
  // The specification's schema includes the meta-schema of JSON Schema.
  const ajv = new Ajv({ strict: false, meta: false, validateSchema: false });
  addFormats.default(ajv);
  const validate = ajv.compile(written(specifications.schemas['3.0.0']));
  validate(document);
  assert.deepEqual(validate.errors, null);
  validate({ ...document, channels: { gateway: { surprise: 1 } } });
  assert.notDeepEqual(validate.errors, null);
});

test('the AsyncAPI document has an operation for every method and every event', () => {
  assert.deepEqual(Object.keys(document.operations), [
    ...Object.keys(CONTRACTS),
    ...Object.keys(GATEWAY_EVENTS).map((name) => `on.${name}`),
  ]);
});

test('every reference of the AsyncAPI document resolves', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
  const find = (path: string) => path.split('/').reduce<unknown>((at, key) => Reflect.get(Object(at), key), document);
  assert.deepEqual(
    references.filter((path) => find(path) === undefined),
    [],
  );
  assert.notEqual(references.length, 0);
});
