import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { ENDPOINTS } from '../http/index.ts';
import { CONTRACTS } from '../index.ts';
import { jsonSchemaDocument, openApiDocument } from './documents.ts';

const readJson = async (path: string) => JSON.parse(await readFile(new URL(path, import.meta.url), 'utf8'));
const { version } = await readJson('../../package.json');

/** A document as it looks once written and read. */
const written = (document: unknown) => JSON.parse(JSON.stringify(document));

const STALE = 'protocol/generated is not what the rows give: run `npm run generate` and commit the result';

test('the committed JSON Schema document is the one that the rows give', async () => {
  assert.deepEqual(await readJson('../generated/schema.json'), written(jsonSchemaDocument()), STALE);
});

test('the committed OpenAPI document is the one that the rows give, in the version of the package', async () => {
  assert.deepEqual(await readJson('../generated/openapi.json'), written(openApiDocument(version)), STALE);
});

test('the OpenAPI document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(written(openApiDocument(version)));
  assert.deepEqual({ valid, errors, version: validator.version }, { valid: true, errors: undefined, version: '3.1' });
});

test('the OpenAPI document has every endpoint and the pages beside them', () => {
  const rows = Object.values(ENDPOINTS).flatMap((group) => Object.values(group).map(({ path }) => path));
  assert.deepEqual(
    new Set(Object.keys(openApiDocument(version).paths ?? {})),
    new Set([...rows, '/', '/metrics', '/openapi.json']),
  );
});

test('operations that need no credential say so, all others need the bearer token or the cookie', () => {
  const document = openApiDocument(version);
  const operations = Object.values(document.paths ?? {}).flatMap((path) => [path?.get, path?.post]);
  const open = operations.filter((operation) => operation?.security?.length === 0);
  assert.deepEqual(document.security, [{ bearer: [] }, { cookie: [] }]);
  assert.deepEqual(
    open.map((operation) => operation?.operationId ?? operation?.summary),
    [
      'auth.login',
      'auth.logout',
      'auth.status',
      'health',
      'The page: one self-contained document.',
      'Counters and gauges for Prometheus.',
      'This document.',
    ],
  );
});

test('every method is in the JSON Schema document and every reference has its definition', () => {
  const document = written(jsonSchemaDocument());
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/\$defs\/([^"]+)"/g)].map(([, id]) => id);
  assert.deepEqual(Object.keys(document.methods), Object.keys(CONTRACTS));
  assert.deepEqual(
    references.filter((id) => id !== undefined && !(id in document.$defs)),
    [],
  );
});
