import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { z } from 'zod';
import { createDocument } from 'zod-openapi';
import { ENDPOINTS } from '../http/index.ts';
import { CONTRACTS } from '../index.ts';
import { addOperation, jsonSchemaDocument, openApiDocument } from './documents.ts';

const readJson = async (path: string) => JSON.parse(await readFile(new URL(path, import.meta.url), 'utf8'));
const { version } = await readJson('../../package.json');

/** A document after it is written and read. */
const written = (document: unknown) => JSON.parse(JSON.stringify(document));

const STALE = 'protocol/generated is not what the rows give: run `npm run generate` and commit the result';

test('the committed JSON Schema document matches the rows', async () => {
  assert.deepEqual(await readJson('../generated/schema.json'), written(jsonSchemaDocument()), STALE);
});

test('the committed OpenAPI document matches the rows and the version of the package', async () => {
  assert.deepEqual(await readJson('../generated/openapi.json'), written(openApiDocument(version)), STALE);
});

test('the OpenAPI document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(written(openApiDocument(version)));
  assert.deepEqual({ valid, errors, version: validator.version }, { valid: true, errors: undefined, version: '3.1' });
});

test('the OpenAPI document has every endpoint and the plain pages', () => {
  const rows = Object.values(ENDPOINTS).flatMap((group) => Object.values(group).map(({ path }) => path));
  assert.deepEqual(
    new Set(Object.keys(openApiDocument(version).paths ?? {})),
    new Set([...rows, '/', '/metrics', '/openapi.json']),
  );
});

test('operations without a credential are marked; all others require the bearer token or the cookie', () => {
  const document = openApiDocument(version);
  const operations = Object.values(document.paths ?? {}).flatMap((path) => [path?.get, path?.post]);
  const open = operations.filter((operation) => operation?.security?.length === 0);
  assert.deepEqual(document.security, [{ bearer: [] }, { cookie: [] }]);
  assert.deepEqual(
    open.map((operation) => operation?.operationId ?? operation?.summary),
    [
      'auth.login',
      'auth.setup',
      'auth.whoami',
      'auth.refresh',
      'auth.password',
      'auth.logout',
      'auth.status',
      'oidc.authorize',
      'oidc.callback',
      'health',
      'The page: one self-contained document.',
      'Counters and gauges for Prometheus.',
      'This document.',
    ],
  );
});

test('an operation has its status, and its fields in the path, the query or the body', () => {
  const row = { summary: 'Made for this test.', scope: 'public', reply: z.object({ ok: z.boolean() }) } as const;
  const request = z.object({ place: z.string(), text: z.string() });
  const paths: Parameters<typeof addOperation>[0] = {};
  const path = '/v1/api/notes/{+place}';
  addOperation(paths, { ...row, verb: 'put', path, request, status: 201 }, { group: 'note', name: 'put' });
  addOperation(paths, { ...row, verb: 'delete', path, request, status: 204 }, { group: 'note', name: 'remove' });
  addOperation(paths, { ...row, verb: 'get', path, request, status: 302 }, { group: 'note', name: 'go' });
  const document = written(createDocument({ openapi: '3.1.0', info: { title: 'Notes', version: '1' }, paths }));
  const told = Object.entries<Record<string, unknown>>(document.paths['/v1/api/notes/{place}']).map(
    ([verb, { parameters, requestBody, responses }]) => [
      verb,
      [parameters]
        .flat()
        .map((parameter) => `${Reflect.get(Object(parameter), 'in')} ${Reflect.get(Object(parameter), 'name')}`),
      requestBody !== undefined,
      Object.keys(Object(responses)),
      Object.values(Object(responses)).map((response) => Object.keys(Object(response))),
    ],
  );
  assert.deepEqual(told, [
    [
      'put',
      ['path place'],
      true,
      ['201', '413'],
      [
        ['description', 'content'],
        ['description', 'content'],
      ],
    ],
    ['delete', ['path place', 'query text'], false, ['204'], [['description']]],
    ['get', ['path place', 'query text'], false, ['302'], [['description', 'headers']]],
  ]);
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
