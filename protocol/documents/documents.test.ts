import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { z } from 'zod';
import { createDocument } from 'zod-openapi';
import { TRANSIENT_EVENTS } from '../events/transient.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { ENDPOINTS } from '../http/index.ts';
import { routedPath } from '../http/routed.ts';
import { CONTRACTS } from '../index.ts';
import { STREAM_EVENTS } from '../stream-events.ts';
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
  const rows = Object.values(ENDPOINTS).flatMap((group) => Object.values<Endpoint>(group));
  const paths = rows.flatMap((row) => [row.path, routedPath(row) ?? row.path]).map((path) => path.replace('{+', '{'));
  assert.deepEqual(
    new Set(Object.keys(openApiDocument(version).paths ?? {})),
    new Set([...paths, '/', '/metrics', '/openapi.json', '/docs', '/licenses.txt', '/static/{file}', '/shared/{file}']),
  );
});

test('`/openapi.json` must have the paths below `/v1/api/route`', () => {
  const { paths = {} } = openApiDocument(version);
  const expected = { '/send': 'post', '/workstreams/{ws_id}/send': 'delete', '/workstreams/{ws_id}/live': 'get' };
  for (const [path, verb] of Object.entries(expected))
    assert.ok(Object.hasOwn(paths[`/v1/api/route${path}`] ?? {}, verb), path);
  const ids = Object.values(paths).flatMap((path) => Object.values(path ?? {}).map(({ operationId }) => operationId));
  const named = ids.filter((id) => id !== undefined);
  assert.equal(new Set(named).size, named.length);
});

test('operations without a credential are marked; all others require the bearer token or the cookie', () => {
  const document = openApiDocument(version);
  const operations = Object.values(document.paths ?? {}).flatMap((path) => [path?.get, path?.post]);
  const open = operations.filter((operation) => operation?.security?.length === 0);
  assert.deepEqual(document.security, [{ bearer: [] }, { cookie: [] }]);
  assert.deepEqual(
    open.map((operation) => operation?.operationId ?? operation?.summary),
    [
      'channelHook.verify',
      'channelHook.receive',
      'mcpConsent.callback',
      'auth.login',
      'auth.setup',
      'auth.whoami',
      'auth.refresh',
      'auth.password',
      'auth.confirm',
      'auth.logout',
      'auth.status',
      'oidc.authorize',
      'oidc.callback',
      'health',
      'The page: one self-contained document.',
      'Counters and gauges for Prometheus.',
      'This document.',
      'This document as a page that can send requests.',
      'Licences of the software in the page.',
      'A script or style sheet of the pages, such as `app.js`.',
      'A style sheet that pages share: `base.css`.',
    ],
  );
});

test('an operation has its status, and its fields in the path, the query or the body', () => {
  const row = { summary: 'Made for this test.', scope: 'public', reply: () => z.object({ ok: z.boolean() }) } as const;
  const request = () => z.object({ place: z.string(), text: z.string() });
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

interface Described {
  content?: Record<string, { example?: unknown }>;
}

interface Operation {
  requestBody?: Described;
  responses: Record<string, Described>;
}

/** Every example of the document with the place of its schema; events are read from their stream. */
function* examplesIn(document: {
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, Described>; schemas: Record<string, { examples?: unknown[] }> };
}): Generator<{ place: string[]; example: unknown }> {
  for (const [path, operations] of Object.entries(document.paths))
    for (const [verb, { requestBody = {}, responses }] of Object.entries(operations)) {
      yield* examplesOf(['paths', path, verb, 'requestBody'], requestBody);
      for (const [status, response] of Object.entries(responses))
        yield* examplesOf(['paths', path, verb, 'responses', status], response);
    }
  for (const [name, response] of Object.entries(document.components.responses))
    yield* examplesOf(['components', 'responses', name], response);
  for (const [name, { examples = [] }] of Object.entries(document.components.schemas))
    if (name.startsWith('Stream')) yield { place: ['components', 'schemas', name], example: examples[0] };
}

function* examplesOf(place: string[], { content = {} }: Described) {
  for (const [type, { example }] of Object.entries(content)) {
    const text = /^data: (.*)$/m.exec(String(example))?.[1] ?? 'null';
    const data = type === 'text/event-stream' ? JSON.parse(text) : example;
    yield { place: [...place, 'content', type, 'schema'], example: data };
  }
}

const toPointer = (place: readonly string[]): string =>
  place.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');

test('`/openapi.json` must have every operation with its errors, and an example of every body and event', () => {
  const document = written(openApiDocument(version));
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, 'openapi');
  const examples = [...examplesIn(document)];
  const problems = examples.flatMap(({ place, example }) => {
    if (example === undefined) return [`${place.join(' ')} has no example`];
    const validate = ajv.compile({ $ref: `openapi#/${toPointer(place)}` });
    return validate(example) ? [] : [`${place.join(' ')}: ${ajv.errorsText(validate.errors)}`];
  });
  assert.deepEqual(problems, []);
  assert.ok(examples.length > 400, `${examples.length} examples`);
  for (const operations of Object.values<Record<string, Operation>>(document.paths))
    for (const { requestBody, responses } of Object.values(operations)) {
      const expected = ['400', '403', '429', '500', '503', ...(requestBody ? ['408', '413'] : [])];
      assert.deepEqual(
        expected.filter((status) => !(status in responses)),
        [],
      );
    }
});

test('operations about a user or a tool server have the answer 404, and those of a login the answer 401', () => {
  const { paths } = written(openApiDocument(version));
  for (const path of ['password', 'confirm', 'refresh'])
    assert.ok('401' in paths[`/v1/api/auth/${path}`].post.responses, path);
  const silent = Object.entries<Record<string, Operation>>(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([verb, { responses }]) =>
      /\{user_id\}|\{server_id\}|mcp.*reload/.test(path) && !('404' in responses) ? [`${verb} ${path}`] : [],
    ),
  );
  assert.deepEqual(silent, []);
});

test('the event streams name every event, each with its fields', () => {
  const document = written(openApiDocument(version));
  const { history: _logged, ...logged } = STREAM_EVENTS;
  const expected = [...Object.keys(logged), ...Object.keys(TRANSIENT_EVENTS)];
  const line = 'workstreams/{ws_id}/events';
  for (const path of ['/v1/api/events', `/v1/api/${line}`, `/v1/api/route/${line}`]) {
    const { allOf } = document.paths[path].get.responses['200'].content['text/event-stream'].schema;
    const [{ anyOf }, { required }] = allOf;
    const types = anyOf.map(({ $ref, ...inline }: { $ref?: string }) => {
      const schema = $ref === undefined ? inline : document.components.schemas[$ref.slice($ref.lastIndexOf('/') + 1)];
      return schema.properties.type.const;
    });
    assert.deepEqual([new Set(types), required], [new Set(expected), ['ws_id']]);
  }
});
